"""The types of options that name files and folders. Those that a verb writes are checked before its work."""

from __future__ import annotations

from pathlib import Path

import click

from kumihimo.processes.launcher_environment import is_first
from kumihimo.text import files
from kumihimo.text.durations import FORMS
from kumihimo.text.errors import wrong_value

VALUES = {"DIR": "a folder", "FILE": "a file", "TIME": FORMS}  # by metavar
GIVEN = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)


class NamedPath(click.Path):
    """An empty one would be the folder at hand."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if value == "":
            what = VALUES.get(param.metavar, "a file")
            raise wrong_value(f"{max(param.opts, key=len)} must name {what}", "''", "leave it out or name one")
        return super().convert(value, param, ctx)


class WrittenPath(NamedPath):
    """A file or folder that the command writes, by the first rank of a launch alone. A default is checked by the verb,
    if it writes it."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        found = super().convert(value, param, ctx)
        if is_first():
            option = max(param.opts, key=len)
            if ctx.get_parameter_source(param.name) in GIVEN:
                self.check(Path(found), option)
            refuse_twice(Path(found), option, ctx)
        return found

    def check(self, path: Path, option: str) -> None:
        files.check_writable(path, option)


def refuse_twice(path: Path, option: str, ctx: click.Context) -> None:
    """Refuses a path that another option writes to."""
    earlier = ctx.meta.setdefault(__name__, {}).setdefault(files.real(path), option)
    if earlier != option and files.kind(path) in ("", "a file"):
        raise wrong_value(f"{option} needs a file of its own", f"{path}, as for {earlier}", "name another file")


class WrittenWhole(WrittenPath):
    """A file that is read again, as no device can be."""

    def check(self, path: Path, option: str) -> None:
        files.check_regular_or_new(path, option)
        super().check(path, option)


class WrittenFolder(WrittenPath):
    """The verb checks it, and makes it where it is missing, when it knows that it will write."""

    def check(self, path: Path, option: str) -> None:
        pass
