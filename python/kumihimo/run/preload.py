"""Runs a program that knows nothing of us, by its own mpirun line, with our object loaded before its MPI library.

The three streams are the program's; so is the exit status. What ran is written by its rank 0 when it ends MPI
(run_summary.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kumihimo.processes import allocation, launch_lines, launcher_environment, signals
from kumihimo.processes.launchers import BY_FAMILY, SLURM_EXPORT
from kumihimo.processes.mpi import library_of, version_text
from kumihimo.processes.package_files import program
from kumihimo.run import networks, program_keys, run_summary, wisdom_reading
from kumihimo.run.start_watch import StartWatch
from kumihimo.text.errors import failed, wrong_value
from kumihimo.text.json_types import JsonObject

INTERPOSER, RECORDER = "libkumihimo-interposer", "libkumihimo-recorder"
# Of each there is an object for libraries with all these names, the richest first. Programs ask whether a name is there
# and take ours for the library's, so none may be added that the library has not.
NAMES_OF_MPI_4 = (
    "MPI_Session_init",
    "MPI_Isendrecv",
    "MPI_Allreduce_init",
    "MPI_Psend_init",
    "MPI_Comm_idup_with_info",
)
LARGE_COUNTS = ("MPI_Send_c", "MPI_Bcast_c", "MPI_Allreduce_c", "MPI_Alltoallw_c")
NAMES_OF_MPI_4_1 = ("MPI_Request_get_status_any", "MPI_Request_get_status_all", "MPI_Request_get_status_some")
OBJECTS = (
    ("-mpi4.1.so", NAMES_OF_MPI_4 + LARGE_COUNTS + NAMES_OF_MPI_4_1),
    ("-mpi4-counts.so", NAMES_OF_MPI_4 + LARGE_COUNTS),
    ("-mpi4.so", NAMES_OF_MPI_4),
    (".so", ()),
)
OF_PROGRAM = "LD_PRELOAD"  # set for the program's processes, not for the launcher
OURS = "KUMIHIMO_"  # begins the names of settings in the environment
# Set by the user for all processes: how memory is written to (kernels/copy.hpp), the network between nodes
# (mpi_transport/networks), and what the job's nodes are (topology/place_in_shape.hpp).
HANDED_ON = (
    "KUMIHIMO_SHARED_STORES",
    "KUMIHIMO_STREAMING_BYTES",
    "KUMIHIMO_NETWORK",
    "KUMIHIMO_FABRIC_CHANNELS",
    "KUMIHIMO_FABRIC_ENGINES",
    "KUMIHIMO_FABRIC_PLACES",
    "KUMIHIMO_FABRIC_RAILS",
    allocation.SHAPE,
    allocation.HOSTS,
)
LIST_FOLDERS = ("/dev/shm", "/tmp")  # of which the first that is there holds the processes' lists of who has the object
SAYS = {"openmpi": ("Open MPI", "OpenRTE", "PRTE", "prte"), "mpich": ("HYDRA", "MPICH", "Intel(R) MPI", "MVAPICH")}


class EndedProgram(NamedTuple):
    code: int  # the exit status
    summary: JsonObject | None  # that the program wrote, if it did
    signals: tuple[str, ...] = ()  # the names of those that came while it ran


def run(
    command: Sequence[str],
    settings: Mapping[str, str],
    objects: Sequence[str] = (INTERPOSER,),
    folder: Path | None = None,
    streams: Mapping[str, Any] | None = None,
    whole: bool = False,
) -> EndedProgram:
    """Run `command`, in `folder` if one is given, with `settings` (their names in the environment without KUMIHIMO_)
    and our `objects`, of which the first sees a call first. `streams`: stdin, stdout and stderr in place of ours, as
    of subprocess.Popen. `whole`: a signal ends all, as of signals.run."""
    launcher = found(command)
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as place:
        summary = Path(place) / "summary.json"
        given = handed_on() | {f"{OURS}{name}": value for name, value in settings.items() if value}
        family = family_of(Path(launcher))
        suffix = suffix_of(library_beside(Path(launcher), family))
        # In the names of the job's lists, for forget_lists(). The ranks of a launch would each give another one.
        mark = uuid.uuid4().hex if family or launcher_environment.place() is None else ""
        given |= {f"{OURS}SUMMARY": str(summary), OF_PROGRAM: preloaded(objects, suffix)}
        if key := program_keys.key_of(command):
            given[f"{OURS}PROGRAM"] = key
        given |= {f"{OURS}MARK": mark} if mark else {}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        if SLURM_EXPORT in inherited:
            inherited[SLURM_EXPORT] = exporting(inherited[SLURM_EXPORT], given)
        words = launch_lines.with_srun_export(command, lambda names: exporting(names, given))
        watch = StartWatch(float(settings.get("TIMEOUT") or 0), mark)
        try:
            code, came = signals.run(
                [launcher, *preloading(family, given, words[1:])],
                whole=whole,
                given_up=lambda _: watch.waits_in_vain() or any(Path(place).glob("*.given_up*")),
                env=inherited if family else {**inherited, **given},
                cwd=folder,
                **(streams or {}),
            )
        finally:
            if mark:
                forget_lists(mark)
        return EndedProgram(watch.status(code), run_summary.read(summary), came)


def handed_on() -> dict[str, str]:
    """Variables of HANDED_ON that the user has set, for the processes of all nodes."""
    found = {name: os.environ[name] for name in HANDED_ON if os.environ.get(name)}
    networks.checked(found.get("KUMIHIMO_NETWORK"), "KUMIHIMO_NETWORK")
    stores = found.get(HANDED_ON[0], "cached")
    if stores not in ("cached", "streamed"):
        raise wrong_value(f"{HANDED_ON[0]} must be cached or streamed in the environment", f"'{stores}'")
    return found


def of_kernels() -> dict[str, str]:
    """Where the processes look for the kernels that `tune kernel` chose: in the user's folder, each for its machine."""
    folder = wisdom_reading.folder()
    return {f"{OURS}KERNELS": str(folder)} if folder.is_dir() else {}


