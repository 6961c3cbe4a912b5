"""`kumihimo bench pgas`: what it measures on real processes, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import PATIENCE

from kumihimo.processes import mpi
from kumihimo.processes.visible import command_of, is_running, processes
from kumihimo.text import schema
from kumihimo.tune.bench.one_sided import libraries

COMMAND = Path(sys.executable).parent / "kumihimo"
QUICK = ("--bytes", "8,4KiB", "--seconds", "1ms")
FAMILIES = ("openmpi", "mpich")


def here(backend: str, installation: mpi.Installation, folder: Path) -> None:
    found = libraries.find(backend, installation, libraries.Asked(folder), 4096)
    if isinstance(found, str):
        pytest.skip(found)


def results(ended) -> list[dict]:
    found = json.loads(ended.out)
    assert schema.fault(found, "one-sided") == ""
    return found["results"]


@pytest.mark.parametrize("family", FAMILIES)
def test_windows_of_mpi(kumihimo, installation, family):
    """All synchronisations of a kind, without the atomic at which Open MPI 4.1 crashes."""
    asked = ("--sync", "all", "--measures", "latency,bandwidth,fetch_add,barrier", "--mpi", family)
    ended = kumihimo("bench", "pgas", "mpi", *asked, *QUICK, "--json", timeout_seconds=300)
    assert ended.code == 0, ended.err + ended.out
    rows = results(ended)
    measured = {(row["synchronisation"], row["measure"]) for row in rows if "seconds" in row}
    for name in ("flush", "lock_flush", "request", "lock", "lock_all", "fence", "pscw"):
        assert {(name, "put_quiet"), (name, "get"), (name, "put_bandwidth"), (name, "put_both_ways")} <= measured
    assert ("flush", "put") in measured and ("fence", "put") not in measured
    with_atomics = {name for name, measure in measured if measure == "fetch_add"}
    assert with_atomics == {"flush", "lock_flush", "lock", "lock_all"}
    assert all(row["right"] for row in rows if "seconds" in row)


@pytest.mark.parametrize("family", FAMILIES)
def test_kinds_of_windows(kumihimo, installation, family):
    asked = ("--windows", "all", "--measures", "put_quiet,get", "--mpi", family)
    ended = kumihimo("bench", "pgas", "mpi", *asked, *QUICK, "--json", timeout_seconds=300)
    assert ended.code == 0, ended.err
    kinds = {row["window_kind"] for row in results(ended) if row.get("right")}
    assert kinds == {"allocate", "create", "dynamic", "shared"}


@pytest.mark.parametrize("family", ["openmpi"])
def test_openshmem(kumihimo, installation, family, tmp_path):
    here("shmem", installation, tmp_path)
    ended = kumihimo("bench", "pgas", "shmem", "--mpi", family, *QUICK, "--json", timeout_seconds=300)
    assert ended.code == 0, ended.err + ended.out
    rows = results(ended)
    assert len({row["measure"] for row in rows if row.get("right")}) == 19, "every measure"


@pytest.mark.parametrize("family", FAMILIES)
def test_coarrays(kumihimo, installation, family, tmp_path):
    here("coarrays", installation, tmp_path)
    asked = ("--measures", "put,put_quiet,get,put_bandwidth,barrier,reduce,broadcast", "--mpi", family)
    ended = kumihimo("bench", "pgas", "coarrays", *asked, *QUICK, "--json", timeout_seconds=300)
    assert ended.code == 0, ended.err + ended.out
    assert {row["measure"] for row in results(ended) if row.get("right")} == set(asked[1].split(","))


@pytest.mark.parametrize("options", ["engines=2", "provider=shm", "provider=net"])
@pytest.mark.parametrize("family", FAMILIES)
def test_remote_memory_of_programs(kumihimo, installation, family, tmp_path, options):
    here("fabric", installation, tmp_path)
    asked = ("fabric", "--fabric", options, "--mpi", family, *QUICK, "--json")
    ended = kumihimo("bench", "pgas", *asked, timeout_seconds=300)
    assert ended.code == 0, ended.err + ended.out
    right = {row["measure"] for row in results(ended) if row.get("right")}
    wanted = {"put", "put_quiet", "put_flag", "get", "put_bandwidth", "get_bandwidth", "put_both_ways", "put_rate"}
    wanted |= {"put_overlap", "get_overlap", "barrier"}
    has_atomics = "net" not in options
    assert right == wanted | ({"fetch_add", "compare_and_swap", "fetch_add_contended"} if has_atomics else set())


def test_a_table_beside_what_was_published(kumihimo):
    asked = ("--bytes", "4", "--seconds", "1ms", "--measures", "put_quiet,get,barrier", "--published")
    ended = kumihimo("bench", "pgas", "mpi", *asked, timeout_seconds=120)
    assert ended.code == 0, ended.err
    assert "put, until the target has the data (put_quiet): two ranks of a node (0 and 1)" in ended.out
    assert "UPC" in ended.out and "includes a fence" in ended.out and "2.34 us" in ended.out


@pytest.mark.parametrize(
    "words, said",
    [
        (("upc",), "a library must be one of mpi, shmem, coarrays, own, fabric (got 'upc')"),
        (("--ranks", "1"), "one-sided communication needs at least 2 ranks (got 1)"),
        (("--measures", "puts"), "--measures must name measures or groups"),
        (("--bytes", "6"), "--bytes must be multiples of 4 up to 1GiB (got 6 B)"),
        (("--bytes", "1GiB", "--ranks", "64"), "--bytes must fit the memory: 64 ranks need 192 GiB"),
        (("--sync", "flash"), "--sync must be all or some of flush, lock_flush, request, lock, lock_all, fence, pscw"),
        (("--windows", "heap"), "--windows must be all or some of allocate, create, dynamic, shared"),
        (("--window", "0"), "--window must be from 1 to 1048576"),
        (("--mpi", "mpich,mpich"), "--mpi takes each library once"),
        (("--format", "imb"), "--format must be one of table, json, osu, csv"),
        (("shmem", "--shmem", "/nowhere.so"), "--shmem must be the path of an OpenSHMEM library"),
        (("coarrays", "--caf", "no_such_caf"), "--caf must name a Fortran compiler that is here"),
        (("fabric", "--fabric", "speed=9"), "options of remote memory are provider, engines, rails, atomics and"),
    ],
)
def test_what_is_refused_is_one_sentence(kumihimo, words, said):
    ended = kumihimo("bench", "pgas", *words)
    assert ended.code in (1, 2) and said in ended.err, ended.err + ended.out
    assert len(ended.err.strip().splitlines()) == 1


def test_puts_into_our_own_remote_memory(kumihimo):
    """Over libfabric, which joins ranks of one node, too. The target takes part while the origin puts."""
    asked = ("--bytes", "8,64KiB", "--measures", "put,put_bandwidth,put_rate,barrier", "--seconds", "1ms")
    ended = kumihimo("bench", "pgas", "own", *asked, "--json", timeout_seconds=120)
    if "no headers of libfabric" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.err
    rows = results(ended)
    assert {row["measure"] for row in rows if row["right"]} == {"put", "put_bandwidth", "put_rate", "barrier"}


def test_that_nothing_could_be_measured_is_an_error(kumihimo):
    ended = kumihimo("bench", "pgas", "mpi", "--sync", "fence", "--measures", "put", "--bytes", "8")
    assert ended.code == 1 and ended.out == ""
    said = "nothing could be measured: this synchronisation ends no put before the target has the data"
    assert said in ended.err.splitlines()[-1], ended.err


def test_ctrl_c_leaves_no_process(tmp_path):
    words = [COMMAND, "bench", "pgas", "mpi", "--seconds", "2s", "--bytes", "8..1KiB"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    deadline = time.monotonic() + 60 * PATIENCE
    while not drivers_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    mine = drivers_of(process.pid)
    assert mine, "the bench driver runs"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60 * PATIENCE)
    assert process.returncode == 1
    assert not [pid for pid in mine if command_of(pid).startswith("kumihimo-bench-") and is_running(pid)]


def drivers_of(ancestor: int) -> list[int]:
    """The bench drivers below this process."""
    return [pid for pid in processes() if command_of(pid).startswith("kumihimo-bench-") and descends(pid, ancestor)]


def descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
        if pid == ancestor:
            return True
    return False


def test_under_mpirun(kumihimo):
    """Every rank is a process of the user's own launcher."""
    installation = next((each for each in mpi.discover() if each.family == "mpich"), None)
    if installation is None:
        pytest.skip("no MPICH on this machine")
    words = [*installation.arguments(2), COMMAND, "bench", "pgas", "mpi", "--bytes", "8", "--seconds", "1ms"]
    asked = [*map(str, words), "--measures", "put_quiet", "--json"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120 * PATIENCE, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = [row for row in json.loads(done.stdout)["results"] if "seconds" in row]
    assert row["right"] and row["ranks"] == 2
