"""`kumihimo show`: programs as people and programs read them."""

from __future__ import annotations

import json

import pytest
from cli_dump import run, wanted

from kumihimo import _collectives
from kumihimo.collectives import verification

CASE = ("show", "allreduce", "--shape", "4x3x2", "--algorithm", "trinaryx3")


def test_a_program_as_text(kumihimo):
    ended = kumihimo(*CASE, "--rank", "7")
    assert (ended.code, ended.err) == (0, "")
    assert "allreduce of 2097152 elements of float64 (sum), on 24 ranks: torus 4x3x2\n" in ended.out
    assert "algorithm   trinaryx3 (trees=3 segments=6 window=4)\n" in ended.out
    assert "program of rank 7 (1,0,1)\n" in ended.out
    assert "  - receive_reduce from 6 (1,0,0): output[part 2/3] = input[part 2/3] + arriving\n" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_options_reach_the_schedule(kumihimo):
    options = ("--trees", "2", "--segments", "4", "--window", "2", "--count", "100", "--op", "max", "--type", "int32")
    ended = kumihimo("show", "reduce", "-s", "4x4", "-a", "trinaryx3", "--root", "5", "--in-place", *options)
    assert "100 elements of int32 (max), root 5 (1,1), in place" in ended.out
    assert "trees=2 segments=4 window=2" in ended.out
    assert "max(" in ended.out


def test_a_program_as_json(kumihimo):
    ended = kumihimo(*CASE, "--rank", "7", "--json")
    assert (ended.code, ended.err) == (0, "")
    program = json.loads(ended.out)
    assert (program["algorithm"], program["rank"], program["ranks"], program["segments"]) == ("trinaryx3", 7, 24, 6)
    assert [lane["lane"] for lane in program["lanes"]] == list(range(6))
    assert program["lanes"][3]["after"] == [{"lanes": [0, 1, 2], "scope": "all"}]


@pytest.mark.parametrize("space", [("--shape", "none", "--ranks", "5"), ("--ranks", "5"), ("--shape", "node:5")])
def test_ranks_without_a_torus(kumihimo, space):
    ended = kumihimo("show", "allreduce", *space, "--algorithm", "ring", "--rank", "4")
    assert ended.code == 0
    assert "on 5 ranks" in ended.out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "on 8 ranks: torus 4x2\n"),
        (("--shape", "3x3"), "on 9 ranks: torus 3x3\n"),
        (("--ranks", "5"), "on 5 ranks"),
    ],
)
def test_the_shape_is_that_of_the_job_where_none_is_given(kumihimo, monkeypatch, given, told):
    monkeypatch.setenv("KUMIHIMO_SHAPE", "4x2")
    ended = kumihimo("show", "allreduce", "--algorithm", "ring", *given)
    assert (ended.code, ended.err) == (0, "")
    assert told in ended.out


def expanded(kumihimo, kind: str, name: str, *options: str) -> dict:
    ended = kumihimo("show", kind, "--algorithm", name, "--expand", "--json", *options)
    assert (ended.code, ended.err) == (0, ""), ended.err
    dump = json.loads(ended.out)
    assert dump["form"] == "kumihimo-expanded-schedule-2"
    return dump


def check(dump: dict) -> None:
    """Every rank that has a result holds each contribution once, where it belongs."""
    for rank, output in run(dump).items():
        if expected := wanted(dump, rank):
            assert output == expected


OF_POWERS_OF_TWO = dict.fromkeys(("non_minimal", "swing", "bine", "bine_in_turn"), ("4x2x2",))
SHAPES = {
    "trinary_mesh": ("3x4mx2",),
    "neighbour_exchange": ("3x2x2",),
    "hierarchical": ("3x2", "--ranks-per-node", "3"),
    **OF_POWERS_OF_TWO,
}
ROWS = [(kind, v.name) for kind in verification.collectives() for v in _collectives.variants(kind)]


@pytest.mark.parametrize(("kind", "name"), ROWS)
def test_every_algorithm_expanded_gives_its_collectives_result(kumihimo, kind, name):
    length = () if kind == "barrier" else ("--count", "29")
    dump = expanded(kumihimo, kind, name, "--shape", *SHAPES.get(name, ("3x3x3",)), *length)
    assert (dump["collective"], dump["algorithm"]) == (kind, name)
    check(dump)


IRREGULAR = [
    (kind, v.name)
    for kind in verification.collectives(irregular=True)
    for v in _collectives.variants(kind)
    if not v.equal_counts
]


@pytest.mark.parametrize("spread", ["zeros", "one_huge", "random:5"])
@pytest.mark.parametrize(("kind", "name"), IRREGULAR)
def test_every_algorithm_of_irregular_blocks_too(kumihimo, kind, name, spread):
    shape = ("--shape", *SHAPES.get(name, ("3x2x2",)))
    check(expanded(kumihimo, kind, name, *shape, "--count", "5", "--counts", spread))


