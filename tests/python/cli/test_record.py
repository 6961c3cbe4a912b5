"""`kumihimo record`: a program that knows nothing of us, here Python that calls the MPI library by its C names."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rank_files
from by_c_names import BEGINNING
from by_sessions import PROGRAM as SESSIONS

from kumihimo._trace import Kind
from kumihimo.cli import record as cli
from kumihimo.cli.asserts import AssertCheck
from kumihimo.processes import mpi
from kumihimo.run import preload
from kumihimo.run.profile import otf2_writing
from kumihimo.text.errors import BadInput, NotApplicable

COMMAND = Path(sys.executable).parent / "kumihimo"
PROGRAM = """
import ctypes, os, sys
family, library, end = sys.argv[1:]
"""
PROGRAM += BEGINNING
PROGRAM += """
status = (ctypes.c_int * 10)()
names.MPI_Sendrecv(mine, 10, double, (rank.value + 1) % ranks.value, 7,
                   result, 10, double, (rank.value - 1) % ranks.value, 7, world, status)
if rank.value == 0:
    print("the program's own word", sys.stdin.readline().strip(), flush=True)
if end == "killed":
    os.kill(os.getpid(), 9)
if end != "unfinished":
    names.MPI_Finalize()
sys.exit(int(end) if end.isdigit() and rank.value == 0 else 0)
"""


def launch(installation: mpi.Installation, folder: Path, *options: str, end: str = "0"):
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    mpirun = [*installation.arguments(2), sys.executable, str(program)]
    return record(folder, *options, "--", *mpirun, installation.family, str(installation.library), end)


def record(folder: Path, *arguments: str):
    return subprocess.run(
        [COMMAND, "record", *arguments],
        input="its input\n",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=folder,
    )


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
class TestRecord:
    def test_tells_calls_and_leaves_the_streams(self, installation: mpi.Installation, tmp_path: Path) -> None:
        ran = launch(installation, tmp_path, "--json", "sums.json", "--mpip", "report.txt", end="3")
        assert ran.returncode == 3
        assert ran.stdout == "the program's own word its input\n"
        assert "MPI_Allreduce at " in ran.stderr and "on MPI_COMM_WORLD: 10 calls, 78.1 KiB" in ran.stderr
        found = json.loads((tmp_path / "sums.json").read_text(encoding="utf-8"))
        assert (found["exit_code"], found["ranks"], found["ranks_recorded"]) == (3, 2, 2)
        calls = {c["call"]: c for c in found["calls"]}
        assert (calls["MPI_Allreduce"]["calls"], calls["MPI_Allreduce"]["bytes"]) == (10, 80000)
        assert calls["MPI_Allreduce"]["split_share_of_calls"] == 1.0
        assert found["sizes"]["MPI_Allreduce"] == [{"bytes_from": 4096, "calls": 10}]
        assert {(p["from"], p["to"], p["bytes"], p["messages"]) for p in found["largest_partners"]} == {
            (0, 1, 80, 1),
            (1, 0, 80, 1),
        }
        assert "@--- MPI Time (seconds)" in (tmp_path / "report.txt").read_text(encoding="utf-8")
        again = record(tmp_path, "--show", "kumihimo-profile.jsonl")
        assert again.returncode == 0
        assert f"kumihimo: {again.stdout.splitlines()[0]}" in ran.stderr

    def test_a_barrier_splits_every_call(self, installation: mpi.Installation, tmp_path: Path) -> None:
        ran = launch(installation, tmp_path, "--sync", "--output", "profile")
        assert ran.returncode == 0, ran.stderr
        assert "by a barrier before each" in ran.stderr
        assert (tmp_path / "profile").exists()

    def test_a_program_by_sessions_alone_is_not_recorded(
        self, family: str, installation: mpi.Installation, tmp_path: Path
    ) -> None:
        if family != "mpich" or preload.suffix_of(installation.library) == ".so":
            pytest.skip("no sessions in this library")
        program = tmp_path / "program.py"
        program.write_text(SESSIONS, encoding="utf-8")
        mpirun = [*installation.arguments(2), sys.executable, str(program), family, str(installation.library)]
        ended = record(tmp_path, "--", *mpirun)
        assert (ended.returncode, ended.stdout) == (0, "the program's own word\n"), ended.stderr
        assert "only MPI sessions" in ended.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["program.py"]

    def test_says_that_mpi_was_not_ended(self, installation: mpi.Installation, tmp_path: Path) -> None:
        ran = launch(installation, tmp_path, end="unfinished")
        assert "did not call MPI_Finalize" in ran.stderr
        assert "Traceback" not in ran.stderr

    def test_says_that_the_ranks_were_killed(self, installation: mpi.Installation, tmp_path: Path) -> None:
        (tmp_path / "kumihimo-profile.jsonl").write_text("of an earlier run", encoding="utf-8")
        ran = launch(installation, tmp_path, end="killed")
        assert ran.returncode != 0
        assert "nothing was recorded" in ran.stderr

    def test_writes_a_trace(self, installation: mpi.Installation, tmp_path: Path) -> None:
        try:
            otf2_writing.library()
        except Exception:
            pytest.skip("no python3-otf2 on this machine")
        ran = launch(installation, tmp_path, "--trace", "trace")
        assert ran.returncode == 0
        assert "the trace is trace, " in ran.stderr and "for other tools it is" in ran.stderr, ran.stderr
        if (printer := shutil.which("otf2-print")) is None:
            pytest.skip("no otf2-print on this machine")
        text = subprocess.run(
            [printer, tmp_path / "trace/otf2/traces.otf2"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        events = [line.split()[:2] for line in text.splitlines() if line.startswith(("ENTER", "LEAVE", "MPI_"))]
        for rank in "01":
            kinds = [kind for kind, location in events if location == rank]
            assert kinds.count("ENTER") == kinds.count("LEAVE") == 7, kinds
            assert kinds.count("MPI_COLLECTIVE_BEGIN") == kinds.count("MPI_COLLECTIVE_END") == 5
            assert (kinds.count("MPI_SEND"), kinds.count("MPI_RECV")) == (1, 1)
        assert text.count("Length: 80") == 4
        assert "error" not in text.lower()


HEADER = {"kumihimo_profile": 1, "mpi": "a library", "ranks": 1, "several_nodes": False, "sync": False, "version": "0"}
CALL = {"call": "MPI_Allreduce", "calls": 1, "bytes": 8, "communicator": 0, "site": 0, "split_calls": 1}
CALL |= {"seconds": 0.1, "max_seconds": 0.1, "min_seconds": 0.1, "split_seconds": 0.1}
WORLD = {"inter": False, "leader": 0, "made": 1, "name": "MPI_COMM_WORLD", "parent": None, "site": None, "size": 1}
REGION = {"name": "r", "passages": 1, "seconds": 0.1, "mpi_seconds": 0.1, "max_seconds": 0.1, "unended": 0}
REGION |= {"passage_ns": [100_000_000], "passage_stride": 1, "waiting_seconds": 0.0, "file": "r.c", "line": 7}
RANK = {"rank": 0, "host": "h", "finalized": True, "seconds": 0.2, "mpi_seconds": 0.1, "partners": [], "trace": None}
RANK |= {"calls": [CALL], "communicators": [WORLD], "regions": [REGION], "sizes": {"MPI_Allreduce": [[8, 1]]}}
RANK |= {"sites": [{"function": None, "object": "/no/program", "offset": 100}]}


def spots(value: object) -> list[tuple]:
    """The ways to each value in a nest of them."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((key, *rest) for key, part in inside for rest in spots(part))]


