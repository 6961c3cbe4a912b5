"""A job on four nodes of Slurm: its launchers, the guide's commands, placements, and campaigns as job arrays.

The nodes are one machine under four names, with a slurmd and a folder of PMIx each (private_slurm.py)."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import private_slurm
import pytest
from by_c_names import BEGINNING
from waiting import PATIENCE, until

from kumihimo.processes import mpi

pytestmark = pytest.mark.mpi
COMMAND = Path(sys.executable).parent / "kumihimo"
NODES = [f"node{number}" for number in range(1, 5)]
TOPOLOGY = """SwitchName=s0 Nodes=node[1-2]
SwitchName=s1 Nodes=node[3-4]
SwitchName=top Switches=s[0-1]
"""
PLUGINS = {"openmpi": "pmix", "mpich": "pmi2"}  # of srun --mpi, with Debian's packages
PROGRAM = "import ctypes, os, sys, time\nfamily, library = sys.argv[1:]\n" + BEGINNING
PROGRAM += """
import socket
print(f"of {rank.value}: {socket.gethostname()};", flush=True)
names.MPI_Finalize()
"""
MEASURE = """import json, sys
from kumihimo.processes import mpi
from kumihimo.tune.bench import measured
from kumihimo.tune.bench.job import Launcher
found = measured.measure(Launcher(8, mpi.choose(sys.argv[1]), seconds=120), ["switch"])
print(json.dumps({"launch": found.launch, "nodes": sorted(found.nodes), "ranks_a_node": found.most_ranks_a_node}))
"""
SAID = re.compile(r"of (\d+): (\w+);")
SWEEP = """[parameters]
collective = "allreduce"
machine = "k-computer"
shape = "24x6x16"
algorithm = "trinaryx3"
bytes = "8..16MiB"
window = [1, 2]
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if reason := private_slurm.lacking(of_several_nodes=True):
        pytest.skip(reason)
    with private_slurm.running(tmp_path_factory.mktemp("slurm"), NODES, TOPOLOGY) as configuration:
        yield configuration


@pytest.fixture
def cluster(slurm, tmp_path, monkeypatch):
    """The user's folder and environment on the login node: ranks share two processors, so they yield."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    monkeypatch.setenv("PATH", f"{COMMAND.parent}:/usr/bin:/bin:/usr/sbin:/sbin")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


# Open MPI 4.1 over Slurm's PMIx: about one start in 40 on a busy machine, also of a C program without Kumihimo. A rank
# that waits in the first fence of MPI_Init gets a message of a rank that has left MPI_Init. mca_btl_tcp has no handler
# for it yet and calls a null pointer. Such starts are repeated, unless a rank has said where it is: then all ranks have
# left MPI_Init.
NO_HANDLER = re.compile(
    r"Signal: Segmentation fault.*\n.*\n.*Failing at address: \(nil\)\n.*libc\.so.*\n.*End of error"
)


def ran(folder: Path, line: str, code: int = 0, seconds: float = 120) -> subprocess.CompletedProcess:
    for left in (2, 1, 0):
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE * seconds,
        )
        died_in_init = NO_HANDLER.search(done.stdout + done.stderr) and not SAID.search(done.stdout)
        if done.returncode == code or not left or not died_in_init:
            break
    assert done.returncode == code, f"{line}\n{done.stdout}{done.stderr}"
    return done


def words_of(installation: mpi.Installation) -> str:
    return shlex.join([sys.executable, "program.py", installation.family, str(installation.library)])


def nodes_of_ranks(out: str) -> list[str]:
    said = {int(rank): node for rank, node in SAID.findall(out)}
    return [said[rank] for rank in range(len(said))]


@pytest.mark.parametrize("family", list(PLUGINS))
def test_run_and_record_of_a_step_on_four_nodes(cluster, installation):
    step = f"srun --mpi={PLUGINS[installation.family]} -N4 --ntasks-per-node=2 -n 8 {words_of(installation)}"
    done = ran(cluster, f"kumihimo run -a ring --json ran.json -- {step}")
    assert nodes_of_ranks(done.stdout) == [node for node in NODES for _ in range(2)]
    summary = json.loads((cluster / "ran.json").read_text(encoding="utf-8"))
    calls = {row["algorithm"]: row["calls"] for row in summary["calls"]}
    assert calls["ring"] == 8 * 5, "those of all ranks"
    ran(cluster, f"kumihimo record -- {step}")
    head = json.loads((cluster / "kumihimo-profile.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (head["ranks"], head["srun_mpi"]) == (8, PLUGINS[installation.family])


@pytest.mark.parametrize("family", list(PLUGINS))
@pytest.mark.parametrize("launcher", ["srun", "own"])
def test_measurements_by_srun_and_by_the_library_s_launcher(cluster, monkeypatch, installation, launcher):
    """In an allocation of four nodes; both reach all of them."""
    if launcher == "srun":
        monkeypatch.setenv("KUMIHIMO_LAUNCHER", f"srun --mpi={PLUGINS[installation.family]}")
    (cluster / "measure.py").write_text(MEASURE, encoding="utf-8")
    line = f"{sys.executable} measure.py {installation.family}"
    found = json.loads(ran(cluster, f"salloc -Q -N4 --ntasks-per-node=2 {line}", seconds=300).stdout)
    assert found["launch"].startswith("srun --mpi=") == (launcher == "srun"), found
    assert (found["nodes"], found["ranks_a_node"]) == (NODES, 2)


def test_a_placement_of_the_allocation_is_started_by_srun(cluster):
    """The guide's way: the topology as a machine, the hosts of the job, and the order that `place` wrote."""
    (cluster / "topology.conf").write_text(TOPOLOGY, encoding="utf-8")
    ran(cluster, "kumihimo machine import topology.conf --like leonardo -o mine.toml")
    # Ranks 0 and 4, 1 and 5, ... exchange everything, so block order is wrong.
    pairs = "".join(f"{a} {(a + 4) % 8} 1000000\n" for a in range(8))
    (cluster / "traffic.txt").write_text(f"# 8\n{pairs}", encoding="utf-8")
    place = "kumihimo place --traffic traffic.txt --machine mine.toml --allocation env --output slurm:hosts"
    start = "SLURM_HOSTFILE=hosts srun -m arbitrary -n 8 sh -c 'echo \"of $SLURM_PROCID: $(hostname);\"'"
    (cluster / "job.sh").write_text(f"#!/bin/sh\n{place} && {start}\n", encoding="utf-8")
    done = ran(cluster, "salloc -Q -N4 --ntasks-per-node=2 sh job.sh")
    found = nodes_of_ranks(done.stdout)
    assert found == (cluster / "hosts").read_text(encoding="utf-8").split()
    assert all(found[rank] == found[rank + 4] for rank in range(4)), "partners share a node"


