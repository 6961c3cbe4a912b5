"""Wisdom: what tuning chose, and for which machine."""

from collections.abc import Sequence

import kumihimo._topology


class Fingerprint:
    """What tells machines apart."""

    def __init__(self, processor: str, processors: int) -> None: ...

    @property
    def processor(self) -> str: ...

    @property
    def processors(self) -> int: ...

    def __eq__(self, arg: Fingerprint, /) -> bool: ...

    def __str__(self) -> str: ...

WISDOM_VERSION: int = 1

SMALLEST_TAG_UPPER_BOUND: int = 7

def this_machine() -> Fingerprint:
    """Of the machine that this process runs on."""

def wisdom_file_name(machine: Fingerprint, subject: str) -> str:
    """
    Of wisdom for this machine and an MPI library, by the first line of its version, or for 'kernels'.
    """

def shape_of(space: kumihimo._topology.RankSpace) -> str:
    """Of the nodes, by which wisdom finds the ranks; empty: they have none."""

def count_ranks(node_of_rank: Sequence[int]) -> tuple[int, int, int]:
    """
    Ranks, nodes and ranks per node (0: unlike) by which wisdom finds a communicator.
    """

def read_wisdom(text: str, machine: Fingerprint, mpi: str) -> int:
    """
    The number of choices in a file that is good for this machine and MPI library; BadInput says why it is not.
    """

KERNEL_SUBJECT: str = 'kernels'

def kernel_keys() -> list[list[tuple[str, str]]]:
    """
    Kernels to be tuned, each as pairs of a field and its value, the most used first.
    """

def kernels() -> list[str]:
    """The names of all kernels."""

def kernel_variants(kernel: str) -> list[tuple[str, str, list[tuple[str, str, list[int]]]]]:
    """
    Of a kernel: name, summary and parameters (name, meaning, values, the default first) of each variant.
    """

def reduce_class(operation: str, type: str) -> tuple[str, str]:
    """
    The class of operations and types by which reductions are tuned; an empty one is any.
    """

def read_kernel_wisdom(text: str, machine: Fingerprint) -> int:
    """
    The number of kernel choices in a file that is good for this machine; BadInput says why it is not.
    """

class KernelTuner:
    """Checks and measures kernel variants."""

    def __init__(self) -> None: ...

    def decide(self, key: Sequence[tuple[str, str]], bytes: int, seconds: float) -> str:
        """
        What was measured of all variants and which is chosen, as JSON (problem/tuner.hpp).
        """
