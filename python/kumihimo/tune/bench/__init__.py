"""Real runs: collectives on the MPI processes of this machine, checked against the golden copy, measured beside the
MPI library's own, and chosen by measurement."""

from typing import TYPE_CHECKING

from kumihimo.text.lazy_names import lazily

if TYPE_CHECKING:
    from kumihimo.tune.bench.cases import BenchCase, cases_of_all
    from kumihimo.tune.bench.job import LaunchResults, run_check, run_measure
    from kumihimo.tune.bench.nodes import OtherNodes, RealNodes, real_nodes
    from kumihimo.tune.bench.tuned import run_tuned

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
__all__ = [
    "BenchCase",
    "LaunchResults",
    "OtherNodes",
    "RealNodes",
    "cases_of_all",
    "real_nodes",
    "run_check",
    "run_measure",
    "run_tuned",
]
__getattr__ = lazily(__name__, OF_MODULES)
