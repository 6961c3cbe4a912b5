"""Histories: what is kept, and which changes are found in 30 runs with the noise of a real machine."""

from __future__ import annotations

import json
import math
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kumihimo.keep import observed, page
from kumihimo.keep.history import HistoryRun, HistorySeries, ResultHistory
from kumihimo.text.errors import BadInput

COMMAND = Path(sys.executable).parent / "kumihimo"
RUNS = 30


def noisy(source: random.Random, runs: int = RUNS, noise: float = 0.01) -> list[float]:
    """Medians of repeats on one machine: 1 % of spread, and now and then a night that is much slower."""
    return [math.exp(source.gauss(0, noise)) * (1.2 if source.random() < 0.03 else 1.0) for _ in range(runs)]


def series_of(values: list[float], accepted: int = -1) -> HistorySeries:
    runs = [HistoryRun(f"2026-11-{i + 1:02}", f"c{i}", "m", accepted=i == accepted) for i in range(len(values))]
    return HistorySeries("region solve", "seconds", "m", True, runs, values, [(None, None)] * len(values))


def test_a_planted_change_of_5_percent_is_found_and_no_other() -> None:
    found = 0
    for seed in range(100):
        source = random.Random(seed)
        values, at = noisy(source), source.randrange(8, 23)
        changes = series_of([v * (1.05 if i >= at else 1.0) for i, v in enumerate(values)]).changes()
        right = len(changes) == 1 and abs(changes[0].at - at) <= 1 and 1.03 < changes[0].times < 1.07
        found += right
    assert found >= 95


def test_noise_alone_has_no_change() -> None:
    assert sum(bool(series_of(noisy(random.Random(seed))).changes()) for seed in range(100, 200)) <= 2


def test_a_gain_is_no_alarm_and_an_accepted_level_none_either() -> None:
    steps = [1.0 + 0.001 * (i % 3) for i in range(10)] + [1.1 + 0.001 * (i % 3) for i in range(10)]
    slower = series_of(steps)
    (change,) = slower.changes()
    assert change.at == 10 and change.times == pytest.approx(1.1, rel=1e-3)
    assert slower.alarm([change]) == change
    assert series_of(steps, accepted=12).alarm([change]) is None
    assert series_of(steps, accepted=9).alarm([change]) == change, "what was accepted before says nothing"
    gain = series_of(steps[::-1])
    assert gain.changes()[0].times == pytest.approx(1 / 1.1, rel=1e-2) and gain.alarm(gain.changes()) is None


def test_less_of_a_rate_is_slower() -> None:
    series = series_of([2.0 + 0.001 * (i % 3) for i in range(10)] + [1.0 + 0.001 * (i % 3) for i in range(10)])
    series.lower = False
    (change,) = series.changes()
    assert change.times == pytest.approx(2.0, rel=1e-2) and series.alarm([change]) == change


def test_small_changes_do_not_count() -> None:
    series = series_of([1.0 + 1e-5 * (i % 3) for i in range(10)] + [1.01 + 1e-5 * (i % 3) for i in range(10)])
    assert series.changes(0.02) == [] and len(series.changes(0.005)) == 1


def results(seconds: float) -> dict:
    return {"results": [{"variant": "simd", "threads": 1, "seconds": seconds, "seconds_of_runs": [seconds] * 7}]}


def test_runs_are_kept_in_order_of_their_dates(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    for day, seconds in ((2, 2.0), (1, 1.0), (3, 3.0)):
        with ResultHistory(path, new=True) as history:
            history.add(HistoryRun(f"2026-11-0{day}", f"c{day}", "m"), observed.rows_of(results(seconds)))
    with ResultHistory(path, new=False) as history:
        (series,) = history.series()
    assert (series.values, [run.version for run in series.runs]) == ([1.0, 2.0, 3.0], ["c1", "c2", "c3"])
    assert series.intervals == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM runs JOIN figures ON run = runs.id").fetchone() == (3,)


@pytest.mark.parametrize("content", [b"text", b"SQLite format 3\0" + bytes(100), b"\x89PNG" * 100])
def test_another_file_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="the history must be"), ResultHistory(path, new=True) as history:
        history.add(HistoryRun("d", "v", "m"), observed.rows_of(results(1.0)))
    assert path.read_bytes() == content


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE runs (a)")
    with pytest.raises(BadInput, match="another SQLite database"):
        ResultHistory(path, new=False)


def compare(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [COMMAND, "compare", *arguments], capture_output=True, text=True, timeout=100, check=False, cwd=folder
    )


