"""The page of a job beside others: the times of all repeats, compact and scattered, with the time alone marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kumihimo.pages import one_file
from kumihimo.text.quantities import counted, seconds_text, share_text
from kumihimo.text.sizes import text_of


def title_of(result: dict) -> str:
    size = f" {text_of(result['bytes'])}" if result.get("bytes") else ""
    return f"{result.get('algorithm') or result['programs']}{size}"


def charts_of(results: Sequence[dict]) -> list[dict]:
    """A chart for each algorithm and size, with a row for each spread."""
    charts: dict[str, dict] = {}
    for result in results:
        chart = charts.setdefault(title_of(result), {"title": title_of(result), "rows": []})
        chart["rows"].append(
            {
                "name": result["spread"],
                "alone": result["quiet_seconds"],
                "median": result["seconds"],
                "times": [repeat["seconds"] for repeat in result["repeats"]],
                "seeds": [repeat["seed"] for repeat in result["repeats"]],
            }
        )
    return list(charts.values())


def render(results: Sequence[dict]) -> str:
    first = results[0]
    what = first.get("collective") or first["programs"]
    offered, delivered = (sum(r[name] for r in results) for name in ("offered_bytes", "delivered_bytes"))
    slowest = max(results, key=lambda result: result["slowdown"])
    return one_file.page(
        Path(__file__).parent,
        charts_of(results),
        ("charts.js",),
        heading=f"{what} on {counted(first['ranks'], 'rank')} of {first['machine']} beside other jobs",
        background=first["background"],
        place=f"{first['machine']} {first['shape']}".strip(),
        repeats=counted(len(first["repeats"]), "repeat"),
        slowest=slowest,
        results=results,
        has_p99=first["p99_seconds"] is not None,
        accepted=delivered / offered if offered else None,
        title_of=title_of,
        of_seconds=seconds_text,
        of_share=share_text,
    )
