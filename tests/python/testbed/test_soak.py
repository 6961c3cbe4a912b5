"""Many random collectives of ours in testbeds whose links are cut and healed at random: every bit right, no hang, no
growth of memory, nothing left. The seed is in each failure; KUMIHIMO_SOAK_SEED repeats it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespaces import COMMAND, NEEDS_NAMESPACES, own_testbeds, right
from waiting import until

from kumihimo.processes import mpi
from kumihimo.processes.visible import below, command_of, processes
from kumihimo.run.networks import NETWORKS
from kumihimo.testbed import faults, testbeds

LIMIT = 60  # seconds that a call may wait; each cut is far shorter
LAUNCHES = 3  # at least, whose memory is compared
MOST_GROWTH_KIB = 1 << 10  # of the keeper's process
ALGORITHMS = {
    "allreduce": ("trinaryx3", "trinaryx6", "bucket", "ring", "recursive_doubling", "binomial", "rotated_rings"),
    "bcast": ("trinaryx3", "trinaryx6", "binomial", "double_binary", "chain"),
    "allgather": ("bucket", "rotated_rings", "ring", "bruck"),
    "reduce_scatter": ("bucket", "rotated_rings", "ring", "pairwise"),
    "alltoall": ("pairwise", "bruck", "two_phase", "paced"),
}
pytestmark = [pytest.mark.mpi, NEEDS_NAMESPACES]
own_testbeds = pytest.fixture(autouse=True)(own_testbeds)


@pytest.fixture(scope="module")
def soak(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The launcher's line up to the number of ranks, and the program."""
    found = next((each for each in mpi.discover() if each.family == "openmpi"), None)
    if found is None:
        pytest.skip("no Open MPI on this machine")
    program = tmp_path_factory.mktemp("soak") / "soak"
    source = Path(__file__).parent / "soak.c"
    wrapper = Path(found.launcher).parent / "mpicc.openmpi"
    wrapper = wrapper if wrapper.is_file() else wrapper.with_name("mpicc")
    subprocess.run([wrapper, "-O2", "-Wall", "-Werror", "-o", program, source], check=True)
    return [str(found.launcher), str(program)]


def namespaces() -> set[str]:
    """The network namespaces of this machine that its processes are in."""
    found = set()
    for pid in processes():
        with contextlib.suppress(OSError):
            found.add(str(Path(f"/proc/{pid}/ns/net").readlink()))
    return found


def resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return int(status.partition("VmRSS:")[2].split()[0])


@contextlib.contextmanager
def links_cut_at_random(chance: random.Random) -> Iterator[None]:
    """One link at a time, for up to a second."""
    testbed, over, failed = testbeds.find(None), threading.Event(), []

    def cut_and_heal() -> None:
        try:
            while not over.wait(chance.uniform(0.5, 2)):
                link = chance.choice(sorted(testbed.wiring.ends))
                both = faults.both_ways(testbed.wiring, [link])
                faults.cut(testbed, both)
                time.sleep(chance.uniform(0.05, 1))
                faults.heal(testbed, both)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=cut_and_heal)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not failed, failed


def launch(
    soak: list[str], ranks: int, chance: random.Random, seconds: float, wrong: tuple[int, int], network: str = "mpi"
) -> tuple:
    """What was asked for, in words, and how it ended; its summary."""
    chosen = {name: chance.choice(those) for name, those in ALGORITHMS.items()}
    words = ",".join(f"{name}={algorithm}" for name, algorithm in chosen.items())
    seed = chance.getrandbits(32)
    launcher, program = soak
    with tempfile.TemporaryDirectory(prefix="ks") as place:
        summary = Path(place) / "summary.json"
        limits = ["--network", network, "--timeout", f"{LIMIT}s"]
        ours = [COMMAND, "run", "-a", words, *limits, "--json", str(summary), "--"]
        theirs = [launcher, "-n", str(ranks), program, str(seed), f"{seconds:g}", *map(str, wrong)]
        ended = subprocess.run(
            [COMMAND, "testbed", "run", "--", *ours, *theirs],
            capture_output=True,
            text=True,
            timeout=seconds + 10 * LIMIT,
            env={**os.environ, "TMPDIR": place},
        )
        found = json.loads(summary.read_text()) if summary.exists() else {}
        summary.unlink(missing_ok=True)
        left = sorted(path.name for path in Path(place).iterdir())
    ran = {(row["collective"], row["algorithm"]) for row in found.get("calls", ()) if row["algorithm"] != "library"}
    return f"{words}, program seed {seed}", ended, left, set(chosen.items()) - ran


