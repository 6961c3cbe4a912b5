"""The shipped files of Leonardo and MareNostrum 5 against a few of the times that they are fitted to, or are kept for
validation: medians of Pico (HLC-Lab/pico, results/leonardo and results/mare_nostrum, Open MPI 4.1.6 and 4.1.5). How far
all times are off: bench/results/accuracy-infiniband.md."""

from __future__ import annotations

import pytest

from kumihimo import _machine
from kumihimo.predict.calibrate import cases
from kumihimo.predict.campaign.description import toml

HEADER = "system,collective,nodes,ppn,vector_bytes,algorithm,median_us,source\n"
KIB, MIB = 2**10, 2**20
# Machine, collective, nodes, ranks a node, bytes of the vector, algorithm, median in us
MEASURED = [
    ("leonardo", "ALLREDUCE", 512, 1, 32, "recursive_doubling_ompi", 19.703),
    ("leonardo", "ALLREDUCE", 512, 1, 16 * KIB, "ring_ompi", 1433.7),
    ("leonardo", "ALLGATHER", 512, 1, 64 * MIB, "recursive_doubling_ompi", 10539.5),
    ("leonardo", "REDUCE_SCATTER", 64, 1, 512 * MIB, "ring_ompi", 383499.5),
    ("mare_nostrum", "ALLTOALL", 32, 1, 64 * MIB, "linear_ompi", 2807.1),
    ("mare_nostrum", "ALLREDUCE", 32, 1, 512 * MIB, "ring_ompi", 165486.1),
    ("mare_nostrum", "BCAST", 32, 1, 64 * MIB, "binomial_ompi", 40653.9),
    ("mare_nostrum", "GATHER", 32, 1, 512 * MIB, "binomial_ompi", 66725.7),
]
WITHIN = 1.25  # a factor
FILES = {"leonardo": "leonardo", "mare_nostrum": "marenostrum-5"}


def read(folder, repository, system, rows):
    """Cases of `rows` through the description that ships for this machine."""
    days = [(*row, "results/leonardo/2025_06_04" if row[2] == 64 else "results/leonardo/2025_03_28") for row in rows]
    (folder / "pico.csv").write_text(HEADER + "".join(",".join(map(str, row)) + "\n" for row in days))
    description = folder / f"{system}.toml"
    description.write_text((repository / "bench/accuracy" / f"{FILES[system]}.toml").read_text())
    return cases.read(description)


def shipped(repository, system):
    path = repository / "machines" / f"{FILES[system]}.toml"
    return _machine.parse(path.read_text(), str(path))


@pytest.mark.parametrize("system", FILES)
def test_predictions_are_near_measured_times(tmp_path, repository, system):
    machine = shipped(repository, system)
    predictor = cases.Predictor(read(tmp_path, repository, system, MEASURED), machine)
    assert len(predictor.cases) == 4 and not predictor.left_out
    for case, seconds in zip(predictor.cases, predictor.seconds(machine, predictor.cases)):
        assert 1 / WITHIN < seconds / case.seconds < WITHIN, (case.values, seconds, case.seconds)


@pytest.mark.parametrize("system", FILES)
def test_every_described_algorithm_is_one_of_the_registry(tmp_path, repository, system):
    """Each fits 32 nodes of its machine; names that are not described, as the library's own choice, are left out."""
    names = toml((repository / "bench/accuracy" / f"{FILES[system]}.toml").read_text(), tmp_path)
    described = names["measured"]["names"]["algorithm"]
    rows = [(system, name.split()[0].upper(), 32, 1, 64 * KIB, name.split()[1], 100.0) for name in described]
    rows.append((system, "ALLREDUCE", 32, 1, 64 * KIB, "default_ompi", 100.0))
    predictor = cases.Predictor(read(tmp_path, repository, system, rows), shipped(repository, system))
    assert len(predictor.cases) == len(described) and not predictor.left_out


def test_jobs_of_a_day_are_a_state_of_the_software(tmp_path, repository):
    rows = [row for row in MEASURED if row[0] == "leonardo"]
    states = [case.cells["software"] for case in read(tmp_path, repository, "leonardo", rows)]
    assert states == ["openmpi-2025-03"] * 3 + ["openmpi-2025-06"]
    assert set(states) == set(shipped(repository, "leonardo").software_states)


def test_blocks_of_collectives_are_shares_of_the_vector(tmp_path, repository):
    rows = [("leonardo", "ALLGATHER", 64, 4, 16 * KIB, "ring_ompi", 1.0)]
    (case,) = read(tmp_path, repository, "leonardo", rows)
    assert case.values["bytes"] == 64 and case.values["ranks"] == 256 and case.values["ranks_per_node"] == "4"
