"""`kumihimo run`: a program that knows nothing of us, here Python that calls the MPI library by its C names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from by_c_names import BEGINNING
from by_sessions import PROGRAM as SESSIONS

from kumihimo import _plan
from kumihimo.cli import run
from kumihimo.processes import mpi
from kumihimo.run import networks, preload
from kumihimo.text.errors import BadInput

COMMAND = Path(sys.executable).parent / "kumihimo"
PROGRAM = """
import ctypes, os, sys
family, library, code = sys.argv[1:]
"""
PROGRAM += BEGINNING
PROGRAM += """
if list(result) != [ranks.value * i for i in range(1000)]:
    os.abort()
names.MPI_Finalize()
if rank.value == 0:
    print("the program's own word", sys.stdin.readline().strip())
sys.exit(int(code) if rank.value == 0 else 0)
"""


def launch(
    installation: mpi.Installation, folder: Path, *options: str, ranks: int = 2, code: int = 0, text: str = PROGRAM
):
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    mpirun = [*installation.arguments(ranks), sys.executable, str(program)]
    return subprocess.run(
        [COMMAND, "run", *options, "--", *mpirun, installation.family, str(installation.library), str(code)],
        input="its input\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
class TestRun:
    def test_says_which_algorithm_ran(self, installation: mpi.Installation, tmp_path: Path) -> None:
        summary = tmp_path / "what ran.json"
        ran = launch(installation, tmp_path, "--algorithm", "ring", "--json", str(summary))
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout == "the program's own word its input\n"
        assert "allreduce from 4KiB to under 8KiB: ring, 10 calls of all ranks" in ran.stderr
        found = json.loads(summary.read_text(encoding="utf-8"))
        assert found["ranks"] == 2
        assert [(c["algorithm"], c["calls"]) for c in found["calls"]] == [("ring", 10)]
        assert found["communicators"] == {"node of 2 ranks": 1}

    def test_runs_once_for_each_rank_of_a_launch(self, installation: mpi.Installation, tmp_path: Path) -> None:
        """As in a container: the launcher starts the command, and the command the program."""
        program, summary = tmp_path / "program.py", tmp_path / "ran.json"
        program.write_text(PROGRAM, encoding="utf-8")
        each = [COMMAND, "run", "-a", "allreduce=ring", "--json", summary, "--", sys.executable, program]
        ran = subprocess.run(
            [*installation.arguments(2), *each, installation.family, installation.library, "0"],
            env={**os.environ, **installation.environment(2)},
            input="its input\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (ran.returncode, ran.stdout) == (0, "the program's own word its input\n"), ran.stderr
        assert ran.stderr.count("kumihimo: allreduce") == 1
        assert "allreduce from 4KiB to under 8KiB: ring, 10 calls of all ranks" in ran.stderr
        assert json.loads(summary.read_text(encoding="utf-8"))["exit_code"] == 0

    def test_tells_what_ran_without_finalize(self, installation: mpi.Installation, tmp_path: Path) -> None:
        unfinished = PROGRAM.replace("names.MPI_Finalize()", "")
        assert unfinished != PROGRAM
        ran = launch(installation, tmp_path, "--algorithm", "ring", ranks=1, code=3, text=unfinished)
        assert ran.returncode == 3
        assert "ended without MPI_Finalize; only the calls of rank 0 are counted" in ran.stderr

    @pytest.mark.parametrize("ranks", [(0,), (1,), (0, 1)])
    def test_who_calls_abort_tells_what_it_counted(
        self, installation: mpi.Installation, tmp_path: Path, ranks: tuple[int, ...]
    ) -> None:
        ends = f"""
if rank.value in {ranks}:
    names.MPI_Abort(world, 3)
