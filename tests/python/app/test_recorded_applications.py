"""docs/applications.md: what is recorded of an application is replayed and placed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

pytestmark = pytest.mark.mpi
MESSAGE = 16 * 32**3 / 4**2  # bytes of a transform between two of 4 ranks


def examples(repository: Path) -> list[list[str]]:
    page = (repository / "docs" / "applications.md").read_text(encoding="utf-8")
    section = page.partition("## Record, replay and place\n")[2].partition("\n## ")[0].replace("\\\n", "")
    lines = [line for line in section.splitlines() if line.startswith("    kumihimo ")]
    return [shlex.split(line)[1:] for line in lines]


def message_lengths(trace: Path) -> list[float]:
    """The mean for each pair of ranks."""
    ranks = [json.loads(line) for line in (trace / "profile.jsonl").read_text().splitlines()[1:]]
    return [sent / messages for rank in ranks for _, messages, sent, *_ in rank["partners"]]


def test_the_examples_of_the_page_work(kumihimo, repository: Path, tmp_path: Path) -> None:
    commands = examples(repository)
    assert [words[0] for words in commands] == ["record"] * 3 + ["replay"] * 2 + ["place"] * 3
    said = []
    for words in commands:
        ended = kumihimo(*words, timeout_seconds=300)
        if "DGEMM needs OpenBLAS" in ended.err:
            pytest.skip("no BLAS library is here")
        assert ended.code == 0, f"{words}: {ended.err}"
        said.append(ended.out)
    assert message_lengths(tmp_path / "ft") == [MESSAGE] * 12
    of_sphere = message_lengths(tmp_path / "sphere")
    assert len(of_sphere) == 12 and all(0.15 < length / MESSAGE < 0.25 for length in of_sphere)
    assert len(message_lengths(tmp_path / "lu")) == 8, "ranks of a 2x2 grid send along rows and columns"
    for text in said[3:5]:
        assert "4 ranks on fugaku" in text and "MPI_Isend" in text, text
    for name, text in zip(("ft", "sphere", "lu"), said[5:]):
        assert f"trace of 4 ranks in {name}" in text and "no placement has fewer than" in text, text
