"""Transforms of grids in three dimensions over the ranks of an mpi4py communicator: PFFT, with numpy arrays.

`python3 -m kumihimo.fft` prints what compiles and links a C program with the same library."""

from kumihimo.fft.plan import PFFT

__all__ = ["PFFT"]
