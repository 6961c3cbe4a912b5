"""Transforms of grids in three dimensions over the ranks of an mpi4py communicator: PFFT, with numpy arrays.

`python3 -m kumihimo.fft` prints what compiles and links a C program with the same library."""

from kumihimo.text.lazy_names import lazily

__all__ = ["PFFT"]

# Its module imports mpi4py, which starts MPI; `python3 -m kumihimo.fft` and what else asks for the library must not.
__getattr__ = lazily(__name__, {"PFFT": "plan"})
