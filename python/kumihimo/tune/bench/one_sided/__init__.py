"""One-sided communication measured: MPI windows, OpenSHMEM, Fortran coarrays and remote memory of our own.

Each is a back end of the bench driver (src/run/one_sided). `libraries`: what each back end needs, and whether it is
here. `launches`: launches by turns, joined. `published`: figures of Blue Waters. `formats`: the columns of OSU's
programs.
"""

from __future__ import annotations

# Those of src/run/one_sided/task.hpp, in the order of the tables, and what a table calls each.
MEASURES = {
    "put": "put, until its source may be changed",
    "put_fence": "put and fence: later puts come later",
    "put_quiet": "put, until the target has the data",
    "put_flag": "put with a flag, until the target sees it",
    "get": "get",
    "put_bandwidth": "bandwidth of puts",
    "get_bandwidth": "bandwidth of gets",
    "put_both_ways": "bandwidth of puts both ways",
    "put_rate": "messages per second of all pairs",
    "put_overlap": "overlap of a put with computation",
    "get_overlap": "overlap of a get with computation",
    "fetch_add": "fetch-add",
    "compare_and_swap": "compare-and-swap",
    "swap": "swap",
    "fetch_add_contended": "fetch-add by all ranks on one counter",
    "fence": "fence with nothing under way",
    "barrier": "barrier",
    "broadcast": "broadcast",
    "reduce": "sum to all ranks",
    "collect": "collect from all ranks",
}
WITHOUT_SIZE = ("fetch_add", "compare_and_swap", "swap", "fetch_add_contended", "fence", "barrier")
GROUPS = {
    "latency": ("put", "put_fence", "put_quiet", "put_flag", "get", "fence"),
    "bandwidth": ("put_bandwidth", "get_bandwidth", "put_both_ways"),
    "rate": ("put_rate",),
    "overlap": ("put_overlap", "get_overlap"),
    "atomics": ("fetch_add", "compare_and_swap", "swap", "fetch_add_contended"),
    "collectives": ("barrier", "broadcast", "reduce", "collect"),
}
WINDOWS = ("allocate", "create", "dynamic", "shared")
SYNCHRONISATIONS = ("flush", "lock_flush", "request", "lock", "lock_all", "fence", "pscw")
PLACES = {"node": "two ranks of a node", "network": "two ranks of different nodes", "all": "all ranks"}
