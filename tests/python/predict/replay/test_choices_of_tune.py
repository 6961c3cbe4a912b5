"""Which choices of a file of tune a replay takes: those that `run` would take, and the rest is the MPI library's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kumihimo._trace import Kind
from kumihimo.predict.replay import choices
from kumihimo.predict.replay.choices import Call, NodesOfRanks

from .conftest import Rank

LETTERS = ("--loggops", "L=2000,o=100,g=0,G=0,O=0,S=65536")
TORUS = ("--machine", "fugaku", "--model", "flow", "--ranks-per-node", "1")
SIZE = 65536
BINOMIAL = {"collective": "allreduce", "algorithm": "binomial"}


@pytest.fixture
def asked(traced: Callable, replay: Callable, tmp_path: Path) -> Callable[..., dict]:
    """The replay of ranks with these choices."""

    def replayed(ranks: list[Rank], chosen: list[dict], *words: str) -> dict:
        file = tmp_path / "wisdom.json"
        file.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": chosen}), encoding="utf-8")
        found = replay(traced(ranks), *words, "--wisdom", file, "--json")
        assert isinstance(found, dict), found
        return found

    return replayed


def reducing(ranks: int, calls: int = 3) -> list[Rank]:
    found = [Rank().compute(100) for _ in range(ranks)]
    for rank in found:
        for _ in range(calls):
            rank.allreduce(SIZE)
    return found


def algorithms(found: dict) -> list[str]:
    return [each["algorithm"] for each in found["collectives"]]


def test_calls_that_a_choice_does_not_fit_are_the_librarys(asked: Callable, replay: Callable, traced: Callable) -> None:
    """swing needs a power of two."""
    swing = {"collective": "allreduce", "algorithm": "swing"}
    found = asked(reducing(6), [swing], *LETTERS)
    assert found["warnings"] == [
        "The wisdom leaves 3 of 3 collective calls to the MPI library: 3 do not fit the algorithm of their choice."
    ]
    usual = replay(traced(reducing(6)), *LETTERS, "--json")
    assert found["seconds"] == usual["seconds"] and algorithms(found) == algorithms(usual) == ["rabenseifner"]
    assert asked(reducing(8), [swing], *LETTERS)["warnings"] == []
    assert "powers of two (got 6)" in replay(traced(reducing(6)), *LETTERS, "--algorithm", "allreduce=swing", "--json")


@pytest.mark.parametrize(
    ("place", "is_taken"),
    [
        ({}, True),
        ({"ranks": 8, "nodes": 8, "ranks_per_node": 1, "shape": "4mx2mx1"}, True),
        ({"shape": "4x2x1"}, False),
        ({"ranks": 8, "nodes": 0, "ranks_per_node": 0}, True),
        ({"shape": "2x2x2"}, False),
        ({"shape": "8"}, False),
        ({"nodes": 1}, False),
        ({"ranks_per_node": 8}, False),
        ({"start": "non-blocking"}, False),
        ({"determinism": "fixed_order"}, False),
    ],
)
def test_a_choice_is_for_its_nodes_and_their_shape(asked: Callable, place: dict, is_taken: bool) -> None:
    found = asked(reducing(8), [{**BINOMIAL, **place}], *TORUS, "--shape", "4mx2mx1")
    assert (algorithms(found) == ["binomial"]) == is_taken
    said = "have no choice" if {"start", "determinism"} & set(place) else "have choices for other ranks, nodes or shapes"
    left = f"The wisdom leaves 3 of 3 collective calls to the MPI library: 3 {said}."
    assert found["warnings"] == ([] if is_taken else [left])


def test_the_librarys_own_is_a_choice_before_later_ones(asked: Callable) -> None:
    own = {"collective": "allreduce", "algorithm": "library", "ranks": 4}
    found = asked(reducing(4), [own, BINOMIAL], *LETTERS)
    assert algorithms(found) == ["rabenseifner"]
    assert "3 have the library as their choice" in found["warnings"][0]


def test_choices_for_nodes_that_nobody_knows_are_taken_and_said(asked: Callable) -> None:
    found = asked(reducing(4), [{**BINOMIAL, "ranks": 4, "nodes": 1, "ranks_per_node": 4}], *LETTERS)
    assert algorithms(found) == ["binomial"]
    assert found["warnings"] == [
        "The wisdom's choices for 3 collective calls are for given numbers of nodes, and the nodes of these ranks are "
        "unknown."
    ]
    assert algorithms(asked(reducing(4), [{**BINOMIAL, "shape": "4"}], *LETTERS)) == ["rabenseifner"]


@pytest.mark.parametrize("traced", ["own"], indirect=True)
@pytest.mark.parametrize(("each", "taken"), [("4", ["binomial"]), ("2", ["rabenseifner"])])
def test_communicators_of_some_ranks_have_nodes_of_their_own(asked: Callable, each: str, taken: list[str]) -> None:
    """Four ranks each: on one node, or on two."""
    ranks = [Rank() for _ in range(8)]
    for number, rank in enumerate(ranks):
        half = {"name": "MPI_Comm_split", "site": None, "size": 4, "leader": number // 4 * 4, "inter": False}
        rank.communicators.append(half | {"rank": number % 4})
        rank.call("MPI_Allreduce", (Kind.collective, SIZE, -1, -1, 0), on=3)
    torus = (*TORUS[:-1], each)
    found = asked(ranks, [{**BINOMIAL, "ranks": 4, "nodes": 1, "ranks_per_node": 4}], *torus)
    assert sorted(set(algorithms(found))) == taken


def test_shapes_are_compared_in_one_form() -> None:
    call = Call("allreduce", 8, SIZE, False, True, NodesOfRanks(8, 1, "4x2m"))
    assert choices.fits({**BINOMIAL, "shape": "4x2m"}, call)
    assert not choices.fits({**BINOMIAL, "shape": "4x2"}, call)
    unknown = Call("allreduce", 8, SIZE, False, True, NodesOfRanks(8, 1, ""))
    assert not choices.fits({**BINOMIAL, "shape": "4x2"}, unknown)
