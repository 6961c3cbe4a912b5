"""At which simulated segment sizes our extensions are faster than the paper's algorithm, in words."""

from __future__ import annotations

from kumihimo.demo.report import display
from kumihimo.demo.report.figures.comparison import subject_of
from kumihimo.text.json_types import JsonObject


def sentences(simulated: JsonObject) -> list[str]:
    """One for each extension that pipelines."""
    subject = _by_segment(simulated, simulated["subject"])
    names = dict.fromkeys(r["algorithm"] for r in simulated["segments"] if r["extension"])
    return [_sentence(_by_segment(simulated, name), subject, subject_of(simulated)) for name in names]


def _by_segment(simulated: JsonObject, name: str) -> dict[int, JsonObject]:
    mine = [r for r in simulated["segments"] if r["algorithm"] == name]
    return {r["declared_segment_bytes"]: r for r in sorted(mine, key=lambda r: r["declared_segment_bytes"])}


def _sentence(mine: dict[int, JsonObject], subject: dict[int, JsonObject], at_declared: JsonObject) -> str:
    declared = at_declared["declared_segment_bytes"]
    gain = {size: subject[size]["seconds"] / r["seconds"] for size, r in mine.items() if size in subject}
    name, other = (display.label(r["algorithm"]) for r in (mine[declared], at_declared))
    return " ".join(
        filter(
            None,
            [
                f"{name}: {_speed(gain[declared])} {other} at the declared {display.bytes_(declared)}.",
                _fill(mine[declared], at_declared),
                _where(gain),
                _best(mine, subject),
            ],
        )
    )


def _speed(gain: float) -> str:
    if abs(gain - 1) < 0.005:
        return "as fast as"
    return f"{display.ratio(gain)} as fast as" if gain > 1 else f"slower ({display.ratio(gain)} as fast) than"


def _fill(mine: JsonObject, subject: JsonObject) -> str:
    if mine["segments"] >= subject["segments"]:
        return ""
    return (
        f"Each of its trees has {mine['segments']} segments instead of {subject['segments']}, so filling and draining "
        "the pipelines takes a larger share of the time."
    )


def _where(gain: dict[int, float]) -> str:
    faster = [size for size, g in gain.items() if g > 1]
    if not faster:
        return "It is not faster at any segment size simulated."
    if len(faster) == len(gain):
        return "It is faster at every segment size simulated."
    sizes = list(gain)
    together = sizes[sizes.index(faster[0]) : sizes.index(faster[-1]) + 1] == faster
    if len(faster) == 1 or not together:
        return f"It is faster with segments of {', '.join(map(display.bytes_, faster))}."
    return f"It is faster with segments from {display.bytes_(faster[0])} to {display.bytes_(faster[-1])}."


def _best(mine: dict[int, JsonObject], subject: dict[int, JsonObject]) -> str:
    best, other = (min(results.values(), key=lambda r: r["seconds"]) for results in (mine, subject))
    return (
        f"Each at its best segment size: {display.seconds(best['seconds'])} "
        f"({display.bytes_(best['declared_segment_bytes'])}) against {display.seconds(other['seconds'])} "
        f"({display.bytes_(other['declared_segment_bytes'])}), {display.ratio(other['seconds'] / best['seconds'])}."
    )
