"""`kumihimo tune` as a user runs it, on real MPI processes; short, so the figures mean nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from families import others_long
from waiting import until

from kumihimo import _plan
from kumihimo.cli.tune import measurement_conditions
from kumihimo.processes import mpi

FAMILIES = [installation.family for installation in mpi.discover()]
COMMAND = Path(sys.executable).parent / "kumihimo"
SHORT = ("--ranks", "2", "--bytes", "8..64")


@pytest.fixture
def home(tmp_path) -> Path:
    """Of the user's wisdom."""
    return tmp_path / "data" / "kumihimo" / "wisdom"


def tuned(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.mpi
@others_long(mpi.discover())
def test_wisdom_is_written_where_run_finds_it(kumihimo, home, installation):
    asked = ("tune", "allreduce", *SHORT, "--mpi", installation.family, "--budget", "200s", "--json")
    found = tuned(kumihimo(*asked, timeout_seconds=300))
    path = Path(found["wisdom"])
    assert path.parent == home
    assert path.name == _plan.wisdom_file_name(_plan.this_machine(), found["mpi"])
    text = path.read_text(encoding="utf-8")
    file = json.loads(text)
    assert _plan.read_wisdom(text, _plan.this_machine(), found["mpi"]) == len(file["choices"]) == len(found["results"])
    assert file["made"]["command"].startswith("kumihimo tune allreduce --ranks 2")
    assert file["made"]["launches"] > 0
    assert file["made"]["question"] == {"type": "float64", "operation": "sum", "root": 0, "in_place": False}
    assert found["wrong"] == []
    for choice in file["choices"]:
        assert (choice["collective"], choice["ranks"], choice["nodes"]) == ("allreduce", 2, 1)
        if choice["algorithm"] != "library":
            assert 0 < choice["ratio_low"] <= choice["ratio"] <= choice["ratio_high"] < 1
            assert choice["seconds"] < choice["library_seconds"]

    again = tuned(kumihimo(*asked, timeout_seconds=300))
    if not found["left_to_the_library"]:
        assert again["measured_before"] == ["allreduce of 2 ranks"]
        assert again["made"]["launches_now"] == 0
        assert again["results"] == found["results"]
        assert path.read_text(encoding="utf-8") == text, "nothing new is not dated anew"


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
def test_a_signal_keeps_what_was_found_and_says_so(tmp_path, home):
    """One run ends by SIGTERM, the next by SIGINT, and the last goes on from there."""
    output = tmp_path / "wisdom.json"
    state = Path(f"{output}.state")
    command = [COMMAND, "tune", "allreduce", "--ranks", "2", "--bytes", "8", "-o", str(output), "--budget", "200s"]

    def known() -> str:
        return state.read_text(encoding="utf-8") if state.exists() else ""

    before = ""
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 1)):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            known_before = before.rstrip("\n")  # the next run ends the last line, if it was cut off
            until(
                lambda begun=known_before: "survey" in known() and len(known().rstrip("\n")) > len(begun),
                "more is known",
                process,
            )
            os.kill(process.pid, number)
            out, err = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                process.kill()
        assert process.returncode == code, err
        assert all(line.startswith("kumihimo: ") for line in err.splitlines())
        assert "interrupted; there are no results yet; run the same command again" in err
        assert "no results" not in out and "Not measured within the budget" in out
        assert known().startswith(before.rstrip("\n"))
        before = known()

    went_on = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert went_on.returncode == 0, went_on.stderr
    assert known().startswith(before.rstrip("\n"))
    surveys = [line for line in known().splitlines() if '"allreduce of 2 ranks: survey"' in line]
    assert len(surveys) == 1


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
def test_new_choices_join_the_file(kumihimo, tmp_path, home):
    asked = ("tune", "bcast", "-p", "2", "--ranks-per-node", "1", "--bytes", "8", "-o", "wisdom.json", "--json")
    mpi_version = json.loads(kumihimo(*asked, "--budget", "0.1s").out)["mpi"]
    other = {"collective": "reduce", "algorithm": "binomial", "ranks": 7}
    file = {"kumihimo_wisdom": 1, "mpi": mpi_version, "choices": [other]}
    (tmp_path / "wisdom.json").write_text(json.dumps(file), encoding="utf-8")
    told = tuned(kumihimo(*asked, "--budget", "200s", timeout_seconds=300))
    found = told["results"]
    assert {(choice["collective"], choice["nodes"], choice["emulated"]) for choice in found} == {("bcast", 2, True)}
    assert any("the nodes are emulated" in note for note in told["notes"])
    choices = json.loads((tmp_path / "wisdom.json").read_text(encoding="utf-8"))["choices"]
    assert choices[0] == other, "before those of emulated nodes"
    assert len(choices) == len(found) + 1


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
def test_a_budget_that_is_too_short_still_measures_one_size(kumihimo, home):
    ended = kumihimo("tune", "bcast", *SHORT, "--budget", "0.5s", "--json", timeout_seconds=300)
    found = tuned(ended)
    assert {(choice["from_bytes"], choice["to_bytes"]) for choice in found["results"]} == {(1, 8)}
    assert found["left_to_the_library"] == [{"target": "bcast of 2 ranks", "bytes": [16, 32, 64]}]
    assert "kumihimo: tuning: the budget was too short for even one size; tuning goes on until it has one" in ended.err
    assert Path(found["wisdom"]).is_file()


