"""Published workloads as ready cases of `simulate app`: each with its problem, its machine, and the figure that was
published. No number of a machine file or of a rate is fitted to these figures."""

from __future__ import annotations

from dataclasses import dataclass, field

from kumihimo.app.hybrid_machine import STRONG_ROWS
from kumihimo.text.errors import did_you_mean, wrong_value


@dataclass(frozen=True)
class PublishedCase:
    """`settings`: as --set has them. `figure`: GFLOPS; None: only the pattern was published. `ranks`: another number
    than the machine file's jobs have."""

    name: str
    application: str
    summary: str
    machine: str
    size: str
    settings: tuple[str, ...] = ()
    shape: str | None = None
    ranks: int | None = None
    figure: float | None = None
    source: str = ""
    notes: tuple[str, ...] = field(default=())


# 80 % of the memory of 88,128 nodes of 16 GB, in whole blocks of 192; the TOP500 list of 2011-11 has this N.
K_ROWS = 11_870_208
# The longest power of two whose input, output and work array (16 bytes a point) fit in 80 % of the memory of 18,432
# nodes of 16 GB.
K_POINTS_LOG2 = 42

CASES = (
    PublishedCase(
        name="k-hpl",
        application="lu",
        summary="HPL on the whole K computer",
        machine="k-computer",
        size=str(K_ROWS),
        settings=("block=192",),
        ranks=88_128,
        figure=10.51e6,
        source="TOP500 2011-11: 10.51 PFLOPS, 93.17 % of the peak of 88,128 nodes",
        notes=("88,128 nodes: with the I/O nodes, on message costs of a job of 82,944",),
    ),
    PublishedCase(
        name="k-global-fft",
        application="fft3d",
        summary="Global FFT of HPC Challenge on the K computer: one dimension, three transpositions",
        machine="k-computer",
        size=str(1 << K_POINTS_LOG2),
        settings=("exchange=linear",),
        shape="48x12x32",
        figure=34.7e3,
        source="HPC Challenge 2011: 34.7 TFLOPS",
        notes=(
            "18,432 nodes as 48x12x32, and 2^42 points in 80 % of their memory: neither is in the published figure",
            "an alltoall of all ranks in rotated order (linear), as MPI libraries had before paced ones",
        ),
    ),
    *(
        PublishedCase(
            name=f"npb-ft-{name.lower()}",
            application="fft3d",
            summary=f"messages of NPB FT class {name}: an alltoall of all ranks an iteration",
            machine="k-computer",
            size="x".join(map(str, points)),
            settings=(f"iterations={iterations}",),
            source="NAS Parallel Benchmarks, FT: slabs of planes, one transposition an iteration",
        )
        for name, points, iterations in (
            ("B", (512, 256, 256), 20),
            ("C", (512, 512, 512), 20),
            ("D", (2048, 1024, 1024), 25),
        )
    ),
    PublishedCase(
        name="hybrid",
        application="lu",
        summary="HPL on 16 nodes with GPUs and 64 without",
        machine="hybrid-cluster",
        size="",
        settings=("nodes=16+64",),
        figure=14_520.0,
        source="Shi et al., Cluster'13: 14,520 GFLOPS, 73.7 % of 6,480 + 13,210",
    ),
    PublishedCase(
        name="hybrid-series",
        application="lu",
        summary="HPL on 4 nodes with GPUs and 4, 8, 12 and 16 without",
        machine="hybrid-cluster",
        size="",
        settings=("nodes=4+4,4+8,4+12,4+16",),
        source="Shi et al., Cluster'13: the numbers of nodes",
    ),
    PublishedCase(
        name="hybrid-strong",
        application="lu",
        summary="HPL of 100,000 rows on 4 nodes with GPUs and 4, 8, 12 and 16 without",
        machine="hybrid-cluster",
        size=str(STRONG_ROWS),
        settings=("nodes=4+4,4+8,4+12,4+16",),
        source="Shi et al., Cluster'13: the numbers of rows and nodes",
    ),
)


def find(name: str, application: str) -> PublishedCase:
    known = [each.name for each in CASES if each.application == application]
    for each in CASES:
        if each.name == name and each.application == application:
            return each
    rule = f"--case of {application} must be one of {', '.join(known)}" if known else f"{application} has no --case"
    raise wrong_value(rule, f"'{name}'", did_you_mean(name, known) or ("" if known else "leave it out"))


def points_of(case: PublishedCase) -> int:
    return int(case.size)
