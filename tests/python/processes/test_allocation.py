"""Allocations of schedulers, in the text that each of them writes."""

from __future__ import annotations

import json

import pytest

from kumihimo import _machine
from kumihimo.cli import machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.network.placement import Wanted
from kumihimo.predict import simulation
from kumihimo.processes import allocation
from kumihimo.processes.allocation import Allocation
from kumihimo.text.errors import BadInput, Failed

OPENMPI = """# made by hand
node001 slots=4 max_slots=8
node002 slots=2
node002

node003          # one
"""
HYDRA = "node001:4\nnode002:2 binding=numa\n"
PBS = "n1.cluster\nn1.cluster\nn2.cluster\nn2.cluster\nn2.cluster\n"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"SLURM_JOB_NODELIST": "node[001-003,7],login", "SLURM_TASKS_PER_NODE": "4(x3),2,1"},
            {"node001": 4, "node002": 4, "node003": 4, "node7": 2, "login": 1},
        ),
        ({"SLURM_NODELIST": "c1-[0-1]", "SLURM_TASKS_PER_NODE": "28(x2)"}, {"c1-0": 28, "c1-1": 28}),
        ({"SLURM_JOB_NODELIST": "a,b"}, {"a": 1, "b": 1}),
        ({"LSB_MCPU_HOSTS": "hostA 4 hostB 8 "}, {"hostA": 4, "hostB": 8}),
    ],
)
def test_variables_of_slurm_and_lsf(environment, expected):
    found = allocation.of_environment(environment)
    assert dict(zip(found.hosts, found.ranks)) == expected


@pytest.mark.parametrize("variable", ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"])
def test_node_files_of_pbs_and_lsf(tmp_path, variable):
    path = tmp_path / "nodes"
    path.write_text(PBS)
    assert allocation.of_environment({variable: str(path)}) == Allocation(("n1.cluster", "n2.cluster"), (2, 3))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("node[1-4,7]\n", {"node1": 1, "node2": 1, "node3": 1, "node4": 1, "node7": 1}),
        ("fluke[3,6-7,10],login\n", {"fluke3": 1, "fluke6": 1, "fluke7": 1, "fluke10": 1, "login": 1}),
        ("tux[01-02],tux[01-02]\n", {"tux01": 2, "tux02": 2}),  # two brokers on a host
    ],
)
def test_hosts_of_flux(tmp_path, said, expected):
    """Also of an instance in a part of a job of Slurm."""
    environment = stand_in_of_flux(tmp_path, f"echo '{said}'", SLURM_JOB_NODELIST="others[1-9]")
    found = allocation.read("env", environment)
    assert dict(zip(found.hosts, found.ranks)) == expected


def stand_in_of_flux(folder, script, **variables):
    """Takes `flux hostlist local` alone."""
    (folder / "flux").write_text(f'#!/bin/sh\n[ "$*" = "hostlist local" ] || exit 9\n{script}\n', encoding="utf-8")
    (folder / "flux").chmod(0o755)
    return {"FLUX_URI": "local:///run/flux/local", "PATH": f"{folder}:/usr/bin:/bin", **variables}


def test_a_flux_that_does_not_answer_is_one_sentence(tmp_path):
    environment = stand_in_of_flux(tmp_path, "echo 'flux-hostlist: ERROR: no broker' >&2; exit 1")
    with pytest.raises(Failed, match=r"flux hostlist local failed.*no broker.*; give the hosts as a list"):
        allocation.read("env", environment)
    with pytest.raises(Failed, match="flux is not in PATH, but FLUX_URI is set"):
        allocation.read("env", {**environment, "PATH": "/nowhere"})


def test_a_testbed_in_a_job_goes_before_the_job(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("node0 slots=2\nnode1 slots=2\n")
    environment = {"KUMIHIMO_HOSTS": str(path), "SLURM_JOB_NODELIST": "a,b"}
    assert allocation.of_environment(environment) == Allocation(("node0", "node1"), (2, 2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OPENMPI, Allocation(("node001", "node002", "node003"), (4, 3, 1))),
        (HYDRA, Allocation(("node001", "node002"), (4, 2))),
        (PBS, Allocation(("n1.cluster", "n2.cluster"), (2, 3))),
    ],
)
def test_hostfiles(tmp_path, text, expected):
    path = tmp_path / "hosts"
    path.write_text(text)
    assert allocation.read(str(path), {}) == expected


