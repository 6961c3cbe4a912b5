"""The results that are kept of comparisons: small, and enough to make their tables again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
STORED = sorted((BENCH / "results").rglob("*.json"))


@pytest.fixture(scope="module")
def compare():
    sys.path.insert(0, str(BENCH / "collectives"))
    try:
        import compare

        yield compare
    finally:
        sys.path.remove(str(BENCH / "collectives"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: str(path.relative_to(BENCH / "results")))
def test_a_table_is_made_again_from_its_results(compare, path):
    found = compare.stored.read(path)
    assert compare.as_markdown(found, compare.part_of(path)) == path.with_suffix(".md").read_text()


@pytest.mark.parametrize("path", STORED[:1] + STORED[-1:], ids=lambda path: path.name)
def test_what_is_stored_again_is_the_same(compare, path, tmp_path):
    compare.stored.write(tmp_path / "again.json", compare.stored.read(path))
    assert (tmp_path / "again.json").read_text() == path.read_text()


def test_a_figure_that_changed_changes_the_table(compare):
    found = compare.stored.read(STORED[0])
    text = compare.as_markdown(found, compare.part_of(STORED[0]))
    found["tables"][0]["results"][0]["ratio"] *= 2
    assert compare.as_markdown(found, compare.part_of(STORED[0])) != text


def test_all_that_is_stored_is_small():
    assert len(STORED) > 9
    assert sum(path.stat().st_size for path in STORED) < 200_000
