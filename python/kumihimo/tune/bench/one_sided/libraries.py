"""Requirements of each back end beside an MPI library, and whether they are met here. A back end is a row of ROWS."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.processes import child_output, package_files
from kumihimo.processes.mpi import LIBRARY_FOLDERS, Installation
from kumihimo.text.errors import Failed, failed, wrong_value

SHMEM_NAMES = ("liboshmem.so.40", "liboshmem.so", "libsma.so", "liboshmpi.so")
SOURCE = Path(__file__).with_name("coarrays.f90")
COMPILE_SECONDS = 120


@dataclass(frozen=True)
class Asked:
    """Libraries named on the command line: `shmem`, a path; `caf`, a command; `fabric`, options of the library of
    remote memory. `folder`: for what is compiled.
    """

    folder: Path
    shmem: str | None = None
    caf: str | None = None
    fabric: str = ""


@dataclass(frozen=True)
class FoundLibrary:
    """`image`: the shared library that the bench driver opens, `options`: words for it. `settings`: of the environment
    of its processes."""

    image: str = ""
    options: str = ""
    settings: dict[str, str] = field(default_factory=dict)


def find_mpi(installation: Installation, asked: Asked, span: int) -> FoundLibrary:
    return FoundLibrary()


def find_shmem(installation: Installation, asked: Asked, span: int) -> FoundLibrary:
    """Beside the MPI library, under the same prefix, or as named."""
    if asked.shmem is not None and not Path(asked.shmem).is_file():
        raise wrong_value("--shmem must be the path of an OpenSHMEM library", f"'{asked.shmem}'")
    path = Path(asked.shmem) if asked.shmem else shmem_beside(installation)
    if path is None:
        raise failed(
            f"there is no OpenSHMEM library beside {installation.library}",
            "none of " + ", ".join(SHMEM_NAMES),
            "use Open MPI with OpenSHMEM (Debian: openmpi-bin), or name a library by --shmem",
        )
    heap = 3 * span + (32 << 20)  # two buffers, half of one for sums, and what the library takes itself
    # One arena: Open MPI registers each writable mapping that has no name, and has room for 32.
    return FoundLibrary(str(path.absolute()), settings={"SHMEM_SYMMETRIC_SIZE": str(heap), "MALLOC_ARENA_MAX": "1"})


def shmem_beside(installation: Installation) -> Path | None:
    # Open MPI's is over Open MPI.
    names = [name for name in SHMEM_NAMES if installation.family == "openmpi" or "oshmem" not in name]
    folders = [installation.library.parent]
    folders += [each for pattern in LIBRARY_FOLDERS for each in sorted(installation.prefix.glob(pattern))]
    return next((folder / name for folder in folders for name in names if (folder / name).is_file()), None)


def find_coarrays(installation: Installation, asked: Asked, span: int) -> FoundLibrary:
    """Compiled on the spot: a shared library of the module in Fortran."""
    words = [asked.caf] if asked.caf else caf_of(installation)
    if words is None:
        package = f"libcoarrays-{installation.family}-dev"
        raise failed(
            f"there is no Fortran compiler for coarrays over {installation.family}",
            f"no caf.{installation.family} and no caf",
            f"install OpenCoarrays and gfortran (Debian: {package}), or name a compiler by --caf",
        )
    if shutil.which(words[0]) is None:
        raise wrong_value("--caf must name a Fortran compiler that is here", f"'{words[0]}'")
    image = asked.folder / f"libkumihimo_coarrays_{installation.family}.so"
    flags = ["-O2", "-shared", "-fPIC", "-J", str(asked.folder), str(SOURCE), "-o", str(image)]
    try:
        done = child_output.run([*words, *flags], seconds=COMPILE_SECONDS)
    except (OSError, child_output.TimedOut) as error:
        raise failed(f"{words[0]} did not compile the coarrays", str(error) or "it did not end") from None
    if done.returncode != 0 or not image.is_file():
        reason = first_error(done.stderr or done.stdout)
        raise failed(
            f"{words[0]} did not compile the coarrays", reason, "install gfortran, or name a compiler by --caf"
        )
    if installation.library.name.encode() not in image.read_bytes():
        raise failed(
            f"{words[0]} compiles coarrays for another MPI library than {installation.library}",
            "",
            f"name its compiler by --caf (Debian: caf.{installation.family})",
        )
    return FoundLibrary(str(image))


def caf_of(installation: Installation) -> list[str] | None:
    for name in (f"caf.{installation.family}", "caf"):
        found = installation.prefix / "bin" / name
        if found.is_file() or shutil.which(name):
            return [str(found) if found.is_file() else name]
    return None


def first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "rror" in line or "not found" in line), lines[-1] if lines else "no message")


def find_own(installation: Installation, asked: Asked, span: int) -> FoundLibrary:
    return FoundLibrary()  # the bench driver says whether a network has it


def find_fabric(installation: Installation, asked: Asked, span: int) -> FoundLibrary:
    return FoundLibrary(str(package_files.library("kumihimo_remote_memory")), asked.fabric)


# By the names of the bench driver's back ends (src/run/one_sided/backends.def).
ROWS: dict[str, Callable[[Installation, Asked, int], FoundLibrary]] = {
    "mpi": find_mpi,
    "shmem": find_shmem,
    "coarrays": find_coarrays,
    "own": find_own,
    "fabric": find_fabric,
}


def find(name: str, installation: Installation, asked: Asked, span: int) -> FoundLibrary | str:
    """Finds the requirements of the back end, or the reason why they cannot be met."""
    try:
        return ROWS[name](installation, asked, span)
    except Failed as error:
        return str(error)
