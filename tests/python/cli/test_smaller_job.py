"""A job that is smaller than the shape, on nodes that the user names."""

from __future__ import annotations

import json

import pytest
from small_machine import MACHINE

ASKED = ("simulate", "allreduce", "--bytes", "1KiB", "-a", "ring", "--json")


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "small.toml").write_text(MACHINE)
    return "./small.toml"


def seconds(ended) -> float:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["results"][0]["seconds"]


def test_a_placement_of_fewer_ranks_than_nodes(kumihimo, machine, tmp_path):
    """Four ranks in a row, and four far apart: each message crosses more links."""
    near, far = tmp_path / "near.txt", tmp_path / "far.txt"
    near.write_text("".join(f"{rank} {rank} 0\n" for rank in range(4)))
    far.write_text("".join(f"{rank} {node} 0\n" for rank, node in enumerate((0, 42, 7, 45))))
    of_row, apart = (
        seconds(kumihimo(*ASKED, "-m", machine, "-s", "4x4x4", "--ranks", "4", "--placement", str(file)))
        for file in (near, far)
    )
    assert of_row < apart
    assert apart == seconds(kumihimo(*ASKED, "-m", machine, "-s", "4x4x4", "--placement", str(far)))
    refused = kumihimo(*ASKED, "-m", machine, "-s", "4x4x4", "--ranks", "5", "--placement", str(far))
    assert refused.code == 2 and "must place all 5 ranks (got 4)" in refused.err


def test_nodes_of_leonardo_have_their_names(kumihimo, tmp_path):
    """Two nodes of one leaf, and two of different cells, by --allocation and by --placement."""
    times = {}
    for title, other in (("leaf", "lrdn0002"), ("cell", "lrdn2000")):
        file = tmp_path / f"{title}.txt"
        file.write_text(f"0 lrdn0001 0\n1 {other} 0\n")
        times[title] = seconds(kumihimo(*ASKED, "-m", "leonardo", "--ranks", "2", "--placement", str(file)))
        given = seconds(kumihimo(*ASKED, "-m", "leonardo", "--allocation", f"lrdn0001,{other}"))
        assert given == times[title]
    assert times["leaf"] < times["cell"]
    refused = kumihimo(*ASKED, "-m", "leonardo", "--allocation", "lrdn0001,lrdn9999")
    assert refused.code == 2 and "does not name this host (got 'lrdn9999')" in refused.err
