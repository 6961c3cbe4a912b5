"""Machines by name, as the verbs load them: apart from the types of the library, which take longer to import."""

from __future__ import annotations

from pathlib import Path

from kumihimo import _machine
from kumihimo.processes.package_files import folder
from kumihimo.text.errors import errors_of_this_machine

THIS_MACHINE = "this-machine"


def search() -> list[Path]:
    """Where machines are looked for by name."""
    return [folder("machines")]


@errors_of_this_machine()
def load(name: str) -> _machine.Machine:
    """A described machine by name, or from the path of its file; this machine, measured now."""
    if name == THIS_MACHINE:
        from kumihimo.tune.bench.calibration import this_machine

        return this_machine()
    return _machine.load(name, search())
