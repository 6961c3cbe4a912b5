"""The page of an optimisation: where the time goes, what was changed, what whole runs gained, what else would help."""

from __future__ import annotations

from pathlib import Path

from kumihimo.run.profile.collectives import Collectives
from kumihimo.run.profile.summary import class_text
from kumihimo.text import files
from kumihimo.text.quantities import counted, seconds_text, share_text

MOST_USES = 12  # rows
WIDTH, ROW = 560, 14  # of the picture of pairs, in pixels


def write(path: Path, found: dict, profile: Collectives | None) -> None:
    import jinja2

    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        (Path(__file__).parent / "page.html.j2").read_text(encoding="utf-8")
    )
    text = template.render(
        found=found,
        kept=[found["candidates"][number] for number in found["kept"]],
        dropped=[each for number, each in enumerate(found["candidates"]) if number not in found["kept"]],
        parts=parts_of(profile) if profile else [],
        uses=rows_of(profile) if profile else [],
        seconds=seconds_text(profile.seconds / max(1, profile.ranks)) if profile else "",
        ranks=counted(profile.ranks, "rank") if profile else "",
        pairs=points_of(found["pairs"]),
        width=WIDTH,
        row=ROW,
        percent=lambda share: share_text(share),
        ratio=lambda value: f"{value:.3f}",
    )
    files.write_whole(path, text)


def parts_of(profile: Collectives) -> list[tuple[str, float, str]]:
    """What the time is made of: name, percent, text."""
    waiting, transferring = profile.share(profile.waiting_seconds), profile.share(profile.transferring_seconds)
    shares = {"waiting": waiting, "transferring": transferring, "all else": max(0.0, 1 - waiting - transferring)}
    return [(name, round(100 * share, 2), share_text(share)) for name, share in shares.items()]


def rows_of(profile: Collectives) -> list[dict]:
    """The uses of most time, each with its call site of most time."""
    uses = sorted(profile.uses, key=lambda use: -use.seconds)[:MOST_USES]
    return [
        {
            "collective": use.collective if use.blocking else f"{use.collective} ({use.start})",
            "ranks": use.ranks,
            "sizes": class_text(use.bytes_from),
            "calls": use.calls,
            "place": str(use.places.most_common(1)[0][0]),
            "share": share_text(profile.share(use.seconds)),
            "transferring": share_text(profile.share(use.transferring_seconds)),
        }
        for use in uses
    ]


def points_of(pairs: list[list[float]]) -> list[dict]:
    """Of each pair both runs, from the left edge on in pixels; the scale begins at nought."""
    most = max((cost for pair in pairs for cost in pair), default=1.0)
    place = [{"tuned": tuned / most, "plain": plain / most} for tuned, plain in pairs]
    return [{name: round(WIDTH * share * 0.95, 1) for name, share in each.items()} for each in place]
