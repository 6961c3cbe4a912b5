"""Collectives of Leonardo on 1,024 and 2,048 nodes. The numbers of its machine file were fitted to times of the same
campaign on 64 and 512 nodes, and to none of these (bench/accuracy/leonardo.toml)."""

from __future__ import annotations

from collections.abc import Callable

from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.app.published_figures.kernel_rates import KernelRates, collective_result, job_on

SOURCE = "HLC-Lab/pico, Leonardo, Open MPI 4.1.6, one rank a node, medians"
FITTED = "times and rates, to jobs of 64 and 512 nodes"
SIZES = {"32 B": 32, "2 KiB": 2**11, "16 KiB": 2**14, "1 MiB": 2**20, "8 MiB": 2**23, "64 MiB": 2**26, "512 MiB": 2**29}
# Size of the vector, algorithm, us on 1,024 and 2,048 nodes.
ALLREDUCE = (
    ("32 B", "recursive_doubling", 29.4, 31.8),
    ("2 KiB", "recursive_doubling", 40.4, 44.1),
    ("16 KiB", "rabenseifner", 53.0, 57.0),
    ("16 KiB", "recursive_doubling", 81.0, 89.0),
    ("16 KiB", "ring", 2601.0, 5137.0),
    ("1 MiB", "rabenseifner", 852.0, 879.0),
    ("1 MiB", "recursive_doubling", 2967.0, 3301.0),
    ("1 MiB", "ring", 3875.0, 6839.0),
    ("64 MiB", "rabenseifner", 47.9e3, 45.1e3),
    ("64 MiB", "recursive_doubling", 230e3, 242e3),
    ("64 MiB", "ring", 45.4e3, 48.8e3),
    ("512 MiB", "rabenseifner", 364e3, 353e3),
    ("512 MiB", "ring", 385e3, 478e3),
)
ALLGATHER = (("8 MiB", "neighbour_exchange", None, 5697.0), ("8 MiB", "recursive_doubling", None, 1016.0))


def seconds(collective: str, algorithm: str, nodes: int, size: int) -> Callable[[KernelRates], float]:
    return lambda _: collective_result(job_on("leonardo", str(nodes)), collective, algorithm, size, type_="int32")[
        "seconds"
    ]


def figure(collective: str, size: str, algorithm: str, nodes: int, microseconds: float) -> PublishedFigure:
    length = SIZES[size] // (nodes if collective == "allgather" else 1)
    return PublishedFigure(
        f"leonardo-{collective}-{algorithm.replace('_', '-')}-{size.replace(' ', '').lower()}-{nodes}",
        f"{collective} of {size} by {algorithm} on {nodes:,} nodes of Leonardo",
        "s",
        SOURCE,
        microseconds * 1e-6,
        seconds(collective, algorithm, nodes, length),
        reason=REASONS.get((collective, algorithm, size), ""),
        fitted=FITTED,
    )


COPIES = (
    "The times tell how fast Leonardo copies and sums only to a factor of 4 (bench/results/accuracy-infiniband.md)."
)
REASONS = {
    ("allreduce", "recursive_doubling", "2 KiB"): COPIES,
    ("allreduce", "recursive_doubling", "1 MiB"): COPIES,
    ("allreduce", "rabenseifner", "1 MiB"): COPIES,
    ("allreduce", "ring", "64 MiB"): "Its messages of 32 and 64 KiB are at the length from which the library asks "
    "before it sends. That length is assumed, and the model pays for the question.",
    (
        "allgather",
        "neighbour_exchange",
        "8 MiB",
    ): "A step takes 5.6 us on Leonardo and 3.4 us here. What it waits for is "
    "not in the source; recursive doubling of the same blocks is within 5 %.",
}
FIGURES = tuple(
    figure(collective, size, algorithm, nodes, microseconds)
    for collective, rows in (("allreduce", ALLREDUCE), ("allgather", ALLGATHER))
    for size, algorithm, *times in rows
    for nodes, microseconds in zip((1024, 2048), times)
    if microseconds is not None
)
