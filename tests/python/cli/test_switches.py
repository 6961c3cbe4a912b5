"""Machines on switches: fat trees and dragonflies, their jobs and routing."""

from __future__ import annotations

import json

import pytest

LEONARDO = ("simulate", "alltoall", "--machine", "leonardo", "--bytes", "8KiB", "-a", "pairwise")


def result(kumihimo, *line: str) -> dict:
    ended = kumihimo(*line, "--json")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)["results"][0]


def test_every_algorithm_that_fits_a_fat_tree(kumihimo):
    line = ("simulate", "allreduce", "--machine", "reedbush-u", "--algorithm", "all", "--bytes", "1MiB", "--json")
    ended = kumihimo(*line)
    assert (ended.code, ended.err) == (0, "")
    answer = json.loads(ended.out)
    assert {"ring", "recursive_doubling", "rabenseifner"} <= {r["algorithm"] for r in answer["results"]}
    assert {"trinaryx3"} <= {p["algorithm"] for p in answer["not_applicable"]}
    for r in answer["results"]:
        assert (r["ranks"], r["shape"]) == (420, "420")
        assert r["network"] == "fat tree 18x24 of 420 nodes, d_mod_k"
        assert r["seconds"] >= r["bound_seconds"] > 0


def test_jobs_by_shape_and_by_ranks(kumihimo):
    line = ("simulate", "bcast", "--machine", "reedbush-h", "--bytes", "1MiB", "-a", "binomial")
    assert result(kumihimo, *line)["ranks"] == 240
    by_shape, by_ranks = result(kumihimo, *line, "--shape", "20"), result(kumihimo, *line, "--ranks", "40")
    assert by_shape["ranks"] == 40
    assert {**by_shape, "wall_seconds": 0} == {**by_ranks, "wall_seconds": 0}
    assert result(kumihimo, *line, "--ranks", "120", "--ranks-per-node", "1")["shape"] == "120"
    ended = kumihimo(*line, "--ranks", "41")
    assert "a multiple of 2 (got 41)" in ended.err, "the machine's own number, which nobody asked to part"


def test_nodes_of_unequal_size(kumihimo):
    line = ("simulate", "allreduce", "--machine", "reedbush-h", "--bytes", "1MiB", "-a", "hierarchical")
    listed = result(kumihimo, *line, "--ranks-per-node", "3,3,2")
    assert (listed["ranks"], listed["shape"], listed["ranks_per_node"]) == (8, "3", 0)
    assert listed["node_sizes"] == [3, 3, 2]
    rest = result(kumihimo, *line, "--ranks", "8", "--ranks-per-node", "3")
    assert {**listed, "wall_seconds": 0} == {**rest, "wall_seconds": 0}
    assert result(kumihimo, *line, "--ranks-per-node", "3,3,3")["ranks_per_node"] == 3


def test_routing_is_a_choice(kumihimo):
    minimal = result(kumihimo, *LEONARDO, "--shape", "400")
    valiant = result(kumihimo, *LEONARDO, "--shape", "400", "--routing", "valiant")
    assert minimal["network"].endswith("minimal") and valiant["network"].endswith("valiant")
    assert valiant["link_bytes_sum"] > 1.1 * minimal["link_bytes_sum"]
    shown = json.loads(kumihimo("machine", "show", "leonardo", "--routing", "valiant", "--json").out)
    assert (shown["topology"]["routing"], shown["topology"]["nodes"]) == ("valiant", 3456)
    text = kumihimo("machine", "show", "leonardo").out
    assert "dragonfly+ of 3456 nodes, 23 groups of 18 leaves and 18 spines, minimal" in " ".join(text.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--shape", "20x21"), "have no axes (got 20x21); give their number: 420"),
        (("--shape", "421"), "at most 420 nodes"),
        (("--ranks", "41", "--shape", "20", "--ranks-per-node", "2"), "20 nodes x 2 (got 41)"),
        (("--shape", "4", "--ranks-per-node", "2,3"), "a number for each of the 4 nodes"),
        (("--ranks", "40", "--shape", "30"), "30 nodes x 1 (got 40)"),
        (("--ranks", "0"), "0"),
        (("--routing", "valiant"), "d_mod_k or ecmp"),
        (("--box", "2x2x2x2x3x2"), "reedbush-u"),
        (("--dead", "5,0,3"), "reedbush-u"),
    ],
)
def test_bad_input_is_one_sentence(kumihimo, line, words):
    ended = kumihimo("simulate", "allreduce", "--machine", "reedbush-u", "--bytes", "8", *line)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err and len(ended.err.splitlines()) == 1


def test_a_torus_has_one_way_of_routing(kumihimo):
    ended = kumihimo("machine", "show", "k-computer", "--routing", "valiant")
    assert ended.code == 2 and "leave it out" in ended.err
