"""Who ran what when, and who waited for whom, as the page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo import pages
from kumihimo.app import task_timeline

TIMELINE = {
    "threads": 2,
    "nanoseconds": 50_000,
    "kinds": ["panel", "update"],
    "tasks": ["panel 0", "update of column 1 by panel 0", "update of column 2 by panel 0"],
    "kind_of_task": [0, 1, 1],
    "events": [
        [0, 0, 0, 20_000, 0, -1, -1],
        [1, 1, 21_000, 41_000, 21_000, 0, 0],
        [0, 2, 21_000, 30_000, 1_000, 0, 0],
    ],
    "detours": [[1, 25_000, 35_000]],
}


def test_intervals_follow_each_other_without_gaps() -> None:
    of_second = list(task_timeline.intervals_of(1, TIMELINE))
    assert of_second == [
        (0, 21, "waits for panel 0, which thread 0 runs"),
        (3, 4, "update of column 1 by panel 0"),
        (1, 10, "injected noise in update of column 1 by panel 0"),
        (3, 6, "update of column 1 by panel 0"),
        (0, 9, "no task is left"),
    ]
    for thread in range(2):
        assert sum(ticks for _, ticks, _ in task_timeline.intervals_of(thread, TIMELINE)) == 50


def test_waits_name_the_thread_that_others_waited_for() -> None:
    assert task_timeline.waits("tasks", TIMELINE) == [("tasks", "1", "panel", "0", "1", "21 us")]


def test_ranks_wait_for_messages() -> None:
    ranks = {
        **TIMELINE,
        "lanes": ["rank 0, thread 0", "rank 1, thread 0"],
        "kinds": ["panel", "update", "message"],
        "tasks": [*TIMELINE["tasks"], "message of panel 0"],
        "kind_of_task": [0, 1, 1, 2],
        "events": [
            [0, 0, 0, 20_000, 0, -1, -1],
            [1, 1, 30_000, 41_000, 30_000, 3, -1],
            [0, 2, 20_000, 30_000, 0, -1, -1],
        ],
    }
    assert next(task_timeline.intervals_of(1, ranks)) == (0, 30, "waits for message of panel 0")
    assert task_timeline.waits("tasks", ranks) == [("tasks", "rank 1, thread 0", "message", "", "1", "30 us")]
    drawn = task_timeline.picture(0, "tasks", ranks, 50_000)
    assert (drawn.ranks, drawn.threads) == (["0.0", "1.0"], ["rank 0, thread 0", "rank 1, thread 0"])


def test_pictures_have_one_length_of_time() -> None:
    shorter = {**TIMELINE, "nanoseconds": 45_000}
    first, second = (
        part for part in task_timeline.parts([("a", TIMELINE), ("b", shorter)]) if isinstance(part, pages.TaskTimeline)
    )
    assert first.ticks == second.ticks == 50 and sum(second.tracks[1][1::2]) == 45
    assert first.key() != second.key()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
def test_a_timeline_in_a_browser(browser, tmp_path: Path, width: int, dark: bool) -> None:
    text = pages.page("tasks", [pages.PageSection("Tasks", list(task_timeline.parts([("tasks", TIMELINE)])))])
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    told = (
        "const timeline = drawn['tasks-0-timeline']; timeline.tell(60, timeline.row + 5); "
        "return [timeline.told.textContent, timeline.keys.textContent];"
    )
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark, act=f"() => {{ {told} }}")
    assert (seen.ready, seen.console) == ("yes", [])
    assert seen.wide <= 0
    assert seen.acted[0].startswith("thread 1: waits for panel 0, which thread 0 runs")
    assert seen.acted[1] == "no workinjected noisepanelupdate"
