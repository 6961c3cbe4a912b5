"""`kumihimo app` from within: the file of --page, the table, and what is refused before the run."""

from __future__ import annotations

import os
from errno import ENOSPC
from pathlib import Path
from types import SimpleNamespace

import pytest

from kumihimo.app import catalogue
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.cli import app, app_tables, output
from kumihimo.text.errors import Failed, NotApplicable

SMALL = ("app", "poisson3d", "--size", "8", "--variant", "golden", "--threads", "1")


def test_what_is_no_file_is_refused_before_the_run(kumihimo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name, kind in (("fifo", "a FIFO"), ("folder", "a folder")):
        ended = kumihimo(*SMALL, "--page", name)
        assert (ended.code, ended.out) == (2, "")
        assert f"--page must name a file or a new one (got {name}, {kind}); name another file" in ended.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["fifo", "folder"]
    for name, words in (
        ("/dev/null", "(got /dev/null, a device)"),
        ("/proc/none/page.html", "--page must name a file that can be written"),
    ):
        ended = kumihimo(*SMALL, "--page", name)
        assert (ended.code, ended.out) == (2, "") and words in ended.err
    ended = kumihimo(*SMALL, "--page", "missing/page.html")
    assert (ended.code, ended.out) == (2, "") and "(got missing/page.html: No such file or directory)" in ended.err
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_page_that_cannot_be_written_comes_after_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, as_json: bool
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(Failed, match=r"a.html was not written: No space left on device; make space"):
        asked = {"size": "8", "variant": "golden", "threads": "1", "timeout": 60.0}
        app.command("poisson3d", **asked, out=tmp_path / "a.html", as_json=as_json)
    shown = capsys.readouterr().out
    assert '"seconds":' in shown if as_json else "right" in shown


def test_auto_is_refused_under_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    poisson = catalogue.find("poisson3d")
    asked = app.AppCommand(
        AppProblem(poisson, "8", {}, "cg"),
        "auto",
        catalogue.candidates(poisson, "auto", {}),
        {},
        1,
        True,
        app.FRESH,
        None,
        False,
    )
    monkeypatch.setattr(app.launcher_environment, "place", lambda: SimpleNamespace(ranks=2, rank=0))
    with pytest.raises(NotApplicable, match="--variant auto takes several launches, and under a launcher there is one"):
        app.chosen_for(asked, Resources(2, 1, None))


def test_the_table_fits_80_columns() -> None:
    row = {
        "variant": "eisenstat-coalesced",
        "parameters": {"colours": 40},
        "ranks": 2,
        "threads": 1,
        "iterations": 1000,
    }
    row |= {"seconds": 1.23e-3, "share_of_bound": 0.98, "times_golden": 99.99, "right": False}
    assert output.PrintedTable(app_tables.COLUMNS, [app_tables.cells_of(row)]).width(len(app_tables.COLUMNS)) <= 80
    assert app_tables.cells_of({**row, "not_applicable": "no"})[-1] == "n/a"
    assert app_tables.cells_of({**row, "not_applicable": "no", "failed": True})[-1] == "failed"