def forget_lists(mark: str) -> None:
    """Takes away what the processes of a job that is over have left on this machine: their last one does so, if not
    killed before."""
    folder = next(filter(Path.is_dir, map(Path, LIST_FOLDERS)), Path())
    for path in folder.glob(f"kumihimo-{os.getuid()}-{mark}-*"):
        with contextlib.suppress(OSError):
            path.unlink()


def launcher_failed(command: Sequence[str], code: int, nothing: str) -> str:
    """The message about an MPI launcher that failed before MPI started: it ended with `code`, and no rank wrote
    anything. Empty for other commands, and if a signal ended a process. Open MPI ends with 128 and more also if the
    program does not exist."""
    line = launch_lines.read(command)
    if not (line.is_of_mpi or line.is_srun) or code <= 0 or (code >= 128 and line.names_a_program):
        return ""
    what = f"{line.launcher} failed (exit code {code})"
    return f"{nothing}: {what}; see its message above, and run the same line without kumihimo"


def remarks(command: Sequence[str], ranks: int) -> list[str]:
    """Remarks about a program whose MPI_COMM_WORLD has an unexpected number of ranks."""
    if ranks != 1 or launcher_environment.place() is not None:
        return []
    line = launch_lines.read(command)
    if not line.launcher:
        return ["the program has only one rank; put mpirun -n P before it to start more"]
    if line.ranks > 1 and line.is_srun:
        return ["each process is alone in MPI_COMM_WORLD; does srun --mpi=... fit the program's MPI library?"]
    if line.ranks > 1:
        return [f"each process is alone in MPI_COMM_WORLD; does {line.launcher} belong to the program's MPI library?"]
    return []


