"""`kumihimo app --checkpoint partner=N,spare=K`: a run in which ranks die ends with the bits of one without deaths."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from waiting import PATIENCE

from kumihimo.app import checkpoints, launches
from kumihimo.processes import mpi
from kumihimo.processes.launcher_environment import LaunchPlace
from kumihimo.processes.package_files import program
from kumihimo.processes.visible import command_of, processes
from kumihimo.run import launch
from kumihimo.text.errors import BadInput, Failed, NotApplicable

PREFIX = Path(__file__).resolve().parents[3] / "build/mpi/openmpi-5"
OPEN_MPI_5 = mpi.under_prefix("openmpi", PREFIX)
RANKS = 3
BROKEN_CALL = Path(__file__).with_name("broken_call.c")
# Of a task, and iterations between two copies.
CASES: dict[str, tuple[dict, int]] = {
    "himeno": ({"size": "24x24x24", "options": {"values": "varied", "sweeps": "300"}, "variant": "simd"}, 10),
    "fdtd2d": ({"size": "96x80", "options": {"steps": "300", "layer": "5"}, "variant": "simd"}, 10),
    "poisson3d": ({"size": "36", "options": {}, "variant": "BR-1", "tolerance": 1e-11}, 1),
    "fem_cube": ({"size": "10", "options": {}, "variant": "original", "tolerance": 1e-11}, 1),
}
NAMES = {"fem_cube": "fem-cube"}
BITS = ("iterations", "residual", "history", "gosa")

pytestmark = pytest.mark.mpi
needs_open_mpi_5 = pytest.mark.skipif(OPEN_MPI_5 is None, reason="set-up found no network, or no wheel of Open MPI 5")


def ranks_of(mark: str) -> dict[int, int]:
    """The processes with this mark, by the rank that the launcher gave them."""
    found = {}
    for pid in processes():
        words = launch.environment_of(pid).split(b"\0") if command_of(pid) == "kumihimo-app" else []
        if f"KUMIHIMO_TEST={mark}".encode() in words:
            found |= {int(word[21:]): pid for word in words if word.startswith(b"OMPI_COMM_WORLD_RANK=")}
    return found


def run(
    name: str,
    place: Path,
    partner: int,
    spares: int,
    kills: dict[int, float],
    ranks: int = RANKS,
    library: Path | None = None,
    **more: object,
) -> dict:
    """The last result. `partner`: iterations between two copies. `kills`: seconds after the run has begun, by rank."""
    assert OPEN_MPI_5 is not None
    problem = CASES[name][0]
    task = {
        "application": NAMES.get(name, name),
        **{word: value for word, value in problem.items() if word != "variant"},
        "candidates": [{"variant": problem["variant"]}],
        "threads": 1,
        "library": str(library or OPEN_MPI_5.library),
        "checkpoints": {"partner": partner, "spares": spares, **more},
    }
    path = place / "task.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    mark, begun = f"{os.getpid()}-{random.random()}", threading.Event()

    def kill() -> None:
        begun.wait(timeout=60 * PATIENCE)
        begin, there = time.monotonic(), ranks_of(mark)
        for rank, seconds in sorted(kills.items(), key=lambda one: one[1]):
            time.sleep(max(0.0, begin + seconds - time.monotonic()))
            with contextlib.suppress(ProcessLookupError):  # the run was faster
                os.kill(there[rank], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = launch.run(
            OPEN_MPI_5,
            ranks + spares,
            [program("kumihimo-app"), path],
            seconds=100 * PATIENCE,
            on_object=lambda _: begun.set(),
            settings={"KUMIHIMO_TEST": mark},
            outlives_deaths=spares > 0,
        )
    finally:
        begun.set()
        killer.join()
    return next(line["result"] for line in reversed(found) if "result" in line)


def bits_of(result: dict) -> tuple:
    assert result.get("checked", {}).get("right", True), result
    return tuple(result.get(name) for name in BITS)


@needs_open_mpi_5
@pytest.mark.parametrize("name", CASES)
def test_a_run_in_which_a_rank_dies_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    """At any moment, of which most are in a copy: of himeno there is one in each iteration."""
    every = 1 if name == "himeno" else CASES[name][1]
    whole = run(name, tmp_path, every, 1, {})
    for rank in range(RANKS):
        result = run(name, tmp_path, every, 1, {rank: random.uniform(0, 0.9) * whole["seconds"]})
        assert bits_of(result) == bits_of(whole)
        partner = result["checkpoints"]["partner"]
        if partner["deaths"]:  # the run may have been faster than the one before
            assert partner["recovery_seconds"] > 0


@needs_open_mpi_5
def test_one_death_after_another(tmp_path: Path) -> None:
    whole = run("himeno", tmp_path, 5, 1, {})
    seconds = whole["seconds"]
    result = run("himeno", tmp_path, 5, 2, {1: 0.2 * seconds, 2: 0.2 * seconds + 3 * PATIENCE})
    assert bits_of(result) == bits_of(whole)


@needs_open_mpi_5
def test_a_spare_rank_that_dies_disturbs_nobody(tmp_path: Path) -> None:
    whole = run("himeno", tmp_path, 5, 1, {3: 0.01})
    assert whole["checkpoints"]["partner"]["deaths"] == 0
    assert bits_of(whole) == bits_of(run("himeno", tmp_path, 5, 1, {}))


@needs_open_mpi_5
def test_files_and_copies_together(tmp_path: Path) -> None:
    """A state that was saved after the copy that the ranks return to is written over."""
    state = {"every": 40, "folder": str(tmp_path / "state")}
    (tmp_path / "state").mkdir()
    whole = run("himeno", tmp_path, 25, 1, {})
    result = run("himeno", tmp_path, 25, 1, {1: 0.5 * whole["seconds"]}, **state)
    assert bits_of(result) == bits_of(whole)


@pytest.fixture
def long_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """himeno of half a second or more, in which both deaths of a test happen also on a busy machine."""
    problem, every = CASES["himeno"]
    sweeps = {**problem, "options": {**problem["options"], "sweeps": "10000"}}
    monkeypatch.setitem(CASES, "himeno", (sweeps, every))


@pytest.fixture
def broken_library(tmp_path: Path) -> Path:
    library = tmp_path / "libmpi-broken.so"
    words = ["-shared", "-fPIC", f"-I{PREFIX}/include", BROKEN_CALL, "-o", library, f"-L{PREFIX}/lib", "-lmpi"]
    subprocess.run(["gcc", *map(str, words), f"-Wl,-rpath,{PREFIX}/lib"], check=True)
    return library


@needs_open_mpi_5
@pytest.mark.parametrize("call", ["allgather", "split"])
def test_a_death_during_the_recovery_that_only_one_rank_is_told_of(
    call: str, tmp_path: Path, broken_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the death of a rank a spare one dies, in a collective call that fails on rank 0 and on no other."""
    whole = run("himeno", tmp_path, 5, 2, {}, library=broken_library)
    for name, value in {"BREAK": call, "BREAK_FIRST": 1, "BREAK_SECOND": RANKS + 1}.items():
        monkeypatch.setenv(name, str(value))
    result = run("himeno", tmp_path, 5, 2, {}, library=broken_library)
    assert bits_of(result) == bits_of(whole)
    assert result["checkpoints"]["partner"]["deaths"] == 1


