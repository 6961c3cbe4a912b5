"""Tunes the MPI library's own algorithms: measures them, checks performance guidelines, writes the best choices as
files in the library's own forms, and checks that the library follows these files."""

from kumihimo.library.fingerprints import Setup
from kumihimo.library.measure import Effort
from kumihimo.library.results import NoTime, Results, WrittenFile, export, tune

__all__ = ["Effort", "NoTime", "Results", "Setup", "WrittenFile", "export", "tune"]
