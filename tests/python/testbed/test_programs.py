"""MPI programs in a testbed whose links are cut and whose nodes die."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespaces import COMMAND, NEEDS_NAMESPACES, own_testbeds, right
from waiting import PATIENCE, until

from kumihimo.processes import mpi
from kumihimo.processes.visible import below, command_of
from kumihimo.testbed import launchers, testbeds

ROOT = Path(__file__).resolve().parents[3]
NEWEST = ROOT / "build/mpi"
OURS = ("kumihimo", "run", "--algorithm", "trinaryx6", "--timeout")
FABRIC = ("kumihimo", "run", "--network", "fabric", "--algorithm", "trinaryx6", "--timeout")
pytestmark = [pytest.mark.mpi, NEEDS_NAMESPACES]
own_testbeds = pytest.fixture(autouse=True)(own_testbeds)


LAUNCHERS = ("openmpi", "openmpi-5", "mpich-5")


def with_each_launcher(ways: dict[str, tuple], names: tuple[str, ...]) -> pytest.MarkDecorator:
    """Each launcher in each way. `make test` has all ways with the first launcher, and the first way with all."""
    rows = [
        pytest.param(launcher, *way, id=f"{launcher}-{name}", marks=[pytest.mark.long] * (at > 0 < number))
        for at, launcher in enumerate(LAUNCHERS)
        for number, (name, way) in enumerate(ways.items())
    ]
    return pytest.mark.parametrize(("launcher", *names), rows, indirect=["launcher"])


OTHERS_LONG = pytest.mark.parametrize(
    "launcher",
    [pytest.param(name, marks=[pytest.mark.long] * (at > 0)) for at, name in enumerate(LAUNCHERS)],
    indirect=True,
)


@pytest.fixture(scope="module")
def launcher(request, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that start the program of sums.c, up to the number of its turns, on 8 ranks. MPICH 4.0 may never end
    (docs/guides/testbed.md)."""
    if request.param == "openmpi":
        found = next((each for each in mpi.discover() if each.family == "openmpi"), None)
    else:
        found = mpi.choose(str(NEWEST / request.param)) if (NEWEST / request.param).is_dir() else None
    if found is None:
        pytest.skip(f"no {request.param} on this machine")
    program = tmp_path_factory.mktemp(request.param) / "sums"
    wrapper = Path(found.launcher).parent / ("mpicc.openmpi" if request.param == "openmpi" else "mpicc")
    subprocess.run([wrapper, "-O1", "-o", program, Path(__file__).parent / "sums.c"], check=True)
    return [str(found.launcher), "-n", "8", str(program)]


