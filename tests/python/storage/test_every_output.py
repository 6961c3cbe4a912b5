"""Every verb that writes a file, on storage that fails: a full disk, a read-only folder, a kill in the middle. The old
file or the new one is there, whole, and the same command works afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from by_c_names import BEGINNING
from small_machine import MACHINE

from kumihimo.cli import verbs
from kumihimo.cli.paths import NamedPath, WrittenPath
from kumihimo.cli.reference import commands_of
from kumihimo.processes import mpi

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).parent / "kumihimo"

CAMPAIGN = """
name = "small"
[parameters]
collective = "allreduce"
machine = "k-computer"
shape = "2x2x2"
algorithm = ["ring", "binomial"]
bytes = [8, "8KiB"]
"""
TIMES = "collective,algorithm,shape,bytes,seconds,system\n" + "".join(
    f"bcast,binomial,{shape},{size},{seconds + size * 1e-9},mine\n"
    for shape, seconds in (("2x2x2", 1e-5), ("4x2x2", 2e-5), ("4x4x4", 3e-5))
    for size in (8, 2048, 65536)
)
TOPOLOGY = "SwitchName=s0 Nodes=dev[0-5]\nSwitchName=s1 Nodes=dev[6-11]\nSwitchName=s2 Switches=s[0-1]\n"
PROFILE = "".join(
    json.dumps(line) + "\n"
    for line in (
        {"kumihimo_profile": 1, "version": "0", "mpi": "a library", "ranks": 1, "several_nodes": False, "sync": False},
        {"rank": 0, "host": "h", "finalized": True, "seconds": 0.2, "mpi_seconds": 0.1, "partners": [], "trace": None}
        | {"calls": [], "communicators": [], "regions": [], "sizes": {}, "sites": []},
    )
)
GOAL = """num_ranks 2
rank 0 {
l1: calc 1000
l2: send 80b to 1 tag 7
l2 requires l1
}
rank 1 {
l1: recv 80b from 0 tag 7
}
"""
PROGRAM = f"""
import ctypes, os, sys
family, library = sys.argv[1:]
{BEGINNING}
names.MPI_Finalize()
"""
SIMULATED = ("simulate", "allreduce", "-m", "fugaku", "-s", "2x2x2", "-b", "8", "-a", "ring")
PLACED = ("place", "--traffic", "halo:2x2:5", "--shape", "2x2")


SHORT = ("full:1", "killed:1", "read-only:0", "unreadable:0")
MORE = ("full:5", "killed:5", "quota:1", "io:1", "sync:0", "rename:0", "unnamed:0")
ENDS = {  # by the fault: the exit code, and what the sentence says; SQLite has words of its own
    "full": (1, "No space left on device|disk is full"),
    "quota": (1, "quota exceeded|disk I/O error"),
    "io": (1, "Input/output error|disk I/O error"),
    "sync": (1, "Input/output error|disk I/O error"),
    "rename": (1, "Input/output error"),
    "read-only": (2, "Permission denied|Read-only file system"),
    "killed": (-signal.SIGKILL, ""),
    "unnamed": (-signal.SIGKILL, ""),
}


@dataclass(frozen=True)
class Output:
    """A file that an option of a verb names, and a short command line that writes it; {} stands for the file."""

    verb: str
    option: str
    line: tuple[str, ...]
    file: str = "out"  # that is looked at; {} is the first part of its path
    faults: tuple[str, ...] = SHORT
    other: tuple[str, ...] = ()  # words that make another file
    long: bool = False

    @property
    def named(self) -> str:
        return self.file.partition("/")[0]

    def words(self) -> list[str]:
        line = self.line if any("{}" in word for word in self.line) else (*self.line, self.option, "{}")
        return [word.replace("{}", self.named) for word in line]

    @property
    def starts_ranks(self) -> bool:
        return "MPIRUN" in self.line or self.long


TUNED = ("tune", "allreduce", "-m", "k-computer", "-s", "2x2", "--budget", "60s", "--fresh", "-o", "{}")
REPLAYED = ("replay", "goal:two.goal", "--model", "loggp", "--loggops", "L=2500,o=1500,g=1000,G=0.2,O=0,S=65535")
MEASURED = ("machine", "measure", "-p", "2")
CALIBRATED = ("machine", "calibrate", "{}", "times.csv", "--fit", "message_cost", "-o", "{}")
PROJECTED = ("project", "--year", "2030", "--samples", "100")
FT_MESSAGES = ("simulate", "app", "fft3d", "--case", "npb-ft-b", "--shape", "2x1x1")
OF_WISDOM = (*SHORT, "rename:0", "unnamed:0")
OUTPUTS = [
    Output("show", "--save-placement", ("show", "allreduce", "-s", "4", "-a", "ring")),
    Output("simulate", "--page", (*SIMULATED, "--model", "packet")),
    Output("simulate", "--timeline", (*SIMULATED, "--model", "loggp")),
    Output("checkpoint", "--page", ("checkpoint", "24h", "--nodes", "9", "--node-mtbf", "5y", "--checkpoint", "9m")),
    Output("bench checkpoint", "--output", ("bench", "checkpoint", ".", "-b", "8", "-i", "1", "-p", "1"), long=True),
    Output("project", "--page", PROJECTED),
    Output("project", "--machine-file", PROJECTED),
    Output("project", "--write-scaling", PROJECTED),
    Output("published", "--write", ("published", "--case", "k-ring")),
    Output("workload", "--traffic", ("workload", "lans", "-p", "2")),
    Output("simulate app", "--write", FT_MESSAGES),
    Output("campaign", "--out", ("campaign", "small-campaign.toml", "--fresh", "-j", "1"), "out.sqlite"),
    Output("campaign show", "--page", ("campaign", "show", "there.sqlite")),
    Output("machine import", "--out", ("machine", "import", "topology.conf", "--like", "reedbush-u", "--name", "new")),
    Output("machine calibrate", "--out", CALIBRATED, "small.toml"),
    Output("machine measure", "--out", MEASURED, long=True),
    Output("machine measure", "--trace", (*MEASURED, "--noise", "--seconds", "1s", "-o", "new.toml"), long=True),
    Output("place", "--output", (*PLACED, "--output", "permutation:{}")),
    Output("place", "--page", PLACED),
    Output("run", "--json", ("run", "--json", "{}", "--", "true")),
    Output("record", "--json", ("record", "--json", "{}", "--", "true")),
    Output("binding", "--json", ("binding", "--json", "{}", "--", "MPIRUN")),
    Output("record", "--mpip", ("record", "--show", "there.jsonl", "--mpip", "{}")),
    Output("record", "--junit", ("record", "--show", "there.jsonl", "--junit", "{}")),
    Output("run", "--junit", ("run", "--junit", "{}", "--", "true")),
    Output("app", "--junit", ("app", "poisson3d", "-s", "8", "-v", "golden", "-t", "1", "--triad", "9", "--peak", "9")),
    Output("bench", "--junit", ("bench", "allreduce", "-p", "2", "-b", "8", "-a", "ring"), long=True),
    Output("bench node", "--junit", ("bench", "node", "stream", "-t", "1", "--array", "1MiB", "--rounds", "3")),
    Output(
        "bench files",
        "--junit",
        ("bench", "files", ".", "--parts", "metadata", "-p", "1", "--items", "5", "-i", "1"),
        long=True,
    ),
    Output("bench checkpoint", "--junit", ("bench", "checkpoint", ".", "-b", "8", "-i", "1", "-p", "1"), long=True),
    Output(
        "bench pgas", "--junit", ("bench", "pgas", "own", "-b", "8", "--measures", "put", "--seconds", "1ms"), long=True
    ),
    Output("bench vectorisation", "--junit", ("bench", "vectorisation", "sum", "--sizes", "small", "--rounds", "3")),
    Output("compare", "--junit", ("compare", "there.json", "there.json")),
    Output("compare", "--page", ("compare", "--history", "there.sqlite")),
    Output("record", "--output", ("record", "-o", "{}", "--", "MPIRUN")),
    Output("replay", "--page", REPLAYED),
    Output("replay", "--timeline", REPLAYED),
    Output("replay", "--goal", REPLAYED),
    Output("tune", "--output", (*TUNED, "-b", "8"), faults=OF_WISDOM, other=("-b", "8..64")),
    Output("tune kernel", "--output", ("tune", "kernel", "copy", "--bytes", "256", "--budget", "1s")),
    Output("app", "--page", ("app", "poisson3d", "-s", "8", "-v", "golden", "-t", "1", "--triad", "9", "--peak", "9")),
    Output("demo", "--output", ("demo", "--quick"), "out/index.html", long=True),
    Output(
        "optimise", "--output", ("optimise", "--budget", "1m", "-o", "{}", "--", "MPIRUN"), "out/page.html", long=True
    ),
]
# Options that name files and folders to read.
READ = {
    *((verb, "--placement") for verb in ("show", "verify", "simulate", "bench", "replay", "place")),
    *((verb, "--wisdom") for verb in ("run", "replay")),
    *((verb, "--asserts") for verb in ("record", "run", "app", "bench")),
    *((f"bench {verb}", "--asserts") for verb in ("node", "files", "checkpoint", "pgas", "vectorisation")),
    ("compare", "--history"),
    *(("testbed counters", option) for option in ("--since", "--compare", "--less")),
    *(
        ("place", "--within-node"),
        ("place", "--wisdom"),
        ("record", "--show"),
        ("tune", "--profile"),
        ("optimise", "--check"),
    ),
    ("app", "--restart"),
    ("checkpoint", "--measured"),
    ("simulate memory", "--traffic"),
}


def options_of(kind: type) -> set[tuple[str, str]]:
    return {
        (verb, max(each.opts, key=len))
        for name in verbs.VERBS
        for verb, command in commands_of(name)
        for each in command.params
        if isinstance(each, click.Option) and isinstance(each.type, kind)
    }


def test_every_option_that_names_a_file_to_write_is_tried_here():
    tried = {(each.verb, each.option) for each in OUTPUTS}
    tried |= {("record", "--trace")}  # below
    tried |= {("testbed machine", "--out"), ("testbed counters", "--page")}  # tests/python/testbed: namespaces
    tried |= {("tune", "--export")}  # tests/python/library, since there is nothing to export where the library is best
    assert tried == options_of(WrittenPath) | {("place", "--output")}  # which is a text


def test_other_options_name_what_is_read():
    assert options_of(NamedPath) - options_of(WrittenPath) == READ


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bad_storage.c, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("storage") / "bad_storage.so"
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", made, HERE / "bad_storage.c", "-ldl"]
    subprocess.run(words, check=True, timeout=60)
    return made


class Storage:
    """A folder with what the command lines read, and the command in it."""

    def __init__(self, folder: Path, stand_in: Path) -> None:
        self.folder, self.stand_in = folder, stand_in
        files = {
            "small.toml": MACHINE,
            "small-campaign.toml": CAMPAIGN,
            "times.csv": TIMES,
            "two.goal": GOAL,
            "topology.conf": TOPOLOGY,
            "there.json": '{"results": [{"variant": "simd", "seconds": 1.0}]}',
        }
        for name, text in {**files, "there.jsonl": PROFILE, "program.py": PROGRAM}.items():
            (folder / name).write_text(text, encoding="utf-8")

    def run(self, words: list[str], fault: str = "") -> subprocess.CompletedProcess:
        bad = {"LD_PRELOAD": str(self.stand_in), "BAD_STORAGE_AT": str(self.folder), "BAD_STORAGE": fault}
        if "MPIRUN" in words:
            words = [*words[: words.index("MPIRUN")], *launched(self.folder / "program.py")]
        return subprocess.run(
            [COMMAND, *words],
            cwd=self.folder,
            env={**os.environ, **(bad if fault else {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def content(self, name: str) -> object:
        path = self.folder / name
        if name.endswith(".sqlite"):  # a transaction that was interrupted is undone at the next look
            with contextlib.closing(sqlite3.connect(path)) as db:
                return db.execute("SELECT key, status, seconds FROM results ORDER BY key").fetchall()
        return path.read_bytes() if path.exists() else None

    def names(self) -> set[str]:
        """Without those that a killed process left behind."""
        found = {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*")}
        left = ("/.kumihimo-", "/kumihimo-files-")  # the next run removes the latter
        return {
            name for name in found if not any(each in f"/{name}" for each in left) and not name.endswith("-journal")
        }


def launched(program: Path) -> list[str]:
    for one in mpi.discover():
        return [*one.arguments(1), sys.executable, str(program), one.family, str(one.library)]
    pytest.skip("no MPI library on this machine")


def marks(output: Output) -> list:
    return [pytest.mark.mpi] * output.starts_ranks + [pytest.mark.long] * output.long


@pytest.fixture
def storage(tmp_path: Path, stand_in: Path) -> Storage:
    folder = tmp_path / "disk"
    folder.mkdir()
    return Storage(folder, stand_in)


CASES = [pytest.param(each, id=f"{each.verb} {each.option}", marks=marks(each)) for each in OUTPUTS]


@pytest.mark.parametrize("output", CASES)
def test_the_old_file_is_there_whole(storage: Storage, output: Output) -> None:
    check(storage, output, output.faults)


@pytest.mark.long
@pytest.mark.parametrize("output", [case for case, each in zip(CASES, OUTPUTS) if not each.long])
def test_the_old_file_is_there_whole_after_other_faults(storage: Storage, output: Output) -> None:
    renames = output.verb != "campaign"  # SQLite writes in place, and can undo it
    check(storage, output, MORE if renames else MORE[:-2])


def check(storage: Storage, output: Output, faults: tuple[str, ...]) -> None:
    if output.verb == "compare":
        assert storage.run(["compare", "there.json", "--history", "there.sqlite"]).returncode == 0
    if output.verb == "campaign show":
        assert storage.run(["campaign", "small-campaign.toml", "-o", "there.sqlite"]).returncode == 0
    ended = storage.run(output.words())
    assert ended.returncode == 0, ended.stderr
    old, names = storage.content(output.file), storage.names()
    assert old
    for fault in faults:
        ended = storage.run([*output.words(), *output.other], fault)
        assert "Traceback" not in ended.stderr, (fault, ended.stderr)
        now = storage.content(output.file)
        if fault == "unreadable:0":  # many verbs read nothing, or too late
            assert len(now) > len(old) / 2 and now[-2:] == old[-2:], "a whole file"
            old = now
        assert now == old, fault
        assert storage.names() <= names, fault
        check_end(ended, fault, "MPIRUN" in output.line or "." in output.line)
    ended = storage.run([*output.words(), *output.other])
    assert ended.returncode == 0, ended.stderr
    assert storage.content(output.file)
    assert storage.names() <= names


def check_end(ended: subprocess.CompletedProcess, fault: str, of_ranks: bool) -> None:
    """`of_ranks`: a killed process may be a rank, which wrote a trace or a file that is measured: of it the launcher
    says what it will."""
    kind = fault.partition(":")[0]
    code, words = ENDS.get(kind, (ended.returncode, ""))
    if of_ranks and code == -signal.SIGKILL:
        assert ended.returncode != 0
    else:
        assert ended.returncode == code and re.search(words, ended.stderr), (fault, ended)


@pytest.mark.mpi
@pytest.mark.parametrize("fault", ["full:1", "full:300", "killed:1", "killed:300", "read-only:0", "rename:0"])
def test_a_trace_is_whole_or_not_there(storage: Storage, fault: str) -> None:
    """The first bytes are those of the ranks' events, the next ones OTF2's."""
    words = ["record", "--trace", "out", "--", "MPIRUN"]
    ended = storage.run(words, fault)
    assert "Traceback" not in ended.stderr, ended.stderr
    assert not (storage.folder / "out" / "otf2").exists()
    assert ended.returncode != 0, ended.stderr
    shutil.rmtree(storage.folder / "out", ignore_errors=True)
    ended = storage.run(words)
    assert (ended.returncode, (storage.folder / "out" / "otf2" / "traces.otf2").exists()) == (0, True), ended.stderr
