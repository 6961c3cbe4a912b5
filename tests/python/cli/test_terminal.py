"""On a terminal: tables with lines, progress on the screen; in a pipe neither."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from kumihimo.cli import output

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
    return of_terminal(columns, [Path(sys.executable).parent / "kumihimo", *arguments])


def of_terminal(columns: int, command: list) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
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


def test_what_is_told_beside_a_program_fits_the_terminal(monkeypatch):
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    line = "12 calls of allreduce from 64KiB to under 1MiB: ring, 1.25 to 1.50 times as fast as the MPI library"
    output.message(line)
    monkeypatch.setattr(told, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    output.message(line)
    whole, *folded = told.getvalue().splitlines()
    assert whole == f"kumihimo: {line}", "one line in a file"
    assert len(folded) == 2 and all(len(each) <= 80 for each in folded)
    assert " ".join(" ".join(folded).split()) == whole


def lines_on_terminal(columns: int, *arguments: str) -> list[str]:
    """The lines that stay on the screen, without the progress above them."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on_terminal(columns, *arguments).rpartition("\x1b[2K")[2]).splitlines()


def test_a_wide_terminal_has_lines_and_a_bar():
    seen = on_terminal(120, *CASE)
    assert "───" in seen
    assert "simulating" in seen


NOTHING_IS_CUT = (
    "verify allreduce --shape 4x3x2 --bytes 16MiB",
    "verify reduce",
    "simulate allreduce --machine k-computer --shape 4x3x4 --bytes 1MiB,1GiB",
    "simulate allreduce --machine k-computer --shape 4x3x4 --bytes 1MiB --links -a ring",
    "machine list",
    "machine show k-computer",
    "machine show fugaku",
    "show allreduce --shape 4x3x2 -a rotated_rings",
    "simulate halo:16x16x16,points=27,fields=3,compute=1e-4 --machine k-computer --shape 4x3x2 --links",
    "verify halo:16x16x16,points=27,fields=3,compute=1e-4 --shape 16x16x32",
)


@pytest.mark.parametrize("command", NOTHING_IS_CUT)
@pytest.mark.parametrize("columns", [80, 100])
def test_nothing_is_cut_or_passes_the_edge(kumihimo, columns, command):
    lines = lines_on_terminal(columns, *command.split())
    assert max(map(len, lines)) <= columns
    assert not any("…" in line for line in lines)
    seen = set(words("\n".join(lines)))
    for word in words(kumihimo(*command.split()).out):
        assert word in seen, word


def words(text: str) -> list[str]:
    """Names and numbers, but for times that the command measured, as no two runs have the same."""
    return re.findall(r"[\w.+-]+", re.sub(r"[\d.]+ [mun]?s +(?=proven)", "", text))


def test_the_last_columns_follow_below_with_their_names():
    lines = lines_on_terminal(80, *CASE, "--window", "3")
    row = next(i for i, line in enumerate(lines) if line.split()[:2] == ["16MiB", "trinaryx3"])
    assert re.fullmatch(r"    parameters: trees=3 segments=\d+ window=3; limited by: .+", lines[row + 1])


def test_a_narrow_terminal_has_plain_columns():
    assert "───" not in on_terminal(60, "machine", "list")


@pytest.mark.parametrize("arguments", [CASE, (*CASE, "--json")])
def test_a_pipe_has_neither(kumihimo, arguments):
    ended = kumihimo(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert "───" not in ended.out and "\x1b" not in ended.out


def test_a_closed_output_leaves_no_trace():
    command = f"'{Path(sys.executable).parent}/kumihimo' machine list --json >&-; echo code $?"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("code 0\n", "")


@pytest.mark.parametrize("verb", ["bench", "show"])
def test_ctrl_c_while_the_command_is_loaded(verb):
    """From when our first line runs, at the entry of the package, until the verb is there."""
    code = (
        "import os, signal, sys, importlib.abc\n"
        "class Interrupter(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == sys.argv[1]: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupter())\n"
        "from kumihimo import cli\n"
        "sys.exit(cli.carry_out([sys.argv[2], '--help']))"
    )
    for module in ("click", "typer.core", "kumihimo.cli.verbs", f"kumihimo.cli.{verb}", "kumihimo._collectives"):
        line = [sys.executable, "-c", code, module, verb]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (1, "kumihimo: interrupted\n"), module


def test_a_reader_that_goes_away_leaves_no_trace():
    command = f"{Path(sys.executable).parent / 'kumihimo'} show allreduce --shape 4x3x2 -a trinaryx3 | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr


COMMAND = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202e"
SHOWN = "\\x1b[31mred\\x1b]0;title\\x07\\u009b2J\\u202e"


def test_names_do_not_command_the_terminal(kumihimo, repository, tmp_path):
    """Of a file in an error; of a machine in text, in a table and in JSON."""
    ended = kumihimo("machine", "show", f"/no/{COMMAND}")
    assert (ended.code, SHOWN in ended.err, COMMAND in ended.err) == (2, True, False), ended.err
    text = (repository / "machines" / "k-computer.toml").read_text()
    named = "".join(f"\\u{ord(c):04x}" if not c.isprintable() else c for c in COMMAND)
    (tmp_path / "named.toml").write_text(re.sub(r"(?m)^name = .*", lambda _: f'name = "{named}"', text, count=1))
    line = ["simulate", "allreduce", "-m", "named.toml", "-s", "2x2", "-b", "8", "-a", "ring"]
    for words in (line, [*line, "--json"], ["machine", "show", "named.toml"]):
        ended = kumihimo(*words)
        assert ended.code == 0, ended.err
        assert not any(not c.isprintable() and c != "\n" for c in ended.out), ended.out
    assert COMMAND in json.loads(kumihimo(*line, "--json").out)["results"][0]["machine"]


def test_a_table_shows_line_ends_in_cells(capsys):
    output.print_table("", ("name", "n>"), [("a\nb\x1b", 1), ("c", 2)])
    assert capsys.readouterr().out.splitlines() == ["name      n", "a\\nb\\x1b  1", "c         2"]


def test_what_is_repainted_stands_in_place_of_the_lines_before():
    code = (
        "import sys; from kumihimo.cli import terminal; terminal.open_streams()\n"
        "with terminal.repainted() as paint:\n    paint(['first', 'a' * 99])\n    paint(['second \x1b[31m', 'b'])"
    )
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert piped.stdout == "first\n" + "a" * 99 + "\nsecond \\x1b[31m\nb\n", piped.stderr
    seen = of_terminal(60, [sys.executable, "-c", code])
    assert "a" * 59 + "…" in seen and "a" * 60 not in seen  # not wrapped
    assert "\x1b[1A" in seen and "\x1b[31m" not in seen
