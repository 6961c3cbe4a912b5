"""What a testbed knows of its faults, and tells commands, launchers and predictions."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from math import prod
from pathlib import Path

import pytest
from namespaces import COMMAND, NEEDS_NAMESPACES, kumihimo, own_testbeds, right
from waiting import until

from kumihimo.processes.visible import processes
from kumihimo.testbed import faults, testbeds
from kumihimo.testbed.wiring import Wiring

pytestmark = NEEDS_NAMESPACES
own_testbeds = pytest.fixture(autouse=True)(own_testbeds)


def status() -> dict:
    (row,) = json.loads(right("status", "--json"))["results"]
    return row


def ends(links: list[dict]) -> set[tuple[str, str]]:
    return {(link["from"], link["to"]) for link in links}


def agent(node: str, *words: str) -> subprocess.CompletedProcess:
    """As a launcher on node0 starts a daemon."""
    return kumihimo("testbed", "run", "--", "sh", "-c", f'"$OMPI_MCA_plm_rsh_agent" {node} {" ".join(words)}')


def test_status_tells_cut_and_slow_links_and_killed_nodes_until_they_are_healed():
    right("up", "3x2", "--rate", "50Mbit/s")
    sound = status()
    assert (sound["cut_links"], sound["slow_links"], sound["killed_nodes"]) == ([], [], [])
    assert "Faults" not in right("status")
    right("cut", "0-1")
    right("slow", "0-2", "5Mbit/s")
    right("kill", "5")
    found = status()
    assert {("node0", "node1"), ("node1", "node0"), ("node4", "node5")} <= ends(found["cut_links"])
    assert ends(found["slow_links"]) == {("node0", "node2"), ("node2", "node0")}
    assert {link["bits_per_second"] for link in found["slow_links"]} == {5_000_000}
    assert found["killed_nodes"] == ["node5"]
    told = right("status")
    assert "Faults of local:\n  node5 is killed\n  node0-node1 is cut\n  node0-node2 has 5 Mbit/s\n" in told
    right("heal", "4-5")  # one of its links makes a node reachable again
    assert status()["killed_nodes"] == []
    right("heal")
    assert (status()["cut_links"], status()["slow_links"]) == ([], [])


def test_a_slow_link_is_mended_by_cutting_and_healing_it_and_a_cut_one_by_slowing_it():
    right("up", "3")
    right("slow", "0-1", "5Mbit/s")
    right("cut", "0-1")
    assert (len(status()["cut_links"]), status()["slow_links"]) == (2, [])
    right("slow", "0-1", "5Mbit/s")
    assert (status()["cut_links"], len(status()["slow_links"])) == ([], 2)
    right("slow", "0-1", "100Mbit/s")  # that of --rate
    assert status()["slow_links"] == []


def test_measurements_within_a_testbed_know_its_faults():
    """tune and optimise keep them in their journals."""
    right("up", "3")
    asked = "from kumihimo.cli import tune; print(tune.measurement_conditions({})['faults'])"

    def of_tune() -> str:
        return right("run", "--", sys.executable, "-c", asked).strip()

    assert of_tune() == "[]"
    right("slow", "0-1", "5Mbit/s")
    right("cut", "1-2")
    assert of_tune() == "['node1-node2 is cut', 'node0-node1 has 5 Mbit/s']"
    right("heal")
    assert of_tune() == "[]"


def test_pairs_of_nodes_are_those_whose_routes_cross_a_cut_link():
    """Between neighbours of a ring of five there is one way; all other routes over the cut have it too."""
    right("up", "5")
    right("cut", "2-3")
    testbed = testbeds.find(None)
    pairs = set(faults.unreachable(testbed, faults.recorded(testbed)))
    assert pairs == {(2, 3), (3, 2), (1, 3), (3, 1), (2, 4), (4, 2)}
    carried = kumihimo("testbed", "run", "--", "true").stderr
    assert "the link node2-node3 is cut: no messages pass between 3 pairs of nodes, such as node1 and node3;" in carried
    right("heal")
    assert kumihimo("testbed", "run", "--", "true").stderr == ""


def test_the_agent_of_launchers_refuses_a_node_that_no_message_reaches():
    right("up", "2x2")
    assert agent("node1", "hostname").stdout == "node1\n"
    right("cut", "0-1")
    refused = agent("node1", "hostname")
    assert (refused.returncode, refused.stdout) == (255, "")
    assert "node1 cannot be reached from node0: the link node0-node1 is cut; run `kumihimo testbed heal`" in (
        refused.stderr
    )
    assert agent("10.77.0.1", "hostname").returncode == 255, "hosts have addresses, too"
    assert agent("node2", "hostname").stdout == "node2\n"
    right("heal")
    right("kill", "2")
    assert "node2 cannot be reached from node0: node2 was killed" in agent("node2", "hostname").stderr
    right("heal", "0-2")
    assert agent("node2", "hostname").stdout == "node2\n"
    assert "has no node node9" in agent("node9", "hostname").stderr


def is_rank(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x0030304\x00"
    return False


def killed_while(script: str, node: int = 1) -> subprocess.CompletedProcess:
    """A command that has started a rank on node 1, while this node dies. Then its standard input ends."""
    words = [COMMAND, "testbed", "run", "--", "sh", "-c", script]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as process:
        until(lambda: any(is_rank(pid) for pid in processes()), "the rank runs", process)
        right("kill", str(node))
        out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


RANK = 'OMPI_COMM_WORLD_RANK=3 "$OMPI_MCA_plm_rsh_agent" node1 exec sleep 30304 >/dev/null 2>&1'


def test_a_command_that_hides_the_death_of_a_rank_fails_with_the_name_of_the_node():
    """As mpirun of Open MPI 5 does."""
    right("up", "3")
    ended = killed_while(f"{RANK}; exit 0")
    assert ended.returncode == 1
    assert ended.stderr == "kumihimo: node1, with rank 3, was killed while the command ran\n"
    right("heal")
    ended = killed_while(f"{RANK}; exit 7")
    assert ended.returncode == 7, "its own exit status stays"
    assert "node1, with rank 3, was killed" in ended.stderr


def test_a_launcher_that_goes_on_without_dead_ranks_has_its_own_exit_status():
    right("up", "3")
    ended = killed_while(f"sh -c 'sleep 300; :' launcher --with-ft ulfm >/dev/null 2>&1 & {RANK}; exit 0")
    assert ended.returncode == 0
    assert "node1, with rank 3, was killed" in ended.stderr


def test_a_node_may_be_killed_from_within_the_command_and_from_within_the_node(tmp_path):
    """The record is made by processes of that node, and of that command."""
    right("up", "3")
    right("run", "--node", "2", "--", COMMAND, "testbed", "kill", "2")
    assert status()["killed_nodes"] == ["node2"]
    right("heal")
    begun = tmp_path / "begun"
    rank = RANK.replace("exec sleep", f"'touch {begun}; exec sleep").replace(" >", "' >", 1)
    script = f"{rank} & until [ -e {begun} ]; do sleep 0.05; done; {COMMAND} testbed kill 1; wait; exit 0"
    ended = kumihimo("testbed", "run", "--", "sh", "-c", script)
    assert ended.returncode == 1, ended.stderr
    assert "node1, with rank 3, was killed while the command ran" in ended.stderr


def test_a_node_without_ranks_of_the_command_may_die():
    right("up", "3")
    ended = killed_while(f"{RANK} & read line; exit 0", node=2)
    assert (ended.returncode, ended.stderr) == (0, "")


def predicted(*more: str) -> float:
    asked = ("simulate", "bcast", "--bytes", "1MB", "-a", "binomial", "--ranks", "2", "--json")
    done = kumihimo("testbed", "run", "--", COMMAND, *asked, *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"][0]["seconds"]


def test_predictions_in_a_testbed_know_its_slow_links(tmp_path):
    right("up", "2", "--rate", "50Mbit/s")
    sound, file = right("machine"), tmp_path / "slow.toml"
    usual = predicted()
    right("slow", "0-1", "5Mbit/s")
    right("machine", "--out", str(file))
    assert file.read_text().count("[[slow_link]]\n") == 2 and "factor = 0.1\n" in file.read_text()
    assert predicted() == pytest.approx(10 * usual, rel=0.02)
    right("cut", "0-1")
    told = kumihimo("testbed", "machine")
    assert told.stdout == sound and "the machine file has no cut links" in told.stderr
    right("heal")
    assert right("machine") == sound
    assert predicted() == pytest.approx(usual)


def test_a_slow_link_that_a_machine_file_cannot_have_is_told():
    right("up", "2", "--rate", "50Mbit/s")
    right("slow", "0-1", "80Mbit/s")
    told = kumihimo("testbed", "machine")
    assert "[[slow_link]]" not in told.stdout
    assert "the machine file has --rate for node0-node1" in told.stderr


def test_costs_are_not_measured_over_slow_links():
    """They would stay in the machine file when the links are healed."""
    right("up", "3")
    right("slow", "0-1", "5Mbit/s")
    refused = kumihimo("testbed", "machine", "--measure")
    told = "--measure needs a testbed without faults (got node0-node1 has 5 Mbit/s); run `kumihimo testbed heal`"
    assert refused.returncode == 2 and told in refused.stderr


def test_counters_have_the_rate_of_each_link(tmp_path):
    right("up", "3", "--rate", "50Mbit/s")
    right("slow", "0-1", "5Mbit/s")
    right("cut", "1-2")
    rows = json.loads(right("counters", "--json"))["results"]
    rates = {(row["from"], row["to"]): row["bits_per_second"] for row in rows}
    assert (rates["node0", "node1"], rates["node2", "node1"], rates["node0", "node2"]) == (5_000_000, 0, 50_000_000)
    right("heal", "1-2")
    file = tmp_path / "predicted.json"
    asked = ("simulate", "bcast", "-a", "binomial", "--bytes", "1kB", "--links", "--json")
    file.write_text(right("run", "--", COMMAND, *asked))
    assert "node0-node1 has 5 Mbit/s, now" in right("counters", "--compare", str(file))


def test_faults_within_a_testbed_are_those_of_the_commands_outside():
    right("up", "2x2")
    right("run", "--", COMMAND, "testbed", "cut", "0-1")
    assert len(status()["cut_links"]) == 2
    right("cut", "0-2")
    inside = json.loads(right("run", "--", COMMAND, "testbed", "status", "--json"))["results"]
    assert len(inside[0]["cut_links"]) == 4


def test_a_new_testbed_has_no_faults_of_an_earlier_one():
    right("up", "2")
    right("cut", "0-1")
    right("down")
    right("up", "2")
    assert status()["cut_links"] == []


@pytest.mark.parametrize(
    ("network", "shape"), [("fugaku", "4x3x2"), ("leonardo", "12"), ("reedbush-h", "8"), ("blue-waters", "2x2x1x2")]
)
def test_a_part_of_a_machine_is_a_testbed_of_its_own_network(network, shape):
    right("up", network, "--shape", shape)
    testbed = testbeds.find(None)
    assert testbed.wiring.nodes == prod(map(int, shape.split("x")))
    last = testbed.wiring.nodes - 1
    assert right("run", "--node", str(last), "--", "hostname") == f"node{last}\n"
    asked = ("simulate", "allreduce", "-a", "ring", "-b", "8", "--json")
    (row,) = json.loads(right("run", "--", COMMAND, *asked))["results"]
    assert row["network"] == testbed.plan.described.network
    told = right("run", "--", "sh", "-c", "echo $KUMIHIMO_SHAPE").strip()
    assert told == {"fugaku": "4x3x2", "blue-waters": "2mx2mx1mx2"}.get(network, "")


def test_switches_that_no_route_has_are_left_out_of_a_part_of_a_machine():
    right("up", "leonardo", "--shape", "12")
    wiring = testbeds.find(None).wiring
    assert isinstance(wiring, Wiring) and 2 <= wiring.switches <= 20 < wiring._machine.switches
    name = wiring.name(wiring.nodes)
    assert faults.vertex_of(wiring, name) == wiring.nodes
    assert right("run", "--node", name, "--", "hostname") == f"{name}\n"
    right("cut", f"node0-{name}")
    assert right("status").endswith(f"Faults of local:\n  node0-{name} is cut\n")


def test_a_half_written_record_is_never_seen():
    """Commands read while others write: the file is replaced whole."""
    right("up", "2")
    testbed = testbeds.find(None)
    with faults.changing(testbed) as record:
        record.cut.add(0)
        assert faults.recorded(testbed).cut == set()
    assert faults.recorded(testbed).cut == {0}
    with pytest.raises(KeyboardInterrupt), faults.changing(testbed) as record:
        record.cut.add(1)
        raise KeyboardInterrupt
    assert faults.recorded(testbed).cut == {0, 1}, "what was done is recorded, though the command failed"
    assert not [path for path in Path(testbed.folder).iterdir() if "faults" in path.name and path.suffix != ".json"]
