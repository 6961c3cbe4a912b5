"""A profile file, line by line: a header, then one object a rank. Only one rank is in memory at a time."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kumihimo.text import files, schema
from kumihimo.text.documents import TooDeep, read_json
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

RULE = "a profile must be one that kumihimo record has written"


def lines(path: Path) -> Iterator[JsonObject]:
    """The header first, then the ranks in the order in which they were written."""
    for number, value in numbered(path):
        if number <= 2:
            check(value, number, path)
        yield value


def numbered(path: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        with io.TextIOWrapper(files.opened(path, "the profile"), encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                yield number, read_json(text)
    except UnicodeDecodeError:
        raise wrong_value(RULE, f"{path}, which is not UTF-8 text") from None
    except TooDeep:
        raise wrong_value(RULE, f"{path}, in which line {number} is nested too deeply") from None
    except ValueError:
        raise wrong_value(RULE, f"{path}, in which line {number} is not a complete JSON object") from None
    except OSError as error:
        raise wrong_value(RULE, f"{path}: {error.strerror}") from None
    if number == 0:
        raise wrong_value(RULE, f"{path}, which is empty")


def check(value: object, number: int, path: Path) -> None:
    """Refuses a line that is not as schemas/profile.schema.json says."""
    wrong = schema.fault(value, "profile", "header" if number == 1 else "rank")
    if wrong:
        raise wrong_value(RULE, f"{path}, in which line {number} is wrong: {wrong}")


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Finds the line that made summing up fail. The schema takes milliseconds for a line, more than to sum it up, so
    that only the header and the first rank are checked before."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        for number, value in numbered(path):
            check(value, number, path)
        raise wrong_value(RULE, f"{path}, in which a key is missing or has a value of the wrong type") from error


class ProfileRecording:
    """The profiles that one run writes, in place of those of an earlier run. These stay until the new ones are whole,
    and if the run writes none."""

    def __init__(self, output: Path) -> None:
        """Before the run."""
        self.output = output
        self._earlier = {path: state_of(path) for path in beside(output, r"(\.spawned-\d+)?(\.rank\d+)?")}

    def gather(self) -> bool:
        """After the run: puts what ranks wrote by themselves, since they did not end MPI, to the profile. Whether there
        is a new profile at all."""
        if not self._gathered(self.output):
            return False
        for path in self._earlier:
            if path != self.output and not self._is_new(path):
                path.unlink(missing_ok=True)
        return True

    def spawned(self) -> list[Path]:
        """The profiles of the worlds that the program's processes have started: each has a name of its own. Their parts
        are put to them."""
        found = filter(self._is_new, beside(self.output, r"\.spawned-\d+(\.rank\d+)?"))
        worlds = {path.with_name(re.sub(r"\.rank\d+$", "", path.name)) for path in found}
        return sorted(world for world in worlds if self._gathered(world))

    def _gathered(self, world: Path) -> bool:
        parts = list(filter(self._is_new, beside(world, r"\.rank\d+")))
        if not parts:
            return self._is_new(world)
        is_new = self._is_new(world)
        whole = [part for part in parts if len(lines_of(part)) == 2]
        if whole:
            with files.replacement(world) as file:
                if is_new:
                    with world.open("rb") as begun:
                        shutil.copyfileobj(begun, file)
                for place, part in enumerate(whole):
                    file.writelines(lines_of(part)[1 if is_new or place else 0 :])
        for part in parts:
            part.unlink()
        return is_new or bool(whole)

    def _is_new(self, path: Path) -> bool:
        return path.is_file() and state_of(path) != self._earlier.get(path)


def state_of(path: Path) -> tuple:
    now = path.stat()
    return now.st_dev, now.st_ino, now.st_mtime_ns, now.st_size


def lines_of(path: Path) -> list[bytes]:
    """The complete lines."""
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def beside(output: Path, form: str) -> list[Path]:
    """The files whose names are that of `output` and then such an end; others are the user's."""
    name = re.compile(re.escape(output.name) + form)
    found = (path for path in output.parent.iterdir() if name.fullmatch(path.name) and path.is_file())
    return sorted(found, key=lambda path: (len(path.name), path.name))
