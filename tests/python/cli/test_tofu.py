"""Jobs on Tofu: virtual shapes, boxes, dead nodes."""

from __future__ import annotations

import json

import pytest

K = ("simulate", "allreduce", "--machine", "k-computer", "--bytes", "1MiB", "-a", "trinaryx3")


def result(kumihimo, *line: str) -> dict:
    ended = kumihimo(*K, *line, "--json")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)["results"][0]


def test_a_shape_finds_a_box_and_a_box_has_a_shape(kumihimo):
    by_shape = result(kumihimo, "--shape", "8x9x16")
    by_box = result(kumihimo, "--box", "4x3x8x2x3x2")
    assert by_shape["network"] == by_box["network"] == "torus 8x9x16 in Tofu 4x3x8x2x3x2"
    assert (by_box["shape"], by_box["ranks"], by_box["losses"]) == ("8x9x16", 1152, "")
    assert by_shape["seconds"] == by_box["seconds"]
    flat = result(kumihimo, "--box", "4x3x8x2x3x2@5,2,9", "--shape", "24x48")
    assert (flat["shape"], flat["ranks"]) == ("24x48", 1152)


def test_a_dead_node_costs_one_position(kumihimo):
    whole, left = result(kumihimo, "--shape", "48x6x32"), result(kumihimo, "--shape", "48x6x32", "--dead", "5,0,3")
    assert (left["shape"], left["ranks"]) == ("47x6x32", 47 * 6 * 32)
    assert "192 pairs of neighbours are 2 to 4 hops apart, all others one" in left["losses"]
    assert left["seconds"] > 0 and whole["ranks"] == 9216
    text = kumihimo(*K, "--shape", "48x6x32", "--dead", "5,0,3").out
    assert "position 5 of axis 1 is left out" in text
    cable = result(kumihimo, "--shape", "8x3x8", "--dead", "5,0,3-6,0,3")
    assert cable["shape"] == "8x3x8" and "1 pair of neighbours is" in cable["losses"]
    twice = result(kumihimo, "--shape", "8x3x8", "--dead", "5,0,3", "--dead", "1,1,1")
    assert twice["shape"] in ("7x3x7", "6x3x8")


def test_a_dead_node_in_the_file(kumihimo, repository, tmp_path):
    text = (repository / "machines" / "k-computer.toml").read_text(encoding="utf-8")
    path = tmp_path / "k.toml"
    path.write_text(text + '\n[[dead_node]]\nat = "0,0,1,0,0,0"\n', encoding="utf-8")
    shown = json.loads(kumihimo("machine", "show", str(path), "--json").out)
    assert shown["topology"]["shape"] == "48x53x32"
    assert shown["topology"]["far_neighbours"]["pairs"] == 48 * 32
    job = json.loads(kumihimo("machine", "show", str(path), "--shape", "48x6x32", "--json").out)
    assert (job["topology"]["shape"], job["topology"]["losses"]) == ("48x6x32", "")


def test_a_machine_that_is_cut_refuses_jobs_on_all_of_it_alone(kumihimo, repository, tmp_path):
    text = (repository / "machines" / "k-computer.toml").read_text(encoding="utf-8")
    lonely = "3,2,5,0,0,0"
    beside = ("4,2,5,0,0,0", "2,2,5,0,0,0", "3,1,5,0,0,0", "3,3,5,0,0,0", "3,2,4,0,0,0", "3,2,6,0,0,0")
    beside += ("3,2,5,1,0,0", "3,2,5,0,1,0", "3,2,5,0,2,0", "3,2,5,0,0,1")
    path = tmp_path / "k.toml"
    path.write_text(text + "".join(f'\n[[dead_link]]\nfrom = "{lonely}"\nto = "{to}"\n' for to in beside), "utf-8")
    line = ("simulate", "allreduce", "--machine", str(path), "--bytes", "1MiB", "-a", "trinaryx3")
    job = json.loads(kumihimo(*line, "--shape", "8x9x16", "--json").out)["results"][0]
    assert (job["shape"], job["losses"]) == ("8x9x16", "")
    shown = json.loads(kumihimo("machine", "show", str(path), "--json").out)["topology"]
    assert "no job can use the whole machine: " in shown["losses"]
    for whole in ((), ("--shape", "48x54x32")):
        ended = kumihimo(*line, *whole)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert "dead cables" in ended.err or "live way" in ended.err


def test_show_tells_the_physical_network(kumihimo):
    def words(*line: str) -> str:
        return " ".join(kumihimo("machine", "show", *line).out.split())

    assert "Tofu 24x18x16x2x3x2, 82944 nodes; nodes at z = 0 relay messages but run no ranks" in words("k-computer")
    assert "torus 4x6x4 in Tofu 2x2x2x2x3x2, 96 nodes" in words("fugaku", "--box", "2x2x2x2x3x2")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--shape", "7x5x3"), "7x5x3"),
        (("--shape", "2x2x2x2"), "no virtual torus of this shape"),
        (("--shape", "48x54x34"), "at most 82944 nodes"),
        (("--box", "4x3x8"), "4x3x8x2x3x2"),
        (("--box", "4x3x8x2x3x1"), "whole groups"),
        (("--box", "4x3x8x2x3x2", "--shape", "9x9x9"), "9x9x9"),
        (("--shape", "4x3x4", "--dead", "4,0,0"), "4x3x4"),
        (("--shape", "4x3x4", "--dead", "x"), "a node by its coordinates"),
        (("--shape", "4x3x4", "--dead", "0,0,0-2,1,0"), "two neighbours"),
        (("--shape", "4x3x4", "--dead", "-1,0,0"), "'-1,0,0'"),
        (("--shape", "7x5x5"), "whose own torus is 48x54x32"),
        (("--shape", "4x3x4", "--dead", "0,0,0-1,0,0-2,0,0"), "3 ends"),
        (("--shape", "1", "--dead", "0"), "no node of the job is left"),
    ],
)
def test_what_cannot_be_is_one_sentence(kumihimo, line, words):
    ended = kumihimo(*K, *line)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1 and words in ended.err


@pytest.mark.parametrize("line", [("--box", "4x3x8x2x3x2"), ("--shape", "4x3", "--dead", "1,1")])
def test_other_machines_have_no_boxes(kumihimo, repository, line):
    torus = str(repository / "bench" / "simgrid" / "torus.toml")
    ended = kumihimo("simulate", "allreduce", "--machine", torus, "--bytes", "8", *line)
    assert (ended.code, ended.out) == (2, "")
    assert "a machine of the tofu family" in ended.err
