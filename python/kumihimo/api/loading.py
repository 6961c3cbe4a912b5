"""Machines by name, as the verbs load them: apart from the types of the library, which take longer to import."""

from __future__ import annotations

from pathlib import Path

from kumihimo import _machine
from kumihimo.processes.package_files import folder
from kumihimo.text.errors import errors_of_this_machine, wrong_value

THIS_MACHINE = "this-machine"


def search() -> list[Path]:
    """Where machines are looked for by name."""
    return [folder("machines")]


@errors_of_this_machine()
def load(name: str, software: str | None = None) -> _machine.Machine:
    """A described machine by name, or from the path of its file; this machine, measured now. `software`: a state of its
    software, by default the file's."""
    if name == THIS_MACHINE:
        if software is not None:
            rule = "--software needs a machine file"
            raise wrong_value(rule, THIS_MACHINE, "leave it out, or write a file by `kumihimo machine measure`")
        from kumihimo.tune.bench.calibration import this_machine

        return this_machine()
    return _machine.load(name, search(), software or "")
