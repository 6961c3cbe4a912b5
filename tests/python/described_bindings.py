"""Machines and programs as the sampler would tell of them, for tests of the judge and of proposals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kumihimo.run.binding import runtimes
from kumihimo.run.binding.proposal import RankShare
from kumihimo.run.binding.samples import BindingSamples, Processors, SampledNode, SampledRank, SampledThread

LIBRARIES = {
    runtimes.OPENMP: "libgomp.so.1",
    runtimes.BLAS: "libopenblas.so.0",
    runtimes.TBB: "libtbb.so.12",
    runtimes.MPI: "libmpich.so.12",
}
numbers = itertools.count(1000)


def node(cores: int, smt: int = 1, host: str = "n0", quota: float | None = None, first: int = 0) -> SampledNode:
    """Processors of a core are `cores` apart, as Linux numbers hardware threads; cores begin at `first`."""
    every = range(first, first + cores)
    return SampledNode(host, tuple(frozenset(core + cores * k for k in range(smt)) for core in every), quota)


def thread(runtime: str, mask: Processors, busy: float = 0.9, spins: str | None = None) -> SampledThread:
    library = LIBRARIES.get(runtime, "")
    return SampledThread(next(numbers), runtime, library, mask, mask, min(mask), busy, spins, "x", 2.0)


def rank(number: int, on: SampledNode, mask: Processors, workers: int = 0, *more: SampledThread) -> SampledRank:
    """With `workers` of OpenMP beside the main thread, all with the mask of the rank, and an idle thread of MPI."""
    team = [thread(runtimes.OPENMP, mask) for _ in range(workers)]
    main = thread(runtimes.RANK, mask)
    idle = thread(runtimes.MPI, mask, busy=0.0001)
    environment = {"OMP_NUM_THREADS": str(workers + 1)} if workers else {}
    return SampledRank(number, on.host, mask, (main, *team, idle, *more), environment)


def samples(on: SampledNode, ranks: Sequence[SampledRank]) -> BindingSamples:
    return BindingSamples((on,), tuple(ranks), len(ranks))


@dataclass(frozen=True)
class Job:
    """`ranks` of `threads` each, on a node with room for them."""

    node: SampledNode
    ranks: int
    threads: int

    def own_cores(self, number: int) -> Processors:
        """As a launcher binds: the next cores for each rank."""
        cores = self.node.cores[number * self.threads : (number + 1) * self.threads]
        return frozenset().union(*cores)

    def bound(self) -> list[SampledRank]:
        return [rank(n, self.node, self.own_cores(n), self.threads - 1) for n in range(self.ranks)]


def pinned(of: SampledRank, seats: Sequence[Processors]) -> SampledRank:
    """Each thread that counts to a seat of its own, as OMP_PROC_BIND does."""
    free = iter(seats)
    threads = [
        replace(each, processors=next(free)) if each.runtime in (runtimes.RANK, runtimes.OPENMP) else each
        for each in of.threads
    ]
    return replace(of, threads=tuple(threads))


def launched(before: BindingSamples, share: RankShare) -> BindingSamples:
    """The same program, as a launcher and the runtimes would start it with the proposal: each rank gets the next units
    of its node, OpenMP and BLAS as many threads as they are told."""
    nodes = {each.host: each for each in before.nodes}
    ranks = []
    for host, on in nodes.items():
        units = [frozenset({p}) for core in on.cores for p in sorted(core)] if share.hardware_threads else on.cores
        for place, old in enumerate(before.ranks_on(host)):
            own = units[place * share.units : (place + 1) * share.units] if share.units else units
            mask = frozenset().union(*own)
            more = [thread(runtimes.BLAS, mask) for _ in range(max(0, share.blas - 1))]
            if not share.progress_off:
                spinning = [each for each in old.threads if each.runtime == runtimes.MPI and each.busy > 0.05]
                more += [replace(each, processors=mask) for each in spinning]
            more += [replace(each, processors=mask) for each in old.threads if each.runtime == runtimes.TBB]
            ranks.append(rank(old.rank, on, mask, max(0, share.openmp - 1), *more))
    return replace(before, ranks=tuple(ranks))