@contextlib.contextmanager
def running(*words: str) -> Iterator[subprocess.Popen]:
    """The program in a testbed of 2x2x2, past its first sum."""
    right("up", "2x2x2", "--rate", "50Mbit/s")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    path = {**os.environ, "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}
    with subprocess.Popen([COMMAND, "testbed", "run", "--", *words], text=True, env=path, **pipes) as process:
        try:
            assert process.stdout.readline() == "0\n", process.communicate()
            yield process
        finally:
            process.kill()


def left() -> list[str]:
    """What runs in the testbed beside what holds its namespaces."""
    return [name for pid in below(testbeds.find(None).keeper) if (name := command_of(pid)) not in ("sleep", "unshare")]


@with_each_launcher(
    {"ours": ((*OURS, "60s", "--"),), "library": ((),), "fabric": ((*FABRIC, "60s", "--"),)},
    ("ours",),
)
def test_a_program_goes_on_when_a_link_that_was_cut_is_healed(launcher, ours):
    with running(*ours, *launcher, "20") as process:
        right("cut", "0-1")
        time.sleep(2)
        right("heal")
        out, err = process.communicate(timeout=PATIENCE * 120)
        assert process.returncode == 0, err
        assert out.split()[-1] == "19"
    until(lambda: not left(), "the program has ended")


NO_ANSWER = "MPI_Allreduce did not return within the time limit of 3 s: no answer over TCP from node1;"
# On a busy machine the watch over the whole call may come first.
NO_MESSAGE = f"no message arrived within the time limit of 3 s: none from rank 1;|{NO_ANSWER}"


@with_each_launcher(
    {
        "ours": (("--algorithm", "ring"), NO_MESSAGE),
        "fabric": (("--network", "fabric", "--algorithm", "ring"), NO_MESSAGE),
        "library": (("--no-wisdom",), NO_ANSWER),
    },
    ("ours", "told"),
)
def test_a_call_that_waits_behind_a_cut_link_says_for_whom(launcher, ours, told):
    two = ["2" if word == "8" else word for word in launcher]
    with running("kumihimo", "run", *ours, "--timeout", "3s", "--", *two, "100000") as process:
        right("cut", "0-1")
        err = process.communicate(timeout=PATIENCE * 120)[1]  # mpirun waits for what is behind the link, and is ended
        assert re.search(told, err), err
        assert process.returncode != 0, err


@OTHERS_LONG
def test_a_program_ends_when_a_node_dies_and_runs_again_when_it_is_healed(launcher):
    with running(*OURS, "5s", "--", *launcher, "100000") as process:
        right("kill", "7")  # through which no route of the launcher leads: it would wait for ever
        err = process.communicate(timeout=PATIENCE * 120)[1]
        assert process.returncode != 0, err
    until(lambda: not left(), "the program has ended")
    right("heal")
    again = subprocess.run(
        [COMMAND, "testbed", "run", "--", *launcher, "3"], capture_output=True, text=True, timeout=300
    )
    assert again.stdout == "0\n1\n2\n", again.stderr


EACH = pytest.mark.parametrize("launcher", LAUNCHERS, indirect=True)


def ended(*words: str) -> tuple[int, str, str, float]:
    """Of a command in the testbed: how it ended, and after how many seconds."""
    began = time.monotonic()
    path = {**os.environ, "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [COMMAND, "testbed", "run", "--", *words], capture_output=True, text=True, timeout=300 * PATIENCE, env=path
    )
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


@EACH
@pytest.mark.parametrize("broken", [("cut", "0-1"), ("kill", "7")], ids=["cut", "kill"])
def test_a_run_on_a_network_with_a_fault_ends_soon_with_the_name_of_the_node_and_the_next_works(launcher, broken):
    """Open MPI 5 would wait for its daemon for ever, and Open MPI 4 for 135 s."""
    right("up", "2x2x2", "--rate", "50Mbit/s")
    right(*broken)
    code, out, err, seconds = ended(*OURS, "5s", "--", *launcher, "3")
    assert code != 0 and out.count("\n0\n") == 0, err
    node = {"cut": "node1", "kill": "node7"}[broken[0]]
    why = {"cut": "the link node0-node1 is cut", "kill": "node7 was killed"}[broken[0]]
    told = (
        "" if "hydra" in launcher[0] else f"{node} cannot be reached from node0: "
    )  # Hydra may end before it passes it on
    assert f"{told}{why}" in err and "run `kumihimo testbed heal`" in err
    assert seconds < 60 * PATIENCE, "far from the 135 s of a connection that nobody answers"
    assert not left()
    right("heal")
    code, out, err, _ = ended(*launcher, "3")
    assert (code, out) == (0, "0\n1\n2\n"), err


@EACH
def test_a_run_whose_node_is_killed_ends_with_the_name_of_the_node_and_of_its_rank(launcher):
    with running(*OURS, "5s", "--", *launcher, "100000") as process:
        right("kill", "7")
        err = process.communicate(timeout=PATIENCE * 120)[1]
        assert process.returncode != 0, "mpirun of Open MPI 5 ends with 0"
        assert "node7, with rank 7, was killed while the command ran" in err, err
    until(lambda: not left(), "the program has ended")


@EACH
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_whose_launcher_waits_behind_a_cut_link(launcher, number):
    with running(*launcher, "100000") as process:
        right("cut", "0-1")
        process.send_signal(number)
        err = process.communicate(timeout=PATIENCE * 120)[1]
        assert process.returncode != 0, err
        assert "the link node0-node1 is cut" in err, err
    assert not left()


@EACH
def test_a_launcher_that_starts_no_rank_within_the_time_limit_is_ended(launcher):
    """As if the link were cut after the agent has started the daemons: it does not know of it."""
    right("up", "2x2x2", "--rate", "50Mbit/s")
    right("cut", "0-1")
    (testbeds.find(None).folder / launchers.UNREACHABLE).unlink()
    code, _, err, seconds = ended(*OURS, "2s", "--", *launcher, "3")
    assert code != 0
    assert "the launcher was ended" in err or "MPI_Init did not return within the time limit of 2 s" in err, err
    assert seconds < 100 * PATIENCE
    assert not left()


@OTHERS_LONG
def test_run_on_a_part_of_a_testbed_knows_the_shape_of_that_part(launcher):
    right("up", "3x2x2")
    told = subprocess.run(
        [COMMAND, "testbed", "run", "--", COMMAND, "run", "--algorithm", "trinaryx6", "--", *launcher, "3"],
        capture_output=True,
        text=True,
        timeout=300 * PATIENCE,
    )
    assert told.returncode == 0, told.stderr
    assert "mesh 2mx2x2" in told.stderr or "torus 2mx2x2" in told.stderr, told.stderr


@OTHERS_LONG
def test_a_killed_process_is_named_by_those_that_wait_for_it_over_fabric(launcher):
    before = set(Path("/dev/shm").glob("kumihimo*"))
    four = ["4" if word == "8" else word for word in launcher]
    with running("kumihimo", "run", "--network", "fabric", "--algorithm", "ring", "--", *four, "100000") as process:
        right("kill", "2")
        err = process.communicate(timeout=PATIENCE * 120)[1]
        assert process.returncode != 0 or "rank 0 wrote no summary" in err
        assert "is used instead" not in err, err
    until(lambda: not left(), "the program has ended")
    until(lambda: set(Path("/dev/shm").glob("kumihimo*")) <= before, "its shared memory is gone")


@OTHERS_LONG
def test_a_choice_of_the_wisdom_names_its_network_and_falls_back_to_mpi_with_one_sentence(launcher, tmp_path):
    wisdom = tmp_path / "wisdom.json"
    choice = {"collective": "allreduce", "algorithm": "ring", "parameters": {"fabric": True}}
    wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
    instead = "the network mpi is used instead of fabric, which the wisdom names: KUMIHIMO_FABRIC_ENGINES must be"
    right("up", "2x2x1", "--rate", "50Mbit/s")
    four = ["4" if word == "8" else word for word in launcher]
    for engines, sentences in (("2", 0), ("9", 1)):
        told = subprocess.run(
            [COMMAND, "testbed", "run", "--", COMMAND, "run", "--wisdom", str(wisdom), "--", *four, "3"],
            env={**os.environ, "KUMIHIMO_FABRIC_ENGINES": engines},
            capture_output=True,
            text=True,
            timeout=300 * PATIENCE,
        )
        assert told.returncode == 0, told.stderr
        assert told.stdout == "0\n1\n2\n", told.stderr
        assert "ring, " in told.stderr, told.stderr
        assert told.stderr.count(instead) == sentences, told.stderr
        assert told.stderr.count("used instead") == sentences, told.stderr


def test_lu_looks_several_panels_ahead_over_a_network():
    right("up", "3x1x1", "--rate", "50Mbit/s")
    asked = [COMMAND, "testbed", "run", "--", COMMAND, "app", "lu", "--size", "200", "--variant", "rows"]
    asked += ["--ranks", "3", "--triad", "10", "--peak", "50", "--set", "block=8", "--set", "grid=1x3", "--set"]
    for ahead in ("lookahead=1", "lookahead=8"):
        done = subprocess.run([*asked, ahead], capture_output=True, text=True, timeout=120 * PATIENCE)
        assert done.returncode == 0 and "PASSED" in done.stdout, done.stderr


def test_puts_into_our_own_remote_memory_cross_a_network():
    right("up", "2", "--rate", "1Gbit/s")
    asked = ["--ranks", "2", "--bytes", "8,64KiB", "--measures", "put,put_bandwidth", "--seconds", "2ms", "--json"]
    pgas = [COMMAND, "testbed", "run", "--", COMMAND, "bench", "pgas", "own", *asked]
    done = subprocess.run(pgas, capture_output=True, text=True, timeout=120 * PATIENCE)
    if "no headers of libfabric" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    rows = [row for row in json.loads(done.stdout)["results"] if row["place"] == "network"]
    assert len(rows) == 4 and all(row["right"] for row in rows)
    (wide,) = [row for row in rows if row["measure"] == "put_bandwidth" and row["bytes"] == 64 << 10]
    assert wide["bytes_per_second"] < 1.3e8, "the link carries no more than 125 MB/s"
