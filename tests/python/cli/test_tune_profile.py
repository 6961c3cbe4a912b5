"""From a recorded program to a run with choices of its own, on real MPI processes: record, tune --profile, run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from by_c_names import BEGINNING

from kumihimo import mpi, wisdom_reading

INSTALLATIONS = mpi.discover()
PROGRAM = "import ctypes, sys\nfamily, library = sys.argv[1:]\n" + BEGINNING
PROGRAM += """
for _ in range(2000):
    names.MPI_Allreduce(mine, result, 1000, double, total, world)
names.MPI_Finalize()
"""
FEW = """
import time
time.sleep(4)
names.MPI_Finalize()
"""


def recorded(kumihimo, folder: Path, installation: mpi.Installation, text: str = PROGRAM) -> list[str]:
    """The program's line."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    line = [*installation.arguments(2), sys.executable, "program.py", installation.family, str(installation.library)]
    ended = kumihimo("record", "-o", "profile", "--", *line)
    assert ended.code == 0, ended.err
    return line


@pytest.mark.mpi
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=lambda installation: installation.family)
def test_a_program_gets_choices_of_its_own(kumihimo, tmp_path, installation):
    line = recorded(kumihimo, tmp_path, installation)
    ended = kumihimo("tune", "--profile", "profile", "--budget", "60s", "--json", timeout_seconds=120)
    assert ended.code == 0, ended.err
    assert "other algorithms can save at most" in ended.err
    assert "tuning 1 collective takes about" in ended.err
    found = json.loads(ended.out)
    assert {(choice["collective"], choice["ranks"]) for choice in found["results"]} == {("allreduce", 2)}
    assert {row["bytes"] for choice in found["results"] for row in choice["measured"]} == {8000}
    told = found["profile"]
    assert 0 < told["transferring_share"] <= told["collectives_share"] <= 1
    assert told["predicted_gain"]["share"] <= told["transferring_share"]
    key = told["program"]
    assert key.startswith("program.py-")
    path = wisdom_reading.folder() / "programs" / key
    assert Path(found["wisdom"]).parent == path
    assert json.loads(Path(found["wisdom"]).read_text(encoding="utf-8"))["made"]["profile"] == "profile"

    ran = kumihimo("run", "--", *line)
    assert ran.code == 0, ran.err
    assert f"wisdom: {found['wisdom']}" in ran.err, "the program's own"
    (tmp_path / "other.py").write_text(PROGRAM, encoding="utf-8")
    ran = kumihimo("run", "--", *[word.replace("program.py", "other.py") for word in line])
    assert f"wisdom: {found['wisdom']}" not in ran.err


@pytest.mark.mpi
@pytest.mark.skipif(not INSTALLATIONS, reason="no MPI library on this machine")
def test_a_program_without_collectives_worth_tuning_is_told_so(kumihimo, tmp_path):
    text = PROGRAM.split("for _ in range(2000)")[0] + FEW
    recorded(kumihimo, tmp_path, INSTALLATIONS[0], text)
    ended = kumihimo("tune", "--profile", "profile")
    assert ended.code == 0, ended.err
    assert "there is nothing to tune: allreduce of 2 ranks, from 4KiB to under 8KiB (" in ended.err
    assert "too little time to be measured" in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--ranks", "2"], "--ranks"),
        (["--bytes", "8"], "--bytes"),
        (["--machine", "k-computer"], "--machine"),
        (["--export", "there"], "--export"),
        (["--reproducible"], "--reproducible"),
    ],
)
def test_what_the_profile_says_is_not_asked_for(kumihimo, options, name):
    ended = kumihimo("tune", "--profile", "profile", *options)
    assert ended.code == 2
    assert f"--profile excludes {name}" in ended.err


def test_a_file_that_is_no_profile_is_refused(kumihimo, tmp_path):
    (tmp_path / "profile").write_text("no profile\n", encoding="utf-8")
    ended = kumihimo("tune", "--profile", "profile")
    assert ended.code == 2
    assert "a profile must be one that kumihimo record has written" in ended.err
    ended = kumihimo("tune", "--profile", "none")
    assert ended.code == 2 and "none" in ended.err