def test_host_lists():
    assert allocation.read("node[001-002]:8", {}) == Allocation(("node001", "node002"), (8, 8))
    assert allocation.read("a,b", {}) == Allocation(("a", "b"), (1, 1))
    assert allocation.read("n1:2, n2:3", {}) == Allocation(("n1", "n2"), (2, 3))
    assert allocation.read("n[1-2,7]:2,m,k[3]:4", {}) == Allocation(("n1", "n2", "n7", "m", "k3"), (2, 2, 2, 1, 4))


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda: allocation.read("env", {}), "SLURM_JOB_NODELIST"),
        (lambda: allocation.read("n[1-2]:3:4", {}), "must be written like node[001-004]:8,login:1 (got 'n[1-2]:3:4')"),
        (lambda: allocation.read("n1,:4", {}), "must be written like node[001-004]:8,login:1 (got ':4')"),
        (lambda: allocation.read("n[1-2:3]", {}), "close each bracket"),
        (lambda: allocation.read("n1:", {}), "(got '')"),
        (lambda: allocation.of_slurm("n[1-3]", "2,1"), "count the tasks of 3 nodes"),
        (lambda: allocation.of_slurm("n[1-3]", "2(y3)"), "tasks per node are written like 2(x3),1"),
        (lambda: allocation.of_slurm("n[1-3]", "2(x999999999)"), "tasks per node are written like 2(x3),1"),
        (lambda: allocation.of_slurm("n[1-3", None), "close each bracket"),
        (lambda: allocation.of_slurm("n1,n1", None), "'n1' twice"),
        (lambda: allocation.of_lsf("a 1 b"), "hosts and slots must come in pairs"),
        (lambda: allocation.of_lsf("a one"), "ranks (got 'one')"),
        (lambda: allocation.of_hostfile("a slots=0\n", "hosts"), "(got '0')"),
        (
            lambda: allocation.of_hostfile("a\nb:2 slots=2\n", "hosts"),
            "hosts:2: a line must give the ranks of its host once",
        ),
        (lambda: allocation.of_hostfile("a 4\n", "hosts"), "hosts:1: name=value"),
        (lambda: allocation.of_hostfile("# none\n", "hosts"), "name at least one"),
        (lambda: allocation.of_hostfile("a:1048576\n" * 3000, "hosts"), "ranks (got 3145728000 of 'a')"),
        (lambda: allocation.of_hostfile("a slot=4\n", "hosts"), "hosts:1: a hostfile has no such key (got 'slot')"),
        (lambda: allocation.read("/nowhere/hosts", {}), "/nowhere/hosts: No such file"),
        (lambda: allocation.read("a:b", {}), "ranks (got 'b')"),
    ],
)
def test_what_is_wrong_is_one_sentence(read, words):
    with pytest.raises(BadInput) as caught:
        read()
    assert words in str(caught.value)


def small(names: str = "") -> _machine.Machine:
    """Four nodes on two switches."""
    lines = ['family = "graph"', "nodes = 4", "switches = 2", 'edges = ["0..1-4", "2..3-5", "4-5 uplink x2"]', names]
    text = "\n".join(['name = "small"', 'summary = "two switches"', "[topology]", *lines, ""])
    return _machine.parse(text + machines.load("reedbush-u").numbers_to_toml(), "small.toml")


def test_hosts_are_the_nodes_of_their_names():
    machine = small('node_names = "n[1-4]"')
    job = simulation.on(machine, Ranks(None, None, None), None, Allocation(("n4.cluster", "n2"), (2, 1)))
    assert job.slots.sizes == [0, 1, 0, 2]
    assert str(job.rank_space) == "row of 3 ranks, 1 to 2 a node"
    with pytest.raises(BadInput, match=r"the machine file of small does not name this host \(got 'n5'"):
        allocation.job_on(machine, Allocation(("n5",), (1,)))


