"""The page of a replay: the timeline of its ranks, where the time goes, and what would change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kumihimo import pages
from kumihimo.predict import prediction_errors
from kumihimo.predict.replay.study import Replay
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted, seconds_text, share_text

TICKS = 1_000_000  # of the timeline, in the whole time
COLOURED = 8  # call sites with a colour of their own
TERMS = {
    "parallel": ("parallel efficiency", "mean computing / time"),
    "load_balance": ("load balance", "mean / most computing of a rank"),
    "serialisation": ("serialisation", "most computing / time on an ideal network"),
    "transfer": ("transfer", "time on an ideal network / time"),
}


SITES = ("call site", "calls>", "time>", "waiting>", "transferring>", "imbalance>")
SITES_LEAD = """In the time of all ranks. Waiting: what also an ideal network takes, since ranks wait for each other.
Transferring: the rest. Imbalance: 0 % if all ranks spend the same time, 100 % if one spends all."""
KEYS = "Turn the wheel or press + and - to zoom, drag or use the arrow keys to move; 0 shows all."
OF_CLASSES = "How busy the links of a class were in the whole time: all together, and the one with the most bytes."
OF_BINS = """How long the links of a class carried packets: of the whole time, and of the part of it in which they were
busiest."""


def render(prediction: Replay, result: JsonObject) -> str:
    shown = len(range(0, result["ranks"], prediction.question.every))
    some = f" ({shown} of {result['ranks']} are shown)" if shown < result["ranks"] else ""
    sites = []
    for row in result["sites"]:
        times = (seconds_text(row[name]) for name in ("seconds", "waiting", "transferring"))
        sites.append((row["name"], row["calls"], *times, share_text(row["imbalance"])))
    busy = [(name, number, share_text(mean), share_text(most)) for name, number, mean, most in links(result)]
    changes = []
    for row in result["changes"]:
        gain = result["seconds"] / row["seconds"] if row["seconds"] else 1
        changes.append((row["name"], seconds_text(row["seconds"]), f"{gain:.2f}"))
    lead, columns = OF_CLASSES if "link_classes" in result else OF_BINS, ("class", "links>", "busy>", "at most>")
    changed = pages.PageTable(("change", "time>", "times as fast>"), changes)
    parts = [
        *(pages.Prose(sentence, "warning") for sentence in result["warnings"]),
        pages.KeyFacts(list(facts_of(result))),
        pages.PageSection("Timeline", [pages.Prose(f"A row is a rank{some}. {KEYS}"), timeline(prediction)]),
        pages.PageSection("Call sites", [pages.Prose(SITES_LEAD), pages.PageTable(SITES, sites)]),
        pages.PageSection("Links", [pages.Prose(lead), pages.PageTable(columns, busy)]),
        pages.PageSection("With one thing changed", [changed], "Changes"),
    ]
    heading = f"{seconds_text(result['seconds'])} on {counted(result['ranks'], 'rank')} of {result['machine']}"
    return pages.page("kumihimo replay", parts, heading, about(prediction, result))


def about(prediction: Replay, result: JsonObject) -> str:
    if "programs" in result:
        source = result["programs"]
    else:
        source = f"a recording of {counted(result['recorded_ranks'], 'rank')} in "
        source += seconds_text(result["recorded_seconds"])
    if "grid" in result:
        old, new = ("×".join(map(str, result[name])) for name in ("recorded_grid", "grid"))
        source += f", extrapolated from the grid {old} to {new} by {result['scaling']} scaling"
    return f"Predicted by the model {prediction.question.model.title} from {source}."


def facts_of(result: JsonObject) -> Iterator[tuple[str, str, str]]:
    computing = f"{seconds_text(result['computing_seconds'])} computing in the mean"
    yield seconds_text(result["seconds"]), "predicted time", computing
    if "interval" in result:
        rule = "nine of ten measured times are expected there, by the errors of collectives"
        yield prediction_errors.text_of(result["interval"]), "90 % within", rule
    for key, (name, rule) in TERMS.items():
        yield share_text(result["efficiencies"][key]), name, rule
    if "packets" in result:
        waiting = share_text(result["packets_waiting_share"])
        yield waiting, "packets that waited", "for a link that another message had"


def links(result: JsonObject) -> list[tuple[str, int, float, float]]:
    """Link classes: name, links, their busy share of the whole time, and that of the busiest part (packet) or link."""
    if "link_classes" in result:
        return [(of["name"], of["links"], of["busy"], of["busiest"]) for of in result["link_classes"]]
    use = result.get("utilisation", {"by_class": {}})
    return [(name, of["links"], *busy_shares(result, of["shares"])) for name, of in use["by_class"].items()]


def busy_shares(result: JsonObject, shares: list[float]) -> tuple[float, float]:
    """Busy share over the whole time, and over the bin in which the links are busiest."""
    seconds = result["seconds"]
    mean = sum(shares) * result["utilisation"]["bin_seconds"] / seconds if seconds > 0 else 0.0
    return min(mean, 1.0), max(shares, default=0.0)


def timeline(prediction: Replay) -> pages.RankTimeline:
    trace, total = prediction.question.trace, prediction.times.total or 1.0
    tracks: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, int] = defaultdict(int)
    for rank, place, is_call, _, end in prediction.times.intervals:
        ticks = round(end / total * TICKS) - ends[rank]
        if ticks > 0:
            tracks[rank] += [place + len(trace.regions) * is_call, ticks]
            ends[rank] += ticks
    order = [site.name for site in prediction.sites]
    places = {name: at if at < COLOURED else -1 for at, name in enumerate(order)}
    return pages.RankTimeline(
        "what each rank does when",
        prediction.times.total,
        TICKS,
        trace.regions,
        trace.sites,
        [places.get(name) for name in trace.sites],
        sorted(tracks),
        [tracks[rank] for rank in sorted(tracks)],
    )
