"""`bench`, `tune` and `run` where the launcher spreads the ranks over several nodes. Open MPI asks a program of the
user's choice to start its daemons on other nodes; ours starts each in a namespace in which this machine has the node's
name, so that both it and the MPI library take the ranks of one machine for those of two, which talk by TCP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import named_nodes
import pytest
from by_c_names import BEGINNING

from kumihimo.processes import mpi
from kumihimo.tune.bench import BenchCase, OtherNodes, RealNodes, run_measure

PROGRAM = f"""
import ctypes, sys
family, library = sys.argv[1:]
{BEGINNING}
assert list(result) == [ranks.value * i for i in range(1000)]
names.MPI_Finalize()
"""
ASKED = ("allreduce", "--mpi", "openmpi")
pytestmark = pytest.mark.mpi


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> mpi.Installation:
    """nodea and nodeb, with room for two ranks each."""
    found = next((each for each in mpi.discover() if each.family == "openmpi"), None)
    if found is None or not found.version.startswith("4."):
        pytest.skip("no Open MPI 4 on this machine")
    if reason := named_nodes.lacking():
        pytest.skip(reason)
    agent, hosts = named_nodes.agent_in(tmp_path), tmp_path / "hosts"
    hosts.write_text("nodea slots=2\nnodeb slots=2\n", encoding="utf-8")
    settings = {"plm_rsh_agent": agent, "plm_rsh_no_tree_spawn": 1, "orte_default_hostfile": hosts}
    settings |= {"oob_tcp_if_include": "lo", "btl_tcp_if_include": "lo"}
    for name, value in settings.items():
        monkeypatch.setenv(f"OMPI_MCA_{name}", str(value))
    return found


def found_by(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_machine_measure_makes_a_network_of_them(nodes, kumihimo):
    found = found_by(kumihimo("machine", "measure", "--mpi", "openmpi", "-p", "4", "-o", "two.toml", "--json"))
    assert found["about"]["nodes"] == ["nodea", "nodeb"]
    assert found["network"]["pairs"] == 2
    assert 0 < found["calibration"]["message_latency"] < found["network"]["message_latency"], "TCP is slower"
    machine = found_by(kumihimo("machine", "show", "two.toml", "--json"))
    assert (machine["topology"]["family"], machine["topology"]["nodes"]) == ("fat_tree", 2)
    assert "between two nodes" in machine["loggops"]["L_seconds"]["source"]
    assert {(row["ranks"], row["nodes"]) for row in machine["library_collectives"]["rows"]} == {(4, 2)}
    predicted = found_by(kumihimo("simulate", "allreduce", "-m", "two.toml", "-b", "8", "-a", "ring", "--json"))
    assert predicted["results"][0]["seconds"] > 0


def test_bench_goes_by_the_real_nodes_and_names_them(nodes, kumihimo):
    asked = ("bench", *ASKED, "-p", "4", "-b", "8,64KiB")
    found = found_by(kumihimo(*asked, "--json"))
    about, results = found["about"], found["results"]
    assert (about["one_node"], about["nodes"], about["node_of_rank"]) == (False, ["nodea", "nodeb"], [0, 0, 1, 1])
    assert {(r["space"], r["nodes"], r["ranks_per_node"]) for r in results} == {("mesh 2m, 2 ranks a node", 2, 2)}
    assert {"ring", "hierarchical"} <= {r["algorithm"] for r in results}, "what needs several nodes has them"
    assert all(r["bitwise"] for r in results)
    table = kumihimo(*asked, "-a", "hierarchical")
    assert "\nnodes: nodea (2 ranks), nodeb (2 ranks)\n" in table.out, table.err


def test_nodes_of_unequal_size_are_right_bit_for_bit(nodes, kumihimo):
    asked = ("bench", *ASKED, "-p", "3", "-b", "80000", "-a", "hierarchical", "--check", "--json")
    (found,) = found_by(kumihimo(*asked))["results"]
    assert found["right"], found["found"]
    assert (found["nodes"], found["ranks_per_node"], found["node_sizes"]) == (2, 0, [2, 1])


def test_where_mpirun_starts_the_command_the_workers_say_what_fits(nodes, tmp_path):
    command = [Path(sys.executable).parent / "kumihimo", "bench", "allreduce", "-b", "8", "--json"]
    done = subprocess.run(
        [*nodes.arguments(4), *map(str, command)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **nodes.environment(4)},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert "hierarchical" in {r["algorithm"] for r in results}
    assert {r["nodes"] for r in results} == {2}


def test_no_emulated_node_lies_on_two_real_ones(nodes, kumihimo):
    ended = kumihimo("bench", *ASKED, "-p", "4", "-b", "8", "--ranks-per-node", "3")
    assert ended.code == 2
    assert "all ranks of an emulated node must run on one real node (got ranks 0 and 2 run on two)" in ended.err


def test_a_node_that_does_not_see_the_task_is_told_of(nodes, kumihimo, tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    mounting = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", str(own)]
    if subprocess.run(mounting, capture_output=True, timeout=20, check=False).returncode != 0:
        pytest.skip("no file systems of a node's own here (unshare --mount, mount -t tmpfs)")
    agent = named_nodes.AGENT.replace(
        "--uts sh -c 'hostname", f"--uts --mount sh -c 'mount -t tmpfs none {own} && hostname"
    )
    (tmp_path / "agent").write_text(agent, encoding="utf-8")
    monkeypatch.setenv("TMPDIR", str(own))
    ended = kumihimo("bench", *ASKED, "-p", "4", "-b", "8")
    assert ended.code == 2
    assert ended.err.endswith("; set TMPDIR to a folder that all nodes share\n")


@pytest.mark.long  # it spends its budget
def test_what_tune_finds_on_nodes_run_takes_on_the_like(nodes, kumihimo, tmp_path):
    asked = ("tune", *ASKED, "--ranks", "2,4", "--bytes", "8192", "--budget", "100s", "--json")
    found = found_by(kumihimo(*asked, timeout_seconds=200))
    assert "4 ranks on several nodes: nodea (2 ranks), nodeb (2 ranks)" in found["notes"]
    file = json.loads(Path(found["wisdom"]).read_text(encoding="utf-8"))
    places = {(c["ranks"], c["nodes"], c["ranks_per_node"], c.get("emulated", False)) for c in file["choices"]}
    assert places == {(2, 1, 2, False), (4, 2, 2, False)}, "two ranks are on one node, as the launcher put them"

    of_two = [choice for choice in file["choices"] if choice["nodes"] == 2]
    assert any(each["bytes"] == 8192 for choice in of_two for each in choice["measured"])
    for choice in of_two:  # whatever was faster in so short a time
        choice.update(algorithm="hierarchical", parameters={}, to_bytes=2**20, from_bytes=0)
    Path(found["wisdom"]).write_text(json.dumps(file), encoding="utf-8")
    program, summary = tmp_path / "program.py", tmp_path / "summary.json"
    program.write_text(PROGRAM, encoding="utf-8")
    line = [*nodes.arguments(4), sys.executable, str(program), nodes.family, str(nodes.library)]
    ran = kumihimo("run", "--json", str(summary), "--", *line)
    assert ran.code == 0, ran.err
    told = json.loads(summary.read_text(encoding="utf-8"))
    assert [c["algorithm"] for c in told["calls"]] == ["hierarchical"]
    assert told["communicators"] == {"mesh 2m, 2 ranks a node": 1}


@pytest.mark.parametrize("option", ["--ranks-per-node=2", "--export=files"])
def test_what_is_for_one_node_is_refused_on_several(nodes, kumihimo, option):
    ended = kumihimo("tune", *ASKED, "--ranks", "4", "--bytes", "8", option)
    assert ended.code == 2
    assert f"kumihimo: {option.partition('=')[0]} " in ended.err
    assert "(got 4 ranks on nodea (2 ranks), nodeb (2 ranks))" in ended.err


@pytest.mark.skipif(not mpi.discover(), reason="no MPI library on this machine")
def test_a_launch_on_other_nodes_than_asked_for_is_refused():
    asked = BenchCase("allreduce", "ring", bytes=8, nodes=RealNodes((0, 1), ("nodea", "nodeb")))
    with pytest.raises(OtherNodes, match=r"same nodes, nodea \(1 rank\), nodeb \(1 rank\) \(got one node\); give"):
        run_measure([asked], ranks=2)
