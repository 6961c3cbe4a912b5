"""Expectations: what they say in seconds, which are missed, which cannot be read."""

import pytest

from kumihimo.run.profile import expectations
from kumihimo.run.profile.totals import Region, Totals
from kumihimo.text.errors import BadInput


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("seconds <= 0.5", 0.5),
        ("seconds<=1e-3", 1e-3),
        ("bytes 1e9 rate >= 2e9", 0.5),
        ("operations 100 rate >= 50", 2.0),
        ("bytes 1e9 share >= 0.5 of 4e9", 0.5),
        ("operations 1e9 share >= 0.25 of 4e9 operations per second", 1.0),
    ],
)
def test_all_come_to_a_time(text: str, seconds: float) -> None:
    assert expectations.parse(text).seconds == pytest.approx(seconds)


UNREADABLE = (
    *("soon", "seconds < 1", "seconds <= ", "bytes rate >= 3", "rate >= 5", "seconds <= 1 2"),
    *("seconds <= 0", "seconds <= -1", "bytes 0 rate >= 1", "bytes 1 rate >= 0"),
    *("seconds <= 1e999", "bytes 1e999 rate >= 1e9", "bytes 1 rate >= 1e999", "bytes 1 share >= 1 of 1e999"),
)


@pytest.mark.parametrize("text", UNREADABLE)
def test_others_are_one_sentence(text: str) -> None:
    with pytest.raises(BadInput, match="expectation"):
        expectations.parse(text)


def judged(*regions: Region) -> tuple[list[str], list[str]]:
    return expectations.judged(Totals({}, regions={(r.name, r.expectation): r for r in regions}))


def test_the_slowest_passage_decides() -> None:
    met = Region("met", "seconds <= 2", max_seconds=2.0, max_rank=0)
    missed = Region("missed", "bytes 1e9 rate >= 1e9", max_seconds=2.0, max_rank=3)
    share = Region("share", "bytes 1e9 share >= 0.5 of 1e9", max_seconds=4.0, max_rank=1)
    misses, unreadable = judged(met, missed, share, Region("odd", "soon"), Region("none", ""))
    assert misses == [
        "missed: expected at least 1e+09 bytes a second, found 5e+08 in the slowest passage, of rank 3",
        "share: expected at least 0.5 of 1e+09 bytes a second, found 0.25 in the slowest passage, of rank 1",
    ]
    assert len(unreadable) == 1 and "region odd" in unreadable[0] and "`soon`" in unreadable[0]


def test_what_never_ends_has_not_met_what_was_expected() -> None:
    misses, unreadable = judged(Region("solve", "seconds <= 5", unended=2), Region("unused", "seconds <= 5"))
    assert (misses, unreadable) == (["solve: expected 5 s, found no passage that ended"], [])
