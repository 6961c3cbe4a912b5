"""The page of an optimisation: where the time goes, what was changed, what whole runs gained, what else would help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kumihimo import files, pages
from kumihimo.profile.collectives import Collectives
from kumihimo.profile.summary import class_text
from kumihimo.quantities import counted, seconds_text, share_text

MOST_USES = 12  # rows
USES = ("collective", "ranks>", "size", "calls>", "most at", "time>", "transferring>")
CHOICES = ("collective", "ranks>", "from>", "to>", "algorithm", "ratio in the loop>")


def write(path: Path, found: dict, profile: Collectives | None) -> None:
    about = pages.markup("<code>{}</code>", found["program"])
    if profile:
        time = seconds_text(profile.seconds / max(1, profile.ranks))
        about += f", {time} on {counted(profile.ranks, 'rank')}"
    parts = [*gain(found), *(where(profile) if profile else [])]
    kept = [found["candidates"][number] for number in found["kept"]]
    dropped = [each for number, each in enumerate(found["candidates"]) if number not in found["kept"]]
    for title, choices in (("What was changed", kept), ("Tried and not kept", dropped)):
        if choices:
            parts.append(pages.PageSection(title, [pages.PageTable(CHOICES, [cells_of(each) for each in choices])]))
    if found["advice"]:
        parts.append(pages.PageSection("What else would help", [pages.BulletList(found["advice"])]))
    files.write_whole(path, pages.page("kumihimo optimise", parts, about=about))


def gain(found: dict) -> list[pages.PagePart]:
    """What whole runs say, or why they say nothing."""
    if found["nothing_to_gain"] and not found["gain"]:
        return [pages.Prose(f"Nothing was kept: {found['nothing_to_gain']}.", "key")]
    if not found["gain"]:
        return [pages.Prose("Not finished: run the same command again to continue.", "key")]
    less, least, most = (share_text(1 - found["gain"][name]) for name in ("ratio", "ratio_high", "ratio_low"))
    predicted = share_text(found["profile"]["predicted_gain"]["share"])
    uses = "Predicted from the profile: {}. <code>kumihimo run</code> uses the choices: <code>{}</code>"
    return [
        pages.Prose(f"{less} less time ({least} to {most}) by {len(found['pairs'])} pairs of whole runs.", "key"),
        pages.Prose(pages.markup(uses, predicted, found["wisdom"])),
        pages.ChartGroup([turns(found["pairs"])], name="pairs"),
    ]


def turns(pairs: Sequence[Sequence[float]]) -> pages.DotChart:
    """Of each pair both runs."""
    rows = []
    for number, (tuned, plain) in enumerate(pairs, 1):
        points = [
            {"x": cost, "label": f"pair {number}, {name}", "colour": f"s{1 - place}", "marker": place}
            for place, (name, cost) in enumerate((("without the choices", plain), ("with them", tuned)))
        ]
        rows.append(pages.DotRow(str(number), points))
    title = "Time of each run with the choices and without"
    unit = "a row is a pair: squares with the choices, circles without; less is better"
    return pages.DotChart(title, unit, rows, "number", scattered=False, from_zero=True)


def where(profile: Collectives) -> list[pages.PagePart]:
    """What the time is made of, and the uses of most time, each with its call site of most time."""
    waiting, transferring = profile.share(profile.waiting_seconds), profile.share(profile.transferring_seconds)
    shares = {"waiting": waiting, "transferring": transferring, "all else": max(0.0, 1 - waiting - transferring)}
    bars = [
        pages.ChartBar(name, [share], f"s{(1, 0, 10)[at]}", share_text(share))
        for at, (name, share) in enumerate(shares.items())
    ]
    lead = "Waiting for late ranks and transferring are of blocking collectives. Algorithms change the transfer alone."
    chart = pages.BarChart("", "share of the time of all ranks", bars, "share")
    parts: list[pages.PagePart] = [pages.ChartGroup([chart], name="shares"), pages.Prose(lead)]
    uses = sorted(profile.uses, key=lambda use: -use.seconds)[:MOST_USES]
    rows = [
        (
            use.collective if use.blocking else f"{use.collective} ({use.start})",
            str(use.ranks),
            class_text(use.bytes_from),
            str(use.calls),
            pages.markup("<code>{}</code>", use.places.most_common(1)[0][0]),
            share_text(profile.share(use.seconds)),
            share_text(profile.share(use.transferring_seconds)),
        )
        for use in uses
    ]
    return [pages.PageSection("Where the time goes", [*parts, *([pages.PageTable(USES, rows)] if rows else [])])]


def cells_of(choice: dict) -> tuple[str, ...]:
    ends = (str(choice["from_bytes"]), str(choice.get("to_bytes", "any")))
    return (choice["collective"], str(choice["ranks"]), *ends, choice["algorithm"], f"{choice['ratio']:.3f}")