def test_hosts_may_lack_the_domain_that_nodes_have():
    machine = small('node_names = "a.org,b.1.org,b.2.org,c.org"')
    job = simulation.on(machine, Ranks(None, None, None), None, Allocation(("c", "a.org", "b.2.org"), (1, 2, 3)))
    assert job.slots.sizes == [2, 0, 3, 1]
    with pytest.raises(BadInput, match=r"does not name this host \(got 'b'"):
        allocation.job_on(machine, Allocation(("b",), (1,)))


def test_ranks_fill_the_hosts_in_the_order_of_the_list():
    machine = small('node_names = "n[1-4]"')
    given = allocation.read("n4,n1:2,n3:1", {})
    job = simulation.on(machine, Ranks(None, None, None), None, given)
    placed = simulation.placed(job, None, given)
    assert (placed.name, placed.placement.node_of_rank) == ("--allocation", [3, 0, 0, 2])
    assert placed.placement.slot_of_rank == [0, 0, 1, 0]
    twice = Allocation(("n2", "n1", "n2.cluster"), (1, 1, 2))
    job = simulation.on(machine, Ranks(None, None, None), None, twice)
    assert allocation.placement_on(job, twice).slot_of_rank == [0, 0, 1, 2]
    assert simulation.placed(job, None, allocation.read("n[1-4]:2", {})) is None


def test_an_order_needs_sorted_hosts(tmp_path):
    machine, given = small('node_names = "n[1-4]"'), allocation.read("n4,n1", {})
    job = simulation.on(machine, Ranks(None, None, None), None, given)
    with pytest.raises(
        BadInput, match=r"order of the machine's nodes \(got n4,n1\); sort the hosts, or give --placement"
    ):
        simulation.placed(job, Wanted(order="round-robin"), given)
    placed = simulation.placed(job, Wanted(file="p", text="0 n1 0\n1 n4 0\n"), given)
    assert placed.placement.node_of_rank == [0, 3]


def test_hosts_take_the_first_nodes_where_these_have_no_names():
    given = Allocation(("x", "y", "z"), (2, 2, 1))
    assert allocation.job_on(small(), given).slots.sizes == [2, 2, 1]
    torus = machines.load("k-computer")
    with pytest.raises(BadInput, match="name the nodes in the machine file"):
        allocation.job_on(torus, given)
    job = simulation.on(torus, Ranks("3", None, None), None, given)
    assert job.slots.sizes == [2, 2, 1]
    with pytest.raises(BadInput, match="--allocation excludes"):
        simulation.on(torus, Ranks("3", 5, None), None, given)


def test_a_slurm_topology_becomes_a_machine_that_knows_its_nodes(kumihimo, tmp_path):
    (tmp_path / "topology.conf").write_text(
        "SwitchName=s1 Nodes=cn[01-04]\nSwitchName=s2 Nodes=cn[05-08]\nSwitchName=top Switches=s[1-2]\n"
    )
    assert kumihimo("machine", "import", "topology.conf", "--like", "reedbush-u", "-o", "made.toml").code == 0
    environment = {"SLURM_JOB_NODELIST": "cn[02,05-06]", "SLURM_TASKS_PER_NODE": "2(x3)", "PATH": "/usr/bin:/bin"}
    case = ("simulate", "allreduce", "-m", "./made.toml", "--allocation", "env", "-b", "64KiB", "-a", "ring", "--json")
    ended = kumihimo(*case, env=environment)
    assert ended.code == 0, ended.err
    assert '"node_sizes": [0, 2, 0, 0, 2, 2, 0, 0]' in " ".join(ended.out.split())
    case = (*case[:4], "--allocation", "cn05,cn01,cn02", *case[6:])
    (scattered,) = json.loads(kumihimo(*case).out)["results"]
    assert scattered["placement"] == "--allocation"
