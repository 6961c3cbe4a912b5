"""The command with given rates of this machine: to measure them takes longer than what most of these tests ask for."""

from __future__ import annotations

import pytest

RATES = ("--triad", "10", "--peak", "50")


@pytest.fixture
def kumihimo(kumihimo):
    """kumihimo("app", ...) takes RATES, if the words name none; with `rates=()` it measures them."""

    def run(*words: str, rates: tuple[str, ...] = RATES, **options):
        runs = words[0] == "app" and len(words) > 1 and not words[1].startswith("-")
        given = rates if runs and not {"--triad", "--peak"} & set(words) else ()
        return kumihimo(*words, *given, **options)

    return run