def run_as_it_is(command: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Without us: as signals.run()."""
    return signals.run([found(command), *command[1:]])


def found(command: Sequence[str]) -> str:
    name = command[0]
    launcher = shutil.which(name)
    if launcher is None:
        if "/" not in name and not name.startswith("-"):
            raise wrong_value(f"{name} was not found in PATH", None, "load the module that provides it")
        reason = f"the option {name}, which is not known" if name.startswith("-") else f"{name}, no such file"
        if "/" in name and Path(name).is_file():
            reason = f"{name}, which is not executable"
        raise wrong_value("the command must start MPI processes, as mpirun -n 4 ./program does", reason)
    return launcher


def family_of(launcher: Path) -> str | None:
    """Family of an MPI launcher, by its name or its own version text; others (srun, the program itself) are not asked,
    since one that does not know the question might begin to work.
    """
    if not launcher.name.startswith(launch_lines.MPI_LAUNCHERS):
        return None
    for word, family in (("openmpi", "openmpi"), ("mpich", "mpich"), ("hydra", "mpich")):
        if launcher.name.endswith(word):
            return family
    text = version_text(launcher)
    return next((family for family, words in SAYS.items() if any(word in text for word in words)), None)


def preloading(family: str | None, given: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    """A launcher's arguments, with those by which it hands the settings to the processes of all nodes and all programs:
    a collective of some that are hooked and some that are not would never fit together. A launcher of another kind
    hands on its own environment."""
    return BY_FAMILY[family].with_variables(given, arguments)[0] if family else list(arguments)


def exporting(names: str, given: Mapping[str, str]) -> str:
    """The value of srun's --export: ALL, NONE, or names, each perhaps with a value. NONE, and names alone, would keep
    our variables from the processes."""
    if names.upper() in ("NONE", "NIL"):
        return ",".join(given)
    ours = given.get(OF_PROGRAM)
    parts = names.split(",")
    preloaded_too = [part.partition("=")[2] for part in parts if part.startswith(f"{OF_PROGRAM}=")]
    if preloaded_too and ours:
        parts = [part for part in parts if not part.startswith(f"{OF_PROGRAM}=")]
        parts.append(f"{OF_PROGRAM}={':'.join([ours, *preloaded_too])}")
    if parts[0].upper() in ("ALL", ""):
        return ",".join(parts)
    there = {part.partition("=")[0] for part in parts}
    return ",".join([*parts, *(name for name in given if name not in there)])


def library_beside(launcher: Path, family: str | None) -> Path | None:
    """The MPI library that the programs of a launcher use, as far as that can be told."""
    if family is None:
        return None
    prefixes = (path.parent.parent for path in (launcher, launcher.resolve()))
    return next(filter(None, (library_of(family, prefix) for prefix in prefixes)), None)


def suffix_of(library: Path | None) -> str:
    """Suffix of our object that needs no name which the library lacks; that of MPI 3.1 for an unknown library."""
    names = b"" if library is None else library.read_bytes()
    return next(suffix for suffix, all_of in OBJECTS if all(has_name(names, name) for name in all_of))


def has_name(names: bytes, name: str) -> bool:
    """Whether it stands in a library's table of names, by itself or as the end of its profiling name."""
    return any(f"{before}{name}\0".encode() in names for before in ("\0", "\0P"))


def preloaded(objects: Sequence[str] = (INTERPOSER,), suffix: str = OBJECTS[-1][0]) -> str:
    """Ours, before what the user loads."""
    whole = (name if name.endswith(".so") else name + suffix for name in objects)
    ours = " ".join(checked(str(program(name))) for name in whole)
    return " ".join(filter(None, (ours, os.environ.get(OF_PROGRAM))))


def checked(ours: str) -> str:
    """A path that the loader can take."""
    if re.search(r"[\s:]", ours):  # the loader takes both for the end of a name
        raise failed(
            "LD_PRELOAD takes no path with blanks or colons",
            f"kumihimo is installed in {ours!r}",
            "install it elsewhere",
        )
    return ours
