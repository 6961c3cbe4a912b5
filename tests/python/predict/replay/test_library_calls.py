"""Replays that take the measured times of the MPI library's own collectives."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo import _collectives
from kumihimo.predict.replay.library_calls import LibraryTimes

from .conftest import Rank

NODE = """name = "node"
summary = "four ranks"
[topology]
family = "single_node"
[node]
ranks_per_node = { value = 4, assumed = "x" }
cores = { value = 4, assumed = "x" }
memory = { value = "16 GB", assumed = "x" }
memory_bandwidth = { value = "400 GB/s", assumed = "x" }
reduction_rate = { value = "6 GB/s", assumed = "x" }
reduction_rate_scalar = { value = "1 GB/s", assumed = "x" }
shared_memory_bandwidth = { value = "6 GB/s", assumed = "x" }
shared_memory_latency = { value = "200 ns", assumed = "x" }
[software]
message_cost = { value = "200 ns", assumed = "x" }
relay_latency = { value = "100 ns", assumed = "x" }
segment_bytes = { value = "16 KiB", assumed = "x" }
"""

NETWORK = """[network]
link_bandwidth = { value = "5 GB/s", assumed = "x" }
link_peak = { value = "5 GB/s", assumed = "x" }
hop_latency = { value = "100 ns", assumed = "x" }
engines = { value = 4, assumed = "x" }
engine_bandwidth = { value = "5 GB/s", assumed = "x" }
injection_bandwidth = { value = "20 GB/s", assumed = "x" }
[software]"""


def with_times(*rows: tuple[str, int, int, str], nodes: int = 1) -> str:
    lines = [
        f'{{ collective = "{c}", ranks = {r}, nodes = {nodes}, bytes = {b}, time = "{t}" }},' for c, r, b, t in rows
    ]
    return "\n".join([NODE, "[library_collectives]", 'source = "loops"', "rows = [", *lines, "]"])


def replayed(replay, traced, tmp_path: Path, text: str, *words: str, size: int = 65536) -> dict:
    (tmp_path / "node.toml").write_text(text)
    trace = traced([Rank().compute(1000).allreduce(size).compute(500) for _ in range(4)])
    return replay(trace, "--machine", tmp_path / "node.toml", *words, "--json")


@pytest.mark.parametrize("model", ["loggp", "flow"])
@pytest.mark.parametrize("time", ["500 us", "90 us"])
def test_a_call_takes_as_long_as_the_librarys_own(replay, traced, tmp_path, model, time) -> None:
    text = with_times(("allreduce", 4, 8, "2 us"), ("allreduce", 4, 65536, time))
    found = replayed(replay, traced, tmp_path, text, "--model", model)
    expected = float(time.split()[0]) * 1e-6
    assert found["seconds"] - 1.5e-6 == pytest.approx(expected, rel=1e-3)
    (call,) = found["collectives"]
    assert 0 < call["more_seconds"] < expected


def test_an_algorithm_that_is_slower_than_the_measured_time_is_replaced(replay, traced, tmp_path) -> None:
    """All take longer than 1 ns, so it is the fastest one, and the call takes nothing beyond it."""
    plain = replayed(replay, traced, tmp_path, NODE)
    short = replayed(replay, traced, tmp_path, with_times(("allreduce", 4, 65536, "1 ns")))
    assert short["seconds"] < plain["seconds"]
    assert short["collectives"][0]["algorithm"] != plain["collectives"][0]["algorithm"]
    assert "more_seconds" not in short["collectives"][0]


def test_other_algorithms_keep_what_a_call_takes_beyond_its_messages(replay, traced, tmp_path) -> None:
    plain = replayed(replay, traced, tmp_path, NODE, "--what-if")
    found = replayed(replay, traced, tmp_path, with_times(("allreduce", 4, 65536, "500 us")), "--what-if")
    rest = found["collectives"][0]["more_seconds"]
    times = {each["name"]: each["seconds"] for each in plain["changes"] if each["name"].startswith("allreduce of")}
    others = [each for each in found["changes"] if each["name"] in times]
    assert len(others) > 2
    for each in others:
        assert each["seconds"] == pytest.approx(times[each["name"]] + rest, rel=1e-6)


def test_an_algorithm_takes_the_same_named_and_tried(replay, traced, tmp_path) -> None:
    """So a name does not seem faster than the usual algorithm because of what a call takes beyond its messages."""
    text = with_times(("allreduce", 4, 65536, "9 ms"))
    usual = replayed(replay, traced, tmp_path, text, "--what-if")
    named = replayed(replay, traced, tmp_path, text, "--algorithm", "allreduce=ring", "--what-if")
    (tried,) = [each for each in usual["changes"] if each["name"].startswith("allreduce of 65536 B by ring ")]
    assert named["seconds"] == pytest.approx(tried["seconds"], rel=1e-9)
    (back,) = [each for each in named["changes"] if each["name"].startswith("the usual algorithms")]
    assert back["seconds"] == pytest.approx(usual["seconds"], rel=1e-9)
    assert named["collectives"][0]["more_seconds"] == usual["collectives"][0]["more_seconds"] > 0


@pytest.mark.parametrize(("ranks", "nodes"), [(2, 1), (4, 2)])
def test_other_numbers_of_ranks_or_nodes_are_modelled(replay, traced, tmp_path, ranks, nodes) -> None:
    usual = replayed(replay, traced, tmp_path, NODE)
    text = with_times(("allreduce", ranks, 65536, "9 ms"), nodes=nodes)
    assert replayed(replay, traced, tmp_path, text)["seconds"] == usual["seconds"]


@pytest.mark.parametrize(("each", "nodes"), [("4", 1), ("2", 2), ("1", 4)])
def test_times_are_of_the_nodes_that_the_ranks_are_on(replay, traced, tmp_path, each, nodes) -> None:
    """Of the three times on 4 ranks, the one on as many nodes."""
    network = NODE.replace('family = "single_node"', 'family = "torus"\nshape = "4"').replace("[software]", NETWORK)
    rows = [
        f'{{ collective = "allreduce", ranks = 4, nodes = {n}, bytes = 65536, time = "{n} ms" }},' for n in (1, 2, 4)
    ]
    text = "\n".join([network, "[library_collectives]", 'source = "loops"', "rows = [", *rows, "]"])
    found = replayed(replay, traced, tmp_path, text, "--model", "flow", "--ranks-per-node", each)
    assert found["seconds"] - 1.5e-6 == pytest.approx(nodes * 1e-3, rel=1e-3)


def test_lengths_between_are_on_a_line_of_logarithms() -> None:
    known = LibraryTimes({("allreduce", 2, 1): [(8, 1e-6), (800, 1e-5)]})
    assert known.seconds("allreduce", 2, 1, 80) == pytest.approx(1e-6 * 10**0.5)
    assert known.seconds("allreduce", 2, 1, 4) == 1e-6
    assert known.seconds("allreduce", 2, 1, 8000) == pytest.approx(1e-4), "the rate of the longest"
    assert known.seconds("allreduce", 2, 1, 800) == 1e-5 and known.seconds("bcast", 2, 1, 8) is None
    short = LibraryTimes({("bcast", 2, 1): [(0, 1e-6), (1, 2e-6), (8, 3e-6)]})
    assert [short.seconds("bcast", 2, 1, size) for size in (0, 1, 8)] == [1e-6, 2e-6, 3e-6]
    barrier = LibraryTimes({("barrier", 2, 1): [(0, 3e-6)]})
    assert barrier.seconds("barrier", 2, 1, 0) == 3e-6


def test_the_collectives_measured_have_the_algorithms_that_they_are_measured_beside() -> None:
    from kumihimo.tune.bench.measured import BESIDE

    for collective, algorithm in BESIDE.items():
        assert _collectives.find(collective, algorithm).name == algorithm
