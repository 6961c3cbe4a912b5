"""Which runtime a thread belongs to, by the library that started it, and whether it spins, by its instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping

RANK, OPENMP, BLAS, TBB, MPI, GPU, OTHER = "rank", "OpenMP", "BLAS", "oneTBB", "MPI", "GPU", "other"
# How the file names of libraries begin. Those of BLAS come before those of MPI: MKL has a library for it.
LIBRARIES = (
    (OPENMP, r"lib(gomp|omp|iomp5)\b"),
    (BLAS, r"lib(scipy_)?openblas|libblis|libmkl_|libarmpl|libflexiblas|libatlas|libnvpl_blas"),
    (TBB, r"libtbb(\b|bind|malloc)"),
    (GPU, r"lib(cuda|cudart|nccl|nvidia|amdhip|hsa-runtime|rccl|ze_loader|nvshmem)"),
    (MPI, r"lib(mpi|pmpi|open-pal|open-rte|pmix|prrte|uc[pstmg]|fabric|psm2|psm3|hcoll|event|mlx\d|ibverbs|fastrtps)"),
    (MPI, r"lib(mpich|mpl|opa|hwloc|munge|verbs|efa|cxi)|mca_|lib(oshmem|sma)\b"),
)
YIELDS = ":sched_yield"  # ends a place where a thread offers its processor to others
LOOKS = 2  # least instructions of a thread that say what it does
SPINNING_SHARE = 0.5  # of them
RECORDER = "libkumihimo-recorder"  # whose code runs in calls of MPI
WAITING_LIBRARIES = (OPENMP, MPI, TBB)  # whose own code computes little: a thread there waits for others


def runtime_of(library: str | None) -> str:
    """OTHER: the program's own, or a library that is not known."""
    for runtime, form in LIBRARIES:
        if library and re.match(form, library):
            return runtime
    return OTHER


def spin_text(place: str, library: str) -> str:
    """For people. `library`: which started the thread; of the first thread of a rank none did."""
    if place.startswith(RECORDER):
        return "calls of MPI"
    if not place.endswith(YIELDS):
        return library_text(place)
    return "sched_yield" + (f" of {library_text(library)}" if library else "")


def library_text(library: str) -> str:
    """libgomp.so.1 -> libgomp."""
    return library.partition(".so")[0]


def is_of_mpi(place: str) -> bool:
    """Whether a thread that is found there is in a call of MPI."""
    return runtime_of(place) == MPI or place.startswith(RECORDER)


def spins_in(instructions: Mapping[str, int]) -> str | None:
    """The place where a thread keeps its processor and only waits; None if it computes, or too little is known. A BLAS
    library computes in its own code, so it spins only where it yields."""
    looks = sum(instructions.values())
    waiting = {
        place: count
        for place, count in instructions.items()
        if place.endswith(YIELDS) or runtime_of(place) in WAITING_LIBRARIES or is_of_mpi(place)
    }
    if looks < LOOKS or sum(waiting.values()) < SPINNING_SHARE * looks:
        return None
    return max(sorted(waiting), key=waiting.__getitem__)
