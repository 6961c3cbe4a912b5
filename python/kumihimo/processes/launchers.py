"""How each launcher starts ranks: its arguments, what its environment needs, and how the processes of all nodes get
variables. A row per launcher: `mpirun` of Open MPI, `mpiexec` of MPICH (Hydra), `srun` of Slurm, `flux` of Flux."""

from __future__ import annotations

import os
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kumihimo.text.errors import did_you_mean, failed, wrong_value

VARIABLE = "KUMIHIMO_LAUNCHER"  # in the environment: what starts the ranks, with its options
YIELDS = "OMPI_MCA_mpi_yield_when_idle"  # Open MPI's ranks, to each other
# Leaves out the barrier of MPI_Finalize, which about one time in 60 waits for ever for a rank that dies near it.
NO_FENCE = "OMPI_MCA_async_mpi_finalize"
SLURM_EXPORT = "SLURM_EXPORT_ENV"  # --export of the srun lines of a job; sbatch --export=NONE sets it


def available_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class RankLauncher(ABC):
    """A program that starts the ranks of a job."""

    name: ClassVar[str]
    of_scheduler: ClassVar[bool]  # the scheduler decides how many ranks may start, and ends a job that lost one

    @abstractmethod
    def arguments(self, ranks: int, options: Sequence[str] = (), outlives_deaths: bool = False) -> list[str]:
        """Its arguments, before the program. `options`: the user's. `outlives_deaths`: of some ranks; only Open MPI 5
        can do that (check_outlives_deaths)."""

    def environment(self, ranks: int, outlives_deaths: bool = False) -> dict[str, str]:
        """Variables to add to its environment, unless the user has set them: the library runs as it does by itself."""
        return {}

    def with_variables(self, given: Mapping[str, str], arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """Its arguments and the variables of its own environment by which all processes get `given`. Here: the
        launcher hands on its environment."""
        return list(arguments), dict(given)


class OpenMpiRun(RankLauncher):
    """mpirun of Open MPI."""

    name = "mpirun"
    of_scheduler = False

    def arguments(self, ranks: int, options: Sequence[str] = (), outlives_deaths: bool = False) -> list[str]:
        words = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        words += ["--map-by", ":OVERSUBSCRIBE"]
        if ranks >= available_processors():  # bound ranks cannot make room for each other
            words += ["--bind-to", "none"]
        if outlives_deaths:
            words += ["--with-ft", "ulfm"]
        return [*words, *options, "-n", str(ranks)]

    def environment(self, ranks: int, outlives_deaths: bool = False) -> dict[str, str]:
        added = {NO_FENCE: "1"} if outlives_deaths else {}
        if ranks > available_processors():  # as the launcher does where it counts the processors alike
            added[YIELDS] = os.environ.get(YIELDS, "1")
        return added

    def with_variables(self, given: Mapping[str, str], arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """Variables by -x, for each program of the line: hooked ranks and others never fit together."""
        words = [part for name, value in given.items() for part in ("-x", f"{name}={value}")]
        return to_each_program(words, arguments), {}


class HydraMpiexec(RankLauncher):
    """mpiexec of MPICH, Intel MPI and MVAPICH."""

    name = "mpiexec"
    of_scheduler = False

    def arguments(self, ranks: int, options: Sequence[str] = (), outlives_deaths: bool = False) -> list[str]:
        return [*options, "-n", str(ranks)]

    def with_variables(self, given: Mapping[str, str], arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        return [*(part for name, value in given.items() for part in ("-genv", name, value)), *arguments], {}


class SlurmSrun(RankLauncher):
    """srun of Slurm: a step of the allocation, or a job of its own outside one."""

    name = "srun"
    of_scheduler = True

    def arguments(self, ranks: int, options: Sequence[str] = (), outlives_deaths: bool = False) -> list[str]:
        return [*options, "-n", str(ranks)]

    def with_variables(self, given: Mapping[str, str], arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        return list(arguments), {SLURM_EXPORT: "ALL", **given}


class FluxRun(RankLauncher):
    """flux run: a job of the Flux instance that this runs in."""

    name = "flux"
    of_scheduler = True

    def arguments(self, ranks: int, options: Sequence[str] = (), outlives_deaths: bool = False) -> list[str]:
        return ["run", *options, "-n", str(ranks)]


OPENMPI, HYDRA, SRUN, FLUX = OpenMpiRun(), HydraMpiexec(), SlurmSrun(), FluxRun()
ROWS: tuple[RankLauncher, ...] = (OPENMPI, HYDRA, SRUN, FLUX)
BY_FAMILY: dict[str, RankLauncher] = {"openmpi": OPENMPI, "mpich": HYDRA}  # each library's own launcher
NAMES = tuple(row.name for row in ROWS)


def of(path: Path, family: str) -> RankLauncher:
    """The row of a launcher's file, used with an MPI library of this family."""
    for row in ROWS:
        if row.of_scheduler and path.name == row.name:
            return row
    return BY_FAMILY[family]


@dataclass(frozen=True)
class LauncherChoice:
    """The launcher by the user's words: `srun --mpi=pmix`. `scheduler`: None for the MPI library's own. `file`: its
    path where the words begin with one, as in `/opt/slurm/bin/srun --mpi=pmix`."""

    scheduler: RankLauncher | None
    options: tuple[str, ...] = ()
    file: Path | None = None

    def path(self, own: Path) -> Path:
        """The launcher's file; `own`: that of the MPI library's launcher."""
        if self.file is not None:
            if shutil.which(self.file) is None:
                raise failed(f"the launcher {self.file} is no program that can be started", "", "correct its path")
            return self.file.absolute()
        if self.scheduler is None:
            return own
        found = shutil.which(self.scheduler.name)
        if found is None:
            advice = "give the path of its file, use mpirun, or run this command on a node of the cluster"
            raise failed(f"{self.scheduler.name} is not in PATH", "", advice)
        return Path(found)


def chosen(text: str | None, where: str = "--launcher") -> LauncherChoice:
    """`text`: a launcher with its options; None: what KUMIHIMO_LAUNCHER says, or else the MPI library's own. `mpirun`
    and `mpiexec` are both the library's own launcher, whatever its file is called; with a path they are that file."""
    if text is None:
        text, where = os.environ.get(VARIABLE, ""), VARIABLE
        if not text.strip():
            return LauncherChoice(None)
    try:
        name, *options = shlex.split(text) or [""]
    except ValueError as error:
        raise wrong_value(f"{where} must be a launcher with its options", f"'{text}' ({error})") from None
    path = Path(name) if "/" in name else None
    row = next((row for row in ROWS if is_named(row, path.name if path else name, is_file=path is not None)), None)
    if row is None:
        rule = f"{where} must begin with {', '.join(NAMES[:-1])} or {NAMES[-1]}"
        raise wrong_value(rule, f"'{text}'", did_you_mean(name, NAMES, f"write it as in {where}='srun --mpi=pmix'"))
    return LauncherChoice(row if row.of_scheduler else None, tuple(options), path)


def is_named(row: RankLauncher, name: str, is_file: bool) -> bool:
    """Whether a name means this launcher. Files of MPI launchers may say their library: mpirun.openmpi."""
    return row.name == name or (is_file and not row.of_scheduler and name.startswith(f"{row.name}."))


def to_each_program(options: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Before the arguments of each program of a line (`-n 1 ./a : -n 1 ./b`): what Open MPI reads between two colons
    holds there alone. Where nothing stands between them there is no program, and options would ask for one."""
    line: list[str] = []
    for position, word in enumerate(arguments):
        begins = position == 0 or arguments[position - 1] == ":"
        line += [*options, word] if begins and word != ":" else [word]
    return line
