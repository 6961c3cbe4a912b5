"""`kumihimo simulate --model loggp`: GOAL files, collectives, noise, timelines."""

from __future__ import annotations

import json
import struct

import pytest

USUAL = "L=2500,o=1500,g=1000,G=6,O=0,S=65535"
ONE_MESSAGE = """num_ranks 2
rank 0 {
l1: calc 1000
l2: send 101b to 1 tag 7
l2 requires l1
}
rank 1 {
recv 101b from 0 tag 7
}
"""
LOGGP = ("--model", "loggp", "--loggops", USUAL)


def goal(tmp_path, text: str | bytes = ONE_MESSAGE) -> str:
    file = tmp_path / "a.goal"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return f"goal:{file}"


def result(ended) -> dict:
    assert (ended.code, ended.err) == (0, ""), ended.err
    (only,) = json.loads(ended.out)["results"]
    return only


def test_a_goal_file(kumihimo, tmp_path):
    ended = kumihimo("simulate", goal(tmp_path), *LOGGP, "--by-rank")
    assert (ended.code, ended.err) == (0, "")
    assert "2 ranks, model loggp: 7.1 us, rank 1 last" in ended.out
    assert "L 2.5 us, o 1.5 us, g 1 us, G 6 ns/B, O 0 ns/B, S 64 KiB; 1 CPU and 1 NIC a rank" in ended.out
    assert "3 operations, 1 message of 101 B" in ended.out
    assert ended.out.split("operations\n")[1].split()[:5] == ["1", "7.1", "us", "0", "ns"]


def test_json_has_the_time_of_every_rank(kumihimo, tmp_path):
    of = result(kumihimo("simulate", goal(tmp_path), *LOGGP, "--by-rank", "--json"))
    assert of["seconds"] == pytest.approx(7.1e-6) and of["last_rank"] == 1
    assert (of["operations"], of["messages"], of["message_bytes"]) == (3, 1, 101)
    first, second = of["by_rank"]
    assert first["computing_seconds"] == pytest.approx(1e-6) and first["waiting_seconds"] == 0
    assert second["waiting_seconds"] == pytest.approx(5e-6) and second["operations"] == 1
    assert of["loggops"]["G_seconds_per_byte"] == pytest.approx(6e-9) and of["loggops"]["S_bytes"] == 65535


def test_binary_goal_says_the_same(kumihimo, tmp_path):
    def operation(waits, kind, peer, size, tag, dependents, first):
        return struct.pack("<IBIQIBBIIII", waits, kind, peer, size, tag, 0, 0, dependents, first, 0, first + dependents)

    first = struct.pack("<III", 2, 1, 0) + operation(0, 3, 0, 1000, 0, 1, 0) + operation(1, 1, 1, 101, 7, 0, 1)
    first += struct.pack("<I", 1)
    second = struct.pack("<III", 1, 1, 0) + operation(0, 2, 0, 101, 7, 0, 0)
    begin = 6 + 32
    places = struct.pack("<QQQQ", begin, begin + len(first), begin + len(first), begin + len(first) + len(second))
    whole = struct.pack("<QIBB", 4223, 2, 0, 0) + places + first + second
    assert result(kumihimo("simulate", goal(tmp_path, whole), *LOGGP, "--json"))["seconds"] == pytest.approx(7.1e-6)
    cut = kumihimo("simulate", goal(tmp_path, whole[:-5]), *LOGGP)
    assert cut.code == 2 and cut.err.count("\n") == 1 and "a.goal" in cut.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\n",
            "rank 0: send 'l1' (8 bytes to rank 1, tag 3) has no",
        ),
        (
            "num_ranks 2\nrank 1 {\nl9: recv 8b from 0\n}\n",
            "rank 1: receive 'l9' (8 bytes from rank 0, tag 0) has no",
        ),
        ("num_ranks 2\nrank 0 {\nl1: snd 8b to 1\n}\n", "a.goal:3: "),
        (
            "num_ranks 1\nrank 0 {\nl1: calc 1\nl2: calc 1\nl1 requires l2\nl2 requires l1\n}\n",
            "an operation of rank 0 must not wait for itself",
        ),
    ],
)
def test_wrong_files_are_one_sentence(kumihimo, tmp_path, text, sentence):
    ended = kumihimo("simulate", goal(tmp_path, text), *LOGGP)
    assert ended.code == 2 and ended.out == ""
    assert sentence in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize("model", [LOGGP, ("-m", "fugaku", "--model", "flow"), ("-m", "fugaku", "--model", "packet")])