def test_wisdom_of_the_simulator_is_labelled(kumihimo, tmp_path, home):
    asked = ("tune", "bcast", "--machine", "k-computer", "--shape", "4x3x2", "--bytes", "8,64,512", "--json")
    found = tuned(kumihimo(*asked))
    path = Path(found["wisdom"])
    assert path.parent == home
    assert path.name == "simulated-k-computer-4x3x2.json"
    file = json.loads(path.read_text(encoding="utf-8"))
    assert file["made"]["simulated"] == {"machine": "k-computer", "shape": "4x3x2", "model": "flow"}
    assert "mpi" not in file and "machine" not in file
    assert all(choice["simulated"] and "ratio" not in choice for choice in file["choices"])
    assert "in simulation" in kumihimo(*asked[:-1]).out


SIMULATED = ("--machine", "k-computer", "--shape", "4x3x2", "-o", "mine")


def test_what_the_simulator_found_before_stays(kumihimo, tmp_path):
    assert kumihimo("tune", "bcast", *SIMULATED, "--bytes", "8,64").code == 0
    assert kumihimo("tune", "reduce", *SIMULATED, "--bytes", "8,64").code == 0
    file = json.loads((tmp_path / "mine").read_text(encoding="utf-8"))
    assert {choice["collective"] for choice in file["choices"]} == {"bcast", "reduce"}
    other = ("--machine", "k-computer", "--shape", "4x3", "-o", "mine")
    ended = kumihimo("tune", "bcast", *other, "--bytes", "8")
    assert ended.code == 2
    assert "machine k-computer, shape 4x3, model flow (got machine k-computer, shape 4x3x2" in ended.err


