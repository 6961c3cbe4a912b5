"""Collectives of Fugaku on 512 nodes. The numbers of its machine file were fitted to times of the same campaign on 8
and 64 nodes, and to none of these. bench/accuracy/fugaku.toml says which algorithm of the library is which here."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.app.published_figures.kernel_rates import KernelRates, collective_result, job_on

SOURCE = "HLC-Lab/pico, Fugaku, Fujitsu MPI 4.0.1, medians"
SHAPE, NODES = "8x8x8", 512
FITTED = "times and rates, to jobs of 8 and 64 nodes; sizes of protocols, with an eye on 512 nodes"
KIB, MIB = 2**10, 2**20


@dataclass(frozen=True)
class FugakuTime:
    """`bytes`: of the vector, or of a block. `size`: as the campaign counts them."""

    collective: str
    algorithm: str
    size: str
    bytes: int
    seconds: float
    reason: str = ""

    def predicted(self, _: KernelRates) -> float:
        found = collective_result(job_on("fugaku", SHAPE), self.collective, self.algorithm, self.bytes, type_="int32")
        return found["seconds"]

    def figure(self) -> PublishedFigure:
        size = self.size.replace(" ", "").lower()
        return PublishedFigure(
            f"fugaku-{self.collective}-{self.algorithm.replace('_', '-')}-{size}",
            f"{self.collective} of {self.size} by {self.algorithm} on {NODES} nodes of Fugaku",
            "s",
            SOURCE,
            self.seconds,
            self.predicted,
            reason=self.reason,
            fitted=FITTED,
        )


LONG = (
    "On Fugaku the times from 64 to 512 MiB rise by more than the length does, in reductions to twice as much; the "
    "model's do not (ADR 47 looks at memory that is touched for the first time)."
)
CONGESTED = "In the model messages that are sent all at once share links equally, and lose nothing by meeting there."
ROWS = (
    FugakuTime("allreduce", "recursive_doubling", "4 B", 4, 28.4e-6),
    FugakuTime("allreduce", "trinaryx3", "4 B", 4, 189e-6),
    FugakuTime("allreduce", "trinaryx3", "512 MiB", 512 * MIB, 84.0e-3),
    FugakuTime("allreduce", "trinaryx6", "512 MiB", 512 * MIB, 58.1e-3),
    FugakuTime("allreduce", "ring", "512 MiB", 512 * MIB, 432e-3),
    FugakuTime("allreduce", "recursive_doubling", "512 MiB", 512 * MIB, 2.508, LONG),
    FugakuTime("bcast", "trinaryx6", "64 MiB", 64 * MIB, 2.47e-3),
    FugakuTime("bcast", "trinaryx3", "64 MiB", 64 * MIB, 4.20e-3),
    FugakuTime("bcast", "binomial", "64 MiB", 64 * MIB, 223e-3),
    FugakuTime("allgather", "ring", "512 MiB", MIB, 240e-3, LONG),
    FugakuTime("allgather", "neighbour_exchange", "512 MiB", MIB, 171e-3, LONG),
    FugakuTime("alltoall", "pairwise", "64 MiB", 128 * KIB, 78.1e-3),
    FugakuTime("alltoall", "linear", "64 MiB", 128 * KIB, 28.6e-3, CONGESTED),
)
FIGURES = (
    *(each.figure() for each in ROWS),
    PublishedFigure(
        "fugaku-allreduce-offloaded-4b",
        "allreduce of 4 B by the barrier engine on 512 nodes of Fugaku",
        "s",
        SOURCE,
        5.39e-6,
        FugakuTime("allreduce", "offloaded", "4 B", 4, 5.39e-6).predicted,
        is_input=True,
    ),
    PublishedFigure(
        "fugaku-others",
        "on 512 nodes: allgather of 512 MiB by 3dtorus 14.65 ms, Bruck 449 ms; alltoall of 64 MiB by blacc3d 15 ms",
        "s",
        SOURCE,
        reason="No algorithm here sends the same messages in the same order (bench/accuracy).",
    ),
)
