"""`kumihimo campaign` on the ranks of an MPI launch, which mpi4py.futures makes an executor of."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import mpi4py_wheel
import pytest
from waiting import running_in, until

from kumihimo.processes import mpi

COMMAND = str(Path(sys.executable).parent / "kumihimo")
RANKS = 3
FILE = """
name = "on-ranks"
[parameters]
collective = ["allreduce", "bcast"]
machine = "k-computer"
shape = "4x3x4"
algorithm = ["binomial", "trinaryx3"]
bytes = "8..1KiB"
"""
POINTS = 32

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not mpi4py_wheel.is_here(), reason="no mpi4py beside this Python; make test installs it"),
]


class Launch:
    def __init__(self, installation: mpi.Installation, folder: Path) -> None:
        self.installation, self.folder = installation, folder
        self.environment = {
            **os.environ,
            **installation.environment(RANKS),
            **mpi4py_wheel.environment(installation, folder),
        }

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [*self.installation.arguments(RANKS), *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, code: int = 0) -> tuple[str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, err
        return out, err


@pytest.fixture(params=["openmpi", "mpich"])
def launch(request, tmp_path: Path) -> Launch:
    (tmp_path / "file.toml").write_text(FILE)
    for installation in mpi.discover():
        if installation.family == request.param:
            return Launch(installation, tmp_path)
    pytest.skip(f"no {request.param} on this machine")


def results(path: Path) -> list[tuple]:
    with sqlite3.connect(path) as db:
        return db.execute("SELECT place, bytes, algorithm, status, seconds, doubts FROM points").fetchall()


def test_the_same_results_as_on_one_process(launch, kumihimo, tmp_path):
    out, _ = launch.run(COMMAND, "campaign", "file.toml", "-o", "ranks.sqlite", "--json")
    summary = json.loads(out)  # once, by the first rank
    assert (summary["points"], summary["computed"], summary["ok"]) == (POINTS, POINTS, POINTS)
    assert kumihimo("campaign", "file.toml", "-o", "alone.sqlite").code == 0
    assert results(tmp_path / "ranks.sqlite") == results(tmp_path / "alone.sqlite")
    out, _ = launch.run(COMMAND, "campaign", "file.toml", "-o", "ranks.sqlite", "--json")
    assert json.loads(out)["computed"] == 0


def test_where_mpi4py_is_the_program(launch):
    words = (sys.executable, "-m", "mpi4py.futures", COMMAND, "campaign", "file.toml", "--json")
    out, _ = launch.run(*words)
    assert json.loads(out)["computed"] == POINTS


def test_a_launch_that_was_killed_goes_on(launch, kumihimo, tmp_path):
    text = FILE.replace('"4x3x4"', '"24x6x16"').replace('"8..1KiB"', '"8..16MiB"')
    (tmp_path / "file.toml").write_text(text)
    path = tmp_path / "on-ranks.sqlite"
    process = launch.start(COMMAND, "campaign", "file.toml")
    done = 0
    while done < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
        if path.exists():
            with sqlite3.connect(path, timeout=30) as db:
                if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'results'").fetchone():
                    done = db.execute("SELECT count(*) FROM results").fetchone()[0]
    process.send_signal(signal.SIGKILL if launch.installation.family == "openmpi" else signal.SIGTERM)
    process.communicate(timeout=60)
    until(lambda: not running_in(tmp_path), "the launcher's ranks end on their own")
    with sqlite3.connect(path, timeout=30) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        done = db.execute("SELECT count(*) FROM results").fetchone()[0]
    (tmp_path / "file.toml").write_text(text.replace("8..16MiB", "8..64"))
    assert done >= 3
    ended = kumihimo("campaign", "file.toml", "--json")
    assert ended.code == 0 and json.loads(ended.out)["computed"] <= 16 - 3


def test_an_error_of_the_first_rank_ends_all(launch, tmp_path):
    (tmp_path / "other.sqlite").write_text("no database, " * 100)
    process = launch.start(COMMAND, "campaign", "file.toml", "-o", "other.sqlite")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.count("must be a file that `kumihimo campaign` made") == 1 and "Traceback" not in err


def test_bad_input_is_told_once(launch, tmp_path):
    (tmp_path / "file.toml").write_text(FILE.replace("shape", "shap"))
    process = launch.start(COMMAND, "campaign", "file.toml")
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert (
        err.count(
            "'shap' is no option of simulate, and neither an expression nor `labels` names it; did you mean shape?"
        )
        == 1
    )


def test_another_library_than_the_launcher_s(tmp_path):
    """Each process would be the first of its own world."""
    found = {each.family: each for each in mpi.discover()}
    if len(found) < 2:
        pytest.skip("needs two MPI libraries")
    (tmp_path / "file.toml").write_text(FILE)
    launch = Launch(found["mpich"], tmp_path)
    launch.environment |= mpi4py_wheel.environment(found["openmpi"], tmp_path)
    process = launch.start(COMMAND, "campaign", "file.toml")
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "mpi4py must use the MPI library of the launcher" in err
    assert not (tmp_path / "on-ranks.sqlite").exists()
