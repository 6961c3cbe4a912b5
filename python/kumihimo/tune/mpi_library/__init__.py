"""Tunes the MPI library's own algorithms: measures them, checks performance guidelines, writes the best choices as
files in the library's own forms, and checks that the library follows these files."""

from typing import TYPE_CHECKING

from kumihimo.text.lazy_names import lazily

if TYPE_CHECKING:
    from kumihimo.tune.mpi_library.fingerprints import Setup
    from kumihimo.tune.mpi_library.measure import MeasuringEffort
    from kumihimo.tune.mpi_library.results import NoTime, Results, WrittenFile, export, tune

OF_MODULES = {
    "MeasuringEffort": "measure",
    "NoTime": "results",
    "Results": "results",
    "Setup": "fingerprints",
    "WrittenFile": "results",
    "export": "results",
    "tune": "results",
}
__all__ = ["MeasuringEffort", "NoTime", "Results", "Setup", "WrittenFile", "export", "tune"]
__getattr__ = lazily(__name__, OF_MODULES)