def test_a_killed_job_array_goes_on(cluster):
    """Each task of the array computes a part. The array is killed while it works, submitted again, and joined."""
    (cluster / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    (cluster / "job.sh").write_text(
        "#!/bin/sh\n#SBATCH --array=0-3%2 --output=log.%a --error=progress.%a\n"
        "kumihimo campaign sweep.toml --workers 1 --part $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --json\n",
        encoding="utf-8",
    )
    job = ran(cluster, "sbatch --parsable job.sh").stdout.strip()
    until(lambda: points_in(cluster) >= 3, "some points are computed")
    ran(cluster, f"scancel --signal=KILL --full {job}; scancel {job}")
    until(lambda: not queue(), "the array has ended")
    before = points_in(cluster)
    points = ran(cluster, "kumihimo campaign sweep.toml --dry-run | tail -1").stdout
    every = int(re.search(r"(\d+) predictions", points)[1])
    assert 3 <= before < every, "it was killed while it worked"
    for log in cluster.glob("log.*"):
        log.unlink()
    ran(cluster, "sbatch --wait job.sh", seconds=300)
    objects = [json.loads(log.read_text(encoding="utf-8")) for log in sorted(cluster.glob("log.*"))]
    assert [each["failed"] for each in objects] == [0] * 4
    assert sum(each["points"] for each in objects) == every
    assert sum(each["computed"] for each in objects) == every - before, "nothing is computed twice"
    whole = json.loads(ran(cluster, "kumihimo campaign sweep.toml --json").stdout)
    assert (whole["points"], whole["computed"], whole["ok"]) == (every, 0, every)


def points_in(folder: Path) -> int:
    """That all parts have computed."""
    number = 0
    for path in folder.glob("sweep.part-*.sqlite"):
        try:
            with sqlite3.connect(path, timeout=10) as database:
                number += database.execute("SELECT count(*) FROM results").fetchone()[0]
        except sqlite3.OperationalError:  # it is being made
            time.sleep(0.02)
    return number


def queue() -> str:
    return subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, check=True, timeout=300).stdout
