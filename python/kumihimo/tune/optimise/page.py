"""The page of an optimisation: where the time goes, what was changed, what whole runs gained, what else would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _machine, pages
from kumihimo.network import link_loads
from kumihimo.predict import chances
from kumihimo.run.profile.collectives import Collectives
from kumihimo.run.profile.summary import class_text
from kumihimo.text import files
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text

MOST_USES = 12  # rows
USES = ("collective", "ranks>", "size", "calls>", "most at", "time>", "transferring>")
CHOICES = ("collective", "ranks>", "from>", "to>", "algorithm", "ratio in the loop>")
TOTALS = ("run", "measured on all links>", "predicted>", "ratio>", "measured on the busiest>", "predicted>")
OF_PREDICTION = """Predicted from the recording: its messages, and those of the algorithms of its collectives. The MPI
library's own algorithms are assumed. Measured bytes also have those of the launcher and of opening connections, which
are most of a short run's."""

WITHOUT, WITH = "without", "with"  # the choices


@dataclass(frozen=True)
class RunLinks:
    """The bytes of each link of a testbed in a run WITHOUT the choices and in one WITH them, as its counters have them
    and as the recording predicts them. `predicted`: a sentence where nothing is."""

    machine: _machine.Machine
    measured: link_loads.Loads
    predicted: link_loads.Loads | str


def write(
    path: Path,
    found: JsonObject,
    profile: Collectives | None,
    links: RunLinks | None = None,
) -> None:
    """`links`: None outside a testbed."""
    about = pages.markup("<code>{}</code>", found["program"])
    if profile:
        about += f", {seconds_text(profile.seconds / max(1, profile.ranks))} on {counted(profile.ranks, 'rank')}"
    parts = [*gain(found), pages.PageSection("Where the time goes", list(where(profile)) if profile else [])]
    for title, kept in (("What was changed", True), ("Tried and not kept", False)):
        rows = [cells_of(each) for at, each in enumerate(found["candidates"]) if (at in found["kept"]) == kept]
        parts.append(pages.PageSection(title, [pages.PageTable(CHOICES, rows)]))
    if links:
        parts.append(pages.PageSection("Bytes on each link", list(loads_of(links.machine, links.measured)), "Links"))
        beside = list(beside_prediction(links))
        parts.append(pages.PageSection("Measured and predicted bytes on each link", beside, "Prediction"))
    parts.append(pages.PageSection("What else would help", [pages.BulletList(found["advice"])]))
    files.write_whole(path, pages.page("kumihimo optimise", parts, about=about))


def gain(found: JsonObject) -> Iterator[pages.PagePart]:
    """The gain that whole runs show, or why they show none."""
    if not found["gain"]:
        why = found["nothing_to_gain"]
        again = "Not finished: run the same command again to continue."
        yield pages.Prose(f"Nothing was kept: {why}." if why else again, "key")
        return
    less, least, most = (share_text(1 - found["gain"][name]) for name in ("ratio", "ratio_high", "ratio_low"))
    sure = chances.text(found["gain"]["faster_probability"])
    by = f"by {len(found['pairs'])} pairs of whole runs"
    yield pages.Prose(f"{less} less time ({least} to {most}) {by}, faster with a probability of {sure}.", "key")
    predicted = share_text(found["profile"]["predicted_gain"]["share"])
    uses = "Predicted from the profile: {}. <code>kumihimo run</code> uses the choices: <code>{}</code>"
    yield pages.Prose(pages.markup(uses, predicted, found["wisdom"]))
    yield pages.ChartGroup([turns(found["pairs"])], name="pairs")


def loads_of(machine: _machine.Machine, loads: link_loads.Loads) -> Iterator[pages.PagePart]:
    """Both runs side by side, as the counters of the testbed have them."""
    titles = {name: f"measured in a run {name} the choices" for name in (WITHOUT, WITH)}
    loads = {name: loads[name] for name in titles}
    yield from link_loads.pictures(machine, loads, titles, "runs")
    yield link_loads.sorted_loads(loads, titles)
    columns = [f"{what}, {name}>" for what in ("busiest", "mean") for name in titles]
    yield link_loads.classes(machine, loads, columns, "Bytes of data, without headers, in the last pair of runs.")


def beside_prediction(links: RunLinks) -> Iterator[pages.PagePart]:
    """For each of both runs the measured loads beside the predicted ones, and their totals."""
    if isinstance(links.predicted, str):
        yield pages.Prose(f"There is no prediction: {links.predicted}.", "absent")
        return
    yield pages.Prose(OF_PREDICTION)
    rows = []
    for name in (WITHOUT, WITH):
        loads = {"measured": links.measured[name], "predicted": links.predicted[name]}
        titles = {of: f"{of}, {name} the choices" for of in loads}
        yield from link_loads.pictures(links.machine, loads, titles, "cases", f"{name}-choices")[1:]
        yield link_loads.sorted_loads(loads, titles, f"{name}-choices-sorted")
        measured, predicted = (sum(each) for each in loads.values())
        ratio = f"{measured / predicted:.3f}" if predicted else ""
        busiest = (bytes_text(max(each)) for each in loads.values())
        rows.append((f"{name} the choices", bytes_text(measured), bytes_text(predicted), ratio, *busiest))
    yield pages.PageTable(TOTALS, rows)


def turns(pairs: Sequence[Sequence[float]]) -> pages.DotChart:
    """Both runs of each pair."""
    names = ("with the choices", "without")  # squares, circles
    rows = []
    for number, pair in enumerate(pairs, 1):
        points = [{"x": cost, "colour": f"s{at}", "marker": 1 - at} for at, cost in enumerate(pair)]
        named = [{"label": f"pair {number} {name}", **point} for name, point in zip(names, points)]
        rows.append({"name": str(number), "points": named})
    unit = "a row is a pair: squares with the choices, circles without; less is better"
    return pages.DotChart("Time of each run with the choices and without", unit, rows, "number", False, from_zero=True)


def where(profile: Collectives) -> Iterator[pages.PagePart]:
    """The parts of the time, and the uses of most time, each with its call site of most time."""
    waiting, transferring = profile.share(profile.waiting_seconds), profile.share(profile.transferring_seconds)
    shares = {"waiting": waiting, "transferring": transferring, "all else": max(0.0, 1 - waiting - transferring)}
    colours = ("s1", "s0", "s10")
    bars = [pages.ChartBar(name, [part], c, share_text(part)) for c, (name, part) in zip(colours, shares.items())]
    yield pages.ChartGroup([pages.BarChart("", "share of the time of all ranks", bars, "share")], name="shares")
    yield pages.Prose("""Waiting for late ranks and transferring are of blocking collectives. Algorithms change the
        transfer alone.""")
    rows = [
        (
            use.collective if use.blocking else f"{use.collective} ({use.start})",
            use.ranks,
            class_text(use.bytes_from),
            use.calls,
            pages.markup("<code>{}</code>", use.places.falling()[0][0]),
            share_text(profile.share(use.seconds)),
            share_text(profile.share(use.transferring_seconds)),
        )
        for use in sorted(profile.uses, key=lambda use: -use.seconds)[:MOST_USES]
    ]
    yield pages.PageTable(USES, rows)


def cells_of(choice: JsonObject) -> tuple:
    cells = {"to_bytes": "any", **choice, "ratio": f"{choice['ratio']:.3f}"}
    return tuple(cells[name] for name in ("collective", "ranks", "from_bytes", "to_bytes", "algorithm", "ratio"))
