"""Rates that were published, to set beside measured ones."""

from __future__ import annotations

SOURCE = "T. Hanawa et al., evaluation of Reedbush-U (University of Tokyo), 2016"

# mdtest: items each second.
METADATA = (
    {"machine": "Reedbush-U, Lustre", "ranks": "one node", "folder": "", "create": 5149, "stat": 5776, "remove": 6129},
    {
        "machine": "Reedbush-U, Lustre",
        "ranks": "128 processes",
        "folder": "one",
        "create": 93481,
        "stat": 154854,
        "remove": 60338,
    },
    {
        "machine": "Reedbush-U, Lustre",
        "ranks": "128 processes",
        "folder": "each",
        "create": 111126,
        "stat": 393736,
        "remove": 68902,
    },
)

# IOR: POSIX and MPI-IO, a file per process, calls of 1 MiB, 420 nodes with 1, 2 and 4 processes each.
BANDWIDTH = (
    {"machine": "Reedbush-U, Lustre", "nodes": 420, "bytes_per_second": 80e9, "of_peak": 0.552},
    {"machine": "Reedbush-U, burst buffer", "nodes": 420, "bytes_per_second": 220e9, "of_peak": 0.505},
)
