"""`kumihimo campaign`: results, restarts after signals, failures of single points, and files that are not its own."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kumihimo.cli import verbs
from kumihimo.cli.campaign import CampaignPart
from kumihimo.predict.campaign import running
from kumihimo.text.errors import KumihimoError

COMMAND = Path(sys.executable).parent / "kumihimo"
SMALL = """
name = "small"
[parameters]
collective = ["allreduce", "bcast"]
machine = ["k-computer", "leonardo"]
algorithm = "binomial"
bytes = [8, "64KiB"]
ranks = 8
"""
# Each takes about a tenth of a second.
LONG = """
name = "long"
[parameters]
collective = "allreduce"
machine = "k-computer"
shape = "24x6x16"
algorithm = "trinaryx3"
bytes = "8..16MiB"
window = [1, 2]
"""
POINTS_OF_LONG = 44


def write(folder: Path, text: str, name: str = "file.toml") -> str:
    (folder / name).write_text(text)
    return name


def rows(path: Path) -> list[dict]:
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute("SELECT * FROM points")]


def told(ended, code: int = 0) -> dict:
    assert ended.code == code, ended.err
    return json.loads(ended.out)


def test_results_are_those_of_simulate(kumihimo, tmp_path):
    """On two machines, with the nodes that a SHAPE gives on one of them."""
    text = SMALL.replace("ranks = 8", "") + '[[sweep]]\nmachine = "k-computer"\nshape = "2x2x2"\n'
    text += '[[sweep]]\nmachine = "leonardo"\nranks = 8\n'
    summary = told(kumihimo("campaign", write(tmp_path, text), "--json"))
    assert (summary["points"], summary["computed"], summary["ok"], summary["failed"]) == (8, 8, 8, 0)
    found = rows(tmp_path / "small.sqlite")
    assert [row["ranks"] for row in found] == [8] * 8 and {row["status"] for row in found} == {"ok"}
    for row in found:
        place = ("--shape", "2x2x2") if row["machine"] == "k-computer" else ("--ranks", "8")
        alone = kumihimo("simulate", row["collective"], "-m", row["machine"], *place, "-a", "binomial",
                         "--bytes", str(row["bytes"]), "--json")  # fmt: skip
        (expected,) = told(alone)["results"]
        mine = json.loads(row["result"])
        assert {**mine, "wall_seconds": 0} == {**expected, "wall_seconds": 0}
        assert row["seconds"] == expected["seconds"] and row["bound_seconds"] == expected["bound_seconds"]
        assert row["doubts"] == expected["accuracy"] and row["limiting"] == expected["limiting"]


def test_only_what_is_new_is_computed(kumihimo, tmp_path):
    file = write(tmp_path, SMALL)
    assert told(kumihimo("campaign", file, "--json"), 1)["failed"] == 4  # K has no job of 8 ranks without a shape
    write(tmp_path, SMALL.replace("ranks = 8", 'shape = "8"').replace('"k-computer", ', ""))
    assert told(kumihimo("campaign", file, "--json"))["computed"] == 4
    before = rows(tmp_path / "small.sqlite")
    again = told(kumihimo("campaign", file, "--json"))
    assert (again["points"], again["computed"], again["ok"]) == (4, 0, 4)
    write(tmp_path, SMALL.replace("ranks = 8", 'shape = "8"').replace('"k-computer", ', "").replace("8,", "8, 16,"))
    more = told(kumihimo("campaign", file, "--json"))
    assert (more["points"], more["computed"]) == (6, 2)
    kept = [{**row, "place": 0} for row in rows(tmp_path / "small.sqlite") if row["bytes"] != 16]
    assert kept == [{**row, "place": 0} for row in before]
    assert told(kumihimo("campaign", file, "--fresh", "--json"))["computed"] == 6


def test_placements_and_seeds(kumihimo, tmp_path):
    text = SMALL.replace("ranks = 8", 'shape = "4x2x2"\nseed = [1, 2, 3]').replace(', "leonardo"', "")
    text = text.replace('[8, "64KiB"]', '"64KiB"').replace('["allreduce", "bcast"]', '"allreduce"')
    text += "[derived]\norder = \"f'random:{seed}'\"\n"
    assert told(kumihimo("campaign", write(tmp_path, text), "--json"))["computed"] == 3
    alone = [
        told(kumihimo("simulate", "allreduce", "-m", "k-computer", "-s", "4x2x2", "-b", "64KiB", "-a", "binomial",
                      "--order", f"random:{seed}", "--json"))["results"][0]["seconds"]
        for seed in (1, 2, 3)
    ]  # fmt: skip
    assert [row["seconds"] for row in rows(tmp_path / "small.sqlite")] == alone and len(set(alone)) > 1


def test_parts_are_computed_apart_and_taken_over(kumihimo, tmp_path):
    """The tasks of a job array; task 1 never ran, and task 2 ran twice."""
    text = SMALL.replace("ranks = 8", 'shape = "8"').replace('"k-computer", ', "").replace("8,", "8, 16,")
    file = write(tmp_path, text)
    sizes = {part: told(kumihimo("campaign", file, "--part", f"{part}/4", "--json")) for part in (0, 2, 3)}
    assert [(each["points"], each["computed"]) for each in sizes.values()] == [(2, 2), (1, 1), (1, 1)]
    assert told(kumihimo("campaign", file, "--part", "2/4", "--json"))["computed"] == 0
    assert not (tmp_path / "small.sqlite").exists()
    whole = told(kumihimo("campaign", file, "--json"))
    assert (whole["points"], whole["computed"], whole["ok"]) == (6, 2, 6)
    assert [row["place"] for row in rows(tmp_path / "small.sqlite")] == list(range(6))


def test_a_part_without_points_has_nothing_to_do(kumihimo, tmp_path):
    """A job array may have more tasks than the campaign has points."""
    file = write(tmp_path, SMALL.replace('machine = ["k-computer", "leonardo"]', 'machine = "leonardo"'))
    every = told(kumihimo("campaign", file, "--json"))["points"]
    found = told(kumihimo("campaign", file, "--part", f"{every}/{every + 1}", "--json"))
    assert (found["points"], found["computed"]) == (0, 0)
    assert told(kumihimo("campaign", file, "--json"))["computed"] == 0


def test_the_points_of_a_part_are_shown(kumihimo, tmp_path):
    file = write(tmp_path, SMALL)
    every = told(kumihimo("campaign", file, "--dry-run", "--json"))["results"]
    parts = [told(kumihimo("campaign", file, "--dry-run", "--part", f"{i}/2", "--json"))["results"] for i in (0, 1)]
    assert all(parts) and len(parts[0]) + len(parts[1]) == len(every)
    assert kumihimo("campaign", file, "--dry-run", "--part", "2/2").code == 2


def test_parts_have_every_point_once():
    points = [(f"key{at % 7}", None) for at in range(20)]  # keys come again
    parts = [CampaignPart(index, 3).of(points) for index in range(3)]
    assert sorted(point for part in parts for point in part) == sorted(points)
    keys = [{key for key, _ in part} for part in parts]
    assert sum(map(len, keys)) == 7 and [len(each) for each in keys] == [3, 2, 2]
    assert CampaignPart(2, 3).path(Path("a/b.sqlite")) == Path("a/b.part-2-of-3.sqlite")


@pytest.mark.parametrize("part", ["3/3", "-1/3", "1", "/", "1/0", "a/b", "1/3/5", "0/²"])
def test_parts_that_are_none(kumihimo, tmp_path, part):
    done = kumihimo("campaign", write(tmp_path, SMALL), f"--part={part}")
    assert done.code == 2 and f"--part must be I/N with I from 0 to N - 1 (got '{part}')" in done.err


def test_points_that_differ_in_variables_alone_are_computed_once(kumihimo, tmp_path):
    text = SMALL.replace('["k-computer", "leonardo"]', '"leonardo"') + 'library = ["one", "two"]\n'
    text += '[derived]\nroot = "0 if library else 1"\n'
    summary = told(kumihimo("campaign", write(tmp_path, text), "--json"))
    assert (summary["points"], summary["computed"]) == (8, 4)
    found = rows(tmp_path / "small.sqlite")
    assert [row["library"] for row in found] == ["one", "two"] * 4
    assert [row["seconds"] for row in found[::2]] == [row["seconds"] for row in found[1::2]]


def test_a_failed_point_does_not_stop_the_rest(kumihimo, tmp_path):
    text = SMALL.replace("ranks = 8", "ranks = [8, -1]\nroot = [0, 9]").replace('"k-computer", ', "")
    text = text.replace('"allreduce", "bcast"', '"bcast"')
    ended = kumihimo("campaign", write(tmp_path, text))
    assert ended.code == 1
    assert "small: 8 points, of which 6 failed; 8 computed now" in ended.out
    found = {(row["ranks"], row["root"]): row for row in rows(tmp_path / "small.sqlite") if row["bytes"] == 8}
    assert found[8, 0]["status"] == "ok" and found[8, 0]["error"] is None
    assert "root" in found[8, 9]["error"] and found[8, 9]["seconds"] is None
    assert {row["status"] for row in found.values()} == {"ok", "failed"}
    assert found[-1, 0]["error"] in ended.out


def test_what_does_not_fit_is_no_failure(kumihimo, tmp_path):
    text = SMALL.replace('"binomial"', '"all"').replace("ranks = 8", 'shape = "2x2x2"').replace(', "leonardo"', "")
    summary = told(kumihimo("campaign", write(tmp_path, text), "--json"))
    simulated = told(kumihimo("simulate", "bcast", "-m", "k-computer", "-s", "2x2x2", "-b", "8", "--json"))
    found = [r for r in rows(tmp_path / "small.sqlite") if r["collective"] == "bcast" and r["bytes"] == 8]
    assert summary["not_applicable"] > 0
    assert {r["algorithm"]: r["seconds"] for r in found if r["status"] == "ok"} == {
        r["algorithm"]: r["seconds"] for r in simulated["results"]
    }
    assert {r["algorithm"]: r["error"] for r in found if r["status"] != "ok"} == {
        r["algorithm"]: r["reason"] for r in simulated["not_applicable"]
    }


def started(folder: Path, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [COMMAND, "campaign", write(folder, LONG), *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def finished(path: Path) -> int:
    """Results that the database has now."""
    if not path.exists():
        return 0
    with sqlite3.connect(path, timeout=30) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'results'").fetchone():
            return 0
        return db.execute("SELECT count(*) FROM results").fetchone()[0]


def processes_of(session: int) -> list[int]:
    found = []
    for each in Path("/proc").iterdir():
        try:
            fields = (each / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if each.name.isdecimal() and int(fields[3]) == session and fields[0] != "Z":
            found.append(int(each.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_ended_run_goes_on_where_it_was(kumihimo, tmp_path, number):
    path = tmp_path / "long.sqlite"
    process = started(tmp_path)
    while finished(path) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal sends it
    else:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 1, signal.SIGTERM: 143}[number]
    for _ in range(500):
        if not processes_of(process.pid):
            break
        time.sleep(0.02)
    assert processes_of(process.pid) == []
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    done = finished(path)
    assert 5 <= done < POINTS_OF_LONG
    if number != signal.SIGKILL:
        assert f"interrupted; {POINTS_OF_LONG - done} of {POINTS_OF_LONG} points are left" in err
        assert "Traceback" not in err
    summary = told(kumihimo("campaign", "file.toml", "--json", timeout_seconds=300))
    assert (summary["points"], summary["computed"]) == (POINTS_OF_LONG, POINTS_OF_LONG - done)
    assert summary["ok"] == POINTS_OF_LONG


def test_a_worker_that_dies_is_the_failure_of_its_point(tmp_path):
    stored: dict[str, dict] = {}
    todo = [(str(number), ["kill"] if number in (3, 4) else ["live"]) for number in range(12)]
    running.compute(todo, str(tmp_path), live_or_die, lambda ended: stored.update(ended), 2)
    assert {key for key, outcome in stored.items() if outcome["status"] == "failed"} == {"3", "4"}
    assert "died" in stored["3"]["error"] and len(stored) == 12


def live_or_die(words: list[str], folder: str) -> dict:
    if words == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"status": "ok"}


def test_no_space_left(kumihimo, tmp_path, monkeypatch):
    """By a limit of a file's size, which stands for a full disk."""
    monkeypatch.delenv("KUMIHIMO_ERROR_LIST", raising=False)  # a list of tests, for which the limit holds too

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40 * 1024, 40 * 1024))

    text = SMALL.replace("ranks = 8", 'shape = "8"').replace('"k-computer", ', "")
    file = write(tmp_path, text.replace('[8, "64KiB"]', str(list(range(8, 320, 8)))))
    ended = kumihimo("campaign", file, preexec_fn=limit)
    assert ended.code == 1 and "start it again to continue" in ended.err and "Traceback" not in ended.err
    done = finished(tmp_path / "small.sqlite")
    assert told(kumihimo("campaign", file, "--json"))["computed"] == 2 * 39 - done


