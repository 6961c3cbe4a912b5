"""Promises about the bits of a result, in few words: the registry says it, the verifier tests it."""

from __future__ import annotations

# Each completes "the same bits on all ...".
WORDS = {
    "same_on_all_ranks": "ranks",
    "same_from_run_to_run": "runs",
    "independent_of_placement": "placements",
    "independent_of_rank_count": "rank counts",
}


def words(guarantees: dict[str, bool]) -> str:
    """As a cell of a table: ranks, runs, placements."""
    return ", ".join(word for name, word in WORDS.items() if guarantees[name])