names.MPI_Barrier(world)
"""
        summary = tmp_path / "ran.json"
        text = PROGRAM.replace("names.MPI_Finalize()\n", ends)
        ran = launch(installation, tmp_path, "--algorithm", "ring", "--json", str(summary), text=text)
        assert ran.returncode != 0
        found = json.loads(summary.read_text(encoding="utf-8"))
        assert found["ranks_reported"] and set(found["ranks_reported"]) <= set(ranks)
        told = f"{len(found['ranks_reported'])} of 2 ranks" if len(found["ranks_reported"]) < 2 else "all ranks"
        assert f"MPI_Abort ended the program; only the calls of {told}, which called it, are counted" in ran.stderr
        assert f"ring, {5 * len(found['ranks_reported'])} calls of {told}" in ran.stderr

    def test_who_calls_abort_within_a_call_tells_what_it_counted(
        self, installation: mpi.Installation, tmp_path: Path
    ) -> None:
        """In an operation of its own, in a reduction that is ours."""
        ends = """
operation = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(lambda *_: names.MPI_Abort(world, 3))
made = ctypes.c_void_p() if family == "openmpi" else ctypes.c_int()
names.MPI_Op_create(operation, 1, ctypes.byref(made))
names.MPI_Allreduce(mine, result, 1000, double, made, world)
"""
        summary = tmp_path / "ran.json"
        text = PROGRAM.replace("names.MPI_Finalize()\n", ends)
        ran = launch(installation, tmp_path, "--algorithm", "ring", "--json", str(summary), text=text)
        assert ran.returncode != 0
        found = json.loads(summary.read_text(encoding="utf-8"))
        rings = [row["calls"] for row in found["calls"] if row["algorithm"] == "ring"]
        assert found["ranks_reported"] and rings == [6 * len(found["ranks_reported"])]

    @pytest.mark.parametrize("tuned_for_them", [False, True])
    def test_measured_choices_are_for_calls_as_they_were_measured(
        self, installation: mpi.Installation, tmp_path: Path, tuned_for_them: bool
    ) -> None:
        """Reductions by the program's own operation, and non-blocking ones."""
        calls = """
operation = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(lambda *_: None)
made, request = ctypes.c_void_p(), ctypes.c_void_p()
names.MPI_Op_create(operation, 1, ctypes.byref(made))
own = made if family == "openmpi" else made.value & 0xFFFFFFFF
names.MPI_Allreduce(mine, result, 1000, double, own, world)
names.MPI_Iallreduce(mine, result, 1000, double, total, world, ctypes.byref(request))
names.MPI_Wait(ctypes.byref(request), ctypes.c_void_p(0) if family == "openmpi" else ctypes.c_void_p(1))
names.MPI_Finalize()
"""
        ring = {"collective": "allreduce", "algorithm": "ring", "ratio_high": 0.5}
        begun = {"collective": "allreduce", "algorithm": "swing", "ratio_high": 0.5, "start": "non-blocking"}
        wisdom, summary = tmp_path / "wisdom.json", tmp_path / "ran.json"
        choices = [{**ring, "user_operations": tuned_for_them}, begun]
        wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": choices}), encoding="utf-8")
        text = PROGRAM.replace("names.MPI_Finalize()\n", calls)
        ran = launch(installation, tmp_path, "--wisdom", str(wisdom), "--json", str(summary), text=text)
        assert ran.returncode == 0, ran.stderr
        found = {
            (row["collective"], row["algorithm"]): row["calls"] for row in json.loads(summary.read_text())["calls"]
        }
        assert found.pop(("iallreduce", "swing")) == 2
        assert found.pop(("allreduce", "ring")) == (12 if tuned_for_them else 10)
        assert found == ({} if tuned_for_them else {("allreduce", "library"): 2})

    def test_all_programs_of_a_line_are_caught(self, installation: mpi.Installation, tmp_path: Path) -> None:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM, encoding="utf-8")
        each = [sys.executable, str(program), installation.family, str(installation.library), "0"]
        line = [*installation.arguments(1), *each, ":", "-n", "1", *each]
        ran = subprocess.run(
            [COMMAND, "run", "-a", "ring", "--", *line],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert "allreduce from 4KiB to under 8KiB: ring, 10 calls of all ranks" in ran.stderr

    def test_leaves_all_to_the_library_without_wisdom(self, installation: mpi.Installation, tmp_path: Path) -> None:
        summary = tmp_path / "ran.json"
        ran = launch(installation, tmp_path, "--json", str(summary))
        assert ran.returncode == 0, ran.stderr
        assert json.loads(summary.read_text(encoding="utf-8"))["forwarded"][0]["reason_id"] == run.NOT_CHOSEN
        assert "allreduce from 4KiB to under 8KiB: MPI library, 10 calls" in ran.stderr

    @pytest.mark.parametrize(
        ("option", "mode", "ran", "promise"),
        [
            ("--reproducible", "order", "recursive_doubling", "used a fixed order"),
            ("--exact-sums", "exact", "exact_sum", "rounded once"),
        ],
    )
    def test_says_what_is_promised_of_the_bits(
        self, installation: mpi.Installation, tmp_path: Path, option: str, mode: str, ran: str, promise: str
    ) -> None:
        summary = tmp_path / "what ran.json"
        done = launch(installation, tmp_path, option, "--json", str(summary))
        assert done.returncode == 0, done.stderr
        assert promise in done.stderr and "not reproducible" not in done.stderr
        found = json.loads(summary.read_text(encoding="utf-8"))
        assert found["reproducible"] == mode
        assert [(c["algorithm"], c["calls"]) for c in found["calls"]] == [(ran, 10)]

    def test_keeps_an_order_by_wisdom_that_promises_one(self, installation: mpi.Installation, tmp_path: Path) -> None:
        wisdom = tmp_path / "wisdom.json"
        choice = {"collective": "allreduce", "algorithm": "ring"}
        for promises, ran in (({}, "recursive_doubling"), ({"determinism": "fixed_order"}, "ring")):
            wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [{**choice, **promises}]}), encoding="utf-8")
            said = launch(installation, tmp_path, "--reproducible", "--wisdom", str(wisdom)).stderr
            assert f"{ran}, 10 calls" in said, said

    def test_ends_with_the_exit_status_of_the_program(self, installation: mpi.Installation, tmp_path: Path) -> None:
        assert launch(installation, tmp_path, "-a", "ring", code=3).returncode == 3

    def test_follows_wisdom_by_length(self, installation: mpi.Installation, tmp_path: Path) -> None:
        wisdom = tmp_path / "wisdom.json"
        choice = {"collective": "allreduce", "algorithm": "recursive_doubling", "from_bytes": 4000, "ranks": 2}
        wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
        assert "recursive_doubling, 10 calls" in launch(installation, tmp_path, "--wisdom", str(wisdom)).stderr
        choice["to_bytes"] = 7999  # the vector has 8000
        wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
        assert "library, 10 calls" in launch(installation, tmp_path, "--wisdom", str(wisdom)).stderr

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ('{"kumihimo_wisdom": 1, "choices": [', "not whole JSON"),
            ('{"kumihimo_wisdom": 2, "choices": []}', "version 1 (got 2)"),
            ('{"kumihimo_wisdom": 1, "choices": [{"collective": "allreduce", "algorithm": "rign"}]}', "ring"),
        ],
    )
    def test_wrong_wisdom_is_one_sentence(
        self, installation: mpi.Installation, tmp_path: Path, text: str, found: str
    ) -> None:
        wisdom = tmp_path / "wisdom.json"
        wisdom.write_text(text, encoding="utf-8")
        ran = launch(installation, tmp_path, "--wisdom", str(wisdom))
        assert ran.returncode == 0, ran.stderr
        said = [line for line in ran.stderr.splitlines() if found in line]
        assert len(said) == 1 and said[0].endswith("the MPI library runs all calls"), ran.stderr
        assert "library, 10 calls" in ran.stderr

    def test_finds_the_users_wisdom_and_says_what_it_was_worth(
        self, installation: mpi.Installation, tmp_path: Path
    ) -> None:
        folder = tmp_path / "data" / "kumihimo" / "wisdom"
        folder.mkdir(parents=True)
        summary = tmp_path / "summary.json"
        assert "wisdom:" not in launch(installation, tmp_path, "--json", str(summary)).stderr
        library = json.loads(summary.read_text(encoding="utf-8"))["mpi"]
        path = folder / _plan.wisdom_file_name(_plan.this_machine(), library)
        choice = {"collective": "allreduce", "algorithm": "ring", "ranks": 2, "ratio": 0.5}
        machine = {"processor": _plan.this_machine().processor, "processors": _plan.this_machine().processors}
        file = {"kumihimo_wisdom": 1, "machine": machine, "mpi": library, "choices": [choice]}
        path.write_text(json.dumps(file), encoding="utf-8")
        said = launch(installation, tmp_path).stderr
        assert f"kumihimo: wisdom: {path}\n" in said
        assert "ring, 10 calls of all ranks, 2.00 times as fast as the MPI library in tuning" in said
        assert "library, 10 calls" in launch(installation, tmp_path, "--no-wisdom").stderr
        path.write_text(json.dumps({**file, "choices": [{**choice, "emulated": True}]}), encoding="utf-8")
        assert "library, 10 calls" in launch(installation, tmp_path).stderr, "no network was measured"
        assert "ring, 10 calls" in launch(installation, tmp_path, "--wisdom", str(path)).stderr
        path.write_text(json.dumps(file), encoding="utf-8")
        file["machine"] = {**machine, "processors": machine["processors"] + 1}
        path.write_text(json.dumps(file), encoding="utf-8")
        said = launch(installation, tmp_path).stderr
        assert said.count("the wisdom is not of this machine") == 1
        assert "library, 10 calls" in said

    def test_wisdom_of_any_path_is_summed_up(self, installation: mpi.Installation, tmp_path: Path) -> None:
        """JSON cannot hold the path; the program must end as always."""
        wisdom, summary = tmp_path / os.fsdecode(b"w\xff.json"), tmp_path / "summary.json"
        choice = {"collective": "allreduce", "algorithm": "ring", "ranks": 2, "ratio": 0.5}
        wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
        ran = launch(installation, tmp_path, "--wisdom", str(wisdom), "--json", str(summary))
        assert (ran.returncode, ran.stdout) == (0, "the program's own word its input\n"), ran.stderr
        assert rf"kumihimo: wisdom: {tmp_path}/w\xff.json" in ran.stderr
        assert "ring, 10 calls of all ranks, 2.00 times as fast as the MPI library in tuning" in ran.stderr
        assert json.loads(summary.read_text(encoding="utf-8"))["wisdom"] == rf"{tmp_path}/w\xff.json"
        unfinished = PROGRAM.replace("names.MPI_Finalize()", "")
        ran = launch(installation, tmp_path, "--wisdom", str(wisdom), ranks=1, code=3, text=unfinished)
        assert (ran.returncode, "ended without MPI_Finalize" in ran.stderr) == (3, True), ran.stderr

    def test_kernels_are_those_that_tuning_chose(self, installation: mpi.Installation, tmp_path: Path) -> None:
        folder = tmp_path / "data" / "kumihimo" / "wisdom"
        folder.mkdir(parents=True)
        path, summary = folder / _plan.wisdom_file_name(_plan.this_machine(), "kernels"), tmp_path / "summary.json"

        def kernels(*options: str) -> tuple[str | None, str]:
            said = launch(installation, tmp_path, "--json", str(summary), *options).stderr
            return json.loads(summary.read_text(encoding="utf-8"))["kernel_wisdom"], said

        assert kernels("-a", "ring")[0] is None
        choice = {"kernel": "reduce", "operation": "sum", "type": "float64", "variant": "plain"}
        path.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
        assert kernels("-a", "ring")[0] == str(path)
        assert kernels("--no-wisdom")[0] is None
        path.write_text(
            json.dumps({"kumihimo_wisdom": 1, "choices": [{**choice, "variant": "gone"}]}), encoding="utf-8"
        )
        used, said = kernels("-a", "ring")
        assert used is None
        assert said.count("(got 'gone'); tune again; reductions and copies run untuned") == 1, said

    def test_the_first_choice_that_fits_has_it(self, installation: mpi.Installation, tmp_path: Path) -> None:
        wisdom = tmp_path / "wisdom.json"
        both = [
            {"collective": "allreduce", "algorithm": "recursive_doubling", "from_bytes": 4096},
            {"collective": "allreduce", "algorithm": "ring"},
        ]
        wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": both}), encoding="utf-8")
        assert "recursive_doubling, 10 calls" in launch(installation, tmp_path, "--wisdom", str(wisdom)).stderr


