"""Published figures of the experiment. These figures are shown beside the model's; predictions use none but the time of
broadcast, to which two assumed costs were set (machines/k-computer.toml).

Source of all: Matsumoto et al., Implementation and evaluation of MPI_Allreduce on the K computer, SACSIS 2012.
"""

from __future__ import annotations

from kumihimo.text.json_types import JsonObject

SUBJECT = "trinaryx3"  # the algorithm of the paper
PAPER_SHAPE = "48x6x32"
FULL_SHAPE = "48x54x32"

SOURCE = "Matsumoto et al., SACSIS 2012"
INFERRED = "inferred from the shares of time in " + SOURCE
FIGURES: dict[str, JsonObject] = {
    name: {"value": value, "what": what, "source": source}
    for name, value, what, source in (
        ("bytes_per_second", 7.1e9, "bandwidth of allreduce, 2 x bytes / time, 1 GiB, 9,216 nodes", SOURCE),
        ("ratio_to_blind", 5.0, "bandwidth against the best topology-blind algorithm of that library", SOURCE),
        ("compute_share_reduce", 0.80, "share of reduce that is computing", SOURCE),
        ("compute_share_allreduce", 0.54, "share of allreduce that is computing", SOURCE),
        ("scalar_ratio_reduce", 1.80, "time of reduce without SIMD against with it", SOURCE),
        ("scalar_ratio_allreduce", 1.54, "time of allreduce without SIMD against with it", SOURCE),
        ("seconds_reduce", 0.204, "time of reduce, 1 GiB", INFERRED),
        ("seconds_bcast", 0.098, "time of bcast, 1 GiB", INFERRED + "; the assumed costs were chosen to meet it"),
    )
}
