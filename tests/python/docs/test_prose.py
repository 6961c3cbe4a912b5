"""Lines of prose in the documentation have at most 100 columns; tables and code may be wider."""

from __future__ import annotations

import pytest

COLUMNS = 100


def wide_lines(text: str) -> list[int]:
    """The numbers of the lines of prose that are too long."""
    fenced, found = False, []
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        is_prose = not fenced and not line.startswith(("|", "    ", "<"))
        found += [number] if is_prose and len(line) > COLUMNS else []
    return found


def test_a_long_line_is_found():
    long = "word " * 30
    assert wide_lines(f"short\n{long}\n- {long}\n") == [2, 3]
    assert wide_lines(f"| {long} |\n    {long}\n```\n{long}\n```\n") == []


@pytest.mark.parametrize("folder", [".", "docs", "docs/adr", "docs/guides", "docs/reference"])
def test_prose_fits_in_100_columns(repository, folder):
    pages = sorted((repository / folder).glob("*.md"))
    assert pages
    wide = {page.name: lines for page in pages if (lines := wide_lines(page.read_text(encoding="utf-8")))}
    assert not wide
