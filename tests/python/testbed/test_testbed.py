"""Testbeds as users have them: made, used, broken, mended and removed, with nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from namespaces import COMMAND, NEEDS_NAMESPACES, SEND, kumihimo, own_testbeds, receiver, right, sent, sentence
from waiting import until

from kumihimo.cli.testbed import rate_of
from kumihimo.testbed import machine_file, testbeds
from kumihimo.text.errors import NotApplicable

pytestmark = NEEDS_NAMESPACES
own_testbeds = pytest.fixture(autouse=True)(own_testbeds)


def data_of_links() -> dict[tuple[str, str], int]:
    rows = json.loads(right("counters", "--json"))["results"]
    return {(row["from"], row["to"]): row["data_bytes"] for row in rows}


def test_data_go_over_the_links_of_the_route_alone():
    right("up", "4", "--rate", "100Mbit/s")
    before = data_of_links()
    with receiver("2"):
        assert sent("0", "node2")
    moved = {link: data - before[link] for link, data in data_of_links().items()}
    way = {link for link, data in moved.items() if data > 100_000}
    assert len(way) == 2
    assert all(200_000 <= moved[link] <= 206_000 for link in way), moved


def test_a_cut_link_carries_nothing_until_it_is_healed():
    right("up", "2", "--rate", "100Mbit/s")
    with receiver("1"):
        assert sent("0", "node1")
        right("cut", "0-1")
        assert not sent("0", "node1")
        right("heal")
        assert sent("0", "node1")


def test_the_processes_of_a_killed_node_end_and_it_works_again_when_healed():
    right("up", "3")
    with subprocess.Popen([COMMAND, "testbed", "run", "--node", "1", "--", "sleep", "300"]) as process:
        until(
            lambda: b"sleep\x00300\x00" in commands(),
            "the program runs",
            process,
        )
        right("kill", "1")
        assert process.wait(60) != 0
    right("heal")
    with receiver("1"):
        assert sent("0", "node1")


def test_nothing_is_left_when_the_keeper_is_killed():
    right("up", "3", "--name", "short")
    testbed = testbeds.find("short")
    with subprocess.Popen([COMMAND, "testbed", "run", "--name", "short", "--", "sleep", "301"]) as process:
        until(lambda: b"sleep\x00301\x00" in commands(), "the program runs", process)
        os.kill(testbed.keeper, signal.SIGKILL)
        process.wait(60)
    until(lambda: b"sleep\x00301\x00" not in commands(), "the program ends")
    assert "there is no testbed" in right("status")
    assert not Path(testbed.folder).exists()
    right("up", "3", "--name", "short")  # the name is free


def commands() -> list[bytes]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(entry.read_bytes())
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to_all", [True, False])
def test_a_signal_is_the_commands_to_answer_before_run_ends(number, to_all):
    right("up", "2")
    script = "trap 'sleep 1; echo answered; exit 7' INT TERM; echo ready; while :; do sleep 0.1; done"
    with subprocess.Popen(
        [COMMAND, "testbed", "run", "--node", "1", "--", "sh", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        (os.killpg if to_all else os.kill)(process.pid, number)
        assert process.stdout.readline() == "answered\n"
        assert process.wait(60) == 7


def test_a_command_that_ends_with_its_testbed_says_so():
    right("up", "2")
    with subprocess.Popen(
        [COMMAND, "testbed", "run", "--", "sh", "-c", "echo ready; sleep 302"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        right("down")
        assert process.stderr.read().endswith("the command ended with testbed local, which was removed\n")
        assert process.wait(60) == 1


@pytest.mark.parametrize("code", [0, 3, 77])
def test_the_exit_status_is_the_commands(code):
    right("up", "2")
    assert kumihimo("testbed", "run", "--", "sh", "-c", f"exit {code}").returncode == code


def test_a_program_that_is_not_there_is_one_sentence():
    right("up", "2")
    assert "no-such-program was not found in PATH" in sentence("run", "--", "no-such-program")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="it takes root to give it away")
def test_root_that_may_not_administrate_has_a_user_namespace():
    """As root in a container."""
    without = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", COMMAND, "testbed"]
    up = subprocess.run([*without, "up", "2"], capture_output=True, text=True, timeout=300)
    if up.returncode:
        assert "this system makes no namespaces" in up.stderr and up.stderr.count("\n") == 1
        pytest.skip("no user namespaces are allowed here")
    ran = subprocess.run([*without, "run", "--", "hostname"], capture_output=True, text=True, timeout=300)
    assert ran.stdout == "node0\n", ran.stderr


def test_two_testbeds_are_apart():
    right("up", "2", "--name", "a")
    right("up", "3", "--name", "b")
    listed = json.loads(right("status", "--json"))["results"]
    assert [(row["testbed"], row["nodes"]) for row in listed] == [("a", 2), ("b", 3)]
    assert "is there already" in sentence("up", "2", "--name", "a")
    assert "there is a, b" in sentence("counters")
    right("down", "--name", "a")
    assert right("run", "--", "hostname") == "node0\n"


def test_a_command_within_a_testbed_leaves_the_others_alone():
    """Process ids of other keepers mean nothing there."""
    right("up", "2", "--name", "one")
    right("up", "2", "--name", "two")
    assert "two" in right("run", "--name", "two", "--", COMMAND, "testbed", "status")
    assert sentence("run", "--name", "two", "--", COMMAND, "testbed", "counters", "--name", "one")
    right("run", "--name", "one", "--", "true")


def test_of_two_that_make_a_testbed_of_one_name_one_is_told():
    words = [COMMAND, "testbed", "up", "2x2"]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [each.communicate(timeout=120)[1] for each in both]
    assert sorted(each.returncode for each in both) == [0, 2], told
    assert any("testbed local is there already" in each for each in told), told
    right("run", "--", "true")


def test_what_up_left_when_it_was_killed_is_removed():
    right("up", "2", "--name", "first")
    left = testbeds.home() / "half"
    left.mkdir(mode=0o700)
    (left / "hosts").write_text("", encoding="utf-8")
    right("status")
    assert not left.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder to another user")
def test_a_folder_of_another_user_is_no_testbed():
    """Its file may name any process, which `down` would end."""
    right("up", "2", "--name", "mine")
    os.chown(testbeds.home() / "mine", 65534, -1)
    try:
        assert "mine" not in right("status", "--json")
        assert "missing" in sentence("down", "--name", "mine")
    finally:
        os.chown(testbeds.home() / "mine", 0, -1)
    os.chown(testbeds.home(), 65534, -1)
    try:
        assert "the folder of testbeds must be yours alone" in sentence("up", "2", "--name", "other")
    finally:
        os.chown(testbeds.home(), 0, -1)


def test_a_testbed_tells_its_machine_and_its_shape(tmp_path):
    right("up", "2x2", "--rate", "50Mbit/s", "--slots", "2")
    file = tmp_path / "t.toml"
    right("machine", "--out", str(file))
    shown = kumihimo("machine", "show", str(file))
    assert "2x2" in shown.stdout
    assert right("run", "--", "sh", "-c", "echo $KUMIHIMO_SHAPE") == "2x2\n"
    assert right("run", "--", "sh", "-c", "hostname; cat /sys/class/net/l0/mtu") == "node0\n9000\n"


def test_verbs_take_the_machine_and_the_nodes_of_their_testbed(tmp_path):
    right("up", "3x2", "--rate", "50Mbit/s")
    inside = ("run", "--", COMMAND)
    predicted = json.loads(right(*inside, "simulate", "allreduce", "-a", "ring", "-b", "600kB", "--json"))["results"]
    assert [row["shape"] for row in predicted] == ["3x2"]
    assert "on 6 ranks: torus 3x2" in right(*inside, "show", "allreduce", "-a", "ring")
    assert json.loads(right(*inside, "verify", "allreduce", "-a", "ring", "--json"))["results"][0]["ranks"] == 6
    assert "3x2" in right(*inside, "simulate", "app", "fft3d", "--size", "32")
    placed = tmp_path / "placed.txt"
    right(*inside, "place", "--traffic", "halo:3x2:5", "--output", f"openmpi4:{placed}")
    cores = "0" if (last := os.cpu_count() - 1) == 0 else f"0-{last}"
    lines = [line.split(" slot=") for line in placed.read_text().splitlines() if line.startswith("rank")]
    assert {name.split("=")[1] for name, _ in lines} == {f"node{node}" for node in range(6)}
    assert {slot for _, slot in lines} == {cores}, "ranks share the processors"
    program = tmp_path / "two.goal"
    program.write_text("num_ranks 2\nrank 0 {\nl1: send 1000000b to 1\n}\nrank 1 {\nl1: recv 1000000b from 0\n}\n")
    replayed = json.loads(right(*inside, "replay", f"goal:{program}", "--model", "flow", "--json"))["results"]
    assert 0.155 < replayed[0]["seconds"] < 0.165, "ranks fill the nodes in order, so these two are neighbours"
    other = json.loads(right(*inside, "simulate", "allreduce", "-a", "ring", "-b", "8", "-m", "fugaku", "--json"))
    assert "3x2" not in other["results"][0]["shape"]


def test_an_idle_link_carries_nothing_ahead_of_its_rate():
    right("up", "2", "--rate", "10Mbit/s")
    with receiver("1"):
        seconds = float(right("run", "--", sys.executable, "-c", SEND, "node1"))
    in_time = 200_000 / (10e6 / 8)
    assert seconds > 0.93 * in_time, "a packet's share of it may be missing"


@pytest.mark.mpi
def test_the_cost_of_a_message_is_measured_in_the_testbed(tmp_path):
    right("up", "3x2")
    assumed, measured = tmp_path / "assumed.toml", tmp_path / "measured.toml"
    right("machine", "--out", str(assumed))
    right("machine", "--measure", "--out", str(measured))
    new = [line for line in measured.read_text().splitlines() if line not in assumed.read_text().splitlines()]
    assert {line.split()[0] for line in new} - {"total_bandwidth"} == {
        "message_cost",
        "relay_latency",
        "processors",
        "processor_time",
    }
    assert all("measured = " in line for line in new if not line.startswith("processors "))
    again = tmp_path / "again.toml"
    right("machine", "--out", str(again))
    assert again.read_text() == measured.read_text(), "the testbed keeps what was measured"
    assert kumihimo("simulate", "allreduce", "-a", "ring", "-b", "8", "-m", str(measured)).returncode == 0
    cost = float(re.search(r'^processor_time = { value = "([\d.e+-]+) us"', measured.read_text(), re.MULTILINE)[1])
    barrier = ("simulate", "barrier", "-a", "dissemination", "--model", "exact", "-m", str(measured), "--json")
    (predicted,) = json.loads(kumihimo(*barrier).stdout)["results"]
    assert predicted["seconds"] > 3 * 2 * cost * 1e-6, "messages without bytes take processors, too"
    right("up", "1", "--name", "one")
    assert "needs a testbed with 2 ranks" in sentence("machine", "--measure", "--name", "one")


@pytest.mark.mpi
def test_a_job_on_a_part_of_a_testbed_has_the_shape_of_that_part():
    right("up", "3x2x2", "--slots", "2")
    measured = ("bench", "allreduce", "--bytes", "64KiB", "-a", "trinaryx3", "--check", "--json")
    whole = json.loads(right("run", "--", COMMAND, *measured, "--ranks", "24"))["results"]
    assert [(row["space"], row["right"]) for row in whole] == [("torus 3x2x2, 2 ranks a node", True)]
    usual = json.loads(right("run", "--", COMMAND, *measured))["results"]
    assert [row["space"] for row in usual] == ["torus 3x2x2, 2 ranks a node"], "a rank for each slot"
    plane = json.loads(right("run", "--", COMMAND, *measured, "--ranks", "8"))["results"]
    assert [(row["space"], row["right"]) for row in plane] == [("torus 1mx2x2, 2 ranks a node", True)]


def test_nothing_leads_out_of_a_testbed():
    right("up", "2")
    code = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=2)"
    done = kumihimo("testbed", "run", "--", sys.executable, "-c", code)
    assert "Network is unreachable" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("up", "0x3"), "0x3"),
        (("up", "3x3", "--rate", "3"), "--rate must be"),
        (("up", "3x3", "--rate", "fast"), "--rate must be"),
        (("up", "no-such-machine"), "no-such-machine"),
        (("up", "this-machine"), "a testbed needs a network between nodes"),
        (("up", "99x99x99"), "at most 4096 nodes"),
        (("up", "k-computer"), "at most 4096 nodes"),
        (("up", "3", "--name", "../x"), "the name of a testbed"),
        (("up", "3", "--slots", "0"), "--slots must be"),
        (("up", "3", "--latency", "1h"), "--latency must be 0 to 1s"),
        (("up", "3", "--shape", "2"), "--shape is a part"),
        (("run", "--", "true"), "make one: kumihimo testbed up"),
        (("run", "--name", "none", "--", "true"), "make one: kumihimo testbed up 3x3x3 --name none"),
        (("down",), "make one"),
        (("down", "--all", "--name", "a"), "--all takes no --name"),
        (("counters",), "make one"),
    ],
)
def test_wrong_input_is_one_sentence(words, told):
    assert told in sentence(*words)


def test_a_shape_too_large_for_the_memory_is_refused_before_its_routes_are_walked(monkeypatch):
    made = machine_file.of_shape("12x12x28")  # 4,032 nodes, whose 16 million routes take minutes and most memory
    text = machine_file.text_of("t", made.network, machine_file.topology_of(made, None), 6, 1, 10**8, 0.0)
    monkeypatch.setattr(testbeds, "memory_available", lambda: 24 << 30)
    with pytest.raises(NotApplicable, match="4032 nodes and switches need 79632 MiB of free memory"):
        testbeds.up(testbeds.TestbedPlan("large", text, 1, 10**8, 0.0))


@pytest.mark.parametrize(
    ("text", "bits"),
    [("50Mbit/s", 50e6), ("1Gbps", 1e9), ("100 kb/s", 1e5), ("50MB/s", 400e6), ("2GBps", 16e9), ("3mbit", 3e6)],
)
def test_a_rate_is_in_bits_or_in_bytes(text, bits):
    assert rate_of(text) == bits


@pytest.mark.parametrize("link", ["0", "0-9", "0-2", "x-1", "0-0", ""])
def test_what_is_no_link_is_said(link):
    right("up", "4")
    sentence("cut", link)
