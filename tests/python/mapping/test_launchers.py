"""The files of placements start each rank on its node where the real launchers read them: by the command line that goes
with the file, on several nodes which are one machine under several names."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import named_nodes
import private_slurm
import pytest

from kumihimo import _placement, _topology
from kumihimo._placement import Placement, Slots
from kumihimo.processes import mpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(named_nodes.lacking() != "", reason=named_nodes.lacking()),
    pytest.mark.skipif(mpi.available_processors() < 2, reason="a slot is a processor, and nodes have two slots"),
]
NODES = ["nodea", "nodeb", "nodec"]
NEWEST = Path(__file__).resolve().parents[3] / "build/mpi"
PROGRAM = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK-$SLURM_PROCID}}
echo "of $rank: $(hostname) $(awk '/Cpus_allowed_list/ { print $2 }' /proc/self/status);"
"""
SAID = re.compile(r"of (\d+): (\w+) ([\d,-]+);")  # launchers may join lines
# UCX below MPICH now and then reads a rank's address before it is written (pmodels/mpich#7417): starts are repeated.
LOST_ADDRESS = "failed to unpack address, invalid bandwidth"
SHARED = """
import ctypes, socket, sys
names = ctypes.CDLL(sys.argv[1])
world, shared, none = 0x44000000, 1, 0x1C000000
names.MPI_Init(None, None)
rank, near, ranks = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
names.MPI_Comm_rank(world, ctypes.byref(rank))
names.MPI_Comm_split_type(world, shared, 0, none, ctypes.byref(near))
names.MPI_Comm_size(near, ctypes.byref(ranks))
print(f"of {rank.value}: {socket.gethostname()} {ranks.value};", flush=True)
names.MPI_Finalize()
"""
# An order, ranks, and the slots of each node.
PLACEMENTS = [("block", 6, (2, 2, 2)), ("folded", 5, (2, 2, 2)), ("random:5", 5, (2, 1, 2)), ("random:4", 6, (2, 2, 2))]
parametrized = pytest.mark.parametrize(("order", "ranks", "sizes"), PLACEMENTS, ids=[p[0] for p in PLACEMENTS])


def placed(order: str, ranks: int, sizes: tuple[int, ...]) -> Placement:
    return Placement.in_order(order, Slots.of_nodes(list(sizes)), _topology.Shape(), ranks=ranks)


def names_of(placement: Placement) -> list[str]:
    return [NODES[node] for node in placement.node_of_rank]


def test_the_placements_are_hard_enough() -> None:
    scattered = [names_of(placed(*each)) for each in PLACEMENTS]
    assert any(names != sorted(names) and names[0] != NODES[0] for names in scattered)
    assert any(a == c != b for names in scattered for a, b, c in zip(names, names[1:], names[2:]))


