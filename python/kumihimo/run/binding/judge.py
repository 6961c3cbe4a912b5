"""The faults of a binding: from samples of threads and the cores of the nodes, and from nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kumihimo.run.binding import runtimes
from kumihimo.run.binding.samples import (
    BindingSamples,
    Processors,
    SampledNode,
    SampledRank,
    SampledThread,
    list_text,
)
from kumihimo.run.binding.seats import Contention, Seating
from kumihimo.text.quantities import counted

ONE_CORE = "ranks-on-one-core"
RANKS_SHARE = "ranks-share-cores"
TOO_NARROW = "too-few-cores-for-a-rank"
TEAMS_SHARE = "threads-of-ranks-share-cores"
TOO_MANY_RANKS = "more-ranks-than-cores"
TOO_MANY_THREADS = "more-threads-than-cores"
BLAS_INSIDE = "blas-inside-openmp"
PROGRESS = "progress-threads-on-cores-of-ranks"
QUOTA = "more-threads-than-the-quota"
KINDS: tuple[str, ...] = (ONE_CORE, RANKS_SHARE, TOO_NARROW, TEAMS_SHARE, TOO_MANY_RANKS, TOO_MANY_THREADS, BLAS_INSIDE)
KINDS += (PROGRESS, QUOTA)

# The least share of a processor with which a thread counts: it is not idle, also where hundreds share a core. Threads
# of MPI and of the program's own wake up now and then without doing harm.
BUSY, BUSY_HELPER = 0.005, 0.05
LITTLE_TIME = 0.05  # seconds in which nothing is known of shares
ORDER = (runtimes.RANK, runtimes.OPENMP, runtimes.TBB, runtimes.OTHER, runtimes.BLAS, runtimes.MPI)


@dataclass(frozen=True)
class PlacedThread:
    """A thread that needs a core, of one of the ranks."""

    rank: int
    thread: SampledThread = field(compare=False)
    number: int = 0  # in the node


@dataclass(frozen=True)
class BindingFault:
    """`text`: a sentence without its full stop. `processors`: that are shared, if some are."""

    kind: str
    host: str
    ranks: tuple[int, ...]
    processors: Processors
    text: str

    def as_object(self) -> dict:
        shared = list_text(self.processors)
        return {
            "kind": self.kind,
            "host": self.host,
            "ranks": list(self.ranks),
            "processors": shared,
            "text": self.text,
        }


@dataclass(frozen=True)
class BindingVerdict:
    """`notes`: what is no fault, but may surprise."""

    faults: tuple[BindingFault, ...]
    notes: tuple[str, ...]


def verdict(samples: BindingSamples) -> BindingVerdict:
    faults: list[BindingFault] = []
    notes: list[str] = []
    for node in samples.nodes:
        ranks = samples.ranks_on(node.host)
        faults += faults_on(node, ranks)
        notes += notes_on(node, ranks)
    return BindingVerdict(tuple(faults), tuple(notes))


def needing_cores(ranks: Iterable[SampledRank]) -> list[PlacedThread]:
    """The threads that need a core, those first that a binding serves first."""
    found = [PlacedThread(rank.rank, thread) for rank in ranks for thread in rank.threads if needs_core(thread, rank)]
    found.sort(key=lambda each: (ORDER.index(each.thread.runtime), is_helper(each.thread), each.rank))
    return [PlacedThread(each.rank, each.thread, number) for number, each in enumerate(found)]


def needs_core(thread: SampledThread, rank: SampledRank) -> bool:
    if thread.runtime == runtimes.RANK:  # a main thread may wait for threads of its own that compute
        works = any(computes(other) for other in rank.threads if other.runtime != runtimes.RANK)
        return thread.demand >= BUSY or not works
    return computes(thread) or (thread.runtime == runtimes.MPI and thread.demand >= BUSY_HELPER)


def is_helper(thread: SampledThread) -> bool:
    """Whether it computes nothing: a thread that the MPI library has started, or one of the program that polls it, as
    in a loop of MPI_Test, or that yields in a loop."""
    return thread.runtime == runtimes.MPI or (
        thread.runtime == runtimes.OTHER and (polls_mpi(thread) or yields(thread))
    )


def polls_mpi(thread: SampledThread) -> bool:
    return thread.spins_in is not None and runtimes.is_of_mpi(thread.spins_in)


def yields(thread: SampledThread) -> bool:
    return (thread.spins_in or "").endswith(runtimes.YIELDS)


def computes(thread: SampledThread) -> bool:
    """Whether a thread that is not the first of its rank computes."""
    if thread.seconds and thread.seconds < LITTLE_TIME:
        return False
    helper = thread.runtime == runtimes.OTHER
    works = thread.runtime in (runtimes.OPENMP, runtimes.TBB, runtimes.BLAS)
    return thread.demand >= BUSY_HELPER if helper else works and thread.demand >= BUSY


def seats_of(node: SampledNode, threads: int) -> list[Processors]:
    """A core is for one thread. Where there are more threads than cores, each of its processors is."""
    if threads <= len(node.cores):
        return list(node.cores)
    return [frozenset({processor}) for core in node.cores for processor in sorted(core)]


def faults_on(node: SampledNode, ranks: Sequence[SampledRank]) -> list[BindingFault]:
    threads = needing_cores(ranks)
    seats = seats_of(node, len(threads))
    faults = list(on_one_core(node, ranks))
    faults += over_quota(node, threads)
    if len(threads) > len(seats):
        return [*faults, too_many(node, ranks, threads, len(seats))]
    return faults or contended(node, ranks, threads, seats)


def on_one_core(node: SampledNode, ranks: Sequence[SampledRank]) -> Iterator[BindingFault]:
    """All ranks of a node on one core, whether the launcher bound them or a runtime did so later."""
    used = frozenset().union(*(rank.main.processors for rank in ranks if rank.main))
    cores = [core for core in node.cores if core & used]
    if len(ranks) < 2 or len(cores) != 1 or len(node.cores) < 2:
        return
    by = "" if all(rank.processors == used for rank in ranks) else ", where a runtime bound them after MPI_Init"
    text = f"all {len(ranks)} ranks of {node.host} run on {processors_text(used)}{by}; {free_text(len(node.cores) - 1)}"
    yield BindingFault(ONE_CORE, node.host, tuple(rank.rank for rank in ranks), used, text)


def over_quota(node: SampledNode, threads: Sequence[PlacedThread]) -> list[BindingFault]:
    if node.quota is None or len(threads) <= max(1.0, node.quota):
        return []
    allowed = f"its control groups leave it {node.quota:g} processors' worth of time"
    text = f"{len(threads)} threads of {node.host} need a core each, but {allowed}"
    return [BindingFault(QUOTA, node.host, ranks_of(threads), frozenset(), text)]


def too_many(
    node: SampledNode, ranks: Sequence[SampledRank], threads: Sequence[PlacedThread], seats: int
) -> BindingFault:
    """Named after the kind of threads with which the cores are exceeded."""
    counts = {runtime: sum(each.thread.runtime == runtime for each in threads) for runtime in ORDER}
    so_far = itertools.accumulate(counts.values())
    excess = next(runtime for runtime, number in zip(ORDER, so_far) if number > seats)
    unit = "core" if seats == len(node.cores) else "hardware thread"
    has = f"the job may use {counted(seats, unit)} of {node.host}"
    involved = [each for each in threads if each.thread.runtime == excess]
    if excess == runtimes.RANK:
        return fault_of(TOO_MANY_RANKS, node, threads, frozenset(), f"{len(ranks)} ranks run, but {has}")
    if all(is_helper(each.thread) for each in involved):
        who = helper_text(involved[0].thread)
        text = f"with {who} {len(threads)} threads need a core each, but {has}"
        return fault_of(PROGRESS, node, involved, frozenset(), text)
    total = " + ".join(f"{n} of {runtime_text(runtime)}" for runtime, n in counts.items() if n)
    text = f"{len(threads)} threads ({total}) need a core each, but {has}"
    kind = BLAS_INSIDE if excess == runtimes.BLAS and counts[runtimes.OPENMP] else TOO_MANY_THREADS
    if kind == BLAS_INSIDE:
        text = f"BLAS starts threads beside those of OpenMP: {text}"
    return fault_of(kind, node, threads, frozenset(), text)


def helper_text(thread: SampledThread) -> str:
    """The owner of progress threads, and the library that has started them."""
    if thread.runtime == runtimes.MPI:
        return f"progress threads of MPI ({runtimes.library_text(thread.library)})"
    return f"{'progress' if polls_mpi(thread) else 'waiting'} threads of the program"


def runtime_text(runtime: str) -> str:
    return {runtimes.RANK: "ranks", runtimes.OTHER: "the program"}.get(runtime, runtime)


def contended(
    node: SampledNode, ranks: Sequence[SampledRank], threads: Sequence[PlacedThread], seats: Sequence[Processors]
) -> list[BindingFault]:
    """There are enough cores, but the masks leave some threads none of their own."""
    seating: Seating[PlacedThread] = Seating()
    found: dict[str, list[Contention[PlacedThread]]] = {}
    openmp = {each.rank for each in threads if each.thread.runtime == runtimes.OPENMP}
    for each in threads:
        wanted = [number for number, seat in enumerate(seats) if seat & each.thread.processors]
        contention = seating.add(each, wanted)
        if contention is not None:
            found.setdefault(kind_of(contention, openmp), []).append(contention)
    idle = len(seating.free(range(len(seats))))
    return [contention_fault(kind, node, each, seats, idle) for kind, each in found.items()]


def kind_of(contention: Contention[PlacedThread], openmp: set[int]) -> str:
    """`openmp`: the ranks with threads of OpenMP."""
    runtime, rank = contention.without.thread.runtime, contention.without.rank
    if runtime == runtimes.RANK:
        return RANKS_SHARE
    if is_helper(contention.without.thread):
        return PROGRESS
    if runtime == runtimes.BLAS and rank in openmp:
        return BLAS_INSIDE
    return TOO_NARROW if all(other.rank == rank for other in contention.others) else TEAMS_SHARE


def contention_fault(
    kind: str,
    node: SampledNode,
    contentions: Sequence[Contention[PlacedThread]],
    seats: Sequence[Processors],
    idle: int,
) -> BindingFault:
    involved = list(dict.fromkeys(one for each in contentions for one in (each.without, *each.others)))
    taken = frozenset(seat for each in contentions for seat in each.seats)
    shared = frozenset().union(*(seats[seat] for seat in taken))
    where = f"{processors_text(shared)} of {node.host}"
    runtime = contentions[0].without.thread.runtime
    if kind == TOO_NARROW:
        who = f"{ranks_text(ranks_of(involved))}: {len(involved)} threads ({runtime_text(runtime)}) share {where}"
    elif kind == PROGRESS:
        who = f"{helper_text(contentions[0].without.thread)} take time of ranks on {where}"
    elif kind == BLAS_INSIDE:
        who = f"BLAS starts threads beside those of OpenMP: {len(involved)} threads share {where}"
    elif kind == RANKS_SHARE:
        who = f"{ranks_text(ranks_of(involved))} share {where}"
    else:
        who = f"threads of {ranks_text(ranks_of(involved))} share {where}"
    return fault_of(kind, node, involved, shared, f"{who}; {free_text(idle)}")


def fault_of(
    kind: str, node: SampledNode, involved: Sequence[PlacedThread], shared: Processors, text: str
) -> BindingFault:
    threads = [each.thread for each in involved]
    spinning = [runtimes.spin_text(of.spins_in, of.library) for of in threads if of.spins_in]
    if spinning:
        spin = "spins" if len(spinning) == 1 else "spin"
        text += f"; {len(spinning)} of the threads {spin} (in {', '.join(sorted(set(spinning)))})"
    return BindingFault(kind, node.host, ranks_of(involved), shared, text)


def ranks_of(threads: Iterable[PlacedThread]) -> tuple[int, ...]:
    return tuple(sorted({each.rank for each in threads}))


def processors_text(processors: Processors) -> str:
    return f"processor{'s' if len(processors) != 1 else ''} {list_text(processors)}"


def free_text(cores: int) -> str:
    return f"{cores or 'no'} other core{' is' if cores == 1 else 's are'} free"


def ranks_text(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) != 1 else ''} {list_text(ranks)}"


def notes_on(node: SampledNode, ranks: Sequence[SampledRank]) -> Iterator[str]:
    threads = needing_cores(ranks)
    if len(node.cores) < len(threads) <= len(node.processors):
        yield f"{len(threads)} threads of {node.host} share {len(node.cores)} cores by their hardware threads"
    free = [rank.rank for rank in ranks if rank.processors >= node.processors]
    if free and len(ranks) > 1 and len(node.cores) > 1:
        yield f"{ranks_text(free)} of {node.host} {'is' if len(free) == 1 else 'are'} not bound: the kernel moves them"
