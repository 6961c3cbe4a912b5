"""`kumihimo optimise` as a user runs it, on real MPI processes and a program that knows nothing of us."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from by_c_names import BEGINNING
from families import others_long
from waiting import PATIENCE

from kumihimo.cli import optimise
from kumihimo.processes import mpi
from kumihimo.run import wisdom_reading
from kumihimo.run.program_keys import key_of
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.optimise.program_runs import OptimisedProgram

INSTALLATIONS = mpi.discover()
COMMAND = Path(sys.executable).parent / "kumihimo"
PROGRAM = "import ctypes, sys\nfamily, library, end = sys.argv[1:]\n" + BEGINNING
PROGRAM += """
if rank.value == 0 and end == "read":
    assert sys.stdin.read() == "its input\\n"
for _ in range(3000):
    names.MPI_Allreduce(mine, result, 1000, double, total, world)
if rank.value == 0:
    print("rate 17.5")
    with open("result", "w") as file:
        print(result[999], file=file)
names.MPI_Finalize()
sys.exit(int(end) if end.isdigit() else 0)
"""


@pytest.fixture
def line(tmp_path):
    """Of the program."""

    def of(installation: mpi.Installation, end: str = "0") -> list[str]:
        (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
        start = [*installation.arguments(2), sys.executable, "program.py"]
        return [*start, installation.family, str(installation.library), end]

    return of


@pytest.mark.mpi
@others_long(INSTALLATIONS)
def test_choices_are_kept_only_if_whole_runs_gain(kumihimo, tmp_path, line, installation):
    words = line(installation, "read")  # once: a program that is written again is recorded again
    command = ["optimise", "--budget", "25s", "--check", "result", "--json", "--", *words]
    ended = kumihimo(*command, timeout_seconds=150, input="its input\n")
    if advised := re.search(r"give --budget (\d+)m", ended.err):  # on a busy machine the program takes longer
        command[2] = f"{advised[1]}m"
        ended = kumihimo(*command, timeout_seconds=60 * int(advised[1]) + 90, input="its input\n")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["profile"]["transferring_share"] > 0
    path = wisdom_reading.folder() / "programs" / found["profile"]["program"]
    if found["kept"]:
        assert found["gain"]["ratio_high"] < 1
        assert len(found["pairs"]) >= 3
        assert Path(found["wisdom"]).parent == path
        ran = kumihimo("run", "--", *words, input="its input\n")
        assert ran.code == 0 and f"wisdom: {found['wisdom']}" in ran.err
    else:
        assert found["nothing_to_gain"] and not path.exists()
    page = (tmp_path / "kumihimo-optimise" / "page.html").read_text(encoding="utf-8")
    assert "Where the time goes" in page and "allreduce" in page

    again = kumihimo(*command, timeout_seconds=600, input="its input\n")
    assert "recording" not in again.err, "what was run is not run again"
    assert again.code == 0, again.err
    went_on = json.loads(again.out)["comparisons"]
    for before, after in zip(found["comparisons"][:1], went_on):
        assert after["choices"] == before["choices"] and after["pairs"] >= before["pairs"]


@pytest.mark.mpi
@pytest.mark.skipif(not INSTALLATIONS, reason="no MPI library on this machine")
@pytest.mark.parametrize(
    ("options", "end", "told"),
    [
        ([], "3", r"the program failed while it was recorded: exit code 3; see /\S*kumihimo-optimise/recorded\.log"),
        (["--metric", "speed"], "0", "--metric must find a number in what the program prints: no match"),
        (["--check", "program.py"], "0", "--check must name a file that the program writes: program.py is as it was"),
        (["--check", "none"], "0", "--check must name a file that the program writes: none: No such file"),
        (["--budget", "2s", "--metric", r"rate (\S+)"], "0", "the budget is too short: 3 pairs of runs take"),
    ],
)
def test_what_goes_wrong_is_one_sentence(kumihimo, line, options, end, told):
    ended = kumihimo("optimise", *options, "--", *line(INSTALLATIONS[0], end))
    assert ended.code == 1
    assert re.search(told, ended.err), ended.err
    assert "Traceback" not in ended.err


REACHED = {"recorded": ("runs.jsonl", '"record"'), "tuning": ("wisdom.json.state", "survey")}
OFTEN = {("recorded", "SIGTERM", "group"), ("tuning", "SIGINT", "group"), ("tuning", "SIGTERM", "alone")}
SIGNALS = [
    pytest.param(number, code, send, reached, id="-".join(ids), marks=[pytest.mark.long] * (ids not in OFTEN))
    for where, reached in REACHED.items()
    for number, code in ((signal.SIGINT, 1), (signal.SIGTERM, 143))
    for name, send in (("alone", os.kill), ("group", os.killpg))
    for ids in [(where, number.name, name)]
]


@pytest.mark.mpi
@pytest.mark.skipif(not INSTALLATIONS, reason="no MPI library on this machine")
@pytest.mark.parametrize(("number", "code", "send", "reached"), SIGNALS)
def test_a_signal_keeps_what_was_run(kumihimo, tmp_path, line, number, code, send, reached):
    words = ["optimise", "--budget", f"{600 * PATIENCE}s", "--", *line(INSTALLATIONS[0])]
    process = subprocess.Popen(
        [COMMAND, *words],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    )
    runs = tmp_path / "kumihimo-optimise" / reached[0]
    try:
        deadline = time.monotonic() + 60 * PATIENCE
        while not (runs.is_file() and reached[1] in runs.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        send(process.pid, number)
        _, err = process.communicate(timeout=60 * PATIENCE)
    finally:
        if process.poll() is None:
            process.kill()
    assert process.returncode == code, err
    assert "interrupted; run the same command again to continue" in err
    assert "Traceback" not in err
    again = kumihimo(*words[:2], "1s", *words[3:])
    assert "recording the program" not in again.err


@pytest.mark.mpi
@pytest.mark.skipif(not INSTALLATIONS, reason="no MPI library on this machine")
def test_a_script_that_starts_the_program_elsewhere(kumihimo, tmp_path, line):
    words = line(INSTALLATIONS[0])
    words[words.index("program.py")] = str(tmp_path / "program.py")
    (tmp_path / "job.sh").write_text(f"#!/bin/sh\ncd /\nexec {shlex.join(words)}\n", encoding="utf-8")
    (tmp_path / "job.sh").chmod(0o755)
    (tmp_path / "program.py").write_text(
        PROGRAM.replace('open("result", "w")', 'open("/dev/null", "w")'), encoding="utf-8"
    )
    ended = kumihimo("optimise", "--budget", "2s", "--", "./job.sh")
    assert "the budget is too short" in ended.err, ended.err
    assert "no process called MPI_Finalize" not in ended.err


def test_a_command_that_is_not_there_is_refused_before_anything_is_made(kumihimo, tmp_path):
    ended = kumihimo("optimise", "--", "./none")
    assert ended.code == 2
    assert ended.err.startswith("kumihimo: the command must start MPI processes")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--metric", "("], "--metric must be a regular expression"),
        (["--tolerance", "2"], "--tolerance must be a number from 0 to under 1"),
        (["--budget", "soon"], "--budget must be a time"),
    ],
)
def test_wrong_options_are_refused(kumihimo, options, told):
    ended = kumihimo("optimise", *options, "--", "mpirun", "-n", "2", "./a")
    assert ended.code == 2
    assert told in ended.err


def test_choices_of_an_earlier_command_are_named_where_none_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    work = optimise.OptimiseWork(OptimisedProgram(("./program",), tmp_path), BudgetClock(1), None)
    work.profile = SimpleNamespace(mpi="Open MPI v4")
    assert work.earlier_wisdom() is None
    path = wisdom_reading.usual_path("Open MPI v4", key_of(["./program"]))
    path.parent.mkdir(parents=True)
    path.write_text("{}", encoding="utf-8")
    assert work.earlier_wisdom() == str(path)
    nothing = {"kept": [], "nothing_to_gain": "too small", "comparisons": [], "advice": []}
    for earlier in (str(path), None):
        optimise.show({**nothing, "earlier_wisdom": earlier}, tmp_path)
        assert (str(path) in capsys.readouterr().out) == bool(earlier)
