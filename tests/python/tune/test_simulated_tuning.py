"""Wisdom by the simulator."""

from __future__ import annotations

import pytest

from kumihimo import _collectives, _plan
from kumihimo.cli.machines import load
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation
from kumihimo.text.errors import NotApplicable
from kumihimo.tune import search, wisdom
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.simulated import Simulated, asked_of, named_segments, predict

SIZES = [2**e for e in range(3, 21)]


@pytest.fixture
def asked() -> simulation.CollectiveQuestion:
    return asked_of(simulation.on(load("k-computer"), Ranks("4x3x2", None, None)))


def test_the_fastest_of_all_and_its_figures(asked, journal):
    choices, left = Simulated(asked, journal(), BudgetClock(1000)).tune("allreduce", [8, 64, 2**20])
    assert left == []
    for choice in choices:
        assert choice["simulated"] is True
        assert (choice["ranks"], choice["nodes"], choice["ranks_per_node"]) == (24, 24, 1)
        assert "ratio" not in choice
        for each in choice["measured"]:
            for variant in simulation.variants("allreduce"):
                try:
                    other = predict(simulation.replace(asked, algorithm=variant.name), each["bytes"])
                except NotApplicable:
                    continue
                assert each["seconds"] <= other["seconds"] * 1.0001, variant.name
    text = wisdom.as_text(wisdom.document(choices, {"simulated": {"machine": "k-computer"}}))
    assert _plan.read_wisdom(text, _plan.this_machine(), "any library") == len(choices)


def test_segments_of_the_machine_are_named(asked, journal):
    """Real ranks have another default, which was not predicted."""

    def made_up(asked, size):
        return {"seconds": 1.0 if asked.algorithm == "chain" and not asked.parameters else 2.0}

    choices, _ = Simulated(asked, journal(), BudgetClock(1000), made_up).tune("bcast", [2**20])
    declared = asked.job.machine.segment_bytes
    assert declared != _collectives.REAL_SEGMENT_BYTES
    assert [(c["algorithm"], c["parameters"]) for c in choices] == [("chain", {"segment_bytes": declared})]
    assert named_segments("bcast", ("chain", (("segments", 3),)), declared) == {"segments": 3}
    assert named_segments("bcast", ("binomial", ()), declared) == {}


def test_nodes_of_unequal_size_are_tuned_for_apart_from_others(journal):
    def asked_on(sizes):
        return asked_of(simulation.on(load("k-computer"), Ranks("3", None, sizes)))

    found = {}
    for sizes in (2, (2, 1, 3)):
        choices, left = Simulated(asked_on(sizes), journal(), BudgetClock(1000)).tune("allreduce", [8, 64])
        assert left == []
        found[sizes] = {(c["ranks"], c["nodes"], c["ranks_per_node"]) for c in choices}
    assert found == {2: {(6, 3, 2)}, (2, 1, 3): {(6, 3, 0)}}
    again = Simulated(asked_on((2, 1, 3)), journal(), BudgetClock(1000), lambda *_: pytest.fail("predicted anew"))
    assert again.tune("allreduce", [8, 64])[0] == choices
    with pytest.raises(pytest.fail.Exception):
        Simulated(asked_on((3, 1, 2)), journal(), BudgetClock(1000), again.predict).tune("allreduce", [8, 64])


def test_it_looks_closer_where_the_winner_changes(asked, journal):
    asked_for = []

    def made_up(asked, size):
        asked_for.append(size)
        fast = "ring" if size >= 2048 else "binomial"
        return {"seconds": 1.0 if asked.algorithm == fast else 2.0}

    choices, _ = Simulated(asked, journal(), BudgetClock(1000), made_up).tune("allreduce", SIZES)
    assert [(c["algorithm"], c["from_bytes"], c["to_bytes"]) for c in choices] == [
        ("binomial", 1, 1448),
        ("ring", 1449, SIZES[-1]),
    ]
    assert {1024, 2048} <= set(asked_for)
    assert 16 not in asked_for


def test_few_sizes_are_taken_as_asked(asked, journal):
    choices, left = Simulated(asked, journal(), BudgetClock(1000), lambda *_: {"seconds": 1.0}).tune(
        "bcast", [8, 64, 4096]
    )
    assert left == []
    assert [(c["from_bytes"], c["to_bytes"]) for c in choices] == [(1, 64), (4096, 4096)], "too far to say between"


def test_one_size_is_predicted_whatever_the_budget(asked, journal):
    simulated = Simulated(asked, journal(), BudgetClock(0), lambda *_: {"seconds": 1.0})
    choices, left = simulated.tune("bcast", SIZES)
    assert [(c["from_bytes"], c["to_bytes"]) for c in choices] == [(1, SIZES[0])]
    assert left == search.coarse(SIZES)[1:]
    assert simulated.tune("reduce", SIZES) == ([], search.coarse(SIZES)), "the second has no time"


def test_the_budget_is_kept_and_the_next_goes_on(asked, journal):
    now = [0.0]

    def slow(asked, size):
        now[0] += 1
        return {"seconds": 1.0}

    first = Simulated(asked, journal(), BudgetClock(30, lambda: now[0]), slow)
    _, left = first.tune("bcast", SIZES)
    assert left
    assert now[0] <= 31
    second = Simulated(asked, journal(), BudgetClock(1000, lambda: now[0]), slow)
    choices, left = second.tune("bcast", SIZES)
    assert left == []
    assert choices[-1]["to_bytes"] == SIZES[-1]
    calls = now[0]
    assert Simulated(asked, journal(), BudgetClock(1000), slow).tune("bcast", SIZES) == (choices, [])
    assert now[0] == calls, "nothing is predicted twice"


def test_several_leaders_a_node_are_tried(journal):
    of_groups = set()

    def made_up(asked, size):
        if asked.algorithm != "hierarchical":
            return {"seconds": 3.0}
        of_groups.add(asked.parameters.get("group"))
        return {"seconds": 1.0 if asked.parameters.get("group") == 4 else 2.0}

    asked = asked_of(simulation.on(load("k-computer"), Ranks("4x3x2", None, 8)))
    choices, _ = Simulated(asked, journal(), BudgetClock(1000), made_up).tune("alltoall", [1024])
    assert of_groups == {None, 2, 4}, "smaller than the node"
    assert [(c["algorithm"], c["parameters"]) for c in choices] == [("hierarchical", {"group": 4})]
    text = wisdom.as_text(wisdom.document(choices, {"simulated": {"machine": "k-computer"}}))
    assert _plan.read_wisdom(text, _plan.this_machine(), "any library") == 1
