"""Which launchers wait in vain for ranks, and what is said of those that were ended."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import pytest

from kumihimo.processes.signals import LATE, LateStatus
from kumihimo.run import start_watch
from kumihimo.run.start_watch import StartWatch, UnstartedStatus


@pytest.fixture
def cut(monkeypatch) -> set[int]:
    """The links that are cut in a testbed, in which this process seems to run."""
    links = {0}
    monkeypatch.setattr(start_watch.testbeds, "here", lambda: "a testbed")
    monkeypatch.setattr(start_watch.faults, "recorded", lambda testbed: SimpleNamespace(cut=links))
    return links


def late(watch: StartWatch) -> type:
    return type(watch.status(LATE))


def test_outside_of_testbeds_a_launcher_that_was_ended_had_ranks(monkeypatch):
    monkeypatch.setattr(start_watch.testbeds, "here", lambda: None)
    watch = StartWatch(1e-9, "mark")
    assert not watch.waits_in_vain()
    assert late(watch) is LateStatus
    assert watch.status(3) == 3


def test_a_launcher_waits_in_vain_when_the_time_is_over_and_a_link_is_cut(cut):
    watch = StartWatch(0.05, "no process has this word")
    assert not watch.waits_in_vain(), "there is time left"
    assert late(watch) is LateStatus
    time.sleep(0.06)
    assert watch.waits_in_vain()
    assert late(watch) is UnstartedStatus
    cut.clear()
    assert not watch.waits_in_vain(), "the link was healed"
    assert late(watch) is LateStatus


def test_ranks_that_ended_before_the_time_was_over_had_started(cut, monkeypatch):
    ranks = {os.getpid(): b"mark"}
    monkeypatch.setattr(start_watch.visible, "processes", lambda: list(ranks))
    monkeypatch.setattr(start_watch, "environment_of", ranks.get)
    watch = StartWatch(0.05, "mark")
    assert not watch.waits_in_vain()
    ranks.clear()
    time.sleep(0.06)
    assert not watch.waits_in_vain()
    assert late(watch) is LateStatus


@pytest.mark.parametrize(("seconds", "mark"), [(0.0, "mark"), (1e-9, "")])
def test_without_a_time_limit_or_a_mark_any_launcher_may_wait(cut, seconds, mark):
    assert not StartWatch(seconds, mark).waits_in_vain()
