"""The same idea under the names that other libraries have for it. What has no equal there is left to that library."""

from __future__ import annotations

# UCC's TL/UCP (ucc_info -A).
UCC = {
    "allreduce": {
        "recursive_doubling": "knomial",
        "rabenseifner": "sra_knomial",
        "reduce_scatter_allgather": "sra_knomial",
        "ring": "ring",
        "segmented_ring": "ring",
    },
    "reduce": {"binomial": "knomial", "rabenseifner": "srg", "reduce_scatter_gather": "srg"},
    "bcast": {
        "binomial": "knomial",
        "binomial_in_turn": "knomial",
        "binomial_near": "knomial",
        "knomial": "knomial",
        "scatter_allgather": "sag_knomial",
        "scatter_recursive_doubling_allgather": "sag_knomial",
    },
}
# Fujitsu MPI, which descends from Open MPI: the names of its decision file that do not ask for its network.
FUJITSU = {
    "allreduce": {"recursive_doubling": "recursive_doubling", "ring": "ring"},
    "reduce": {"binomial": "binomial", "in-order_binary": "in-order_binary"},
    "bcast": {"pipeline": "pipeline", "split_binary_tree": "split_binary_tree"},
}