def test_no_time_wraps(kumihimo, tmp_path, model):
    """20 computations of 13 days are more picoseconds than 64 bits count."""
    lines = [f"l{i}: calc {2**50}\n" + f"l{i} requires l{i - 1}\n" * (i > 0) for i in range(20)]
    ended = kumihimo("simulate", goal(tmp_path, f"num_ranks 1\nrank 0 {{\n{''.join(lines)}}}\n"), *model)
    assert ended.code == 2 and ended.out == ""
    assert (
        ended.err == "kumihimo: the simulated time must be at most 13 days; take fewer steps, or shorter computations\n"
    )


def test_a_collective_without_a_machine(kumihimo):
    asked = ("simulate", "barrier", *LOGGP, "-p", "1000", "-a", "dissemination")
    of = result(kumihimo(*asked, "--json"))
    assert of["seconds"] == pytest.approx(10 * 5.5e-6) and of["messages"] == 10_000
    assert of["waiting_share"] == pytest.approx(2.5 / 5.5)
    shown = kumihimo(*asked)
    assert "barrier, 1000 ranks, model loggp" in shown.out and "of bound" not in shown.out


def test_a_message_between_neighbours_takes_what_flow_says(kumihimo):
    asked = ("simulate", "bcast", "-m", "k-computer", "-s", "2x1x1", "-b", "8", "-a", "linear", "--json")
    flow, loggp = result(kumihimo(*asked)), result(kumihimo(*asked, "--model", "loggp"))
    assert loggp["seconds"] == pytest.approx(flow["seconds"], abs=1e-9)  # LogGOPS: no time for the first byte
    assert loggp["bound_seconds"] == flow["bound_seconds"]


def test_where_a_receiver_takes_messages_one_by_one_it_is_said(kumihimo):
    """In flow an interface has several at once. Of trees, rings and roots that send, nothing is said."""

    def accuracy(*words: str) -> str:
        asked = ("simulate", *words, "-m", "k-computer", "-s", "4x4x4", "--model", "loggp", "--json")
        return result(kumihimo(*asked))["accuracy"]

    assert "rank 0 receives 63 more than it sends" in accuracy("gather", "-a", "linear", "-b", "8")
    assert "rank 3 receives 63 more" in accuracy("gather", "-a", "linear", "-b", "8", "--root", "3")
    for collective, algorithm in (("gather", "binomial"), ("scatter", "linear"), ("allgather", "ring")):
        assert accuracy(collective, "-a", algorithm, "-b", "8") == ""
    long = accuracy("gather", "-a", "linear", "-b", "16MiB")
    assert "receives" not in long and "which share its engines; flow says 116 ms: up to 93 % too long" in long


def test_every_algorithm_on_a_machine(kumihimo):
    ended = kumihimo("simulate", "allreduce", "-m", "fugaku", "-s", "2x2x2", "-b", "1KiB", "--model", "loggp")
    assert ended.code == 0
    assert "allreduce on fugaku 2x2x2, 8 ranks, model loggp" in ended.out
    assert "6 NICs a rank" in ended.out and "recursive_doubling" in ended.out and "of bound" in ended.out
    assert "offloaded: graphs of operations know no engine of the network" in ended.out


def test_halo_exchanges(kumihimo):
    of = result(kumihimo("simulate", "halo:16x16x16", "-m", "k-computer", "-s", "4x4x4", "--model", "loggp", "--json"))
    assert of["messages"] == 64 * 6 and of["seconds"] > 0 and of["machine"] == "k-computer"
    alone = result(kumihimo("simulate", "halo:16x16x16", *LOGGP, "-s", "4x4x4", "--json"))
    assert alone["messages"] == 64 * 6


def test_processors_and_interfaces(kumihimo):
    asked = ("simulate", "allreduce", *LOGGP, "-s", "4x4", "-b", "1MiB", "-a", "rotated_rings", "--json")
    one, four = result(kumihimo(*asked)), result(kumihimo(*asked, "--cpus", "5", "--nics", "4"))
    assert (four["cpus"], four["nics"]) == (5, 4)
    assert four["seconds"] < 0.5 * one["seconds"]  # lanes of one direction each


BARRIER = ("simulate", "barrier", *LOGGP, "-p", "1024", "-a", "dissemination", "--json", "--noise")


