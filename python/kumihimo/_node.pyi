"""Measurements of this node."""

from collections.abc import Sequence


class StreamSamples:
    @property
    def bound(self) -> str: ...

    @property
    def bytes_per_array(self) -> int: ...

    @property
    def cached(self) -> list[list[float]]: ...

    @property
    def streamed(self) -> list[list[float]]: ...

STREAM_KERNELS: list = ['copy', 'scale', 'add', 'triad']

STREAM_ARRAYS: list = [2, 2, 3, 3]

def measure_stream(bytes_per_array: int, threads: int, rounds: int) -> StreamSamples: ...

def usual_array_bytes() -> int:
    """
    Of one array of STREAM: 4 times all last-level caches of the node, at least 64 MiB.
    """

class PeakSamples:
    @property
    def instructions(self) -> str: ...

    @property
    def gflops(self) -> list[float]: ...

def measure_peak(threads: int, rounds: int) -> PeakSamples: ...

def flops_per_cycle(vendor: str, family: int, model: int, flags: str) -> int:
    """Operations on doubles per cycle and core; 0 where it is not known."""

class Gemm:
    """DGEMM of a BLAS library."""

    @staticmethod
    def open(path: str) -> Gemm: ...

    @property
    def name(self) -> str: ...

    @property
    def sets_threads(self) -> bool: ...

    def measure(self, n: int, threads: int, rounds: int) -> list[float]: ...

class HpcgSeconds:
    """Of one solution, by kind of loop."""

    @property
    def total(self) -> float: ...

    @property
    def dot(self) -> float: ...

    @property
    def update(self) -> float: ...

    @property
    def product(self) -> float: ...

    @property
    def preconditioner(self) -> float: ...

class CgResult:
    @property
    def iterations(self) -> int: ...

    @property
    def reduction(self) -> float: ...

    @property
    def seconds(self) -> HpcgSeconds: ...

class Validation:
    @property
    def passed(self) -> bool: ...

    @property
    def matrix_departure(self) -> float: ...

    @property
    def preconditioner_departure(self) -> float: ...

    @property
    def plain_iterations(self) -> int: ...

    @property
    def preconditioned_iterations(self) -> int: ...

class Hpcg:
    """A run of HPCG in its phases; see src/numerics/hpcg/benchmark.hpp."""

    @staticmethod
    def make(nx: int, ny: int, nz: int, threads: int) -> Hpcg: ...

    def run_reference(self) -> CgResult: ...

    def optimise(self, ordering: str, threads: int) -> None: ...

    def free_reference(self) -> None: ...

    def validate(self, threads: int) -> Validation: ...

    def converge(self, threads: int) -> CgResult: ...

    def run_set(self, threads: int) -> CgResult: ...

    @property
    def iterations(self) -> int: ...

    @property
    def error(self) -> float: ...

    @property
    def set_up_seconds(self) -> float: ...

    @property
    def optimisation_seconds(self) -> float: ...

    @property
    def groups(self) -> int: ...

    @property
    def bytes_per_iteration(self) -> float: ...

    @property
    def flops_per_set(self) -> float: ...

    def rating(self, sets: float, seconds: float) -> float:
        """GFLOPS of so many sets that took so many seconds together."""

def hpcg_bytes(nx: int, ny: int, nz: int) -> int:
    """Memory of a run."""

def hpcg_variance(reductions: Sequence[float]) -> float: ...
