"""Processors that other programs use."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from kumihimo.processes import other_work
from kumihimo.testbed.costs import OtherWork


def test_a_program_that_works_is_seen():
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        assert other_work.busy_processors(0.5) > other_work.BUSY
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("cpu  100 0 200 9999 888 3 4 5 50 60\ncpu0 1\n", 312), ("cpu 1 2\n", None), ("cpu0 1 2 3 4 5 6\n", None)],
)
def test_idle_time_and_waiting_for_a_disk_are_no_work(tmp_path, monkeypatch, text, seconds):
    monkeypatch.setattr(other_work.os, "sysconf", lambda name: 1)
    (tmp_path / "stat").write_text(text, encoding="ascii")
    assert other_work.busy_seconds(tmp_path / "stat") == seconds


def test_a_system_that_does_not_say_is_not_busy(tmp_path):
    assert other_work.busy_seconds(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("busy", "launches", "told"),
    [
        ([0.1, 0.1], [[1.0, 1.2, 1.1]], ""),
        ([0.0, 1.8], [[1.0, 1.2]], "other programs used 1.8 of"),
        ([], [[1.0, 1.1], [0.5, 1.5]], "the slowest launch took 3.0 times as long as the fastest; measure again"),
    ],
)
def test_costs_that_others_disturbed_are_said(busy, launches, told):
    notes = OtherWork(busy, launches).notes
    assert bool(notes) == bool(told)
    assert not told or told in notes[0]
