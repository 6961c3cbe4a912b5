"""Bytes of links that a recording predicts: by its messages, its collectives, the choices, and where the ranks were."""

from __future__ import annotations

from pathlib import Path

import pytest
from predict.replay.conftest import Rank, write_trace

from kumihimo.run.profile import trace_folder
from kumihimo.testbed import machine_file, testbeds
from kumihimo.tune.optimise import predicted_loads

RANKS, MESSAGE, SIZE = 4, 1000, 80_000
RING = {"collective": "allreduce", "ranks": RANKS, "algorithm": "ring", "parameters": {}, "from_bytes": 8}


@pytest.fixture
def plan() -> testbeds.TestbedPlan:
    machine = machine_file.of_shape(str(RANKS))
    topology = machine_file.topology_of(machine, None)
    return testbeds.TestbedPlan(
        "t", machine_file.text_of("t", machine.network, topology, 2, 1, 10**8, 0.0), 1, 10**8, 0.0
    )


def recorded(folder: Path, nodes: list[str], message: int = MESSAGE, size: int = SIZE, left_out: int = 0) -> Path:
    """Each rank sends to the next one, then all add."""
    ranks = []
    for number in range(RANKS):
        rank, after, before = Rank(), (number + 1) % RANKS, (number - 1) % RANKS
        if message and number % 2 == 0:
            rank.send(after, message).receive(before, message)
        elif message:
            rank.receive(before, message).send(after, message)
        ranks.append(rank.allreduce(size) if size else rank)
    write_trace(folder, ranks)
    profile = folder / trace_folder.PROFILE
    head, *lines = profile.read_text().splitlines()
    lines = [line.replace('"host": "h"', f'"host": "{node}"') for line, node in zip(lines, nodes)]
    profile.write_text("\n".join([head, *lines]) + "\n")
    return folder


def names(nodes: list[int]) -> list[str]:
    return [f"node{node}" for node in nodes]


def carried(plan: testbeds.TestbedPlan, loads: list[float]) -> dict[tuple[int, int], float]:
    """By the ends of the links that carry something."""
    return {plan.wiring.ends[row[0]]: load for row, load in zip(plan.described.links, loads) if load}


@pytest.mark.parametrize("nodes", [[0, 1, 2, 3], [3, 2, 1, 0]])
def test_messages_take_the_links_between_the_nodes_of_their_ranks(tmp_path, plan, nodes):
    loads = predicted_loads.RecordedLoads(recorded(tmp_path / "t", names(nodes), size=0), plan).by(())
    pairs = [(nodes[rank], nodes[(rank + 1) % RANKS]) for rank in range(RANKS)]
    assert carried(plan, loads) == dict.fromkeys(pairs, MESSAGE)


def test_a_choice_changes_the_links_of_its_collective(tmp_path, plan):
    folder = recorded(tmp_path / "t", names([0, 1, 2, 3]), message=0)
    without, chosen = predicted_loads.both(folder, plan, [RING])
    steps = 2 * (RANKS - 1)  # of a quarter each
    assert carried(plan, chosen) == {(node, (node + 1) % RANKS): steps * SIZE / RANKS for node in range(RANKS)}
    assert carried(plan, without) != carried(plan, chosen)
    other = {**RING, "ranks": RANKS + 1}
    assert predicted_loads.both(folder, plan, [other])[1] == without, "a choice for another number of ranks"
    # Trees in both directions do not fit a ring of 4 nodes by itself: `run` forwards such a call to the library.
    unfit = {**RING, "algorithm": "trinary_mesh", "parameters": {"trees": 9}}
    assert predicted_loads.both(folder, plan, [unfit])[1] == without


def test_why_there_is_no_prediction_is_one_sentence(tmp_path, plan):
    assert "profile.jsonl is missing" in predicted_loads.both(tmp_path, plan, [])
    away = recorded(tmp_path / "away", ["node0", "laptop", "node2", "node3"])
    assert predicted_loads.both(away, plan, []) == "the recording is of another host, laptop"


def test_an_earlier_recording_is_replaced(tmp_path):
    recorded(tmp_path / "t", names([0, 1, 2, 3]))
    assert predicted_loads.begin(tmp_path / "t").is_dir()
    assert not trace_folder.files_of(tmp_path / "t")
