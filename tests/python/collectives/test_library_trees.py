"""docs/library-algorithms.md says of trees that they are those of a library: beside a copy of how that builds them."""

from __future__ import annotations

import json

import pytest


def bmtree(size: int, root: int, rank: int) -> tuple[int | None, list[int]]:
    """Parent and children, in the order of the sends. Open MPI, coll_base_topo.c, ompi_coll_base_topo_build_bmtree."""
    index = (rank - root) % size
    mask = 1
    while mask <= index:
        mask <<= 1
    parent = None if index == 0 else (index ^ (mask >> 1)) + root
    children = []
    while mask < size and index ^ mask < size:
        children.append(((index ^ mask) + root) % size)
        mask <<= 1
    return parent if parent is None else parent % size, children


@pytest.mark.parametrize("size", [1, 2, 6, 7, 8, 13, 16])
def test_binomial_near_is_the_tree_of_open_mpi(kumihimo, size):
    root = size // 3
    asked = ("show", "bcast", "-a", "binomial_near", "-p", str(size), "--root", str(root))
    programs = json.loads(kumihimo(*asked, "--expand", "--count", "1", "--json").out)["programs"]
    assert len(programs) == size
    for rank, lanes in enumerate(programs):
        rounds = [r for lane in lanes for segment in lane["segments"] for r in segment]
        steps = [(step["kind"], step["peer"]) for each in rounds for step in each["steps"]]
        parent, children = bmtree(size, root, rank)
        received = [] if parent is None else [("receive", parent)]
        assert steps == [*received, *(("send", child) for child in children)], rank
        assert len(rounds) == bool(received) + bool(children), "all sends start together"
