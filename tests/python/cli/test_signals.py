"""Signals while `run` and `record` wait for a program: each comes to its launcher once, whoever it was sent to."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from by_c_names import BEGINNING

from kumihimo.processes import mpi, signals

COMMAND = Path(sys.executable).parent / "kumihimo"
# Notes each signal, and ends a while after the first one, as a program does that writes what it knows.
COUNTING = """
import pathlib, signal, sys, time
noted = pathlib.Path(sys.argv[1])
def note(number, frame):
    with noted.open("a") as file:
        print(signal.Signals(number).name, file=file)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
    signal.signal(number, note)
noted.touch()
while not noted.read_text():
    time.sleep(0.01)
time.sleep(1)
sys.exit(7)
"""
SPINNING = (
    "import ctypes, os, sys, time\nfamily, library, begun = sys.argv[1:]\n"
    + BEGINNING
    + """
open(f"{begun}{rank.value}", "w").write(str(os.getpid()))
while True:
    names.MPI_Allreduce(mine, result, 1000, double, total, world)
    time.sleep(0.001)
"""
)


IGNORED_BY_SHELLS = (signal.SIGINT, signal.SIGQUIT)  # of background jobs


@contextlib.contextmanager
def started(folder: Path, *words: str, **options: object) -> Iterator[subprocess.Popen]:
    """In a session of its own, whose processes are its group: what a shell's job is. Of a shell's background job the
    tests inherit signals that are ignored."""
    options.setdefault("preexec_fn", lambda: [signal.signal(number, signal.SIG_DFL) for number in IGNORED_BY_SHELLS])
    process = subprocess.Popen(
        [COMMAND, *words],
        cwd=folder,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def until(happened, what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def counting(folder: Path) -> tuple[list[str], Path]:
    program, noted = folder / "program.py", folder / "noted"
    program.write_text(COUNTING, encoding="utf-8")
    return [sys.executable, str(program), str(noted)], noted


@pytest.mark.parametrize("verb", ["run", "record"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1"])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["alone", "group"])
def test_a_signal_comes_once(tmp_path: Path, verb: str, name: str, send) -> None:
    words, noted = counting(tmp_path)
    with started(tmp_path, verb, "--json", "ran.json", "--", *words) as process:
        until(noted.exists, "the program runs")
        send(process.pid, getattr(signal, name))
        out, err = process.communicate(timeout=60)
    assert noted.read_text(encoding="utf-8").split() == [name]
    assert (process.returncode, out) == (7, ""), err
    assert err.startswith("kumihimo: interrupted") == (name != "SIGUSR1"), err
    assert (f"({name}); " in err) == (name != "SIGUSR1") and len(err.splitlines()) == 1, err
    told = json.loads((tmp_path / "ran.json").read_text(encoding="utf-8"))
    assert (told["exit_code"], told["signals"]) == (7, [name] if name != "SIGUSR1" else [])


def test_one_after_another_come_once_each(tmp_path: Path) -> None:
    """To the group, to one process, to the group: a witness is good for the next one, too."""
    words, noted = counting(tmp_path)
    Path(words[1]).write_text(COUNTING.replace("time.sleep(1)", "time.sleep(3)"), encoding="utf-8")
    sent = [(os.killpg, "SIGINT"), (os.kill, "SIGINT"), (os.killpg, "SIGINT"), (os.kill, "SIGTERM")]
    with started(tmp_path, "run", "--", *words) as process:
        until(noted.exists, "the program runs")
        for number, (send, name) in enumerate(sent, 1):
            send(process.pid, getattr(signal, name))
            until(lambda number=number: len(noted.read_text(encoding="utf-8").split()) == number, f"{number} came")
            time.sleep(1.5 * signals.GRACE)
        _, err = process.communicate(timeout=60)
    assert noted.read_text(encoding="utf-8").split() == [name for _, name in sent]
    assert err.startswith("kumihimo: interrupted (SIGINT, SIGTERM); ")


def test_a_launcher_in_a_group_of_its_own_gets_what_is_sent_to_ours(tmp_path: Path) -> None:
    words, noted = counting(tmp_path)
    with started(tmp_path, "run", "--", "timeout", "-s", "KILL", "60", *words) as process:
        until(noted.exists, "the program runs")
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)
    assert noted.read_text(encoding="utf-8").split()[:1] == ["SIGTERM"]


def test_a_terminals_ctrl_c_comes_once_and_its_lines_are_the_programs(tmp_path: Path) -> None:
    words, noted = counting(tmp_path)
    text = COUNTING.replace("noted.touch()", "line = sys.stdin.readline()\nnoted.touch()")
    Path(words[1]).write_text(text.replace("sys.exit(7)", "sys.exit(int(line))"), encoding="utf-8")
    process, terminal = pty.fork()
    if process == 0:
        os.execv(COMMAND, [str(COMMAND), "run", "--", *words])
    try:
        os.write(terminal, b"5\n")
        until(noted.exists, "the program runs, and has read its line")
        os.write(terminal, b"\x03")
        seen = b""
        with contextlib.suppress(OSError):  # the other side is closed
            while select.select([terminal], [], [], 60)[0]:
                seen += os.read(terminal, 4096)
        ended, status = os.waitpid(process, 0 if b"interrupted" in seen else os.WNOHANG)
        assert (ended, os.waitstatus_to_exitcode(status)) == (process, 5)
    finally:
        os.close(terminal)
    assert noted.read_text(encoding="utf-8").split() == ["SIGINT"]
    assert b"kumihimo: interrupted (SIGINT); " in seen


def test_what_is_ignored_stays_so(tmp_path: Path) -> None:
    """SIGHUP under nohup; SIGINT in the background of a script, where the program is asked all the same."""
    words, noted = counting(tmp_path)

    def ignoring() -> None:
        for number in (signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)

    with started(tmp_path, "run", "--", *words, preexec_fn=ignoring) as process:
        until(noted.exists, "the program runs")
        os.kill(process.pid, signal.SIGHUP)
        time.sleep(2 * signals.GRACE)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) == 7
    assert noted.read_text(encoding="utf-8").split() == ["SIGINT"]


def test_the_program_has_the_terminals_group_and_no_blocked_signals(tmp_path: Path) -> None:
    asks = "import os, signal, sys; print(os.getpgrp(), os.getsid(0), *signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    with started(tmp_path, "run", "--", sys.executable, "-c", asks) as process:
        out, _ = process.communicate(timeout=60)
    assert out.split() == [str(process.pid)] * 2


def test_no_witness_is_left(tmp_path: Path) -> None:
    """After the end, and after our own sudden end."""
    words, noted = counting(tmp_path)
    for number in (signal.SIGTERM, signal.SIGKILL):
        noted.unlink(missing_ok=True)
        place = {**os.environ, "TMPDIR": str(tmp_path)}  # which who is killed leaves as it is
        with started(tmp_path, "run", "--", *words, env=place) as process:
            until(noted.exists, "the program runs")
            os.kill(process.pid, number)
            process.wait(timeout=60)
            until(lambda group=process.pid: not running(group, "cat"), "the witness has ended", 10)


def running(group: int, name: str) -> bool:
    """Whether there is such a process that has not ended."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            before, _, after = status.read_text(encoding="utf-8", errors="replace").rpartition(")")
            state, _, its_group = after.split()[:3]
            if (before.partition("(")[2], its_group) == (name, str(group)) and state != "Z":
                return True
    return False


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["alone", "group"])
def test_a_launcher_of_mpi_ends_its_ranks(tmp_path: Path, family: str, name: str, send) -> None:
    with spinning(tmp_path, family) as (process, begun):
        send(process.pid, getattr(signal, name))
        out, err = process.communicate(timeout=30)
        for path in begun:
            until(lambda path=path: not alive(int(path.read_text())), "the ranks have ended", 10)
    assert f"kumihimo: interrupted ({name}); nothing was recorded" in err
    assert "Abort is in progress" not in out + err


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_our_own_sudden_end_ends_the_ranks(tmp_path: Path, family: str) -> None:
    with spinning(tmp_path, family) as (process, begun):
        process.kill()
        for path in begun:
            until(lambda path=path: not alive(int(path.read_text())), "the ranks have ended", 20)


@contextlib.contextmanager
def spinning(folder: Path, family: str) -> Iterator[tuple[subprocess.Popen, list[Path]]]:
    """`record` with two ranks that do not end by themselves, and the files with their process numbers."""
    installation = next((i for i in mpi.discover() if i.family == family), None)
    if installation is None:
        pytest.skip(f"no {family} on this machine")
    program, begun = folder / "program.py", [folder / f"begun{rank}" for rank in range(2)]
    program.write_text(SPINNING, encoding="utf-8")
    words = [sys.executable, str(program), family, str(installation.library), str(folder / "begun")]
    place = {**os.environ, "TMPDIR": str(folder)}  # where a killed command leaves its files
    with started(folder, "record", "--", *installation.arguments(2), *words, env=place) as process:
        until(lambda: all(path.exists() and path.read_text() for path in begun), "all ranks have begun")
        yield process, begun


def alive(process: int) -> bool:
    """Whether it runs; one that ended and was not waited for does not."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return status.rpartition(")")[2].split()[0] not in "ZX"
    return False
