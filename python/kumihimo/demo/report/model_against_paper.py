"""The model beside the publication: each published figure, what the simulation gives, and the difference."""

from __future__ import annotations

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.figures.comparison import blind, subject_of
from kumihimo.text.json_types import JsonObject


def rows(simulated: JsonObject) -> list[tuple[str, ...]]:
    """Every published figure for which there is a prediction, that, their difference and the source; none where another
    shape was simulated."""
    if not simulated["as_published"]:
        return []
    published, model = simulated["published"], predictions(simulated)
    return [_row(key, published[key], model[key]) for key in published if key in model]


def predictions(simulated: JsonObject) -> dict[str, float]:
    """The simulated counterparts of the published figures, by the same keys."""
    parts = {(r["collective"], r["simd"]): r for r in simulated["parts"]}
    subject = subject_of(simulated)
    best = blind(simulated)[0]
    return {
        "bytes_per_second": 2 * subject["bytes"] / subject["seconds"],
        "ratio_to_blind": best["seconds"] / subject["seconds"],
        "compute_share_reduce": parts["reduce", True]["compute_share"],
        "compute_share_allreduce": parts["allreduce", True]["compute_share"],
        "scalar_ratio_reduce": parts["reduce", False]["seconds"] / parts["reduce", True]["seconds"],
        "scalar_ratio_allreduce": parts["allreduce", False]["seconds"] / parts["allreduce", True]["seconds"],
        "seconds_reduce": parts["reduce", True]["seconds"],
        "seconds_bcast": parts["bcast", True]["seconds"],
    }


def _row(key: str, published: JsonObject, model: float) -> tuple[str, ...]:
    value = published["value"]
    show = _show(key)
    if key.startswith("compute_share"):
        difference = f"{100 * (model - value):+.0f} points"
    else:
        difference = f"{100 * (model / value - 1):+.0f} %"
    shown = pages.markup("<strong>{}</strong>", show(model))
    return published["what"], show(value), shown, difference, published["source"]


def _show(key: str):
    if key == "bytes_per_second":
        return display.rate
    if key.startswith("compute_share"):
        return display.percent
    return display.seconds if key.startswith("seconds") else display.ratio
