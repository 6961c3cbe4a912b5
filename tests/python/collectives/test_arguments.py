"""From what a user asks to ranks and collectives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.text.errors import BadInput

FOUR = arguments.rank_space(Ranks(ranks=4))


@pytest.mark.parametrize(
    ("asked", "name", "ranks"),
    [
        (Ranks("4x3x2"), "torus 4x3x2", 24),
        (Ranks("4x3mx2"), "torus 4x3mx2", 24),
        (Ranks("4x3", ranks_per_node=2), "torus 4x3, 2 ranks a node", 24),
        (Ranks("4x3", ranks=24, ranks_per_node=2), "torus 4x3, 2 ranks a node", 24),
        (Ranks("node:4"), "node of 4 ranks", 4),
        (Ranks("node", ranks=4), "node of 4 ranks", 4),
        (Ranks("node:1"), "node of 1 rank", 1),
        (Ranks("none", ranks=7), "row of 7 ranks", 7),
        (Ranks(ranks=7), "row of 7 ranks", 7),
        (Ranks(ranks=4, ranks_per_node=2), "mesh 2m, 2 ranks a node", 4),
        (Ranks(ranks=4, ranks_per_node=4), "node of 4 ranks", 4),
        (Ranks(ranks=8, ranks_per_node=3), "row of 8 ranks, 2 to 3 a node", 8),
        (Ranks("3", ranks=8, ranks_per_node=3), "row of 8 ranks, 2 to 3 a node", 8),
        (Ranks(ranks_per_node=(4, 3, 5)), "row of 12 ranks, 3 to 5 a node", 12),
        (Ranks("3", ranks=12, ranks_per_node=(4, 3, 5)), "row of 12 ranks, 3 to 5 a node", 12),
        (Ranks("2x2m", ranks_per_node=(2, 2, 2, 2)), "torus 2x2m, 2 ranks a node", 8),
        (Ranks(ranks_per_node=(3, 3)), "mesh 2m, 3 ranks a node", 6),
    ],
)
def test_ranks_and_their_shape(asked, name, ranks):
    space = arguments.rank_space(asked)
    assert space.ranks == ranks
    assert str(space) == name


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Ranks(), "--ranks 24"),
        (Ranks("none"), "--ranks 24"),
        (Ranks(ranks=0), "from 1 to 2147483647"),
        (Ranks(ranks=2**31), "from 1 to 2147483647"),
        (Ranks("4x3", ranks_per_node=0), "at least 1 rank"),
        (Ranks("4x3", ranks=13), "must hold 13 ranks"),
        (Ranks("4x3", ranks=12, ranks_per_node=2), "must hold 12 ranks / 2 a node"),
        (Ranks("60000x30000", ranks_per_node=2), "at most 2147483647 ranks"),
        (Ranks("60000x60000"), "more than 2^31-1 places"),
        (Ranks("4x"), "'4x'"),
        (Ranks("4x-3"), "'4x-3'"),
        (Ranks("0x3"), "'0x3'"),
        (Ranks("node"), "node:4"),
        (Ranks("node:0"), "from 1 to"),
        (Ranks("node:four"), "node:4"),
        (Ranks("node:4", ranks=5), "one number of ranks"),
        (Ranks("none", ranks=4, ranks_per_node=2), "ranks on nodes have a shape"),
        (Ranks(ranks_per_node=2), "--ranks 24"),
        (Ranks(ranks=3, ranks_per_node=4), "from 1 to the 3 ranks"),
        (Ranks(ranks_per_node=(4, 0, 5)), "at least 1 rank"),
        (Ranks(ranks=11, ranks_per_node=(4, 3, 5)), "must add up to 11 (got 12)"),
        (Ranks("2x2", ranks_per_node=(4, 3, 5)), "all 4 nodes of 2x2 (got 3 numbers)"),
        (Ranks("node:4", ranks_per_node=(2, 2)), "one node has one number of ranks"),
        (Ranks(ranks_per_node=(2**31 - 1, 2)), "at most 2147483647 ranks"),
        (Ranks(ranks=2**31 - 1, ranks_per_node=2), "at most 1048576 nodes if the last"),
    ],
)
def test_wrong_ranks_are_one_sentence(asked, said):
    with pytest.raises(BadInput) as caught:
        arguments.rank_space(asked)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ranks_per_node_in_words():
    named = arguments.ranks_per_node_named
    assert (named(None), named("4"), named("4, 3,5")) == (None, 4, (4, 3, 5))
    for wrong in ("", "4,", "four", "4x3", "1e3"):
        with pytest.raises(BadInput, match="a list such as 4,3,5"):
            named(wrong)


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=5), st.integers(1, 4))
def test_a_box_holds_its_ranks(axes, ranks_per_node):
    text = "x".join(f"{length}{'' if wraps else 'm'}" for length, wraps in axes)
    space = arguments.rank_space(Ranks(text, ranks_per_node=ranks_per_node))
    product = ranks_per_node
    for length, _ in axes:
        product *= length
    assert space.ranks == product
    assert [(a.length, a.wraps) for a in space.shape.axes][: len(axes)] == axes


def test_a_collective_of_bytes_or_elements():
    assert arguments.collective(CollectiveArguments("bcast", bytes=1024), FOUR).count == 128
    assert arguments.collective(CollectiveArguments("bcast", bytes=1024, type="int32"), FOUR).count == 256
    assert arguments.collective(CollectiveArguments("bcast", count=0), FOUR).bytes == 0


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (CollectiveArguments("bcast"), "--bytes 1MiB"),
        (CollectiveArguments("bcast", count=1, bytes=8), "given once"),
        (CollectiveArguments("bcast", bytes=12), "multiple of 8"),
        (CollectiveArguments("bcast", bytes=8, type="opaque"), "known size"),
        (CollectiveArguments("bcast", count=2**63), "64 bits"),
        (CollectiveArguments("bcast", count=1, root=2**31), "32 bits"),
        (CollectiveArguments("cast", count=1), "'cast'"),
        (CollectiveArguments("bcast", count=1, type="float65"), "'float65'"),
        (CollectiveArguments("reduce", count=1, operation="summ"), "'summ'"),
    ],
)
def test_wrong_collectives_are_one_sentence(asked, said):
    with pytest.raises(BadInput) as caught:
        arguments.collective(asked, FOUR)
    assert said in str(caught.value)


def test_parameters_are_read_as_they_are_written():
    assert arguments.parameters_of("trees=3 segments=6 overlap") == {"trees": 3, "segments": 6, "overlap": True}
    assert arguments.parameters_of("") == {}