def test_databases_that_are_not_its_own(kumihimo, tmp_path):
    file = write(tmp_path, SMALL.replace("ranks = 8", 'shape = "8"').replace('"k-computer", ', ""))
    (tmp_path / "text.sqlite").write_text("no database at all, " * 100)
    with sqlite3.connect(tmp_path / "other.sqlite") as db:
        db.execute("CREATE TABLE a (b)")
    (tmp_path / "folder").mkdir()
    assert kumihimo("campaign", file, "-o", "mine.sqlite").code == 0
    write(tmp_path, SMALL.replace('"small"', '"another"'), "another.toml")
    for words, sentence in (
        ((file, "-o", "text.sqlite"), "text.sqlite: file is not a database); name another file"),
        ((file, "-o", "other.sqlite"), "other.sqlite: another SQLite database); name another file"),
        ((file, "-o", "folder"), "must name a file or a new one"),
        ((file, "-o", "none/a.sqlite"), "--out must name a file that can be written"),
        ((file, "-o", f"{'n' * 256}"), "File name too long); name a shorter one"),
        (("another.toml", "-o", "mine.sqlite"), "must be the database of campaign another (got that of small)"),
        (("fil.toml",), "the campaign must be a file or the name of one (got fil.toml)"),
        (("blue-water",), "did you mean blue-waters?"),
        ((file, "-j", "0"), "--workers must be at least 1 (got 0)"),
    ):
        ended = kumihimo("campaign", *words)
        assert (ended.code, ended.out) == (2, "") and sentence in ended.err and ended.err.count("\n") == 1, ended.err
    assert (tmp_path / "text.sqlite").read_text().startswith("no database")


