"""`simulate --model packet`: its options, counters and errors."""

from __future__ import annotations

import json

import pytest
from small_machine import MACHINE

from kumihimo.predict import simulation

K = ("simulate", "allreduce", "--machine", "k-computer", "--shape", "4x4x4", "--bytes", "1MiB", "--model", "packet")


def result(kumihimo, *words: str) -> dict:
    ended = kumihimo(*words, "--json")
    assert (ended.code, ended.err) == (0, ""), ended.err
    (only,) = json.loads(ended.out)["results"]
    return only


def test_a_reason_that_most_algorithms_share_is_given_alone():
    """As that of a single node, which has no network for packets."""

    def said(*reasons: str) -> str:
        return str(simulation.none_fits([{"algorithm": f"a{i}", "reason": of} for i, of in enumerate(reasons)]))

    assert said("no network; take flow", "no network; take flow", "trees must be at most 1") == "no network; take flow"
    listed = "no algorithm fits these ranks (got a0: no tree; a1: no ring; a2: no tree; a3: no pair)"
    assert said("no tree", "no ring", "no tree", "no pair") == listed
    assert said("no tree") == "no algorithm fits these ranks (got a0: no tree)"


def test_no_packet_waits_on_trees_without_common_links(kumihimo):
    found = result(kumihimo, *K, "-a", "trinaryx3", "--links")
    assert found["links_waiting_share"] == 0 and found["packets_waiting_share"] == 0
    assert found["seconds"] >= found["bound_seconds"] > 0
    assert found["packet_hops"] >= found["packets"] > 0
    assert sum(found["link_bytes"]) > 0


@pytest.mark.parametrize("algorithm", ["trinaryx3", "ring", "bucket"])
def test_flow_and_packets_agree(kumihimo, algorithm):
    """Within 10 % where a step has 64 packets and more: a ring's step has 64 KiB, others more."""
    words = (*K[:7], "4MiB", "-a", algorithm)
    packets = result(kumihimo, *words, "--model", "packet", "--packet-bytes", "1024")["seconds"]
    assert packets == pytest.approx(result(kumihimo, *words, "--model", "flow")["seconds"], rel=0.1)


@pytest.mark.parametrize("shape", ["8x8", "7x7"])
def test_pacing_of_packets_fills_the_links(kumihimo, repository, shape):
    """On even rings too; without pacing packets hold each other up (Blue Gene/L: S. Kumar, Y. Sabharwal, R. Garg,
    P. Heidelberger, ICPP 2008). And all at once is worse, of which flow knows nothing."""
    torus = ("-m", str(repository / "docs" / "links-alone.toml"), "-s", shape, "-b", "64KiB", "--model", "packet")

    def share(*words):
        found = result(kumihimo, "simulate", "alltoall", *torus, "--packet-bytes", "512", *words)
        return found["bound_seconds"] / found["seconds"]

    assert 0.95 < share("-a", "paced", "--buffer-packets", "16") <= 1
    unpaced = share("-a", "paced", "--gap", "0", "--buffer-packets", "16")
    assert unpaced < 0.75 and share("-a", "linear", "--buffer-packets", "16") < unpaced


def test_packets_wait_where_all_send_to_all_at_once(kumihimo):
    words = ("simulate", "alltoall", *K[2:6], "--bytes", "1MiB", "--model", "packet", "-a", "linear")
    found = result(kumihimo, *words)
    assert found["packets_waiting_share"] > 0 and found["links_waiting_share"] > 0


def test_small_packets_are_more_packets(kumihimo):
    few, many = result(kumihimo, *K, "-a", "ring"), result(kumihimo, *K, "-a", "ring", "--packet-bytes", "512")
    assert many["packets"] == 4 * few["packets"]


@pytest.mark.parametrize("routing", ["dimension_order", "adaptive"])
def test_the_same_seed_gives_the_same_result(kumihimo, routing):
    words = ("-a", "recursive_doubling", "--routing", routing, "--packet-seed", "3")
    first, second = result(kumihimo, *K, *words), result(kumihimo, *K, *words)
    assert first["routing"] == routing
    for one in (first, second):
        one.pop("wall_seconds")
    assert first == second


@pytest.mark.parametrize(("nodes", "seconds"), [((0, 1), 5.35e-6), ((0, 2), 5.45e-6), ((3, 3), 1e-6 + 1000 / 6e9)])
def test_a_goal_file_goes_by_packets_too(kumihimo, tmp_path, nodes, seconds):
    """2 us of software, 100 ns a hop, 1000 bytes of 0.25 ns, 3 us of software; within a node a copy."""
    machine, goal, placement = (tmp_path / name for name in ("small.toml", "a.goal", "placement"))
    machine.write_text(MACHINE, encoding="utf-8")
    goal.write_text("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nrecv 1000b from 0\n}\n", encoding="utf-8")
    placement.write_text(
        "".join(f"{rank} {node} {rank if nodes[0] == nodes[1] else 0}\n" for rank, node in enumerate(nodes))
    )
    words = ("simulate", f"goal:{goal}", "--machine", str(machine), "--model", "packet", "--ranks-per-node", "2")
    found = result(kumihimo, *words, "--placement", str(placement))
    assert found["seconds"] == pytest.approx(seconds)
    assert "goal:" in kumihimo(*words).out
    for model in ("flow", "packet"):
        noisy = kumihimo(*words, "--model", model, "--noise", "periodic:1us/2us,ranks=0")
        assert "noise periodic:1us/2us,ranks=0: " in noisy.out and " without" in noisy.out, noisy
    refused = kumihimo(*words, "--bytes", "8")
    assert refused.code == 2 and "a GOAL file takes no --bytes" in refused.err


def test_a_halo_exchange_goes_by_packets_too(kumihimo):
    words = ("simulate", "halo:4x4x4", "--machine", "k-computer", "--shape", "4x4x4", "--model", "packet")
    found = result(kumihimo, *words)
    assert found["model"] == "packet" and found["packets"] > 0


def test_noise_slows_a_barrier(kumihimo):
    words = ("simulate", "barrier", "--machine", "k-computer", "--shape", "8x8", "--model", "packet")
    noise = ("--noise", "periodic:100us/1ms,seed=2")
    found = result(kumihimo, *words, "-a", "dissemination", *noise)
    assert found["noise"] == noise[1] and found["slowdown"] > 1.5
    assert found["noise_free_seconds"] == result(kumihimo, *words, "-a", "dissemination")["seconds"]
    assert "slowdown" in kumihimo(*words, *noise).out
    beside = kumihimo(*words, "--ranks", "4", "--background", "uniform", *noise)
    assert beside.code == 2 and "simulate --background takes no --noise" in beside.err


@pytest.mark.parametrize(
    "words, error",
    [
        (("--packet-bytes", "-1"), "--packet-bytes must be 1 to"),
        (("--buffer-packets", "-1"), "--buffer-packets must be 1 to"),
        (("--buffer-packets", "0"), "--buffer-packets must be 1 to"),
    ],
)
def test_numbers_that_cannot_be(kumihimo, words, error):
    ended = kumihimo(*K, "-a", "ring", *words)
    assert ended.code == 2 and error in ended.err


def test_options_of_the_model_are_refused_beside_another(kumihimo):
    words = [word if word != "packet" else "flow" for word in K]
    ended = kumihimo(*words, "--packet-bytes", "64")
    assert ended.code == 2 and "--packet-bytes needs --model packet" in ended.err
