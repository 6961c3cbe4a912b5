"""Files that are no files, and arguments that are no text: one sentence, and no waiting and no loss of memory."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kumihimo import _plan, cli
from kumihimo.cli import verbs
from kumihimo.cli.reference import commands_of
from kumihimo.text.odd_bytes import to_json

GIB = 2**30
NOT_UTF8 = os.fsdecode(b"a\xfb")
HEADER = {"kumihimo_profile": 1, "version": "0", "mpi": "an MPI", "ranks": 1, "sync": False, "counters_reason": None}


def one_sentence(err: str) -> bool:
    return err.startswith("kumihimo: ") and err.count("\n") == 1 and "Traceback" not in err


def limited() -> None:
    """As much memory as the command needs, and no more."""
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, 4 * GIB))


@pytest.fixture
def odd(tmp_path: Path):
    """Something under that name that is no ordinary file."""

    def make(kind: str) -> Path:
        path = tmp_path / kind
        if kind == "folder":
            path.mkdir()
        elif kind == "loop":
            path.symlink_to(path)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "device":
            return Path("/dev/full")
        elif kind == "unreadable":
            return Path("/proc/self/mem")
        elif kind == "binary":
            path.write_bytes(b"\xff\xfe\x00")
        elif kind == "empty":
            path.write_bytes(b"")
        elif kind == "deep":
            path.write_text("[" * 200_000)
        return path

    return make


# --- arguments that are not UTF-8


def parameters(type_name: str) -> list[tuple[str, click.Parameter]]:
    """Every option and argument of every verb whose type has this name, with its verb."""
    return [
        (verb, parameter)
        for name in verbs.VERBS
        for verb, command in commands_of(name)
        for parameter in command.params
        if parameter.type.name == type_name
    ]


def options(type_name: str) -> list[tuple[str, str]]:
    return [(verb, each.opts[0]) for verb, each in parameters(type_name) if isinstance(each, click.Option)]


def texts() -> list[tuple[str, str]]:
    """Those that take text, but for the command lines of other programs. An argument has no name."""
    return [
        (verb, each.opts[0] if isinstance(each, click.Option) else "")
        for verb, each in parameters("text")
        if each.name != "program"
    ]


@pytest.mark.parametrize(("verb", "option"), texts())
def test_text_that_is_not_utf8_is_refused(capfd, verb, option):
    assert cli.carry_out([*verb.split(), *([option] if option else []), NOT_UTF8]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert one_sentence(err), err
    assert r"'a\xfb' is not UTF-8" in err


@pytest.mark.parametrize(("verb", "option"), [each for each in texts() if each[1]])
def test_an_option_without_text_is_refused(capfd, verb, option):
    """Otherwise most of them would count as not given."""
    assert cli.carry_out([*verb.split(), option, ""]) == 2
    out, err = capfd.readouterr()
    assert (out, one_sentence(err)) == ("", True), err
    assert "must have a value (got '')" in err


@pytest.mark.parametrize("number", ["9" * 23, "-" + "9" * 23])
@pytest.mark.parametrize(("verb", "option"), options("integer"))
def test_an_integer_of_more_than_64_bits_is_refused(capfd, verb, option, number):
    assert cli.carry_out([*verb.split(), option, number]) == 2
    out, err = capfd.readouterr()
    assert (out, one_sentence(err)) == ("", True), err
    assert f"must fit in 64 bits (got {number})" in err


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("verify allreduce -a ring --shape 4", "--samples"),
        ("verify bcast --shape 4", "--root"),
        ("bench allreduce --ranks 2 --bytes 8", "--tag-upper-bound"),
    ],
)
def test_an_integer_of_more_than_32_bits_is_refused(capfd, line, option):
    assert cli.carry_out([*line.split(), option, "3000000000"]) == 2
    out, err = capfd.readouterr()
    assert (out, one_sentence(err)) == ("", True), err
    assert "must fit in 32 bits (got 3000000000)" in err


def test_a_command_and_paths_that_are_not_utf8_print_as_bytes():
    for line in ([NOT_UTF8], ["verify", "allreduce", "--shape", "4", "--placement", NOT_UTF8]):
        ran = subprocess.run(
            [Path(sys.executable).parent / "kumihimo", *line], capture_output=True, timeout=60, check=False
        )
        assert (ran.returncode, rb"a\xfb" in ran.stderr, b"udcfb" in ran.stderr) == (2, True, False), ran.stderr


NEEDED = {
    "published": ["--case", "k-ring"],
    "run": ["--", "true"],
    "record": ["--", "true"],
    "tune": ["allreduce", "--budget", "0s"],
    "tune kernel": ["copy"],
    "demo": ["--mpi", "x"],
    "bench node": ["nothing"],
    "bench pgas": ["nothing"],
    "bench vectorisation": ["nothing"],
}


MEASURES = ("machine measure", "--out")  # for half a minute, to write one file


@pytest.mark.parametrize(
    ("verb", "option"),
    [pytest.param(*each, marks=[pytest.mark.long] * (each == MEASURES)) for each in options("path")],
)
def test_a_path_that_is_not_utf8_ends_in_no_stack_trace(kumihimo, verb, option):
    ended = kumihimo(*verb.split(), option, NOT_UTF8, *NEEDED.get(verb, []))
    assert "Traceback" not in ended.err
    assert len([line for line in ended.err.splitlines() if not line.startswith("kumihimo: measuring: ")]) <= 2


def test_a_program_gets_its_words_as_they_are(kumihimo):
    ended = kumihimo("record", "--json", "sums.json", "--", "sh", "-c", 'printf %s "$1" | od -An -tx1', "sh", NOT_UTF8)
    assert ended.code == 0
    assert ended.out.split() == ["61", "fb"]
    assert "Traceback" not in ended.err


def test_words_that_are_not_utf8_are_in_the_json_of_a_program(kumihimo, tmp_path):
    kumihimo("record", "--json", "sums.json", "--", "true", NOT_UTF8)
    assert r"a\xfb" in json.loads((tmp_path / "sums.json").read_text())["command"]


@pytest.mark.mpi
def test_wisdom_of_a_command_that_is_not_utf8_is_read_again(kumihimo, tmp_path):
    """The command is in the wisdom; so are choices that took the whole budget."""
    line = ("tune", "allreduce", "-p", "2", "--bytes", "8", "--budget", "200s", "-o", NOT_UTF8, "--json")
    found = json.loads(kumihimo(*line, timeout_seconds=300).out)
    assert found["results"] and found["wisdom"] == r"a\xfb" and r"a\xfb" in found["made"]["command"]
    text = (tmp_path / NOT_UTF8).read_text(encoding="utf-8")
    assert _plan.read_wisdom(text, _plan.this_machine(), found["mpi"]) == len(found["results"])
    again = json.loads(kumihimo(*line, timeout_seconds=300).out)
    assert again["measured_before"] == ["allreduce of 2 ranks"]


def test_simulated_wisdom_of_a_command_that_is_not_utf8_is_read_again(kumihimo, tmp_path):
    line = ("tune", "allreduce", "-m", "k-computer", "-s", "2x2", "-b", "8", "--budget", "60s", "-o", NOT_UTF8)
    for _ in range(2):
        ended = kumihimo(*line, "--json")
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["wisdom"] == r"a\xfb"
    file = json.loads((tmp_path / NOT_UTF8).read_text(encoding="utf-8"))
    assert r"a\xfb" in file["made"]["command"]


def test_json_has_other_bytes_as_text():
    value = {NOT_UTF8: [NOT_UTF8, "é", "😀", "\ud800", "\\", 1]}
    text = to_json(value)
    text.encode()
    assert json.loads(text) == {r"a\xfb": [r"a\xfb", "é", "😀", r"\ud800", "\\", 1]}


def test_a_program_file_in_a_folder_that_ranks_cannot_name_is_refused(kumihimo, tmp_path):
    (tmp_path / NOT_UTF8).mkdir()
    (tmp_path / NOT_UTF8 / "pair").write_text("ranks 2\nbuffer 2\nrank 0\nsend 1 0 1\nrank 1\nreceive 0 1 1\n")
    ended = kumihimo("bench", "file:pair", "--check", cwd=tmp_path / NOT_UTF8)
    assert (ended.code, ended.out) == (2, "")
    assert one_sentence(ended.err) and r"a\xfb/pair" in ended.err and "rename the folder" in ended.err, ended.err


# --- files that are no files


@pytest.mark.parametrize("kind", ["device", "folder", "fifo", "loop", "binary", "empty", "deep"])
@pytest.mark.parametrize("target", [["allreduce"], ["allreduce", "-m", "k-computer", "-s", "2x2", "-b", "8"]])
def test_tuning_writes_over_wisdom_alone(kumihimo, odd, kind, target):
    path = odd(kind)
    ended = kumihimo("tune", *target, "--budget", "1s", "--output", str(path), preexec_fn=limited, timeout_seconds=60)
    assert ended.code == 2, ended
    assert one_sentence(ended.err), ended.err
    assert str(path) in ended.err


@pytest.mark.parametrize("kind", ["device", "folder", "loop"])
def test_a_profile_is_written_to_a_file(kumihimo, odd, kind):
    path = odd(kind)
    ended = kumihimo("record", "--output", str(path), "--", "true")
    assert ended.code == 2
    assert one_sentence(ended.err), ended.err
    assert str(path) in ended.err and "nothing was recorded" not in ended.err


@pytest.mark.parametrize("verb", ["run", "record"])
def test_a_refused_command_leaves_no_files(kumihimo, tmp_path, verb):
    (tmp_path / "link").symlink_to("target")
    for name in ("new", "link"):
        assert kumihimo(verb, "--json", name, "--", "/nonexistent").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize("kind", ["device", "folder", "fifo", "loop", "unreadable", "binary", "empty", "deep"])
def test_a_profile_that_is_none_is_refused(kumihimo, odd, kind):
    ended = kumihimo("record", "--show", str(odd(kind)), preexec_fn=limited, timeout_seconds=60)
    assert ended.code == 2
    assert one_sentence(ended.err), ended.err


@pytest.mark.parametrize("line", [HEADER, {"rank": 0}])
def test_a_deeply_nested_line_of_a_profile_is_refused(kumihimo, tmp_path, line):
    deep = "[" * 100_000 + "]" * 100_000
    first = json.dumps(HEADER) + "\n" if line is not HEADER else ""
    (tmp_path / "profile").write_text(first + json.dumps(line)[:-1] + f', "more": {deep}}}\n')
    ended = kumihimo("record", "--show", "profile")
    assert ended.code == 2
    assert one_sentence(ended.err) and "is nested too deeply" in ended.err, ended.err


@pytest.mark.parametrize("kind", ["device", "folder", "fifo", "loop", "unreadable", "binary", "empty"])
@pytest.mark.parametrize("words", [["show"], ["verify"], ["simulate", "-m", "k-computer", "-s", "2"], ["bench"]])
def test_a_program_file_that_is_none_is_refused(kumihimo, odd, words, kind):
    verb, *more = words
    path = odd(kind)
    ended = kumihimo(verb, f"file:{path}", *more, preexec_fn=limited, timeout_seconds=60)
    assert (ended.code, ended.out) == (2, "")
    assert one_sentence(ended.err) and str(path) in ended.err, ended.err


PLACED = ("show", "allreduce", "--algorithm", "ring", "--shape", "2x2")
ALLOCATED = ("simulate", "allreduce", "--machine", "k-computer", "--shape", "2x2", "--bytes", "8")


@pytest.mark.parametrize("kind", ["device", "folder", "fifo", "loop", "unreadable", "binary"])
@pytest.mark.parametrize("words", [(*PLACED, "--placement"), (*ALLOCATED, "--placement"), (*ALLOCATED, "--allocation")])
def test_a_placement_or_hostfile_that_is_none_is_refused(kumihimo, odd, words, kind):
    path = odd(kind)
    ended = kumihimo(*words, str(path), preexec_fn=limited, timeout_seconds=60)
    assert (ended.code, ended.out) == (2, "")
    assert one_sentence(ended.err) and str(path) in ended.err, ended.err


@pytest.mark.parametrize("wait", [0, 1])
def test_a_pipe_that_is_written_is_read_to_its_end(tmp_path, wait):
    """Also where the writer takes its time."""
    os.mkfifo(tmp_path / "fifo")
    lines = r"0 3 0\n1 2 0\n2 1 0\n3 0 0\n"
    command = shlex.join([str(Path(sys.executable).parent / "kumihimo"), *PLACED, "--placement"])
    slowly = f"sleep {wait}; printf '{lines[:14]}'; sleep {wait}; printf '{lines[14:]}'"
    for how in (f"({slowly}) > fifo & {command} fifo", f"{command} <({slowly})"):
        ran = subprocess.run(["bash", "-c", how], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "rank 0 is on node 3, slot 0" in ran.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*PLACED, "--placement", ""), "--placement must name a file (got ''); leave it out or name one"),
        ((*PLACED, "--placement="), "--placement must name a file (got '')"),
        ((*ALLOCATED, "--allocation", ""), "--allocation must have a value (got ''); leave it out or give one"),
        (("record", "--show", ""), "--show must name a file (got '')"),
        (("record", "--trace", "", "--", "true"), "--trace must name a folder (got '')"),
    ],
)
def test_an_empty_path_is_refused_by_name(kumihimo, words, sentence):
    ended = kumihimo(*words)
    assert (ended.code, ended.out) == (2, "")
    assert one_sentence(ended.err) and sentence in ended.err, ended.err


@pytest.mark.parametrize("kind", ["device", "folder", "fifo", "loop", "unreadable", "binary", "none"])
def test_a_graph_that_is_none_is_refused(kumihimo, odd, kind):
    graph = ["--neighbours", f"graph:{odd(kind)}"]
    ended = kumihimo(*["show", "neighbor_allgather", "-a", "direct", "-p", "4", "-n", "1"], *graph, preexec_fn=limited)
    assert ended.code == 2
    assert one_sentence(ended.err), ended.err


@pytest.mark.parametrize("kind", ["device", "folder", "loop", "unreadable", "binary", "empty", "deep"])
@pytest.mark.parametrize("name", ["measured.json", "simulated.json", "unmodified.json"])
def test_a_part_of_a_report_that_is_none_is_refused(kumihimo, odd, tmp_path, kind, name):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / name).symlink_to(odd(kind))
    ended = kumihimo("report", "report", preexec_fn=limited, timeout_seconds=60)
    assert ended.code == 2
    assert one_sentence(ended.err), ended.err


@pytest.mark.parametrize("kind", ["device", "folder", "loop", "unreadable", "binary", "empty", "deep"])
@pytest.mark.parametrize("ending", [".conf", ".yaml", ".xml"])
def test_an_import_of_what_is_none_is_refused(kumihimo, odd, tmp_path, kind, ending):
    (tmp_path / f"file{ending}").symlink_to(odd(kind))
    line = ["machine", "import", f"file{ending}", "--like", "reedbush-u"]
    ended = kumihimo(*line, preexec_fn=limited, timeout_seconds=60)
    assert ended.code == 2
    assert one_sentence(ended.err), ended.err


READERS = [
    "machine show {}",
    "simulate allreduce -m {} -s 2x2 -b 8",
    "simulate goal:{} -m k-computer",
    "simulate allreduce -m k-computer -s 2x2 -b 8 --model loggp --noise trace:{}",
    "replay {} -m k-computer",
    "place --traffic {} -m k-computer -s 2x2",
    "place --traffic metis:{} -m k-computer -s 2x2",
    "campaign {}",
    "machine calibrate fugaku {}",
    "machine calibrate {} {}",
    "checkpoint {}",
    "app poisson3d --set matrix={} --triad 9 --peak 9",
    "app hartree-fock --set molecule={} --triad 9 --peak 9",
    "app hartree-fock --size w1 --set basis={} --triad 9 --peak 9",
    "app lu --set file={} --triad 9 --peak 9",
]


@pytest.mark.parametrize("kind", ["device", "folder", "loop", "unreadable", "binary"])
@pytest.mark.parametrize("line", READERS)
def test_a_file_that_cannot_be_read_is_one_sentence(kumihimo, odd, tmp_path, line, kind):
    """Unreadable is the memory of a process, of which the system refuses to read the beginning: EIO."""
    path = tmp_path / "named.gbs"
    path.symlink_to(odd(kind))
    ended = kumihimo(*line.replace("{}", str(path)).split(), preexec_fn=limited, timeout_seconds=60)
    assert (ended.code, ended.out) == (2, ""), ended
    assert one_sentence(ended.err) and "named.gbs" in ended.err, ended.err