def test_a_variable_that_has_the_name_of_a_result(kumihimo, tmp_path):
    text = SMALL.replace("ranks = 8", "status = 8") + '[derived]\nranks = "status"\n'
    ended = kumihimo("campaign", write(tmp_path, text))
    assert ended.code == 2 and "must not have the name of a column of results (got status)" in ended.err
    ended = kumihimo("campaign", write(tmp_path, "labels = ['Ranks']\n" + SMALL + "Ranks = 1\n"))
    assert ended.code == 2 and "names must differ in more than capitals" in ended.err
    assert not list(tmp_path.glob("*.sqlite*")), "what was refused leaves no database"


def test_the_points_without_computing_them(kumihimo, tmp_path):
    ended = kumihimo("campaign", write(tmp_path, SMALL), "--dry-run")
    assert ended.code == 0 and "small: 8 points, 8 predictions" in ended.out
    assert not (tmp_path / "small.sqlite").exists()
    listed = told(kumihimo("campaign", "file.toml", "--dry-run", "--json"))["results"]
    assert listed[0] == {
        "collective": "allreduce",
        "machine": "k-computer",
        "algorithm": "binomial",
        "bytes": 8,
        "ranks": 8,
    }


def test_a_wrong_value_is_found_in_a_key_of_the_file(kumihimo, tmp_path):
    ended = kumihimo("campaign", write(tmp_path, SMALL.replace("64KiB", "8X")))
    assert ended.code == 2 and ended.err.startswith("kumihimo: file.toml: bytes: a size must be a whole"), ended.err
    ended = kumihimo("campaign", write(tmp_path, SMALL.replace("bytes", "bites")))
    assert ended.err.startswith("kumihimo: file.toml: 'bites' is no option of simulate"), ended.err


def test_paths_are_relative_to_the_file(kumihimo, tmp_path, repository):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "mine.toml").write_text((repository / "machines/leonardo.toml").read_text())
    write(inner, SMALL.replace('["k-computer", "leonardo"]', '"mine.toml"').replace("ranks = 8", 'shape = "8"'))
    assert told(kumihimo("campaign", "inner/file.toml", "--json"))["ok"] == 4
    (inner / "mine.toml").write_text((inner / "mine.toml").read_text() + "# changed\n")
    assert told(kumihimo("campaign", "inner/file.toml", "--json"))["computed"] == 4


def test_a_worker_without_space_is_one_sentence(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(running, "compute", full)
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, SMALL)
    with pytest.raises(KumihimoError, match=r"No space left on device.*start it again to continue"):
        verbs.load("campaign").main([str(file)], standalone_mode=False)
