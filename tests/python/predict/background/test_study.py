"""What repeats say together."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest

from kumihimo.predict.background import study


def repeats(times: list[float], quiet: float = 1.0, offered: int = 10_000) -> list[dict]:
    source = {"offered_bytes": offered, "delivered_bytes": offered * 4 // 5, "runs": 0, "message_bytes": 100}
    recorded = {"offered_bytes": 500, "delivered_bytes": 0, "runs": 3, "message_bytes": None}
    return [
        {
            "seconds": seconds,
            "quiet_seconds": quiet,
            "packets_waiting_share": 0.5,
            "quiet_packets_waiting_share": 0.0,
            "links_waiting_share": 0.1,
            "start_seconds": 2.0,
            "background": [source, recorded],
        }
        for seconds in times
    ]


def test_the_99th_percentile_is_the_time_that_99_of_100_repeats_do_not_exceed():
    found = study.summary(repeats([float(n) for n in range(100, 0, -1)]))
    assert (found["p99_seconds"], found["max_seconds"], found["seconds"]) == (99.0, 100.0, 50.5)
    assert study.summary(repeats([float(n) for n in range(1, 251)]))["p99_seconds"] == 248.0
    assert study.summary(repeats([1.0] * 99))["p99_seconds"] is None


def test_the_median_has_an_interval_from_6_repeats_on():
    few = study.summary(repeats([3.0, 1.0, 2.0, 5.0, 4.0]))
    assert (few["seconds"], few["low_seconds"], few["high_seconds"]) == (3.0, None, None)
    more = study.summary(repeats([3.0, 1.0, 2.0, 5.0, 4.0, 6.0], quiet=2.0))
    assert (more["low_seconds"], more["high_seconds"], more["slowdown"]) == (1.0, 6.0, 1.75)
    assert (more["accepted_share"], more["offered_messages"]) == (0.8, 600)
    assert study.summary(repeats([1.0] * 3, offered=13_000))["accepted_share"] is None


def test_tasks_run_at_once_and_errors_are_theirs():
    meeting = threading.Barrier(2)

    def work(task: int) -> int:
        if task < 2:
            meeting.wait(30)  # which needs two threads
        if task == 3:
            raise ValueError("three")
        return 10 * task

    found = {task: (value, str(error)) for task, value, error in study.in_parallel(work, range(6), 2)}
    assert found == {n: (10 * n, "None") if n != 3 else (None, "three") for n in range(6)}


def test_what_is_left_is_not_begun_after_an_error():
    begun = []

    def work(task: int) -> None:
        begun.append(task)
        time.sleep(0.02)
        raise ValueError

    with pytest.raises(ValueError), contextlib.closing(study.in_parallel(work, range(1000), 1)) as outcomes:
        for _, _, error in outcomes:
            raise error
    assert len(begun) < 100
