"""Tunes the MPI library's own algorithms: measures them, checks performance guidelines, writes the best choices as
files in the library's own forms, and checks that the library follows these files."""

from kumihimo.text.lazy_names import lazily

OF_MODULES = {
    "MeasuringEffort": "measure",
    "NoTime": "results",
    "Results": "results",
    "Setup": "fingerprints",
    "WrittenFile": "results",
    "export": "results",
    "tune": "results",
}
__all__ = [*OF_MODULES]
__getattr__ = lazily(__name__, OF_MODULES)