@pytest.mark.mpi
def test_a_network_is_one_of_those_of_the_table() -> None:
    table = Path(__file__).parents[3] / "src/run/mpi_transport/networks/networks.def"
    rows = re.findall(r"^KUMIHIMO_NETWORK\((\w+)\)", table.read_text(encoding="utf-8"), re.M)
    assert tuple(rows) == networks.NETWORKS
    assert networks.checked(None) == ""
    assert networks.checked("fabric") == "fabric"
    with pytest.raises(BadInput, match=r"--network must be one of mpi, fabric .*'fabrik'.*fabric"):
        networks.checked("fabrik")


def test_a_wrong_network_of_the_environment_is_refused_before_the_program_starts(tmp_path: Path) -> None:
    ran = subprocess.run(
        [COMMAND, "run", "--", "touch", str(tmp_path / "started")],
        env={**os.environ, "KUMIHIMO_NETWORK": "pigeons"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "KUMIHIMO_NETWORK must be one of mpi, fabric" in ran.stderr and "'pigeons'" in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "started").exists()


def test_a_program_by_sessions_alone_runs_and_is_not_counted(tmp_path: Path) -> None:
    installation = next((i for i in mpi.discover() if i.family == "mpich"), None)
    if installation is None or preload.suffix_of(installation.library) == ".so":
        pytest.skip("no MPICH with sessions on this machine")
    program = tmp_path / "program.py"
    program.write_text(SESSIONS, encoding="utf-8")
    mpirun = [*installation.arguments(2), sys.executable, str(program), "mpich", str(installation.library)]
    ran = subprocess.run(
        [COMMAND, "run", "-a", "ring", "--", *mpirun],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "the program's own word\n"), ran.stderr
    assert ran.stderr == f"kumihimo: {run.NO_SUMMARY}\n"
    assert "only MPI sessions" in run.NO_SUMMARY


def a_launcher(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_launcher_of_another_kind_gets_the_environment_and_no_question(tmp_path: Path) -> None:
    srun = a_launcher(
        tmp_path,
        "srun",
        'printf "%s " "$@"; echo; echo "$LD_PRELOAD" "$KUMIHIMO_ALGORITHM" "$KUMIHIMO_WISDOM"; exit 130',
    )
    ran = subprocess.run(
        [COMMAND, "run", "-a", "ring", "--", str(srun), "-n", "4", "./program"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "KUMIHIMO_WISDOM": "of somebody else"},
    )
    assert ran.returncode == 130  # the program's, whatever it means elsewhere
    arguments, settings = ran.stdout.splitlines()
    assert arguments == "-n 4 ./program "
    assert settings.endswith("libkumihimo-interposer.so ring ")


def test_mpi_launchers_are_told_apart_by_what_they_say(tmp_path: Path) -> None:
    for name, says, option in (
        ("mpirun", "mpirun (Open MPI) 5.0.3", "-x"),
        ("mpiexec", "HYDRA build details:", "-genv"),
        ("mpiexec.hydra", "nothing", "-genv"),
    ):
        path = a_launcher(tmp_path, name, f'[ "$1" = --version ] && echo "{says}" || echo "$1"')
        line = [COMMAND, "run", "-a", "ring", "--", str(path), "./program"]
        assert subprocess.run(line, capture_output=True, text=True, timeout=60, check=False).stdout == f"{option}\n"


def refused(*arguments: str) -> str:
    ran = subprocess.run([COMMAND, "run", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 2, ran.stderr
    return ran.stderr


def test_a_launcher_that_fails_is_told_of_by_its_own_words(tmp_path: Path) -> None:
    mpirun = a_launcher(tmp_path, "mpirun", '[ "$1" = --version ] && echo "Open MPI" || exit 7')
    for verb in ("run", "record"):
        line = [COMMAND, verb, "--", mpirun, "-n", "2", "true"]
        ran = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
        assert ran.stderr.startswith("kumihimo: nothing was "), ran.stderr
        assert ": mpirun failed (exit code 7); see its message above" in ran.stderr
        assert (ran.returncode, ran.stderr.count("\n")) == (7, 1)
    killed = (["mpirun", "-n", "2", "true"], 139)  # by a signal
    assert not any(preload.launcher_failed(*ended, "") for ended in (killed, (["./program"], 7)))


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_program_that_does_not_exist_is_the_launchers_failure(installation, tmp_path: Path) -> None:
    line = [COMMAND, "run", "--", *installation.arguments(2), "./none"]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert ran.returncode != 0
    sentence = f"mpi(run|exec)[.a-z]* failed .exit code {ran.returncode}.; see its message above"
    assert re.search(f"kumihimo: nothing was counted: {sentence}", ran.stderr), ran.stderr


def test_ranks_that_are_alone_are_told_of(monkeypatch) -> None:
    monkeypatch.delenv("OMPI_COMM_WORLD_RANK", raising=False)
    alone = ["each process is alone in MPI_COMM_WORLD; does mpirun belong to the program's MPI library?"]
    for asked in (["-n", "2"], ["-np", "2"], ["--np", "2"], ["-n2"], ["-n", "1", "./a", ":", "-n", "1"]):
        assert preload.remarks(["/usr/bin/mpirun", *asked, "./a"], 1) == alone
        assert preload.remarks(["mpirun", *asked, "./a"], 2) == []
    by_srun = "each process is alone in MPI_COMM_WORLD; does srun --mpi=... fit the program's MPI library?"
    assert preload.remarks(["srun", "--ntasks=4", "./a"], 1) == [by_srun]
    assert preload.remarks(["mpirun", "-n", "1", "./a"], 1) == preload.remarks(["srun", "./a"], 1) == []
    assert preload.remarks(["./a", "-n", "4"], 1) == [
        "the program has only one rank; put mpirun -n P before it to start more"
    ]
    assert preload.remarks(["./a"], 2) == []
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "1")
    assert preload.remarks(["./a"], 1) == []


def test_refuses_what_it_cannot_do() -> None:
    assert "docs/algorithms.md (got 'rign'); did you mean ring?" in refused("-a", "rign", "--", "true")
    assert "docs/algorithms.md for alltoall (got 'ring')" in refused("-a", "alltoall=ring", "--", "true")
    assert "for bcast (got 'bionmial'); did you mean binomial?" in refused("-a", "bcast=bionmial", "--", "true")
    assert "(got 'allredcue'); did you mean allreduce?" in refused("-a", "allredcue=ring", "--", "true")
    assert "(got 'allreduce:ring'); write allreduce=ring" in refused("-a", "allreduce:ring", "--", "true")
    assert "(got 'all')" in refused("-a", "all=bruck", "--", "true")
    assert "(got 'rign')" in refused("-a", "rign", "-a", "ring", "--", "true")
    missing = "not-there was not found in PATH; load the module that provides it"
    assert missing in refused("--", "not-there", "-n", "2", "./program")
    assert "(got ./not-there, no such file)" in refused("./not-there")
    assert "kumihimo run has no option --bogus; see kumihimo run --help" in refused("--bogus", "--", "true")
    assert "no option --algorthm; did you mean --algorithm? see" in refused("--algorthm=ring", "true")
    wrong = "--timeout must be a time such as 20us, 90s, 5m or 1h, or 0 (got 'soon')"
    assert wrong in refused("--timeout", "soon", "x")
    assert "--timeout needs a time such as 20us, 90s, 5m or 1h (got --)" in refused("--timeout", "--", "true")
    assert f"(got {__file__}, which is not executable)" in refused("--", __file__)
    assert "--wisdom must name a file (got /not/there, no file)" in refused("--wisdom", "/not/there", "--", "true")
    assert "--wisdom must name a file (got /dev/null, a device)" in refused("--wisdom", "/dev/null", "--", "true")
    assert "offloaded needs an offload engine" in refused("-a", "offloaded", "--", "true")
    assert "offloaded needs an offload engine" in refused("-a", "barrier=offloaded", "--", "true")
    assert "--wisdom excludes" in refused("--wisdom", "/not/there", "--no-wisdom", "--", "true")
    assert "--json must name a file that can be written" in refused("--json", "/not/there", "--", "true")
    assert "-- COMMAND ... is missing; see kumihimo run --help" in refused()


def test_ends_as_the_program_where_a_file_cannot_be_written() -> None:
    for of_program, status in ((7, 7), (0, 1)):
        line = [COMMAND, "run", "--json", "/dev/full", "--", "sh", "-c", f"exit {of_program}"]
        ran = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        assert ran.returncode == status, ran.stderr
        assert "/dev/full was not written: No space left on device" in ran.stderr and "Traceback" not in ran.stderr


def test_a_line_with_a_program_that_takes_no_object_runs_as_it_is(tmp_path: Path) -> None:
    mpirun = a_launcher(tmp_path, "mpirun", '[ "$1" = --version ] && echo "Open MPI"; echo "$LD_PRELOAD$@"; exit 7')
    program = a_launcher(tmp_path, "program", "")
    program.chmod(0o4755)
    line = [COMMAND, "run", "-a", "ring", "--", str(mpirun), "env", ":", str(program)]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (7, f"env : {program}\n")
    assert len(ran.stderr.splitlines()) == 1 and f"{program} is setuid or setgid" in ran.stderr


def test_algorithms_that_go_by_the_shape_are_refused_where_an_order_is_to_be_kept() -> None:
    for option in ("--reproducible", "--exact-sums"):
        assert "the same order on all placements (got bucket)" in refused(option, "-a", "bucket", "--", "true")
        assert run.checked_algorithm("allgather=bucket,ring", "order")  # nothing is added up


def test_json_without_a_file_name_is_refused(kumihimo):
    ended = kumihimo("run", "--json", "--", "true")
    assert (ended.code, "--json needs a file (got --)" in ended.err) == (2, True)
    ended = kumihimo("run", "--", "sh", "-c", 'test "$1 $2" = "--json --"', "sh", "--json", "--")
    assert ended.code == 0, "the words after the -- are the program's"


def test_says_that_nothing_was_counted() -> None:
    ran = subprocess.run([COMMAND, "run", "--", "true"], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0
    assert "rank 0 wrote no summary" in ran.stderr
    assert "_exit, a signal or an MPI error ended it" in ran.stderr


def test_a_program_that_ends_as_timeout_does_was_not_ended_by_us():
    ran = subprocess.run(
        [COMMAND, "run", "--timeout", "5s", "--", "sh", "-c", "exit 124"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 124
    assert "was ended" not in ran.stderr
