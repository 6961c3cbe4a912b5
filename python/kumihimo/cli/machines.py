"""Machines that a command line names. Apart from cli/machine.py, whose commands load much that others need not."""

from __future__ import annotations

import os
from pathlib import Path

from kumihimo import _machine
from kumihimo.api import loading
from kumihimo.api.loading import THIS_MACHINE, search
from kumihimo.processes import allocation
from kumihimo.text.errors import wrong_value

__all__ = ["THIS_MACHINE", "hosts_of_job", "load", "of_job", "search", "shape_of_job"]


def load(name: str, software: str | None = None) -> _machine.Machine:
    """A described machine by name, or from the path of its file; this machine, measured now. `software`: a state of its
    software [default: the file's]."""
    return loading.load(name, software)


def of_job() -> str | None:
    """The machine file that the job's surroundings name, as those of a testbed do."""
    file = os.environ.get(allocation.MACHINE) or None
    if file and not Path(file).is_file():
        raise wrong_value(f"{allocation.MACHINE} must name a machine file", file, "give another --machine, or unset it")
    return file


def hosts_of_job() -> str | None:
    """Value that replaces --allocation on of_job()."""
    return allocation.ENVIRONMENT if os.environ.get(allocation.HOSTS) else None


def shape_of_job(*given: object) -> str | None:
    """The shape in place of --shape, where the command line says nothing else of the ranks. `given`: --shape and the
    other options about them.
    """
    return None if any(each is not None for each in given) else os.environ.get(allocation.SHAPE) or None
