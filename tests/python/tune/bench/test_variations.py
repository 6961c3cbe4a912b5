"""What is tried beside an algorithm's own parameters."""

from __future__ import annotations

import pytest

from kumihimo.tune.bench import tuned, variations
from kumihimo.tune.bench.cases import BenchCase, applies
from kumihimo.tune.bench.tuned import CaseTuning
from kumihimo.tune.bench.variations import NodeFill


def surveyed(collective: str, ranks: int, ranks_per_node: int | None = None) -> list[BenchCase]:
    """The cases of the first launch of a tuning."""
    seen: list[BenchCase] = []

    def launch(_, name, cases, seconds):
        seen.extend(cases)
        return [{"algorithm": case.algorithm, "bytes": case.bytes, "seconds": 1.0} for case in cases]

    tuned.survey(
        CaseTuning(BenchCase(collective, "", ranks_per_node=ranks_per_node), ranks, [8, 64], launch=launch), [8, 64]
    )
    return seen


@pytest.mark.parametrize("collective", ["allreduce", "alltoall", "bcast"])
@pytest.mark.parametrize(("ranks", "group"), [(3, 2), (4, 2), (16, 4), (64, 8)])
def test_on_one_node_levels_are_tried_by_groups(collective, ranks, group):
    cases = [case for case in surveyed(collective, ranks) if case.algorithm == "hierarchical"]
    assert [(case.bytes, case.parameters) for case in cases] == [(8, {"group": group}), (64, {"group": group})]
    assert all(applies(case, ranks) for case in cases)


def test_where_there_are_nodes_these_are_the_groups():
    assert not any(case.algorithm == "hierarchical" for case in surveyed("alltoall", 2)), "too few for groups"
    on_two = [case.parameters for case in surveyed("alltoall", 8, 4) if case.algorithm == "hierarchical"]
    assert on_two == [{}, {}]
    on_unequal = [case.parameters for case in surveyed("alltoall", 5, 3) if case.algorithm == "hierarchical"]
    assert on_unequal == [{}, {}], "nodes of 3 and 2"
    others = [case for case in surveyed("alltoall", 4) if case.algorithm != "hierarchical"]
    assert others and all(case.parameters == {} for case in others)


def test_then_other_groups_are_tried():
    def tried(each: int) -> list[int]:
        given = {"group": 2}
        return [
            p["group"]
            for p in variations.others("alltoall", "hierarchical", 8, NodeFill(each, each), given)
            if p != given
        ]

    assert (tried(4), tried(6), tried(16)) == ([], [3, 4], [4, 8])
    assert variations.groups(48) == [2, 4, 8, 16, 24, 32]


def test_long_results_are_tried_past_the_caches():
    def tried(vary: variations.Vary, collective: str, name: str, size: int, given: dict, each: int = 4) -> list[dict]:
        found = vary(collective, name, size, NodeFill(4, each), given)
        return [p for p in found if p != given and ("streaming_stores" in p or "single_copy" in p)]

    past, single = {"streaming_stores": True}, {"single_copy": True}
    long = [("alltoall", "linear", 512 * 1024), ("scatter", "linear", 2**21), ("neighbor_alltoall", "direct", 2**20)]
    for collective, name, size in long:
        assert tried(variations.segments_and_copies, collective, name, size, {}) == [single, past]
        assert tried(variations.segments_and_copies, collective, name, size, {}, each=2) == [single, past]
        assert tried(variations.segments_and_copies, collective, name, size, {}, each=1) == [single]
        assert tried(variations.segments_and_copies, collective, name, size - 1, {}) == [single]
        assert {**single, **past} in tried(variations.others, collective, name, size, single)
        assert not any(past.items() <= p.items() for p in tried(variations.others, collective, name, size - 1, single))
    assert tried(variations.segments_and_copies, "scan", "chain", 2**30, {}) == [single]


def test_the_network_between_nodes_is_tried_where_there_are_several():
    def tried(each: int, size: int, given: dict) -> list[dict]:
        found = variations.segments_and_copies("allreduce", "ring", size, NodeFill(4, each), given)
        return [p for p in found if "fabric" in p and p != given]

    assert tried(4, 8, {}) == []
    assert tried(2, 8, {}) == tried(1, 2**20, {}) == [{"fabric": True}]
    assert tried(1, 8, {"fabric": True}) == []
    kept = variations.others("allreduce", "rotated_rings", 2**20, NodeFill(4, 1), {"fabric": True})
    assert all(parameters["fabric"] for parameters in kept), "other parameters are tried over the same network"


def test_the_best_of_each_way_to_copy_comes_to_the_finals():
    def result(seconds: float, name: str, **parameters: bool) -> dict:
        return {"bytes": 2**20, "seconds": seconds, "choice": (name, tuple(parameters.items()))}

    results = [result(i, f"a{i}") for i in range(4)]
    results += [
        result(5, "b", single_copy=True),
        result(6, "c", single_copy=True),
        result(7, "d", streaming_stores=True),
    ]

    def names(collective: str) -> list[str]:
        return [name for name, _ in tuned.finalists(CaseTuning(BenchCase(collective, ""), 4, [2**20]), results)[2**20]]

    assert names("alltoall") == ["a0", "a1", "a2", "b", "d"]
    assert names("bcast") == ["a0", "a1", "a2"]


@pytest.mark.parametrize(
    ("size", "segments"), [(65535, []), (65536, [16384]), (131072, [65536]), (2**19, [65536, 131072, 262144])]
)
def test_two_segments_at_least_are_tried(size, segments):
    found = variations.segments("exscan", "chain", size, NodeFill(2, 2), {})
    assert [p["segment_bytes"] for p in found if p] == segments
    assert list(variations.segments("exscan", "recursive_doubling", size, NodeFill(2, 2), {})) == [{}]


def test_shorter_segments_are_tried_between_nodes():
    found = variations.segments("exscan", "chain", 2**19, NodeFill(2, 1), {})
    assert [p["segment_bytes"] for p in found if p] == [16384, 65536, 262144]
