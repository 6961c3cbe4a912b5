"""--order and --placement, as the commands take them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import Ranks
from kumihimo.network.placement import Wanted, format_and_file, map_format_of, on_space, space_of, wanted
from kumihimo.text.errors import BadInput

SIMULATE = ("simulate", "allreduce", "-m", "k-computer", "-s", "4x3x2", "-b", "1MiB", "--json")


def seconds(ended) -> dict[str, float]:
    assert ended.code == 0, ended.err
    return {r["algorithm"]: r["seconds"] for r in json.loads(ended.out)["results"]}


def test_simulate_charges_the_links_of_the_placed_ranks(kumihimo):
    block = seconds(kumihimo(*SIMULATE))
    assert seconds(kumihimo(*SIMULATE, "--order", "block")) == block
    spread = seconds(kumihimo(*SIMULATE, "--order", "random:1"))
    assert spread["recursive_doubling"] != block["recursive_doubling"], "goes by rank numbers"
    assert spread["trinaryx3"] == pytest.approx(block["trinaryx3"], rel=0.1), "goes by coordinates"
    result = json.loads(kumihimo(*SIMULATE, "-a", "trinaryx3", "--order", "random:1").out)["results"][0]
    assert result["placement"] == "random:1"
    assert "random:1: torus 4x3x2" in kumihimo(*SIMULATE[:-1], "-a", "trinaryx3", "--order", "random:1").out


def test_a_placement_that_show_writes_is_read_again(kumihimo, tmp_path):
    on = ("-s", "4x3x2", "-a", "trinaryx3")
    ended = kumihimo("show", "allreduce", *on, "--order", "reversed-axes", "--save-placement", "p.txt", "--rank", "1")
    assert ended.code == 0, ended.err
    assert "placed by   reversed-axes; rank 1 is on node 6, slot 0\n" in ended.out
    assert "program of rank 1 (1,0,0)\n" in ended.out
    lines = (tmp_path / "p.txt").read_text().splitlines()
    assert lines[:3] == ["# rank node slot", "0 0 0", "1 6 0"]
    by_file = kumihimo(*SIMULATE, "--placement", "p.txt")
    assert seconds(by_file) == seconds(kumihimo(*SIMULATE, "--order", "reversed-axes"))
    assert json.loads(by_file.out)["results"][0]["placement"] == "p.txt"
    shown = json.loads(kumihimo("show", "allreduce", *on, "--placement", "p.txt", "--json").out)
    assert shown["node_of_rank"][:3] == [0, 6, 12]


def test_verify_proves_claims_for_the_placed_ranks(kumihimo):
    ended = kumihimo("verify", "allreduce", "-s", "4x3x2", "-n", "100", "--order", "random:3", "--json")
    assert ended.code == 0, ended.out
    found = {r["algorithm"]: r for r in json.loads(ended.out)["results"]}
    assert found["trinaryx3"]["placement"] == "random:3"
    assert found["trinaryx3"]["ok"], "neighbours only, by the nodes of the placed ranks"
    assert found["trinaryx3"]["symmetric"] is not None
    assert kumihimo("verify", "allreduce", "--order", "random:3").code == 2


@pytest.mark.parametrize(
    ("order", "nodes"),
    [
        ("folded", [0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0]),
        ("axes:x-y", [2, 2, 5, 5, 1, 1, 4, 4, 0, 0, 3, 3]),
        ("snake", [0, 0, 1, 1, 2, 2, 5, 5, 4, 4, 3, 3]),
        ("hilbert:xy", [0, 0, 3, 3, 4, 4, 5, 5, 2, 2, 1, 1]),
        ("blocks:2x1:4x3", [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]),
    ],
)
def test_orders_have_names(order, nodes):
    space = arguments.rank_space(Ranks(shape="2x3", ranks_per_node=2))
    assert on_space(space, Wanted(order)).node_of_rank == nodes


def test_ranks_of_nodes_of_several_are_known_to_share_them():
    space = arguments.rank_space(Ranks(ranks=8, ranks_per_node=4))
    placed = on_space(space, Wanted("round-robin"))
    assert placed.node_of_rank == [0, 1] * 4
    assert str(space_of(space, placed)) == "mesh 2m, 4 ranks a node"
    assert not space_of(space, placed).is_row_major


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--order", "sideways"), "an order of ranks is block, round-robin, folded, axes:AXES"),
        (("--order", "block", "--placement", "p"), "--order excludes --placement (got both)"),
        (("--placement", "nowhere"), "nowhere: No such file"),
        (("--placement", "."), "., a folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(kumihimo, options, words):
    for case in (SIMULATE[:-1], ("show", "allreduce", "-s", "4x3x2", "-a", "ring"), ("verify", "bcast", "-s", "2x2")):
        ended = kumihimo(*case, *options)
        assert (ended.code, ended.out) == (2, "")
        assert words in ended.err


def test_a_file_with_a_mistake_names_its_line(kumihimo, tmp_path):
    (tmp_path / "p.txt").write_text("0 0 0\n1 0 0\n")
    ended = kumihimo(*SIMULATE, "--placement", "p.txt")
    assert ended.code == 2
    assert "p.txt:2: the file must name each slot once (got slot 0 of node 0 as in line 1)" in ended.err


@pytest.mark.parametrize(
    "verb",
    [
        ("show", "allreduce", "-a", "ring", "-s", "4"),
        ("verify", "allreduce", "-a", "ring", "-s", "4"),
        ("simulate", "allreduce", "-a", "ring", "-s", "4", "-m", "k-computer", "-b", "8"),
        ("bench", "allreduce", "-a", "ring", "-s", "4", "-b", "8"),
    ],
)
def test_a_placement_has_as_many_ranks_as_are_asked_for(kumihimo, tmp_path, verb):
    (tmp_path / "p3").write_text("0 0 0\n1 1 0\n2 3 0\n")
    ended = kumihimo(*verb, "-p", "4", "--placement", "p3")
    assert (ended.code, ended.out) == (2, "")
    assert "p3 must place all 4 ranks (got 3); give as many --ranks" in ended.err
    if verb[0] != "bench":
        assert kumihimo(*verb, "--placement", "p3").code == 0


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("rank 0=a slot=0\nrank 1=b slot=0-3\n", "openmpi5"),
        ("rank 0=a slot=0 # 0-3\nrank 1=b slot=1\n", "openmpi5"),
        ("/* two */ rank 0=a slot=0:*\n", "openmpi5"),
        ("a:2 binding=numa\nb:1\n", "hydra"),
        ("a slots=2\nb\n", "hydra"),
        ("0 0 0\nrank 1=b slot=0-3\n", "placement"),
        ("4\n0,1\n", "cray"),
        ("4\n0-3\n", "cray"),
        ("4 # 0-3\n0\n", "permutation"),
        ("a\nb-1\n", "slurm"),
        ("", "placement"),
    ],
)
def test_a_format_is_recognised_by_its_lines(text, format_):
    assert map_format_of(text, "f") == format_


def test_a_format_may_stand_before_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert format_and_file("cray:a:b") == ("cray", "a:b")
    assert format_and_file("hostfile:f") == ("hostfile", "f")
    for alone in ("cray:", "crayon:f", "f", "random:1"):
        assert format_and_file(alone) == ("", alone)
    (tmp_path / "f").write_text("1\n0\n")
    assert wanted(None, Path("cray:f")) == Wanted(file="f", text="1\n0\n", format="cray")
    assert wanted(None, Path("hostfile:f")).format == "hydra"
    assert wanted(None, Path("rankfile:f")).format == ""


def test_ranks_that_nothing_is_known_of_have_no_order(tmp_path):
    with pytest.raises(BadInput, match="add --shape or --ranks-per-node"):
        on_space(arguments.rank_space(Ranks(ranks=7)), Wanted("random:1"))
    (tmp_path / "p").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="UTF-8"):
        wanted(None, tmp_path / "p")
