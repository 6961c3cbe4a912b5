"""What was published about the experiment. These figures are shown beside the model's; predictions use none but the
time of broadcast, to which two assumed costs were set (machines/k-computer.toml).

Source of all: Matsumoto et al., Implementation and evaluation of MPI_Allreduce on the K computer, SACSIS 2012.
"""

from __future__ import annotations

SUBJECT = "trinaryx3"  # the algorithm of the paper
PAPER_SHAPE = "48x6x32"
FULL_SHAPE = "48x54x32"

SOURCE = "Matsumoto et al., SACSIS 2012"
FIGURES: dict[str, dict] = {
    "bytes_per_second": {
        "value": 7.1e9,
        "what": "bandwidth of allreduce, 2 x bytes / time, 1 GiB, 9,216 nodes",
        "source": SOURCE,
    },
    "ratio_to_blind": {
        "value": 5.0,
        "what": "bandwidth against the best topology-blind algorithm of that library",
        "source": SOURCE,
    },
    "compute_share_reduce": {"value": 0.80, "what": "share of reduce that is computing", "source": SOURCE},
    "compute_share_allreduce": {"value": 0.54, "what": "share of allreduce that is computing", "source": SOURCE},
    "scalar_ratio_reduce": {"value": 1.80, "what": "time of reduce without SIMD against with it", "source": SOURCE},
    "scalar_ratio_allreduce": {
        "value": 1.54,
        "what": "time of allreduce without SIMD against with it",
        "source": SOURCE,
    },
    "seconds_reduce": {
        "value": 0.204,
        "what": "time of reduce, 1 GiB",
        "source": "inferred from the shares of time in " + SOURCE,
    },
    "seconds_bcast": {
        "value": 0.098,
        "what": "time of bcast, 1 GiB",
        "source": "inferred from the shares of time in " + SOURCE + "; the assumed costs were chosen to meet it",
    },
}