def started(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """mpirun of Open MPI 5 may lose an address, and on a busy machine never ends in one of some tens of runs: again."""
    for left in (2, 1, 0):
        process = subprocess.Popen(
            ["sh", "-c", line],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if left == 0:
                raise
            continue
        if LOST_ADDRESS not in out + err:
            break
    return subprocess.CompletedProcess(line, process.returncode, out, err)


@pytest.fixture
def launched(tmp_path: Path):
    """Starts the program by a map file: format, placement, launcher, environment -> node and processors of ranks."""
    program = tmp_path / "program"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)

    def launch(
        form: str, placement: Placement, launcher: Path | None, environment: dict[str, str], **context
    ) -> list[tuple[str, str]]:
        context = {"names": NODES, **context}
        text = _placement.write_map(form, placement, **context)
        read = _placement.read_map(form, text, "map", placement.slots, **context)
        assert read.node_of_rank == placement.node_of_rank
        (tmp_path / "map of ranks").write_text(text, encoding="utf-8")
        line = _placement.launch_hint(form, "map of ranks", placement.ranks).replace("PROGRAM", "./program")
        if launcher is not None:
            line = f"{shlex.quote(str(launcher))} {line.partition(' ')[2]}"
        done = started(line, tmp_path, {**os.environ, **environment})
        assert done.returncode == 0, f"{line}\n{text}{done.stdout}{done.stderr}"
        said = {int(rank): (node, rest) for rank, node, rest in re.findall(SAID, done.stdout)}
        return [said[rank] for rank in range(placement.ranks)]

    launch.program = program
    return launch


@pytest.fixture
def openmpi_4(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    found = next((each for each in mpi.discover() if each.family == "openmpi"), None)
    if found is None or not found.version.startswith("4."):
        pytest.skip("no Open MPI 4 on this machine")
    settings = {"plm": "rsh", "plm_rsh_agent": named_nodes.agent_in(tmp_path), "plm_rsh_no_tree_spawn": 1}
    settings |= {"oob_tcp_if_include": "lo"}
    environment = {f"OMPI_MCA_{name}": str(value) for name, value in settings.items()}
    return found.launcher, {**environment, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture
def openmpi_5(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    launcher = NEWEST / "openmpi-5/bin/mpirun"
    if not launcher.exists():
        pytest.skip("no Open MPI 5 in build/mpi")
    (tmp_path / "hosts").write_text("".join(f"{name} slots=2\n" for name in NODES), encoding="utf-8")
    settings = {"plm_ssh_agent": named_nodes.agent_in(tmp_path), "plm_ssh_no_tree_spawn": 1}
    settings |= {"prte_default_hostfile": tmp_path / "hosts"}
    environment = {f"PRTE_MCA_{name}": str(value) for name, value in settings.items()}
    for name in ("OMPI", "PRTE"):
        environment |= {f"{name}_ALLOW_RUN_AS_ROOT": "1", f"{name}_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return launcher, environment


@parametrized
def test_open_mpi_4_takes_the_rankfile(launched, openmpi_4, order, ranks, sizes):
    placement = placed(order, ranks, sizes)
    found = launched("openmpi4", placement, *openmpi_4)
    assert found == list(zip(names_of(placement), map(str, placement.slot_of_rank)))


def test_open_mpi_4_counts_nodes_of_an_allocation(launched, openmpi_4):
    placement = placed(*PLACEMENTS[-1])
    launcher, environment = openmpi_4
    environment |= {"SLURM_JOBID": "1", "SLURM_NODELIST": ",".join(NODES), "SLURM_TASKS_PER_NODE": "2(x3)"}
    found = launched("openmpi4", placement, launcher, environment, names=[])
    assert [node for node, _ in found] == names_of(placement)


@parametrized
def test_open_mpi_5_takes_the_rankfile(launched, openmpi_5, order, ranks, sizes):
    placement = placed(order, ranks, sizes)
    found = launched("openmpi5", placement, *openmpi_5)
    assert found == list(zip(names_of(placement), map(str, placement.slot_of_rank)))


def test_open_mpi_5_counts_nodes(launched, openmpi_5):
    placement = placed(*PLACEMENTS[-1])
    assert [node for node, _ in launched("openmpi5", placement, *openmpi_5, names=[])] == names_of(placement)


@pytest.mark.parametrize("version", ["4", "5"])
def test_slots_of_several_cores_are_bound_to_them(launched, version, request):
    placement = placed("random:1", 3, (1, 1, 1))
    installation = request.getfixturevalue(f"openmpi_{version}")
    found = launched(f"openmpi{version}", placement, *installation, cores_per_node=2)
    assert found == [(node, "0-1") for node in names_of(placement)]


def mpich(version: str, folder: Path) -> tuple[mpi.Installation, dict[str, str]]:
    """4: that of the system, whichever version it has."""
    if version == "4":
        found = next((each for each in mpi.discover() if each.family == "mpich"), None)
    else:
        found = mpi.choose(str(NEWEST / "mpich-5")) if (NEWEST / "mpich-5").is_dir() else None
    if found is None:
        pytest.skip(f"no MPICH {version} on this machine")
    return found, {"HYDRA_LAUNCHER": "rsh", "HYDRA_LAUNCHER_EXEC": str(named_nodes.agent_in(folder))}


OF_HYDRA = pytest.mark.parametrize(("version", "form"), [("4", "hydra"), ("5", "hydra"), ("5", "mpich5")])


@OF_HYDRA
@parametrized
def test_hydra_takes_the_hosts(launched, tmp_path, version, form, order, ranks, sizes):
    placement = placed(order, ranks, sizes)
    installation, environment = mpich(version, tmp_path)
    found = launched(form, placement, installation.launcher, environment, slots_are_alike=True)
    assert [node for node, _ in found] == names_of(placement)


@OF_HYDRA
def test_ranks_of_a_node_share_memory_unless_there_is_a_warning(launched, tmp_path, version, form):
    installation, environment = mpich(version, tmp_path)
    (tmp_path / "shared.py").write_text(SHARED, encoding="utf-8")
    launched.program.write_text(
        f"#!/bin/sh\nexec {sys.executable} shared.py {installation.library}\n", encoding="utf-8"
    )
    for each in PLACEMENTS:
        placement = placed(*each)
        warning = _placement.map_warning(form, placement)
        names = names_of(placement)
        if warning:  # each run of a node counts as one
            runs = [(name, len(list(run))) for name, run in itertools.groupby(names)]
            wanted = [(name, str(length)) for name, length in runs for _ in range(length)]
        else:
            wanted = [(name, str(names.count(name))) for name in names]
        assert launched(form, placement, installation.launcher, environment, slots_are_alike=True) == wanted
        assert bool(warning) == (form == "hydra" and each[0] != "block")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if reason := private_slurm.lacking(of_several_nodes=True):
        pytest.skip(reason)
    with private_slurm.running(tmp_path_factory.mktemp("slurm"), NODES) as configuration:
        yield configuration


@parametrized
def test_srun_takes_the_hosts(launched, slurm, order, ranks, sizes):
    placement = placed(order, ranks, sizes)
    found = launched("slurm", placement, None, {"SLURM_CONF": str(slurm)}, slots_are_alike=True)
    assert [node for node, _ in found] == names_of(placement)
