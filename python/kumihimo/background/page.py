"""The page of a job beside others: the times of all repeats, compact and scattered, with the time alone marked."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo import pages
from kumihimo.quantities import counted, seconds_text, share_text
from kumihimo.sizes import text_of


def title_of(result: dict) -> str:
    size = f" {text_of(result['bytes'])}" if result.get("bytes") else ""
    return f"{result.get('algorithm') or result['programs']}{size}"


LEAD = (
    "A point is a repeat with a seed of its own. The long line is the median, the dashed one the median of the times "
    "alone on the same nodes. Point at a repeat for its seed."
)


def charts_of(results: Sequence[dict]) -> list[pages.DotChart]:
    """A chart for each algorithm and size, with a row for each spread."""
    charts: dict[str, pages.DotChart] = {}
    for result in results:
        title, spread, alone = title_of(result), result["spread"], result["quiet_seconds"]
        rows = charts.setdefault(title, pages.DotChart(title, "", [])).rows
        points = [
            {
                "x": repeat["seconds"],
                "label": f"{spread}, seed {repeat['seed']}",
                "note": f"{repeat['seconds'] / alone:.3g}× the median alone" if alone else "",
            }
            for repeat in result["repeats"]
        ]
        levels = [
            {"x": result["seconds"], "label": "in the median"},
            {"x": alone, "label": "alone", "dashed": True},
        ]
        rows.append(pages.DotRow(spread, points, levels, f"s{len(rows)}"))
    return list(charts.values())


def facts_of(results: Sequence[dict]) -> list[tuple[str, ...]]:
    slowest = max(results, key=lambda result: result["slowdown"])
    waiting, alone = (share_text(slowest[f"{of}packets_waiting_share"]) for of in ("", "quiet_"))
    facts: list[tuple[str, ...]] = [
        (
            f"{slowest['slowdown']:.3g}",
            "times as long as alone, in the median",
            f"{title_of(slowest)}, {slowest['spread']}",
        ),
        (waiting, "of its packets waited", f"{alone} alone"),
    ]
    offered, delivered = (sum(r[name] for r in results) for name in ("offered_bytes", "delivered_bytes"))
    if offered:
        share = share_text(delivered / offered)
        facts.append((share, "of what the others offer was delivered while the job ran"))
    return facts


def render(results: Sequence[dict]) -> str:
    first = results[0]
    what = first.get("collective") or first["programs"]
    has_p99 = first["p99_seconds"] is not None
    rows = [
        (
            title_of(r),
            r["spread"],
            *map(seconds_text, (r["quiet_seconds"], r["seconds"], r["p99_seconds"] if has_p99 else r["max_seconds"])),
            f"{r['slowdown']:.3g}",
            share_text(r["packets_waiting_share"]),
        )
        for r in results
    ]
    longest = "p99>" if has_p99 else "longest>"
    columns = ("case", "nodes", "alone>", "median>", longest, "slowdown>", "packets that waited>")
    parts = [
        pages.KeyFacts(facts_of(results)),
        pages.PageSection("Times", [pages.Prose(LEAD), pages.ChartGroup(charts_of(results))]),
        pages.PageSection("Table", [pages.PageTable(columns, rows)]),
    ]
    title = f"{what} on {counted(first['ranks'], 'rank')} of {first['machine']} beside other jobs"
    place = f"{first['machine']} {first['shape']}".strip()
    about = [f"{counted(len(first['repeats']), 'repeat')} on {place} by the packet model."]
    return pages.page(title, parts, about=" ".join([*about, *(f"Beside {job}." for job in first["background"])]))
