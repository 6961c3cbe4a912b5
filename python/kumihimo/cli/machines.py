"""Machines that a command line names. Apart from cli/machine.py, whose commands load much that others need not."""

from __future__ import annotations

import os
from pathlib import Path

from kumihimo import _machine
from kumihimo.processes import allocation
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


def of_job() -> str | None:
    """The machine file that the job's surroundings name, as those of a testbed do."""
    file = os.environ.get(allocation.MACHINE) or None
    if file and not Path(file).is_file():
        raise wrong_value(f"{allocation.MACHINE} must name a machine file", file, "give another --machine, or unset it")
    return file


def hosts_of_job() -> str | None:
    """What stands for --allocation on of_job()."""
    return allocation.ENVIRONMENT if os.environ.get(allocation.HOSTS) else None
