"""The page of a history: a curve for each series, with its levels and the places where they changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumihimo import pages
from kumihimo.keep.assertions import SECONDS
from kumihimo.keep.history import HistorySeries, LevelChange
from kumihimo.text.quantities import counted, rate_text, seconds_text

MOST_CHARTS = 60
LEAD = """Each point is one run, with its 95 % interval where the results state one. The dashed line is the median of
the runs between two changes. A circle marks the first run after a change. A change is a level that stays: one slow run
is none."""

Judged = Sequence[tuple[HistorySeries, Sequence[LevelChange]]]


def value_text(series: HistorySeries, value: float) -> str:
    if series.figure == SECONDS:
        return seconds_text(value)
    return rate_text(value) if series.figure == "bytes_per_second" else f"{value:.3g}"


def change_text(series: HistorySeries, change: LevelChange) -> str:
    run = series.runs[change.at]
    version = f" ({run.version})" if run.version else ""
    word = "slower" if change.times > 1 else "faster"
    share = change.times - 1 if change.times > 1 else 1 / change.times - 1
    return f"{100 * share:.1f} % {word} from {run.date}{version} on"


def name_of(series: HistorySeries, several: bool) -> str:
    name = series.key or "whole run"
    name = name if series.figure == SECONDS else f"{name}, {series.figure.replace('_', ' ')}"
    return f"{name} on {series.machine}" if several else name


def chart_of(series: HistorySeries, changes: Sequence[LevelChange], title: str, number: int) -> pages.LineChart:
    points = []
    for place, (run, value, (low, high)) in enumerate(zip(series.runs, series.values, series.intervals)):
        note = ", ".join(filter(None, (run.date, run.version, "accepted" if run.accepted else "")))
        ends = {"low": low, "high": high} if low is not None and high is not None and low < high else {}
        points.append({"x": place + 1, "y": value, "note": note, **ends})
    levels = series.levels(changes)
    places = [0, *(change.at for change in changes), len(levels)]
    parts = [[{"x": place + 1, "y": levels[place]} for place in range(a, b)] for a, b in zip(places, places[1:])]
    unit = {SECONDS: "seconds", "bytes_per_second": "rate"}.get(series.figure, "number")
    return pages.LineChart(
        title,
        "; ".join(change_text(series, change) for change in changes) or "no change",
        [
            pages.LineSeries("runs", points, colour="s0"),
            *(pages.LineSeries("level", part, colour="s1", bare=True, dash="6 4") for part in parts),
        ],
        x=pages.ChartAxis("number", most=len(levels)),
        y=pages.ChartAxis(unit, "log"),
        name=f"series{number}",
        marks=[{"x": change.at + 1, "y": series.values[change.at]} for change in changes],
    )


def charts(judged: Judged) -> Iterator[pages.LineChart]:
    """Charts, those with the worst last change first."""
    several = len({series.machine for series, _ in judged}) > 1
    order = sorted(judged, key=lambda each: (not each[1], -(each[1][-1].times if each[1] else 1.0)))
    for number, (series, changes) in enumerate(order[:MOST_CHARTS]):
        yield chart_of(series, changes, name_of(series, several), number)


def render(judged: Judged, name: str) -> str:
    """`judged`: series with their changes; at least one."""
    runs = {(run.machine, run.date, run.version) for series, _ in judged for run in series.runs}
    alarms = [(series, alarm) for series, changes in judged if (alarm := series.alarm(changes))]
    several = len({series.machine for series, _ in judged}) > 1
    rows = [
        (
            name_of(series, several),
            series.runs[change.at].date,
            series.runs[change.at].version,
            value_text(series, series.levels(changes)[change.at - 1]),
            value_text(series, series.levels(changes)[change.at]),
            f"{change.times:.3f}",
            f"{change.chance:.3f}",
        )
        for series, changes in judged
        for change in changes
    ]
    left = len(judged) - MOST_CHARTS
    facts = [
        (str(len(alarms)), "regressions that nobody has accepted", "of the last change of each series"),
        (counted(len(runs), "run"), f"of {counted(len(judged), 'result')}", ""),
    ]
    columns = ("result~", "from~", "version~", "before>", "after>", "times as slow>", "chance>")
    parts = [
        pages.KeyFacts(facts),
        pages.PageSection(
            "Changes",
            [
                pages.Prose(
                    "Chance: how often the same values in any order look as changed. Below 1 times as slow is a gain."
                ),
                pages.PageTable(columns, rows),
                pages.Prose("" if rows else "No level has changed.", "absent"),
            ],
        ),
        pages.PageSection(
            "Runs",
            [
                pages.Prose(LEAD),
                pages.ChartGroup(list(charts(judged)), name="history"),
                pages.Prose(f"{left} more results have no chart here." if left > 0 else "", "absent"),
            ],
        ),
    ]
    return pages.page("History of results", parts, about=name)
