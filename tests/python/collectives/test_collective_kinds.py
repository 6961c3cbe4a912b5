"""Each native module has a copy of the table of collectives: a kind made in one is the same kind in all others."""

from __future__ import annotations

import pytest

from kumihimo import _collectives, _schedule, _topology, _verify
from kumihimo.text.errors import NotApplicable

SPACE = _topology.RankSpace.box(_topology.Shape.parse("2x2"))


@pytest.mark.parametrize("kind", _schedule.collectives())
def test_kind_is_the_same_in_all_modules(kind):
    """_schedule makes the kind, _collectives and _verify compare it with theirs."""
    collective = _schedule.Collective(kind, SPACE.ranks, 29 if _schedule.meaning(kind).moves_data else 0)
    if _schedule.meaning(kind).of_neighbours:
        collective = _collectives.with_neighbours(collective, "cart:2x2")
    proved = set()
    for variant in _collectives.variants(kind):
        try:
            schedule = variant.build(collective, SPACE)
        except NotApplicable:
            continue
        report = _verify.check(schedule, SPACE)
        assert report.ok, f"{kind} {variant.name}: {report}"
        proved.add(variant.name)
    assert proved
