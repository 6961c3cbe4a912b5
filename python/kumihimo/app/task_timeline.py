"""The part of an application's page that shows tasks: which thread ran what when, and who waited for whom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kumihimo import pages
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import seconds_text

TICK = 1000  # nanoseconds
IDLE, DETOUR, FIRST_KIND = 0, 1, 2  # places of TaskTimeline.kinds
OTHER_KINDS = ("no work", "injected noise")
LEAD = """A row for each thread, of several ranks RANK.THREAD. Point at an interval for its task, or for the task that
the thread waits for; the wheel zooms. All pictures have the same length of time."""
OF_WAITS = "Waits of a thread for a task that another one had not ended, or for a message."
COLUMNS = ("schedule", "thread>", "waits for", "of thread>", "times>", "time>")


@dataclass(frozen=True)
class TimelineEvent:
    """A line of `events` (docs/applications.md)."""

    thread: int
    task: int
    begin: int
    end: int
    idle: int
    waited_for: int  # a task, or -1
    of_thread: int  # that runs it; -1: it is a message


def parts(rows: Sequence[tuple[str, JsonObject]]) -> Iterator[pages.PagePart]:
    """`rows`: of each run its label and its timeline."""
    longest = max((timeline["nanoseconds"] for _, timeline in rows), default=0)
    for number, (label, timeline) in enumerate(rows):
        yield picture(number, label, timeline, longest)
    yield pages.Prose(LEAD if rows else "")
    yield pages.PageTable(COLUMNS, [row for label, timeline in rows for row in waits(label, timeline)], lead=OF_WAITS)


def events_of(timeline: JsonObject) -> list[TimelineEvent]:
    return [TimelineEvent(*each) for each in timeline["events"]]


def names_of(timeline: JsonObject) -> list[str]:
    return timeline.get("lanes") or [f"thread {thread}" for thread in range(timeline["threads"])]


def picture(number: int, label: str, timeline: JsonObject, longest: int) -> pages.TaskTimeline:
    tracks, notes = [], []
    for thread in range(timeline["threads"]):
        intervals = list(intervals_of(thread, timeline))
        tracks.append([number for place, ticks, _ in intervals for number in (place, ticks)])
        notes.append([note for _, _, note in intervals])
    return pages.TaskTimeline(
        name=f"tasks-{number}-timeline",
        label=f"tasks of {label} over time",
        unit=f"{label}: {seconds_text(timeline['nanoseconds'] * 1e-9)}",
        seconds=longest * 1e-9,
        ticks=longest // TICK,
        kinds=[*OTHER_KINDS, *timeline["kinds"]],
        ranks=[".".join(re.findall("[0-9]+", name)) for name in names_of(timeline)],
        threads=names_of(timeline),
        tracks=tracks,
        notes=notes,
    )


def intervals_of(thread: int, timeline: JsonObject) -> Iterator[tuple[int, int, str]]:
    """Place, ticks and note, one after the other."""
    detours = [(begin, end) for of, begin, end in timeline["detours"] if of == thread]
    names = names_of(timeline)
    now = 0

    def until(time: int, place: int, note: str) -> Iterator[tuple[int, int, str]]:
        nonlocal now
        if time // TICK > now:
            yield place, time // TICK - now, note
            now = time // TICK

    for event in events_of(timeline):
        if event.thread != thread:
            continue
        name = timeline["tasks"][event.task]
        reason = "no task is ready"
        if event.waited_for >= 0:
            by = f", which {names[event.of_thread]} runs" if event.of_thread >= 0 else ""
            reason = f"waits for {timeline['tasks'][event.waited_for]}{by}"
        yield from until(event.begin, IDLE, reason)
        place = FIRST_KIND + timeline["kind_of_task"][event.task]
        for begin, end in detours:
            if event.begin <= begin < event.end:
                yield from until(begin, place, name)
                yield from until(min(end, event.end), DETOUR, f"injected noise in {name}")
        yield from until(event.end, place, name)
    yield from until(timeline["nanoseconds"], IDLE, "no task is left")


def waits(label: str, timeline: JsonObject) -> list[tuple[str, ...]]:
    """Who waited for whom, the longest first."""
    names = timeline.get("lanes") or [str(thread) for thread in range(timeline["threads"])]
    found: dict[tuple[int, str, int], list[int]] = {}
    for event in events_of(timeline):
        if event.waited_for >= 0 and event.of_thread != event.thread:
            kind = timeline["kinds"][timeline["kind_of_task"][event.waited_for]]
            found.setdefault((event.thread, kind, event.of_thread), []).append(event.idle)
    ordered = sorted(found.items(), key=lambda item: -sum(item[1]))
    return [
        (label, names[thread], kind, names[other] if other >= 0 else "", str(len(idle)), seconds_text(sum(idle) * 1e-9))
        for (thread, kind, other), idle in ordered
    ]