def soaked(soak: list[str], shape: str, seconds: float, launch_seconds: float, network: str = "mpi") -> None:
    seed = int(os.environ.get("KUMIHIMO_SOAK_SEED") or random.SystemRandom().getrandbits(32))
    chance, before = random.Random(seed), namespaces()
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    right("up", shape, "--rate", "50Mbit/s")
    testbed = testbeds.find(None)
    own = {testbed.keeper, *below(testbed.keeper)}
    deadline, at_first, number, turns = time.monotonic() + seconds, 0, 0, 0
    while number < LAUNCHES or time.monotonic() < deadline:
        with links_cut_at_random(random.Random(chance.getrandbits(32))):
            asked, ended, left, missed = launch(soak, testbed.wiring.nodes, chance, launch_seconds, (-1, -1), network)
        where = f"KUMIHIMO_SOAK_SEED={seed}, launch {number}: {asked}:\n{ended.stderr}"
        assert ended.returncode == 0, where
        turns += int(ended.stdout)
        assert not left, f"left in the folder for temporary files: {left}: {where}"
        assert not missed, f"these did not run: {missed}: {where}"
        assert "used instead" not in ended.stderr, where
        until(lambda: below(testbed.keeper) | {testbed.keeper} == own, f"all has ended: {where}", seconds=60)
        memory = sum(resident_kib(pid) for pid in own)
        at_first = at_first or memory
        assert memory - at_first < MOST_GROWTH_KIB, f"the testbed grew from {at_first} to {memory} KiB: {where}"
        number += 1
    print(f"{number} launches, {turns} collectives, seed {seed}")
    right("down")
    assert not testbeds.home().is_dir() or not list(testbeds.home().iterdir())
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == mounts
    until(lambda: not {pid for pid in own if command_of(pid) in ("sleep", "unshare")}, "its processes end", seconds=60)
    assert not own_networks(before), f"seed {seed}"


def own_networks(before: set[str]) -> set[str]:
    """Other tests make networks, too, and remove them."""
    left = namespaces() - before
    end = time.monotonic() + 60
    while left and time.monotonic() < end:
        left &= namespaces()
        time.sleep(0.1)
    return left


def test_random_collectives_under_random_faults_for_a_minute(soak):
    soaked(soak, "3x3", seconds=60, launch_seconds=15)


@pytest.mark.long
@pytest.mark.parametrize("network", NETWORKS)
def test_random_collectives_under_random_faults_for_ten_minutes(soak, network: str):
    soaked(soak, "3x3x3", seconds=600, launch_seconds=15, network=network)


def test_a_rank_that_sends_a_wrong_bit_is_reported(soak):
    right("up", "2x2", "--rate", "50Mbit/s")
    _, ended, _, _ = launch(soak, 4, random.Random(1), 5, (2, 7))
    assert ended.returncode != 0
    assert "soak: turn 7, rank " in ended.stderr, ended.stderr


def test_memory_that_grows_is_reported(soak):
    right("up", "2x2", "--rate", "1Gbit/s")
    _, ended, _, _ = launch(soak, 4, random.Random(1), 5, (-2, 0))
    assert ended.returncode != 0
    assert ": memory grew from " in ended.stderr, ended.stderr


def test_what_is_left_is_noticed():
    """The lists of namespaces and processes see a testbed."""
    before = namespaces()
    right("up", "2")
    testbed = testbeds.find(None)
    assert len(namespaces() - before) >= 2
    own = below(testbed.keeper)
    right("run", "--", "sh", "-c", "sleep 303 >/dev/null 2>&1 &")
    assert below(testbed.keeper) != own
