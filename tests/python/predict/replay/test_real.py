"""A real program, recorded and replayed: messages, requests and collectives of MPI come through as they are."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kumihimo import cli
from kumihimo.processes import mpi

sys.path.insert(0, str(Path(__file__).parents[1]))
from by_c_names import BEGINNING

PROGRAM = f"""
import ctypes, sys
family, library = sys.argv[1:]
{BEGINNING}
status, request = (ctypes.c_int * 10)(), ctypes.c_void_p()
after, before = (rank.value + 1) % ranks.value, (rank.value - 1) % ranks.value
for _ in range(20):
    names.MPI_Irecv(result, 100, double, -1 if family == "openmpi" else -2, 7, world, ctypes.byref(request))
    names.MPI_Send(mine, 100, double, after, 7, world)
    names.MPI_Wait(ctypes.byref(request), status)
names.MPI_Barrier(world)
names.MPI_Finalize()
"""


@pytest.fixture
def recorded(
    installation: mpi.Installation, tmp_path: Path, capsys: pytest.CaptureFixture
) -> Callable[[str, int], None]:
    """Runs a program on so many ranks and records it: tmp_path/profile, tmp_path/trace."""

    def run(text: str, ranks: int) -> None:
        (tmp_path / "program.py").write_text(text, encoding="utf-8")
        program = [*installation.arguments(ranks), sys.executable, str(tmp_path / "program.py")]
        record = ["record", "--output", str(tmp_path / "profile"), "--trace", str(tmp_path / "trace"), "--", *program]
        with pytest.raises(SystemExit) as ended:
            cli.carry_out([*record, installation.family, str(installation.library)])
        assert ended.value.code == 0, capsys.readouterr().err
        capsys.readouterr()

    return run


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_recorded_program_is_replayed(recorded: Callable, tmp_path: Path, replay: Callable) -> None:
    recorded(PROGRAM, 3)
    result = replay(tmp_path / "trace", "--loggops", "L=500,o=200,g=0,G=0.1,O=0,S=4096", "--json")
    assert {c["collective"]: (c["ranks"], c["bytes"]) for c in result["collectives"]} == {
        "allreduce": (3, 8000),
        "barrier": (3, 0),
    }
    calls = {site["name"].partition(" ")[0]: site["calls"] for site in result["sites"]}
    assert calls == {"MPI_Allreduce": 15, "MPI_Irecv": 60, "MPI_Send": 60, "MPI_Wait": 60, "MPI_Barrier": 3}
    assert 0 < result["seconds"] <= result["recorded_seconds"]
    assert result["efficiencies"]["transfer"] <= 1
    many = replay(tmp_path / "trace", "--loggops", "L=500,o=200,g=0,G=0.1,O=0,S=4096", "--ranks", "30", "--json")
    assert many["grid"] == [30] and {c["ranks"] for c in many["collectives"]} == {30}
    assert json.dumps(many["left_out"]) == "{}"


BUSY = f"""
import ctypes, sys, time
family, library = sys.argv[1:]
{BEGINNING}
def compute():
    begun = time.thread_time()
    while time.thread_time() - begun < 0.1:
        pass
compute()
names.MPI_Barrier(world)
compute()
names.MPI_Finalize()
"""


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_ranks_that_share_processors_compute_as_long_as_they_had_one(
    recorded: Callable, tmp_path: Path, replay: Callable
) -> None:
    """Twice 0.1 s each, the second time until the end. By the clock it is longer."""
    ranks = 2 * (os.cpu_count() or 1)
    if ranks > 8:
        pytest.skip("too many processors to oversubscribe")
    recorded(BUSY, ranks)
    result = replay(tmp_path / "trace", "--loggops", "L=500,o=200,g=0,G=0.1,O=0,S=4096", "--json")
    assert result["computing_seconds"] == pytest.approx(0.2, rel=0.1)
    assert result["recorded_seconds"] > 0.3


POLLS = f"""
import ctypes, sys, time
family, library = sys.argv[1:]
{BEGINNING}
status, request, done = (ctypes.c_int * 10)(), ctypes.c_void_p(), ctypes.c_int()
if rank.value == 0:
    time.sleep(0.05)
    names.MPI_Send(mine, 100, double, 1, 7, world)
if rank.value == 1:
    names.MPI_Irecv(result, 100, double, 0, 7, world, ctypes.byref(request))
    while not done.value:
        names.MPI_Test(ctypes.byref(request), ctypes.byref(done), status)
names.MPI_Finalize()
"""


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_row_of_polls_is_one_call(recorded: Callable, tmp_path: Path, replay: Callable) -> None:
    """Thousands, which would fill the buffer of events."""
    recorded(POLLS, 2)
    lines = [json.loads(line) for line in (tmp_path / "profile").read_text(encoding="utf-8").splitlines()]
    polls = sum(call["calls"] for line in lines for call in line.get("calls", []) if call["call"] == "MPI_Test")
    assert polls > 100, "the profile counts each of them"
    result = replay(tmp_path / "trace", "--loggops", "L=500,o=200,g=0,G=0.1,O=0,S=4096", "--json")
    assert result["left_out"] == {"MPI_Test": 1}, "and the one that completes the request is none of them"
    calls = {site["name"].partition(" ")[0]: site["calls"] for site in result["sites"]}
    assert calls["MPI_Test"] == 1


FROM_NOBODY = f"""
import ctypes, sys
family, library = sys.argv[1:]
{BEGINNING}
nobody, ignored = (-2, 0) if family == "openmpi" else (-1, 1)
requests = (ctypes.c_void_p * 2)() if family == "openmpi" else (ctypes.c_int * 2)()
size = ctypes.sizeof(requests) // 2
for place, source in enumerate((nobody, 1 - rank.value)):
    at = ctypes.c_void_p(ctypes.addressof(requests) + place * size)
    names.MPI_Irecv(result, 100, double, source, 7, world, at)
names.MPI_Send(mine, 100, double, 1 - rank.value, 7, world)
names.MPI_Waitall(2, requests, ctypes.c_void_p(ignored))
names.MPI_Finalize()
"""


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_receive_from_nobody_is_no_message(recorded: Callable, tmp_path: Path, replay: Callable) -> None:
    recorded(FROM_NOBODY, 2)
    result = replay(tmp_path / "trace", "--loggops", "L=500,o=200,g=0,G=0.1,O=0,S=4096", "--json")
    calls = {site["name"].partition(" ")[0]: site["calls"] for site in result["sites"]}
    assert (calls["MPI_Irecv"], calls["MPI_Send"], calls["MPI_Waitall"]) == (2, 2, 2)
    assert result["left_out"] == {"MPI_Irecv": 2}, "that from nobody"
