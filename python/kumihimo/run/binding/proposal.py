"""Proposal that mends a binding: how many cores and threads each rank gets, and the options and variables for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kumihimo.processes import launch_lines
from kumihimo.run.binding import judge, runtimes
from kumihimo.run.binding.judge import BindingFault
from kumihimo.run.binding.samples import BindingSamples, SampledRank, SampledThread
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted

OPENMPI, HYDRA, SRUN = "openmpi", "mpich", "srun"
BINDERS = ("taskset", "numactl")  # wrappers whose mask overrules the launcher's
# Options that say where ranks run, which the proposal replaces; those of MPI launchers without values are in BARE.
MPI_OPTIONS = launch_lines.names_in(
    """
    bind-to map-by rank-by membind cpu-set cpu-list slot-list cpus-per-proc cpus-per-rank c rankfile rf npersocket
    bind-to-core bind-to-none bind-to-socket bycore bynode byslot bysocket use-hwthread-cpus binding npernode pernode
    nooversubscribe oversubscribe
    """
)
SRUN_OPTIONS = launch_lines.names_in(
    "cpu-bind c cpus-per-task hint threads-per-core ntasks-per-core B extra-node-info m distribution overcommit O"
)
MCA_BINDING = re.compile(r"(hwloc_base_(binding_policy|cpu_list|cpu_set)|rmaps_base_\w+|mpi_yield_when_idle)$")
BLAS_VARIABLES = (
    (r"lib(scipy_)?openblas", "OPENBLAS_NUM_THREADS"),
    (r"libmkl_", "MKL_NUM_THREADS"),
    (r"libblis", "BLIS_NUM_THREADS"),
)
PROGRESS_OFF = {"MPIR_CVAR_ASYNC_PROGRESS": "0", "MPICH_ASYNC_PROGRESS": "0"}


@dataclass(frozen=True)
class RankShare:
    """Share of each rank. `units` of cores, or of processors if `hardware_threads`; 0: ranks are not bound, because
    there are more of them than processors. `openmp`, `blas`: threads, 0 without this runtime.
    """

    ranks_per_node: int
    nodes: int
    units: int
    openmp: int
    blas: int
    blas_variables: tuple[str, ...] = ()
    hardware_threads: bool = False
    processors_per_core: int = 1
    progress_off: bool = False


@dataclass(frozen=True)
class BindingProposal:
    """`options` of the launcher; variables for the ranks; remarks in sentences without full stops."""

    share: RankShare
    launcher: str
    options: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def as_object(self) -> JsonObject:
        found = {name: getattr(self, name) for name in ("launcher", "variables")}
        return {**found, "options": list(self.options), "remarks": list(self.remarks)}


def proposal(samples: BindingSamples, faults: Sequence[BindingFault], launcher: str) -> BindingProposal | None:
    """None: there is no fault. `launcher`: OPENMPI, HYDRA, SRUN, or empty if it is not known."""
    if not faults:
        return None
    share = share_of(samples)
    return BindingProposal(
        share, launcher, options(launcher, share), variables(samples, share), remarks(samples, share)
    )


def share_of(samples: BindingSamples) -> RankShare:
    """For the fullest node and the smallest one. Threads are as many as the program starts, or as the cores allow."""
    ranks = max(len(samples.ranks_on(node.host)) for node in samples.nodes)
    cores = min(units_left(len(node.cores), node.quota) for node in samples.nodes)
    processors = min(units_left(len(node.processors), node.quota) for node in samples.nodes)
    smt = min(max(1, len(node.processors) // max(1, len(node.cores))) for node in samples.nodes)
    teams = {runtime: max(team_of(rank, runtime) for rank in samples.ranks) for runtime in judge.ORDER}
    openmp = teams[runtimes.OPENMP] + 1 if uses_openmp(samples) else 0
    blas = teams[runtimes.BLAS] + 1 if teams[runtimes.BLAS] else 0
    others = teams[runtimes.TBB] + teams[runtimes.OTHER]
    wanted = max(openmp, 1 + others, 1 if openmp else blas)
    hardware_threads = ranks > cores and processors >= ranks
    left = (processors if hardware_threads else cores) // ranks  # for each rank
    progress = teams[runtimes.MPI]
    progress_off = progress > 0 and left < wanted + progress
    units = min(left, wanted + (0 if progress_off else progress))
    team = max(1, min(wanted, left))
    nodes = len(samples.nodes)
    of_blas = 0 if not blas else 1 if openmp else team
    found = RankShare(ranks, nodes, units, min(openmp, team), of_blas, blas_variables(samples), hardware_threads, smt)
    return replace(found, progress_off=progress_off)


def units_left(units: int, quota: float | None) -> int:
    return units if quota is None else max(1, min(units, int(quota)))


def team_of(rank: SampledRank, runtime: str) -> int:
    """Threads of a runtime, beside the rank's first."""
    return sum(thread.runtime == runtime != runtimes.RANK and judge.needs_core(thread, rank) for thread in rank.threads)