def test_noise_slows_a_barrier(kumihimo):
    of = result(kumihimo(*BARRIER, "periodic:100us/1ms"))
    assert of["slowdown"] == pytest.approx(of["seconds"] / of["noise_free_seconds"]) and of["slowdown"] > 1.5
    assert of["noise_free_seconds"] == pytest.approx(55e-6) and of["mean"]["noise_seconds"] > 0
    assert result(kumihimo(*BARRIER, "periodic:100us/1ms"))["seconds"] == of["seconds"]
    other = result(kumihimo(*BARRIER, "periodic:100us/1ms,seed=5"))
    assert other["seconds"] != of["seconds"]
    # At the same times everywhere, a detour delays all ranks at once: at most one in 55 us.
    assert result(kumihimo(*BARRIER, "periodic:100us/1ms,cosched"))["seconds"] < of["seconds"]
    one = result(kumihimo(*BARRIER, "periodic:20us/40us,ranks=3+70-71", "--by-rank"))
    assert {rank for rank, of in enumerate(one["by_rank"]) if of["noise_seconds"] > 0} == {3, 70, 71}
    shown = kumihimo(*BARRIER[:-2], "--noise", "exponential:100us/1ms,every=4")
    assert "noise exponential:100us/1ms,every=4" in shown.out and "slowdown" in shown.out


def test_noise_of_a_trace(kumihimo, tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("# start length\n1000 200\n5000 800\n")
    assert result(kumihimo(*BARRIER, f"trace:{trace}"))["slowdown"] > 1
    trace.write_text("1000 200\n1100 100\n")
    ended = kumihimo(*BARRIER, f"trace:{trace}")
    assert ended.code == 2 and "trace:2: each detour must begin after the end of the one before" in ended.err


def test_a_timeline(kumihimo, tmp_path):
    file = tmp_path / "t.json"
    assert kumihimo("simulate", goal(tmp_path), *LOGGP, "--timeline", str(file)).code == 0
    events = json.loads(file.read_text())["traceEvents"]
    assert sorted(event["ph"] for event in events) == ["M", "M", "X", "X", "X", "f", "s"]
    slices = [event for event in events if event["ph"] == "X"]
    assert [(event["pid"], event["name"]) for event in slices] == [
        (0, "calc"),
        (0, "send to 1"),
        (1, "receive from 0"),
    ]
    several = kumihimo("simulate", "barrier", *LOGGP, "-p", "8", "--timeline", str(file))
    assert several.code == 2 and "--timeline must be of one run" in several.err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("simulate goal:/none --model loggp --loggops " + USUAL, "the GOAL file must be readable (got /none: No such"),
        ("simulate goal:x --model loggp", "the machine is missing; add --machine, or the parameters: --loggops L=2500"),
        ("simulate goal:x --model loggp --loggops L=1", "without --machine must give L, o, g, G, O and S (got 'L=1')"),
        (f"simulate goal:x --model loggp --loggops {USUAL} --bytes 8", "a GOAL file takes no --bytes (got 8)"),
        (f"simulate barrier -p 4 --model loggp --loggops {USUAL} --cpus 0", "--cpus must be from 1 to 256 (got 0)"),
        (
            f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise x",
            "--noise must be periodic:LENGTH/INTERVAL",
        ),
        (f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:1us/1ms,every=0", "(got 'every=0')"),
        (f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:1us/1ms,ranks=3-1", "(got '3-1')"),
        (
            f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:1us/1ms,ranks=1+70-80",
            "ranks with noise must be from 0 to 3, the last one of the job (got 70-80)",
        ),
        (f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:1h/1ms", "(got '1h')"),
        (
            f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:0/1ms",
            "above 0, at most 1000 s and",
        ),
        (f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:0s/1ms", "(got '0s')"),
        (
            f"simulate barrier -p 4 --model loggp --loggops {USUAL} --noise periodic:1ms/1ms",
            "must leave a rank a tenth of its time (got 1 ms of 1 ms)",
        ),
        (f"simulate barrier -p 4 --model loggp --loggops {USUAL} --order block", "without --machine takes no --order"),
        (
            "simulate barrier -m k-computer --noise periodic:1us/1ms",
            "--noise needs --model exact, packet, loggp or logp (got --model flow)",
        ),
        ("simulate barrier", "--machine is missing; see kumihimo simulate --help"),
        (
            f"simulate barrier -p 4 --model loggp --loggops {USUAL} --links",
            "--links needs --model flow, exact or packet (got --model loggp)",
        ),
    ],
)
def test_bad_input(kumihimo, line, sentence):
    ended = kumihimo(*line.split())
    assert ended.code == 2 and sentence in ended.err and ended.err.count("\n") == 1, ended.err
