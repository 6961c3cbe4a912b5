"""Real runs: collectives on the MPI processes of this machine, checked against the golden copy, measured beside the
MPI library's own, and chosen by measurement."""

from kumihimo.text.lazy_names import lazily

OF_MODULES = {
    "BenchCase": "cases",
    "OtherNodes": "nodes",
    "RealNodes": "nodes",
    "LaunchResults": "job",
    "cases_of_all": "cases",
    "real_nodes": "nodes",
    "run_check": "job",
    "run_measure": "job",
    "run_tuned": "tuned",
}
__all__ = [*OF_MODULES]
__getattr__ = lazily(__name__, OF_MODULES)