def is_own_helper(thread: SampledThread) -> bool:
    """Whether it is a thread of the program that needs a core, but computes nothing."""
    return thread.runtime == runtimes.OTHER and judge.is_helper(thread) and judge.computes(thread)


def uses_openmp(samples: BindingSamples) -> bool:
    return any(
        any(thread.runtime == runtimes.OPENMP for thread in rank.threads)
        or any(name.startswith(("OMP_", "GOMP_", "KMP_")) for name in rank.environment)
        for rank in samples.ranks
    )


def blas_variables(samples: BindingSamples) -> tuple[str, ...]:
    libraries = {thread.library for rank in samples.ranks for thread in rank.threads if thread.runtime == runtimes.BLAS}
    return tuple(name for form, name in BLAS_VARIABLES if any(re.match(form, library) for library in libraries))


def options(launcher: str, share: RankShare) -> tuple[str, ...]:
    """As Open MPI 4 and 5, Hydra (MPICH, Intel MPI, MVAPICH) and srun take them."""
    return {OPENMPI: of_openmpi, HYDRA: of_hydra, SRUN: of_srun}[launcher](share) if launcher else ()


def of_openmpi(share: RankShare) -> tuple[str, ...]:
    if not share.units:
        yields = ("--mca", "mpi_yield_when_idle", "1")
        return ("--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", *yields)
    by = "slot" if share.nodes == 1 else f"ppr:{share.ranks_per_node}:node"
    if share.hardware_threads:
        return ("--use-hwthread-cpus", "--map-by", f"{by}:PE={share.units}", "--bind-to", "hwthread")
    return ("--map-by", f"{by}:PE={share.units}", "--bind-to", "core")


def of_hydra(share: RankShare) -> tuple[str, ...]:
    if not share.units:
        return ("-bind-to", "none")
    return ("-bind-to", f"{'hwthread' if share.hardware_threads else 'core'}:{share.units}")


def of_srun(share: RankShare) -> tuple[str, ...]:
    if not share.units:
        return ("--overcommit", "--cpu-bind=none")
    if share.hardware_threads:
        return (f"--cpus-per-task={share.units}", "--cpu-bind=threads")
    return (f"--cpus-per-task={share.units * share.processors_per_core}", "--cpu-bind=cores")


def variables(samples: BindingSamples, share: RankShare) -> dict[str, str]:
    found: dict[str, str] = {}
    if share.openmp:
        found["OMP_NUM_THREADS"] = str(share.openmp)
        if share.units:
            found |= {"OMP_PLACES": "threads" if share.hardware_threads else "cores", "OMP_PROC_BIND": "close"}
        else:
            found |= {"OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive"}
        if any("KMP_AFFINITY" in rank.environment for rank in samples.ranks):
            found["KMP_AFFINITY"] = "respect,granularity=core,compact"
    if share.blas:
        found |= dict.fromkeys(share.blas_variables, str(share.blas))
    if share.progress_off:
        found |= PROGRESS_OFF
    return found


