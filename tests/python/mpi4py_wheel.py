"""mpi4py as set-up installs it: one wheel for every MPI library, which takes the one that the environment names."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from kumihimo.processes import mpi

# By family, the name under which the wheel's module for it wants its library.
WANTED = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}


def is_here() -> bool:
    return importlib.util.find_spec("mpi4py") is not None


def environment(installation: mpi.Installation, folder: Path) -> dict[str, str]:
    """What to set so that mpi4py takes the library of `installation`. Where that has another name than the wheel's
    module asks for (Debian's MPICH), a link of that name is made in `folder`, and found there by the loader."""
    library = installation.library
    wanted = WANTED[installation.family]
    if library.name == wanted:
        return {"MPI4PY_LIBMPI": str(library)}
    link = folder / wanted
    if not link.is_symlink():
        link.symlink_to(library)
    before = os.environ.get("LD_LIBRARY_PATH")
    return {"MPI4PY_LIBMPI": str(link), "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(folder), before)))}
