"""The page of a job beside others: the times of all repeats, compact and scattered, with the time alone marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumihimo import pages
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted, seconds_text, share_text
from kumihimo.text.sizes import text_of


def title_of(result: JsonObject) -> str:
    size = f" {text_of(result['bytes'])}" if result.get("bytes") else ""
    return f"{result.get('algorithm') or result['programs']}{size}"


LEAD = """A point is a repeat with a seed of its own. The long line is the median, the dashed one the median of the
times alone on the same nodes. Point at a repeat for its seed."""


def charts_of(results: Sequence[JsonObject]) -> list[pages.DotChart]:
    """A chart for each algorithm and size, with a row for each spread."""
    charts: dict[str, pages.DotChart] = {}
    for result in results:
        title, spread, alone = title_of(result), result["spread"], result["quiet_seconds"]
        rows = charts.setdefault(title, pages.DotChart(title, "", [])).rows
        points = []
        for repeat in result["repeats"]:
            note = f"{repeat['seconds'] / alone:.3g}× the median alone" if alone else ""
            points.append({"x": repeat["seconds"], "label": f"{spread}, seed {repeat['seed']}", "note": note})
        levels = [{"x": result["seconds"], "label": "in the median"}, {"x": alone, "label": "alone", "dashed": True}]
        rows.append({"name": spread, "colour": f"s{len(rows)}", "points": points, "levels": levels})
    return list(charts.values())


def facts_of(results: Sequence[JsonObject]) -> Iterator[tuple[str, ...]]:
    slowest = max(results, key=lambda result: result["slowdown"])
    case = f"{title_of(slowest)}, {slowest['spread']}"
    yield f"{slowest['slowdown']:.3g}", "times as long as alone, in the median", case
    waiting, alone = (share_text(slowest[f"{of}packets_waiting_share"]) for of in ("", "quiet_"))
    yield waiting, "of its packets waited", f"{alone} alone"
    offered, delivered = (sum(r[name] for r in results) for name in ("offered_bytes", "delivered_bytes"))
    if offered:
        yield share_text(delivered / offered), "of what the others offer was delivered while the job ran"


def render(results: Sequence[JsonObject]) -> str:
    first = results[0]
    longest = "max" if first["p99_seconds"] is None else "p99"
    times = ("quiet_seconds", "seconds", f"{longest}_seconds")
    rows = []
    for r in results:
        last = f"{r['slowdown']:.3g}", share_text(r["packets_waiting_share"])
        rows.append((title_of(r), r["spread"], *(seconds_text(r[name]) for name in times), *last))
    words = {"max": "longest>", "p99": "p99>"}
    columns = ("case", "nodes", "alone>", "median>", words[longest], "slowdown>", "packets that waited>")
    parts = [
        pages.KeyFacts(list(facts_of(results))),
        pages.PageSection("Times", [pages.Prose(LEAD), pages.ChartGroup(charts_of(results))]),
        pages.PageSection("Table", [pages.PageTable(columns, rows)]),
    ]
    what, ranks = first.get("collective") or first["programs"], counted(first["ranks"], "rank")
    about = f"{counted(len(first['repeats']), 'repeat')} on {first['machine']} {first['shape']}".strip()
    about += " ".join([" by the packet model.", *(f"Beside {job}." for job in first["background"])])
    return pages.page(f"{what} on {ranks} of {first['machine']} beside other jobs", parts, about=about)