def remarks(samples: BindingSamples, share: RankShare) -> tuple[str, ...]:
    found = []
    if not share.units:
        most = min(units_left(len(node.processors), node.quota) for node in samples.nodes)
        found.append(f"no binding mends more ranks than cores: start at most {counted(most, 'rank')} on a node")
    if share.progress_off:
        found.append("no core is left for progress threads of MPI; to keep them, start fewer ranks or threads")
    helpers = max(sum(map(is_own_helper, rank.threads)) for rank in samples.ranks)
    if 0 < share.units < 1 + helpers:
        found.append("no core is left for waiting threads of the program; start fewer ranks, or let them sleep")
    if share.blas and not share.blas_variables:
        found.append("set the number of threads of your BLAS library by its own variable")
    return tuple(found)


def mended(command: Sequence[str], found: BindingProposal) -> list[str]:
    """The command, with the proposal in place of its own options of binding. Empty if it has no launcher."""
    words = list(command)
    for place in range(launcher_at(words) - 1, -1, -1):
        words[place:] = without_binder(words[place:])
    at = launcher_at(words)
    if at == len(words) or not found.launcher:
        return []
    line: list[str] = []
    for number, part in enumerate(launch_lines.between_colons(words[at + 1 :])):
        line += [":"] if number else []
        line += mended_part(part, found, is_first=number == 0)
    before = words[:at]
    if found.launcher == SRUN and found.variables:
        before += ["env", *(f"{name}={value}" for name, value in found.variables.items())]
    return [*before, words[at], *line]


def usual_command(launcher: str) -> list[str]:
    """In place of one that is not known."""
    return [{OPENMPI: "mpirun", HYDRA: "mpiexec", SRUN: "srun"}[launcher], "..."] if launcher else []


def launcher_at(words: Sequence[str]) -> int:
    """Its place; the number of words if there is none."""
    return next((at for at, word in enumerate(words) if launch_lines.is_launcher(Path(word).name)), len(words))


def without_binder(words: list[str]) -> list[str]:
    """The command that taskset or numactl starts, where it can be found; else the words unchanged."""
    if words and Path(words[0]).name in BINDERS:
        return without_binder(launch_lines.from_program(words[1:])) or words
    return words


def mended_part(words: list[str], found: BindingProposal, is_first: bool) -> list[str]:
    """The words between two colons. Hydra's options hold for all parts, Open MPI's for one."""
    program = launch_lines.program_in(words, found.launcher == SRUN)
    count = len(program.options)
    kept, dropped = divided(words[:count], found)
    after = without_binder(words[count:])
    if found.launcher != OPENMPI and not is_first:
        return [*kept, *after]
    crowded = found.share.units and any("oversubscribe" in word.lower() for word in dropped)
    ours = [f"{word}:OVERSUBSCRIBE" if crowded and ":PE=" in word else word for word in found.options]
    return [*ours, *handed_on(found), *kept, *after]


def handed_on(found: BindingProposal) -> Iterator[str]:
    """Variables, as an MPI launcher hands them to the ranks."""
    if found.launcher == SRUN:
        return
    for name, value in found.variables.items():
        yield from ("-x", f"{name}={value}") if found.launcher == OPENMPI else ("-genv", name, value)


def divided(words: list[str], found: BindingProposal) -> tuple[list[str], list[str]]:
    """A launcher's options: those that stay; those that bind, or set a variable that the proposal sets."""
    kept: list[str] = []
    dropped: list[str] = []
    is_srun = found.launcher == SRUN
    place = 0
    while place < len(words):
        name, _, values = launch_lines.option_at(words, place, is_srun)
        option = words[place : place + 1 + values]
        place += 1 + values
        value = option[1] if len(option) > 1 else ""
        binds = name in (SRUN_OPTIONS if is_srun else MPI_OPTIONS)
        binds |= not is_srun and name.endswith("mca") and MCA_BINDING.match(value) is not None
        sets = not is_srun and name in ("x", "env", "genv") and value.partition("=")[0] in found.variables
        (dropped if binds or sets else kept).extend(option)
    return kept, dropped
