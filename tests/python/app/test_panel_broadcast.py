"""Messages of broadcasts along a row of a grid."""

from __future__ import annotations

import pytest

from kumihimo import _collectives
from kumihimo.app import panel_broadcast
from kumihimo.app.panel_broadcast import PanelBroadcast, RowEvent
from kumihimo.text.errors import BadInput, NotApplicable

OF_ROWS = tuple(
    each.name for each in _collectives.variants("bcast") if each.name not in ("trinaryx3", "trinaryx6", "trinary_mesh")
)


def sent(events: tuple[RowEvent, ...]) -> list[RowEvent]:
    return [each for each in events if each.sends]


def test_a_chain_passes_the_message_on() -> None:
    found = PanelBroadcast("chain", 4).events()
    ends = [(each.rank, each.peer, each.sends) for each in found]
    assert ends == [(0, 1, True), (1, 0, False), (1, 2, True), (2, 1, False), (2, 3, True), (3, 2, False)]
    assert {each.share for each in found} == {1.0}
    assert PanelBroadcast("chain", 1).events() == ()


def test_two_chains_start_at_the_root() -> None:
    found = sent(PanelBroadcast("two_chains_modified", 7).events())
    assert [(each.rank, each.peer) for each in found if each.rank == 0] == [(0, 1), (0, 2), (0, 4)]
    assert {each.peer for each in found} == set(range(1, 7))
    assert 1 not in {each.rank for each in found}, "the next owner passes nothing on"


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 9])
def test_long_sends_about_twice_the_message(ranks: int) -> None:
    found = sent(PanelBroadcast("long", ranks).events())
    for rank in range(ranks):
        came = sum(each.share for each in found if each.peer == rank)
        assert came <= 2 * (1 - 1 / ranks) + 1e-9
        assert rank == 0 or came >= 1 - 1e-9
    assert max(sum(each.share for each in found if each.rank == rank) for rank in range(ranks)) <= 2


@pytest.mark.parametrize("name", OF_ROWS)
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_every_rank_gets_the_whole_message_from_ranks_that_have_it(name: str, ranks: int) -> None:
    """Of every broadcast that fits a row of nodes of two ranks."""
    broadcast = PanelBroadcast(name, ranks, tuple(rank // 2 for rank in range(ranks)))
    try:
        broadcast.check()
    except NotApplicable:
        return
    found = broadcast.events()
    has, number = {0}, 0
    for each in found:
        if each.sends:
            assert each.rank in has, "nothing is sent before it came"
            assert each.message == number
            number += 1
        else:
            assert each.message < number
            has.add(each.rank)
    assert sorted(each.message for each in found if not each.sends) == list(range(number)), "each comes once"
    for rank in range(1, ranks):
        assert sum(each.share for each in found if not each.sends and each.rank == rank) >= 1 - 1e-9
    for root in range(ranks):
        operations = broadcast.operations(root)
        sends = sum(each.share for rank in operations for each in rank if each.kind == "send")
        assert sends == pytest.approx(sum(each.share for each in sent(found)), rel=0.3)
        assert all(before < place for rank in operations for place, each in enumerate(rank) for before in each.after)


@pytest.mark.parametrize("name", OF_ROWS)
def test_the_broadcast_of_one_owner_stands_for_all_where_it_may(name: str) -> None:
    """By their messages, whose order may differ."""
    broadcast = PanelBroadcast(name, 6, (0, 0, 1, 1, 1, 2))
    try:
        broadcast.check()
    except NotApplicable:
        return
    messages = [sorted((each.rank, each.peer, each.share) for each in sent(broadcast.events(o))) for o in range(6)]
    if len(broadcast.owners) == 1:
        assert all(each == messages[0] for each in messages), "distances from the owner are all that matters"
    else:
        assert any(each != messages[0] for each in messages), name


@pytest.mark.parametrize(("size", "number"), [(2, 3), (3, 4), (4, 4), (5, 3)])
def test_owners_at_the_same_place_of_equal_nodes_have_one_broadcast(size: int, number: int) -> None:
    broadcast = PanelBroadcast("hierarchical", size * number, tuple(rank // size for rank in range(size * number)))
    for owner in broadcast.owners:
        assert broadcast.same_by_distance(owner) == owner % size
        assert broadcast.events(owner) == panel_broadcast.events_of(broadcast, owner)
    assert PanelBroadcast("hierarchical", 6, (0, 0, 1, 1, 1, 2)).same_by_distance(5) == 5
    assert PanelBroadcast("hierarchical", 5, (0, 0, 1, 1, 2)).same_by_distance(4) == 4


def test_what_does_not_fit_is_one_sentence() -> None:
    with pytest.raises(NotApplicable, match="broadcast=hierarchical does not fit the 4 ranks of a row"):
        PanelBroadcast("hierarchical", 4, (0, 0, 0, 0)).check()
    PanelBroadcast("hierarchical", 4, (0, 0, 1, 1)).check()
    with pytest.raises(BadInput, match="must have at most 1024 ranks with broadcast=long"):
        PanelBroadcast("long", panel_broadcast.MOST_RANKS + 1).check()
    PanelBroadcast("chain", 2 * panel_broadcast.MOST_RANKS).check()