@needs_open_mpi_5
@pytest.mark.parametrize("call", ["allgather", "split"])
def test_a_recovery_that_fails_though_nobody_dies_is_not_repeated_for_ever(
    call: str, tmp_path: Path, broken_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"BREAK": call, "BREAK_FIRST": 1}.items():
        monkeypatch.setenv(name, str(value))
    why = "the recovery failed 3 times in a row although no rank died: MPI_ERR_NO_MEM.*; restart from files"
    with pytest.raises(Failed, match=why):
        run("himeno", tmp_path, 5, 2, {}, library=broken_library)


@needs_open_mpi_5
def test_without_a_spare_rank_left_one_sentence_says_so(long_run: None, tmp_path: Path) -> None:
    seconds = run("himeno", tmp_path, 5, 1, {})["seconds"]
    deaths = {0: 0.1 * seconds, 1: 0.1 * seconds}
    with pytest.raises(Failed, match=r"rank [01] has died, and no spare rank is left; give spare= more"):
        run("himeno", tmp_path, 5, 1, deaths)


@needs_open_mpi_5
@pytest.mark.parametrize("spares", [1, 2])
def test_when_all_ranks_have_died_one_sentence_says_that_no_copy_is_left(
    long_run: None, tmp_path: Path, spares: int
) -> None:
    """The spare ranks are the only ones that live: of two ranks that are partners, and of more."""
    seconds = run("himeno", tmp_path, 5, 1, {}, ranks=2)["seconds"]
    deaths = {0: 0.3 * seconds, 1: 0.3 * seconds}
    with pytest.raises(Failed, match=r"all 2 ranks of the run have died, so no copy of their states is left; restart"):
        run("himeno", tmp_path, 5, spares, deaths, ranks=2)


