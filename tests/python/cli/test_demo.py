"""`kumihimo demo` from start to page where there is no MPI library: the simulated half alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo.cli import demo
from kumihimo.errors import failed


def test_without_an_mpi_library_the_simulated_half_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(demo, "measure", lambda *_: (None, failed("no MPI library on this machine")))
    monkeypatch.setattr(demo, "run_unmodified", lambda *_: None)
    monkeypatch.setattr(demo, "QUICK_SHAPES", ("4x3x2", "4x3x4"))
    assert demo.command(tmp_path, quick=True) == 1
    assert "<html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "the report has no measurements: no MPI library" in capsys.readouterr().err