def test_the_command_finds_the_commit_and_plots_it(tmp_path: Path) -> None:
    """A history of 30 nights with a change of 5 % in the night of 20 November."""
    source = random.Random(7)
    with ResultHistory(tmp_path / "h.sqlite", new=True) as history:
        for night, value in enumerate(noisy(source, 29)):
            seconds = value * (1.05 if night >= 19 else 1.0)
            run = HistoryRun(f"2026-11-{night + 1:02} 02:00:00", f"c{night + 1}", "m")
            history.add(run, observed.rows_of(results(seconds)))
    (tmp_path / "new.json").write_text(json.dumps(results(1.05)), encoding="utf-8")
    new = ("new.json", "--history", "h.sqlite", "--date", "2026-11-30", "--commit", "c30", "--machine", "m")
    ran = compare(tmp_path, *new, "--page", "p.html", "--junit", "j.xml")
    assert ran.returncode == 1, ran
    assert "history: 1 result, at most 30 runs; 1 changed" in ran.stdout
    assert "regression: simd threads=1: " in ran.stdout and "slower from 2026-11-20" in ran.stdout, ran.stdout
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "simd threads=1" in text and "2026-11-20" in text and "c20" in text
    told = (tmp_path / "j.xml").read_text(encoding="utf-8")
    assert 'tests="1" failures="1"' in told and "slower from 2026-11-20" in told
    accepted = compare(tmp_path, "--history", "h.sqlite", "--accept", "--json", "--junit", "j.xml")
    assert accepted.returncode == 0, accepted
    assert 'tests="1" failures="0"' in (tmp_path / "j.xml").read_text(encoding="utf-8")
    (series,) = json.loads(accepted.stdout)["history"]
    assert (series["regression"], series["changes"][0]["commit"], series["runs"]) == (False, "c20", 30)


def test_two_files_beside_each_other(tmp_path: Path) -> None:
    for name, seconds in (("a.json", 1.0), ("b.json", 1.2)):
        (tmp_path / name).write_text(json.dumps(results(seconds)), encoding="utf-8")
    slower = compare(tmp_path, "a.json", "b.json", "--junit", "j.xml")
    assert slower.returncode == 1 and "1 result: 1 slower, 0 faster, 0 cannot be told" in slower.stdout, slower
    assert 'failures="1"' in (tmp_path / "j.xml").read_text(encoding="utf-8")
    assert compare(tmp_path, "b.json", "a.json").returncode == 0
    found = json.loads(compare(tmp_path, "a.json", "b.json", "--json").stdout)
    (row,) = found["comparisons"][0]["results"]
    assert (row["verdict"], row["times_as_slow"]) == ("slower", pytest.approx(1.2))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "the file to compare with is missing"),
        (["a.json"], "the file to compare with is missing"),
        (["a.json", "none.json"], "none.json"),
        (["a.json", "a.json", "--least", "x"], "--least must be a percentage"),
        (["a.json", "a.json", "--accept"], "takes no --accept"),
        (["--history", "none.sqlite"], "there is no such file"),
        (["a.json", "--history", "a.json"], "the history must be"),
        (["a.json", "--history", "h", "--date", "x"], "--date must be a date"),
        (["a.json", "a.json", "--history", "h", "--commit", "x"], "with 2 files takes no --commit"),
        (["a.json", "--history", "h", "--page", "a.json"], "--page must be another file than those that are read"),
        (["a.json", "a.json", "--junit", "./a.json"], "--junit must be another file than those that are read"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, arguments: list[str], word: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(results(1.0)), encoding="utf-8")
    ran = compare(tmp_path, *arguments)
    assert ran.returncode == 2 and word in ran.stderr and len(ran.stderr.splitlines()) == 1, ran
    assert not (tmp_path / "h").exists()


def test_what_run_writes_is_read_as_what_record_writes(tmp_path: Path) -> None:
    task = {"host": "a", "seconds": 2.0}
    recording = {"tasks": [task], "seconds": 2.0, "mpi_seconds": 1.0, "calls": [], "regions": []}
    of_run = {"exit_code": 0, "calls": [], "forwarded": [], "repeats": [recording, recording]}
    for content in ({**recording, "repeats": [recording, recording]}, of_run):
        whole = next(row for row in observed.rows_of(content) if row.subject == "whole")
        assert [each.values for each in whole.figures["seconds"].runs] == [(2.0,), (2.0,)]
    (tmp_path / "alone.json").write_text(json.dumps({"exit_code": 0, "calls": []}), encoding="utf-8")
    with pytest.raises(BadInput, match="of `run` that needs --repeat or --asserts"):
        observed.rows_in(tmp_path / "alone.json")


def test_a_page_has_a_chart_for_each_series() -> None:
    judged = []
    for number in range(3):
        series = series_of([1.0 + 0.01 * number + 0.001 * (i % 4) for i in range(12)])
        series.key = f"region <{number}>"
        judged.append((series, series.changes()))
    text = page.render(judged, "h.sqlite")
    assert text.count("region &lt;") >= 0 and "No level has changed." in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert len(data["history"]["charts"]) == 3