@needs_open_mpi_5
def test_ranks_that_the_launcher_did_not_protect_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = mpi.Installation.arguments
    monkeypatch.setattr(mpi.Installation, "arguments", lambda self, ranks, _: arguments(self, ranks))
    with pytest.raises(NotApplicable) as raised:
        run("himeno", tmp_path, 5, 1, {})
    assert "start the ranks with mpirun --with-ft ulfm, or leave spare= out" in str(raised.value)


def test_launchers_that_end_the_job_are_refused_before_it_begins() -> None:
    def sentence(installation: mpi.Installation | None, place: LaunchPlace | None = None) -> str:
        with pytest.raises((BadInput, NotApplicable)) as raised:
            checkpoints.check_spares(installation, place)
        return str(raised.value)

    slurm = mpi.Installation("openmpi", Path("srun"), Path("libmpi.so.40"), ())
    assert "srun ends a job that has lost a rank; use --launcher mpirun, or leave spare= out" in sentence(slurm)
    assert "spare ranks need at least 2 others (got 1)" in sentence(None)
    for installation in mpi.discover():
        if installation.family == "mpich" or installation.version.startswith("4"):
            assert "ends a job that has lost a rank; give --mpi the prefix of Open MPI 5" in sentence(installation)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("partner=5,spare=0", "--checkpoint spare= must be a number of ranks from 1 on"),
        ("every=5,spare=1", "a copy to bring the state back from is missing"),
    ],
)
def test_words_that_are_wrong(words: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        checkpoints.parse(words, None)


def test_words_that_are_right() -> None:
    asked = checkpoints.parse("partner=5,spare=2", None)
    assert asked is not None and asked.spares == 2 and asked.as_task()["spares"] == 2


def test_people_read_what_became_of_the_run() -> None:
    partner = {
        "copies": 3,
        "bytes": 3 << 20,
        "seconds": 0.1,
        "on_other_nodes": 0,
        "never_lost": False,
        "restored": 0,
        "deaths": 1,
        "went_on_from": 40,
        "recovery_seconds": 0.25,
        "repeated_iterations": 7,
    }
    text = checkpoints.lines({"restarted_from": None, "folder": None, "partner": partner}, 2.0)[-1]
    assert text == (
        "1 rank died; spare ranks took over, and 250 ms later the run went on from iteration 40; 7 iterations repeated"
    )


def test_people_read_why_a_launch_has_no_result() -> None:
    asked = checkpoints.parse("partner=5,spare=2", None)
    assert launches.why_none(launches.AppRun(), None) == ("", "")
    assert "while MPI started" in launches.why_none(launches.AppRun(), asked)[0]
    why, advice = launches.why_none(launches.AppRun(about={"ranks": 4}), asked)
    assert "loses the daemon (prted) of a node" in why and advice.endswith(
        "add every=N to --checkpoint to restart from files"
    )
    saved = checkpoints.parse("every=9,folder=state,partner=5,spare=2", None)
    assert launches.why_none(launches.AppRun(about={"ranks": 4}), saved)[1].endswith("nodes: restart from the files")


def test_people_read_that_a_simulated_loss_never_came() -> None:
    partner = {"copies": 3, "bytes": 3, "seconds": 0.1, "on_other_nodes": 0, "restored": 0, "deaths": 0}
    found = {"restarted_from": None, "folder": None, "partner": {**partner, "never_lost": True}}
    assert checkpoints.lines(found, 2.0)[-1] == "no rank was lost: the run ended before the iteration of lose="
