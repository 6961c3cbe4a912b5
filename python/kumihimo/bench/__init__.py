"""Real runs: collectives on the MPI processes of this machine, checked against the golden copy, measured beside the
MPI library's own, and chosen by measurement."""

from kumihimo.bench import programs
from kumihimo.bench.cases import Case, cases_of_all
from kumihimo.bench.job import Run, run_check, run_measure
from kumihimo.bench.nodes import OtherNodes, RealNodes, real_nodes
from kumihimo.bench.tuned import run_tuned

__all__ = [
    "Case",
    "OtherNodes",
    "RealNodes",
    "Run",
    "cases_of_all",
    "programs",
    "real_nodes",
    "run_check",
    "run_measure",
    "run_tuned",
]
