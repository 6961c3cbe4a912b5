"""From a recorded program to a run with choices of its own, on real MPI processes: record, tune --profile, run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from by_c_names import BEGINNING
from families import others_long

from kumihimo.processes import mpi
from kumihimo.run import wisdom_reading
from kumihimo.run.profile import collectives
from kumihimo.tune import program

INSTALLATIONS = mpi.discover()
PROGRAM = "import ctypes, sys\nfamily, library = sys.argv[1:]\n" + BEGINNING
PROGRAM += """
for _ in range(2000):
    names.MPI_Allreduce(mine, result, 1000, double, total, world)
names.MPI_Finalize()
"""
HEADER = {"kumihimo_profile": 1, "mpi": "an MPI", "ranks": 2, "program": "solver-1", "sync": False}
CALL = {"call": "MPI_Allreduce", "site": None, "communicator": 0, "calls": 5, "bytes": 40000, "seconds": 0.01}
CALL |= {"min_seconds": 0.001, "max_seconds": 0.004, "bytes_from": 4096, "smallest_bytes": 8000, "largest_bytes": 8000}
CALL |= {"type": "float64", "operation": "sum", "in_place": False, "apart_seconds": 0.0, "split_calls": 5}
CALL |= {"split_seconds": 0.01, "waiting_seconds": 0.008, "transferring_seconds": 0.002}
WORLD = {"name": "MPI_COMM_WORLD", "site": None, "size": 2, "inter": False}
RANK = {"finalized": True, "seconds": 10.0, "mpi_seconds": 0.01, "calls": [CALL], "communicators": [WORLD]}
RANK |= {"sites": [], "sizes": {}, "partners": [], "regions": []}


def recorded(kumihimo, folder: Path, installation: mpi.Installation, text: str = PROGRAM) -> list[str]:
    """The program's line."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    line = [*installation.arguments(2), sys.executable, "program.py", installation.family, str(installation.library)]
    ended = kumihimo("record", "-o", "profile", "--", *line)
    assert ended.code == 0, ended.err
    return line


@pytest.mark.mpi
@others_long(INSTALLATIONS)
def test_a_program_gets_choices_of_its_own(kumihimo, tmp_path, installation):
    line = recorded(kumihimo, tmp_path, installation)
    ended = kumihimo("tune", "--profile", "profile", "--budget", "60s", "--json", timeout_seconds=120)
    assert ended.code == 0, ended.err
    assert "other algorithms can save at most" in ended.err
    assert "tuning 1 collective takes about" in ended.err
    found = json.loads(ended.out)
    assert {(choice["collective"], choice["ranks"]) for choice in found["results"]} == {("allreduce", 2)}
    assert {row["bytes"] for choice in found["results"] for row in choice["measured"]} == {8000}
    told = found["profile"]
    assert 0 < told["transferring_share"] <= told["collectives_share"] <= 1
    assert told["predicted_gain"]["share"] <= told["transferring_share"]
    key = told["program"]
    assert key.startswith("program.py-")
    path = wisdom_reading.folder() / "programs" / key
    assert Path(found["wisdom"]).parent == path
    assert json.loads(Path(found["wisdom"]).read_text(encoding="utf-8"))["made"]["profile"] == "profile"

    ran = kumihimo("run", "--", *line)
    assert ran.code == 0, ran.err
    assert f"wisdom: {found['wisdom']}" in ran.err, "the program's own"
    (tmp_path / "other.py").write_text(PROGRAM, encoding="utf-8")
    ran = kumihimo("run", "--", *[word.replace("program.py", "other.py") for word in line])
    assert f"wisdom: {found['wisdom']}" not in ran.err


BEGUN = PROGRAM.replace("for _ in range(2000):", "request = ctypes.c_void_p()\nfor _ in range(2000):").replace(
    "    names.MPI_Allreduce(mine, result, 1000, double, total, world)\nnames",
    """    names.MPI_Iallreduce(mine, result, 1000, double, total, world, ctypes.byref(request))
    sum(range(2000))
    names.MPI_Wait(ctypes.byref(request), ctypes.c_void_p(0 if family == "openmpi" else 1))
names""",
)


@pytest.mark.mpi
@others_long(INSTALLATIONS, usual=1)
def test_non_blocking_calls_over_computation_are_tuned(kumihimo, tmp_path, installation):
    line = recorded(kumihimo, tmp_path, installation, BEGUN)
    targets = program.plan(collectives.of(tmp_path / "profile"), ["allreduce"]).targets
    (target,) = (target for target in targets if target.non_blocking)
    assert target.program.ways == ("over_computation_seconds",)
    options = ("allreduce", "--budget", "60s", "--json")
    ended = kumihimo("tune", "--profile", "profile", *options, timeout_seconds=120)
    assert ended.code == 0, ended.err
    found = [choice for choice in json.loads(ended.out)["results"] if choice.get("start") == "non-blocking"]
    assert found and {row["bytes"] for choice in found for row in choice["measured"]} == {8000}
    for row in (row for choice in found for row in choice["measured"] if choice["algorithm"] != "library"):
        assert row["program_ratio"] < 1, "rehearsed"
    ran = kumihimo("run", "--", *line)
    assert ran.code == 0, ran.err
    assert "iallreduce" in ran.err