@pytest.mark.parametrize(
    "text",
    [
        "a letter",
        '{"kumihimo_wisdom": 1, "choices": [{"collective": "bcast", "algorithm": "binomial"}]}',
        '{"kumihimo_wisdom": 1, "mpi": "Open MPI v4.1.4", "choices": []}',
    ],
)
def test_the_simulator_writes_over_nothing_else(kumihimo, tmp_path, text):
    (tmp_path / "mine").write_text(text, encoding="utf-8")
    ended = kumihimo("tune", "bcast", *SIMULATED, "--bytes", "8")
    assert ended.code == 2, ended.out
    assert "name another, or remove it" in ended.err
    assert (tmp_path / "mine").read_text(encoding="utf-8") == text


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
def test_measured_choices_do_not_join_the_simulators(kumihimo, tmp_path):
    assert kumihimo("tune", "bcast", *SIMULATED, "--bytes", "8,64").code == 0
    before = (tmp_path / "mine").read_text(encoding="utf-8")
    ended = kumihimo("tune", "bcast", *SHORT, "-o", "mine")
    assert ended.code == 2, ended.out
    assert "the wisdom must be measured (got simulated choices)" in ended.err
    assert (tmp_path / "mine").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("alreduce",), "reduce_scatter, alltoall (got 'alreduce'); did you mean allreduce?"),
        (
            ("bcast", "--reproducible"),
            "that reduces must be one of allreduce, reduce, scan, exscan, reduce_scatter (got 'bcast')",
        ),
        (("gather", "--export", "files"), "--export is for allreduce, reduce, bcast (got only gather)"),
        (("--budget", "soon"), "90s, 5m or 1h (got 'soon')"),
        (("--budget", "0s"), "(got '0s')"),
        (("--bytes", "8-1MiB"), "must be written A..B (got '8-1MiB'); write 8..1MiB"),
        (("--export", "--ranks", "2"), "--export needs a folder (got --ranks)"),
        (("--ranks", "1"), "numbers of at least 2"),
        (("--ranks", "2,x"), "(got '2,x')"),
        (("--ranks", "99999"), "the number of ranks must be from 1 to"),
        (("--ranks", "2", "--ranks-per-node", "3"), "ranks per node must be from 1 to the 2 ranks"),
        (("--ranks", "4", "--ranks-per-node", "1,2"), "must add up to 4 (got 3); leave --ranks out"),
        (("--ranks-per-node", "two"), "--ranks-per-node must be a number, or a list such as 4,3,5 (got 'two')"),
        (("--bytes", "12"), "multiples of 8, the size of an element (got 12)"),
        (("--shape", "2x2"), "--shape needs --machine"),
        (("--machine", "k-computer", "--mpi", "openmpi"), "--machine excludes --mpi"),
        (("--machine", "k-computer", "--export", "files"), "--machine excludes --export"),
        (("--machine", "k-computer", "--reproducible"), "--machine excludes --reproducible"),
        (("--machine", "not-there"), "not-there"),
        (("--mpi", "/not/there"), "/not/there"),
        (("--output", "/proc/none/there"), "--output must name a file that can be written (got /proc/none/there"),
    ],
)
def test_wrong_input_is_one_sentence(kumihimo, home, arguments, said):
    ended = kumihimo("tune", *arguments)
    assert ended.code == 2, ended.err
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
@pytest.mark.parametrize("folder", ["/proc/none/there", "/dev/null"])
def test_where_nothing_can_be_exported_nothing_is_measured(kumihimo, home, folder):
    ended = kumihimo("tune", "allreduce", "--ranks", "2", "--budget", "5s", "--export", folder)
    assert ended.code == 2, ended.out
    assert f"--export must name a folder that can be written (got {folder}" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
def test_what_there_was_no_time_to_export_is_an_error_that_names_a_budget(kumihimo, home, tmp_path):
    asked = ("tune", "allreduce", "--ranks", "2", "--bytes", "8,64", "--budget", "1s", "--export", tmp_path / "files")
    ended = kumihimo(*asked)
    assert ended.code == 1, ended.out
    (said,) = (line for line in ended.err.splitlines() if "--export" in line)
    assert re.search(r"no time for --export on 2 ranks; give a --budget of about \d+s \(the same", said)
    assert "no performance guidelines on 2 ranks" in ended.out


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a letter", "not whole JSON"),
        ('{"kumihimo_wisdom": 2, "choices": []}', "must have version 1 (got 2)"),
        ('{"kumihimo_wisdom": 1, "machine": {"processor": "x", "processors": 9}, "choices": []}', "x, 9 processors"),
    ],
)
def test_what_is_not_wisdom_for_here_is_not_written_over(kumihimo, tmp_path, text, said):
    path = tmp_path / "mine"
    path.write_text(text, encoding="utf-8")
    ended = kumihimo("tune", *SHORT, "-o", "mine")
    assert ended.code == 2, ended.out
    assert said in ended.err and "name another, or remove it" in ended.err
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.mpi
@pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")
def test_a_file_that_cannot_be_written_is_found_before_measuring(kumihimo):
    ended = kumihimo("tune", *SHORT, "-o", "/proc/wisdom.json")
    assert ended.code == 2
    assert "can be written" in ended.err


def test_what_was_measured_under_other_settings_does_not_count():
    before = measurement_conditions({"PATH": "/bin", "OMPI_MCA_btl": "self,vader", "MPIR_CVAR_ODD_EVEN_CLIQUES": "1"})
    assert before["settings"] == {"MPIR_CVAR_ODD_EVEN_CLIQUES": "1", "OMPI_MCA_btl": "self,vader"}
    assert before["processors_allowed"] == len(os.sched_getaffinity(0))
    assert measurement_conditions({"PATH": "/usr/bin", "OMPI_MCA_btl": "self,tcp"}) != before
