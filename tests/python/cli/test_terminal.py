"""On a terminal: tables with lines, progress on the screen; in a pipe neither."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

CASE = (
    "simulate",
    "allreduce",
    "--machine",
    "k-computer",
    "--shape",
    "8x6x8",
    "--bytes",
    "8..16MiB",
    "-a",
    "trinaryx3",
)


def on_terminal(columns: int, *arguments: str) -> str:
    """What a terminal of that width receives."""
    ours, theirs = pty.openpty()
    command = [Path(sys.executable).parent / "kumihimo", *arguments]
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            seen += piece
    os.close(ours)
    assert process.returncode == 0
    return seen.decode()


def test_a_wide_terminal_has_lines_and_a_bar():
    seen = on_terminal(120, *CASE)
    assert "───" in seen
    assert "simulating" in seen


def test_a_narrow_terminal_has_plain_columns():
    assert "───" not in on_terminal(60, "machine", "list")


@pytest.mark.parametrize("arguments", [CASE, (*CASE, "--json")])
def test_a_pipe_has_neither(kumihimo, arguments):
    ended = kumihimo(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert "───" not in ended.out and "\x1b" not in ended.out


def test_a_reader_that_goes_away_leaves_no_trace():
    command = f"{Path(sys.executable).parent / 'kumihimo'} show allreduce --shape 4x3x2 -a trinaryx3 | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