UNEQUAL = "import ctypes, sys\nfamily, library = sys.argv[1:]\n" + BEGINNING
UNEQUAL += """
def of(*numbers):
    return (ctypes.c_int * len(numbers))(*numbers)

for own in range(2000):
    to = [1 + (own + rank.value + r) % 7 for r in range(ranks.value)]
    come = [1 + (own + rank.value + r) % 7 for r in range(ranks.value)]
    places = of(*[8 * r for r in range(ranks.value)])
    names.MPI_Alltoallv(mine, of(*to), places, double, result, of(*come), places, double, world)
    assert [result[8 * r + to[r] - 1] for r in range(ranks.value)] == [8 * rank.value + n - 1 for n in to]
lengths = of(*range(1, ranks.value + 1))
names.MPI_Allgatherv(mine, rank.value + 1, double, result, lengths, of(*[8 * r for r in range(ranks.value)]), double,
                     world)
assert [result[8 * r + r] for r in range(ranks.value)] == list(range(ranks.value))
names.MPI_Finalize()
"""


@pytest.mark.mpi
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=lambda installation: installation.family)
def test_a_choice_for_blocks_of_different_sizes_is_run(kumihimo, tmp_path, installation):
    line = recorded(kumihimo, tmp_path, installation, UNEQUAL)
    plan = program.plan(collectives.of(tmp_path / "profile"), ["alltoall"])
    assert [(target.collective, target.unequal) for target in plan.targets] == [("alltoall", True)]
    measured = {"ranks": 2, "blocks": "unequal", "ratio_high": 0.5, "seconds": 1e-6, "library_seconds": 2e-6}
    choices = [
        {"collective": "alltoall", "algorithm": "linear", **measured},
        {"collective": "allgather", "algorithm": "ring", **measured},
        {"collective": "alltoall", "algorithm": "bruck", "ratio_high": 0.5},  # of equal blocks
    ]
    (tmp_path / "wisdom.json").write_text(json.dumps({"kumihimo_wisdom": 1, "choices": choices}), encoding="utf-8")
    ran = kumihimo("run", "--wisdom", "wisdom.json", "--", *line)
    assert ran.code == 0, ran.err
    assert sum(map(int, re.findall(r"alltoall .*linear, (\d+) calls", ran.err))) == 4000, ran.err
    assert re.search(r"allgather .*ring, 2 calls", ran.err), ran.err


def test_a_program_without_collectives_worth_tuning_is_told_so(kumihimo, tmp_path):
    lines = (HEADER, {"rank": 0, **RANK}, {"rank": 1, **RANK})
    (tmp_path / "profile").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = kumihimo("tune", "--profile", "profile")
    assert ended.code == 0, ended.err
    told = [line for line in ended.err.splitlines() if "share 1 processor" not in line]  # as on a machine with one
    assert told == [
        "kumihimo: the program took 10 s on 2 ranks; 0.1 % of it in collectives: 0.1 % waiting for other "
        "ranks, 0.0 % transferring",
        "kumihimo: other algorithms can save at most 0.0 % of the program's time",
        "kumihimo: there is nothing to tune: allreduce of 2 ranks, from 4KiB to under 8KiB (0.1 % of the time, 0.0 % "
        "transferring): too little time to be measured",
    ]
    assert ended.out == ""
    ended = kumihimo("tune", "--profile", "profile", "--json")
    assert json.loads(ended.out)["results"] == []


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--ranks", "2"], "--ranks"),
        (["--bytes", "8"], "--bytes"),
        (["--machine", "k-computer"], "--machine"),
        (["--export", "there"], "--export"),
        (["--reproducible"], "--reproducible"),
    ],
)
def test_what_the_profile_says_is_not_asked_for(kumihimo, options, name):
    ended = kumihimo("tune", "--profile", "profile", *options)
    assert ended.code == 2
    assert f"--profile excludes {name}" in ended.err


def test_a_file_that_is_no_profile_is_refused(kumihimo, tmp_path):
    (tmp_path / "profile").write_text("no profile\n", encoding="utf-8")
    ended = kumihimo("tune", "--profile", "profile")
    assert ended.code == 2
    assert "a profile must be one that kumihimo record has written" in ended.err
    ended = kumihimo("tune", "--profile", "none")
    assert ended.code == 2 and "none" in ended.err
