"""The page of a replay: the timeline of its ranks, where the time goes, and what would change it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from kumihimo.pages import one_file
from kumihimo.predict.replay.study import Replay
from kumihimo.text.quantities import counted, seconds_text, share_text

TICKS = 1_000_000  # of the timeline, in the whole time
COLOURED = 8  # call sites with a colour of their own
TERMS = {
    "parallel": ("parallel efficiency", "mean computing / time"),
    "load_balance": ("load balance", "mean / most computing of a rank"),
    "serialisation": ("serialisation", "most computing / time on an ideal network"),
    "transfer": ("transfer", "time on an ideal network / time"),
}


def render(prediction: Replay, result: dict) -> str:
    return one_file.page(
        Path(__file__).parent,
        timeline(prediction),
        ("charts.js", "torus.js"),
        result=result,
        title=prediction.question.model.title,
        links=links(result),
        efficiencies=[(share_text(result["efficiencies"][key]), name, rule) for key, (name, rule) in TERMS.items()],
        sites=result["sites"],
        shown=len(range(0, result["ranks"], prediction.question.every)),
        of_seconds=seconds_text,
        of_share=share_text,
        counted=counted,
    )


def links(result: dict) -> list[tuple[str, int, float, float]]:
    """Of each class: its links, their busy share of the whole time, and that of the busiest part (packet) or link."""
    if "link_classes" in result:
        return [(of["name"], of["links"], of["busy"], of["busiest"]) for of in result["link_classes"]]
    use = result.get("utilisation", {"by_class": {}})
    return [(name, of["links"], *busy_shares(result, of["shares"])) for name, of in use["by_class"].items()]


def busy_shares(result: dict, shares: list[float]) -> tuple[float, float]:
    """Of the whole time, and of the bin of time in which the links are busiest."""
    seconds = result["seconds"]
    mean = sum(shares) * result["utilisation"]["bin_seconds"] / seconds if seconds > 0 else 0.0
    return min(mean, 1.0), max(shares, default=0.0)


def timeline(prediction: Replay) -> dict:
    """Of each rank alternately a place and how many ticks it lasts. Places are regions, then call sites."""
    trace, total = prediction.question.trace, prediction.times.total or 1.0
    tracks: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, int] = defaultdict(int)
    for rank, place, is_call, _, end in prediction.times.intervals:
        ticks = round(end / total * TICKS) - ends[rank]
        if ticks > 0:
            tracks[rank] += [place + len(trace.regions) * is_call, ticks]
            ends[rank] += ticks
    order = [site.name for site in prediction.sites]
    place = {name: at if at < COLOURED else -1 for at, name in enumerate(order)}
    return {
        "seconds": prediction.times.total,
        "ticks": TICKS,
        "regions": trace.regions,
        "sites": trace.sites,
        "colours": [place.get(name) for name in trace.sites],  # -1: that of all others; null: no calls
        "ranks": sorted(tracks),
        "tracks": [tracks[rank] for rank in sorted(tracks)],
    }