def changed(value: list, spot: tuple, other: object) -> list:
    new = inner = json.loads(json.dumps(value))
    for key in spot[:-1]:
        inner = inner[key]
    inner[spot[-1]] = other
    if other == "left out":
        del inner[spot[-1]]
    return new


class TestWithoutMPI:
    def test_a_profile_with_something_missing_is_one_sentence(
        self, tmp_path: Path, capsys: pytest.CaptureFixture
    ) -> None:
        """Whatever part is left out, or of another kind, of a rank that made one call in one region."""
        path = tmp_path / "profile"
        whole = [HEADER, RANK]
        path.write_text("".join(json.dumps(line) + "\n" for line in whole), encoding="utf-8")
        assert cli.report(path, None, None, AssertCheck()) == 0
        assert "1 call," in capsys.readouterr().out
        refused = 0
        for spot in [spot for spot in spots(whole) if spot]:
            for other in (None, [], {}, "x", -1, "left out"):
                path.write_text("".join(json.dumps(x) + "\n" for x in changed(whole, spot, other)), encoding="utf-8")
                try:
                    cli.report(path, tmp_path / "sums", tmp_path / "mpip", AssertCheck())
                except BadInput as error:
                    refused += 1
                    assert "a profile" in str(error) and "\n" not in str(error)
        assert refused > 100

    def test_a_program_that_is_none_of_mpi(self, tmp_path: Path) -> None:
        ran = record(tmp_path, "--json", "sums", "--", sys.executable, "-c", "print('word')")
        assert (ran.returncode, ran.stdout) == (0, "word\n")
        assert "nothing was recorded; possible causes: (1) the program did not call MPI_Init" in ran.stderr
        assert json.loads((tmp_path / "sums").read_text(encoding="utf-8"))["exit_code"] == 0

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [
            ([], "the command that starts the program is missing"),
            (["--show", "none.jsonl"], "No such file"),
            (["--show", "a", "--", "b"], "--show runs no command"),
            (["--show", "a", "-o", "b"], "--show runs no command and takes no --output (got b); leave it out"),
            (["--show", "a", "--sync"], "--show runs no command and takes no --sync; leave it out"),
            (["--show", "a", "--trace", "b"], "--show runs no command and takes no --trace (got b); leave it out"),
            (["--no-otf2", "--", "true"], "--no-otf2 must stand beside --trace; leave it out"),
            (["--output", "no/such/folder", "--", "true"], "No such file"),
            (["--trace", ".", "--", "true"], "a new or empty folder"),
            (["--trace", "file/trace", "--", "true"], "--trace must name a folder that can be made"),
        ],
    )
    def test_bad_input_is_one_sentence(self, tmp_path: Path, arguments: list[str], word: str) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        ran = record(tmp_path, *arguments)
        assert ran.returncode == 2
        assert word in ran.stderr and len(ran.stderr.splitlines()) <= 2

    @pytest.mark.parametrize("command", [["/nonexistent"], ["./no_program"]])
    def test_an_earlier_profile_stays_if_nothing_starts(self, tmp_path: Path, command: list[str]) -> None:
        (tmp_path / "no_program").write_text("no program", encoding="utf-8")
        (tmp_path / "no_program").chmod(0o755)
        (tmp_path / "keep").write_text("of an earlier run", encoding="utf-8")
        ran = record(tmp_path, "--output", "keep", "--trace", "trace", "--", *command)
        assert ran.returncode == 2 and "Traceback" not in ran.stderr, ran.stderr
        assert (tmp_path / "keep").read_text(encoding="utf-8") == "of an earlier run"
        assert (tmp_path / "trace").exists() == (command == ["./no_program"])

    @pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
    @pytest.mark.parametrize("starter", [[], ["env"]])
    def test_a_static_program_runs_as_it_is(self, tmp_path: Path, starter: list[str]) -> None:
        source, static = tmp_path / "source.c", tmp_path / "static"
        source.write_text('#include <stdlib.h>\nint main(void) { return getenv("LD_PRELOAD") ? 1 : 3; }\n')
        if subprocess.run(["cc", "-static", "-o", static, source], check=False).returncode != 0:
            pytest.skip("no static C library")
        (tmp_path / "kumihimo-profile.jsonl").write_text("of an earlier run", encoding="utf-8")
        ran = record(tmp_path, "--json", "sums", "--", *starter, str(static))
        assert ran.returncode == 3
        assert len(ran.stderr.splitlines()) == 1 and f"{static} is statically linked" in ran.stderr
        assert json.loads((tmp_path / "sums").read_text(encoding="utf-8"))["exit_code"] == 3
        assert (tmp_path / "kumihimo-profile.jsonl").read_text(encoding="utf-8") == "of an earlier run"

    def test_ends_as_the_program_where_a_file_cannot_be_written(self, tmp_path: Path) -> None:
        for of_program, status in ((7, 7), (0, 1)):
            ran = record(tmp_path, "--json", "/dev/full", "--", "sh", "-c", f"exit {of_program}")
            assert ran.returncode == status, ran.stderr
            assert "/dev/full was not written: No space left on device" in ran.stderr and "Traceback" not in ran.stderr

    def test_shows_no_stack_where_a_file_cannot_be_written(self, tmp_path: Path) -> None:
        path = tmp_path / "profile"
        path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, RANK)), encoding="utf-8")
        ran = record(tmp_path, "--show", "profile", "--json", "/dev/full")
        assert ran.returncode == 1
        assert "No space left on device" in ran.stderr and len(ran.stderr.splitlines()) <= 2

    @pytest.mark.parametrize(
        ("expectation", "status", "word"),
        [
            ("seconds <= 0.5", 0, "r: "),
            ("seconds <= 0.05", 1, "missed: region r: seconds <= 0.05: found 100 ms"),
            ("seconds <= 0.09", 0, "cannot tell with 1 run: region r: seconds <= 0.09: found 100 ms (66.7 ms to"),
            ("seconds < 0.5", 2, "unreadable: region r: seconds < 0.5: an assert must be"),
        ],
    )
    def test_an_assert_that_is_not_kept_is_a_failed_check(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expectation: str, status: int, word: str
    ) -> None:
        """A program that fails keeps its own status. An assert that cannot be read is bad input."""
        rank = RANK | {"regions": [REGION | {"expectation": expectation}]}
        text = "".join(json.dumps(line) + "\n" for line in (HEADER, rank))
        (tmp_path / "profile").write_text(text, encoding="utf-8")
        ran = record(tmp_path, "--show", "profile", "--json", "sums")
        assert (ran.returncode, word in ran.stdout) == (status, True), ran
        assert (tmp_path / "sums").exists()

        for of_program in (0, 7):

            def run(*_: object, code: int = of_program) -> preload.EndedProgram:
                (tmp_path / "new").write_text(text, encoding="utf-8")
                return preload.EndedProgram(code, None)

            monkeypatch.setattr(preload, "run", run)
            (tmp_path / "new").unlink(missing_ok=True)
            assert cli.recorded(["true"], tmp_path / "new", False, None, True, None, None, AssertCheck(), 1) == (
                of_program or status
            )
            assert (tmp_path / "new").read_text(encoding="utf-8") == text

    @pytest.mark.parametrize("step", ["report", "OTF2"])
    def test_whatever_our_own_work_comes_to_is_one_sentence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, step: str
    ) -> None:
        """OTF2's package has errors of its own, which nobody may take for the program's."""

        def fails(*_: object, **__: object) -> None:
            raise RuntimeError("no\nsense")

        if step == "OTF2":
            monkeypatch.setattr(otf2_writing, "library", lambda: None)
            monkeypatch.setattr(otf2_writing, "write", fails)
        else:
            monkeypatch.setattr(cli, "summed", fails)
        assert self.recorded(tmp_path, monkeypatch) == 7
        told = capsys.readouterr().err.splitlines()
        assert sum("could not be written: no" in line for line in told) == 1, told
        assert (tmp_path / "trace" / "profile.jsonl").exists(), "the trace itself is there"

    @staticmethod
    def recorded(folder: Path, monkeypatch: pytest.MonkeyPatch, ranks: int = 1, otf2: bool = True) -> int:
        """Of a program that ends with 7, and writes a profile and the events of so many ranks."""

        def ran(*_: object) -> preload.EndedProgram:
            if ranks:
                lines = "".join(json.dumps(line) + "\n" for line in (HEADER, RANK))
                (folder / "profile").write_text(lines, encoding="utf-8")
            for rank in range(ranks):
                events = rank_files.event(1, Kind.begin_program) + rank_files.event(2, Kind.end_program)
                (folder / "trace" / "events" / f"rank{rank}.events").write_bytes(rank_files.file(rank, ranks, events))
            return preload.EndedProgram(7, None)

        monkeypatch.setattr(preload, "run", ran)
        words = [shutil.which("sh") or "/bin/sh", "-c", "exit 7"]
        return cli.recorded(words, folder / "profile", False, folder / "trace", otf2, None, None, AssertCheck(), 1)

    def test_a_trace_needs_no_package_of_debian(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
    ) -> None:
        def lacks() -> None:
            raise NotApplicable("OTF2 needs its Python package", "install python3-otf2 and python3-six")

        monkeypatch.setattr(otf2_writing, "library", lacks)
        assert self.recorded(tmp_path, monkeypatch) == 7
        told = capsys.readouterr().err.splitlines()
        assert f"kumihimo: the trace is {tmp_path / 'trace'}, 2 events" in told
        assert [line for line in told if "OTF2" in line] == [
            "kumihimo: the trace is not written as OTF2, which other tools read: install python3-otf2 and python3-six"
        ]
        kept = {str(path.relative_to(tmp_path / "trace")) for path in (tmp_path / "trace").rglob("*") if path.is_file()}
        assert kept == {"profile.jsonl", "events/rank0.events"}

    def test_otf2_may_be_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
    ) -> None:
        monkeypatch.setattr(otf2_writing, "write", None)
        assert self.recorded(tmp_path, monkeypatch, otf2=False) == 7
        assert "OTF2" not in capsys.readouterr().err
        assert (tmp_path / "trace" / "profile.jsonl").is_file()

    def test_a_trace_never_has_the_profile_of_an_earlier_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
    ) -> None:
        (tmp_path / "profile").write_text("of an earlier run", encoding="utf-8")
        assert self.recorded(tmp_path, monkeypatch, ranks=0) == 7
        assert "no trace was written: no rank called MPI_Finalize" in capsys.readouterr().err
        assert not (tmp_path / "trace" / "profile.jsonl").exists()

    def test_both_objects_are_loaded_the_recorder_first(self) -> None:
        text = preload.preloaded((preload.RECORDER, preload.INTERPOSER))
        names = [Path(path).name for path in text.split()[:2]]
        assert names == ["libkumihimo-recorder.so", "libkumihimo-interposer.so"]
