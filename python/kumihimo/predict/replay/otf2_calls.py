"""Calls of MPI in OTF2 traces of several tools: which regions are calls, and what a collective moves."""

from __future__ import annotations

import math
import re

from kumihimo import _replay, _schedule
from kumihimo.predict.replay import otf2_archive

# By OTF2's names: ALLTOALLV and ALLTOALLW are an alltoall.
COLLECTIVES = {
    f"{name}{form}": number for number, name in enumerate(_replay.collectives()) for form in ("", "v", "w", "_block")
}
ROOTED = {number for number, name in enumerate(_replay.collectives()) if _schedule.meaning(name).has_root}

LOCAL_SENDS = {"MPI_Bsend", "MPI_Isend", "MPI_Ibsend", "MPI_Irsend", "MPI_Issend", "MPI_Start", "MPI_Startall"}


def call_of(name: str) -> str:
    """The call of MPI that a region is named after, "MPI_Send" for TAU's "MPI_Send()"; none: ""."""
    found = re.match(r"P?MPI_([A-Z]\w*)(?![\w:])", name)
    return "MPI_" + found[1].capitalize() if found else ""


def calls_in(regions: dict[int, tuple[str, int]]) -> set[int]:
    """The paradigm alone does not tell: TAU gives that of MPI to all regions with "mpi" in their names, and other tools
    give it to none. A program may have functions of its own such as MPI_Halo."""
    named = {ref: paradigm for ref, (name, paradigm) in regions.items() if call_of(name)}
    return {ref for ref, paradigm in named.items() if paradigm == otf2_archive.MPI} or set(named)


def moves_data(call: str) -> bool:
    """Collectives and one-sided calls. (A message to MPI_PROC_NULL moves none, and has no event either.)"""
    name = call.removeprefix("MPI_").lower()
    one_sided = r"r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap"
    return name in COLLECTIVES or name.removeprefix("i") in COLLECTIVES or re.fullmatch(one_sided, name) is not None


def kinds_of(library: object) -> dict[int, str]:
    """Names of OTF2's collectives."""
    prefix = "COLLECTIVE_OP_"
    names = (name for name in dir(library) if name.startswith(prefix))
    return {otf2_archive.number(getattr(library, name)): name[len(prefix) :].lower() for name in names}


def own_part(name: str, sent: int, got: int, is_root: bool) -> int:
    """Bytes that a profile counts, from those that a rank gives and gets: docs/profile-format.md."""
    if name.startswith("scatter"):
        return sent if is_root else got or sent
    if name in ("bcast", "reduce", "allreduce", "scan", "exscan"):
        return max(sent, got)
    return sent


def part_of_all(name: str, sent: int, got: int, ranks: int, own: int, is_root: bool) -> int:
    """The same, of what Score-P counts: the data to and from every rank, a rank's own included unless MPI_IN_PLACE was
    given. (`coll_bytes_...` in scorep_mpi_coll.inc.c of Score-P 8.)"""
    if name in ("bcast", "reduce"):
        return got if name == "bcast" else sent
    if name == "allreduce" or name.startswith("allgather"):
        return each_of(sent, ranks)
    if name in ("scan", "exscan"):
        in_place = name == "exscan" or sent * (own + 1) != got * (ranks - own)
        return (sent + got) // max(1, ranks - 1 if in_place else ranks + 1)
    if name in ("alltoall", "reduce_scatter_block"):
        return each_of(sent, ranks) * ranks
    if name == "gather" and is_root and sent == 0:
        return got // max(1, ranks - 1)
    if name == "scatter" and is_root and got == 0:
        return sent // max(1, ranks - 1) * ranks
    return own_part(name, sent, got, is_root)


def each_of(total: int, ranks: int) -> int:
    """The trace does not tell whether the rank's own part is in it: it is, unless only without it all are equal and
    whole words."""
    others = max(1, ranks - 1)

    def fits(parts: int) -> bool:
        return total % parts == 0 and total // parts % math.gcd(4, total) == 0

    return total // others if fits(others) and not fits(ranks) else -(-total // ranks)
