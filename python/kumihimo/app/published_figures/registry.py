"""All published figures, in the order in which they are listed."""

from __future__ import annotations

from kumihimo.app.published_figures import applications, castep, fugaku, k_computer, left_out, leonardo, networks
from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.text.errors import did_you_mean, wrong_value

FIGURES: tuple[PublishedFigure, ...] = (
    *k_computer.FIGURES,
    *applications.FIGURES,
    *castep.FIGURES,
    *networks.FIGURES,
    *fugaku.FIGURES,
    *leonardo.FIGURES,
    *left_out.FIGURES,
)


def named(names: list[str]) -> list[PublishedFigure]:
    """In their order; all without names."""
    known = {each.name: each for each in FIGURES}
    for name in names:
        if name not in known:
            advice = did_you_mean(name, known) or "kumihimo published --list has all"
            raise wrong_value("--case must be a published figure", f"'{name}'", advice)
    return [each for each in FIGURES if not names or each.name in names]