def test_counts_one_by_one(kumihimo):
    dump = expanded(kumihimo, "allgather", "ring", "--ranks", "4", "--counts", "0,5,1KiB,7")
    assert dump["count"] == [0, 5, 128, 7]
    check(dump)
    dump = expanded(kumihimo, "alltoall", "linear", "--ranks", "2", "--counts", "0,5/9,2")
    assert dump["count"] == [[0, 5], [9, 2]]
    check(dump)
    shown = kumihimo("show", "gather", "--ranks", "3", "-a", "linear", "--counts", "0,5,1KiB").out
    assert "gather of irregular blocks, 0 to 128 elements of float64" in shown


@pytest.mark.parametrize("neighbours", ["cart:2x3m", "cart:1x6", "random:3"])
def test_of_any_neighbours(kumihimo, neighbours):
    asked = ("--ranks", "6", "--count", "3", "--neighbours", neighbours)
    check(expanded(kumihimo, "neighbor_alltoall", "direct", *asked))
    check(expanded(kumihimo, "neighbor_alltoall", "direct", *asked, "--counts", "random:2"))


def test_levels_of_any_algorithms(kumihimo):
    asked = ("--shape", "4x2", "--ranks-per-node", "2", "--count", "40", "--segments", "3")
    dump = expanded(kumihimo, "allreduce", "hierarchical", *asked, "--inner", "linear", "--outer", "swing")
    check(dump)
    shown = kumihimo("show", "allreduce", "-a", "hierarchical", *asked, "--inner", "linear", "--outer", "trinaryx3").out
    assert "inner=linear outer=trinaryx3 segments=3" in shown
    assert "allreduce between nodes, reduce, tree 0" in shown


@pytest.mark.parametrize("counts", [(), ("--counts", "one_huge")])
def test_several_leaders_a_node(kumihimo, counts):
    asked = ("--shape", "2", "--ranks-per-node", "5", "--group", "2", "--count", "6", *counts)
    check(expanded(kumihimo, "alltoall", "hierarchical", *asked))
    shown = kumihimo("show", "alltoall", "-a", "hierarchical", *asked, "--rank", "2").out
    assert "inner=binomial outer=pairwise segments=1 group=2" in shown
    assert "20 pairs from 20 on" in shown and "alltoall between groups" in shown


@pytest.mark.parametrize("kind", ["bcast", "reduce", "allreduce"])
def test_parameters_of_an_expanded_schedule(kumihimo, kind):
    options = ("--trees", "2", "--segments", "5", "--window", "2")
    root = () if kind == "allreduce" else ("--root", "7")
    buffers = () if kind == "bcast" else ("--in-place",)
    dump = expanded(kumihimo, kind, "trinaryx3", "--shape", "4x3x2", "--count", "31", *options, *root, *buffers)
    assert dump["root"] == (7 if root else 0)
    lanes = dump["programs"][1]
    assert all(lane["window"] == 2 and len(lane["segments"]) == 5 for lane in lanes)
    check(dump)


def test_this_executor_sees_what_is_wrong(kumihimo):
    dump = expanded(kumihimo, "allreduce", "trinaryx3", "--shape", "3x2", "--count", "4")
    broken = json.loads(json.dumps(dump))
    broken["programs"][1][0]["segments"][0][-1]["steps"][-1]["peer"] ^= 1
    with pytest.raises(AssertionError):
        check(broken)
    with pytest.raises(AssertionError):
        check({**dump, "programs": [*dump["programs"][:-1], []]})


def test_parameters_have_the_same_form_everywhere(kumihimo):
    asked = ("allreduce", "--shape", "4x3x2", "-a", "trinaryx3", "--window", "2", "--json")
    shown = json.loads(kumihimo("show", *asked).out)["parameters"]
    proven = json.loads(kumihimo("verify", *asked).out)["results"][0]["parameters"]
    machine = ("--machine", "k-computer", "--bytes", "16MiB")
    predicted = json.loads(kumihimo("simulate", *asked, *machine).out)["results"][0]["parameters"]
    assert shown == proven == predicted == {"trees": 3, "segments": 6, "window": 2}


def test_what_is_promised_of_the_bits(kumihimo):
    def promised(verb: str, *asked: str) -> dict:
        found = json.loads(kumihimo(verb, "allreduce", "--shape", "2x2", "--count", "8", *asked, "--json").out)
        return found["results"][0]["guarantees"] if verb == "verify" else found["guarantees"]

    for verb in ("show", "verify"):
        assert promised(verb, "-a", "ring") == {
            "same_on_all_ranks": True,
            "same_from_run_to_run": True,
            "independent_of_placement": True,
            "independent_of_rank_count": False,
        }
        assert not promised(verb, "-a", "bucket")["independent_of_placement"]
        assert all(promised(verb, "-a", "bucket", "--type", "int32").values())
    shown = kumihimo("show", "allreduce", "--shape", "2x2", "--count", "8", "-a", "bucket").out
    assert "same bits   on all ranks, runs\n" in shown
