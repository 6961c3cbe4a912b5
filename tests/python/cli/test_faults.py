"""`simulate --dies` and `--slow`: nodes that die in the middle, slow nodes and links."""

from __future__ import annotations

import json

import pytest

from kumihimo.predict import models

LOGGOPS = "L=2500,o=1500,g=1000,G=6,O=0,S=65535"
RELAY = """num_ranks 4
rank 0 {
a: calc 1000
b: send 8b to 1
b requires a
}
rank 1 {
a: recv 8b from 0
b: send 8b to 2
b requires a
}
rank 2 {
a: recv 8b from 1
b: send 8b to 3
b requires a
}
rank 3 {
a: recv 8b from 2
}
"""
ALLREDUCE = ("simulate", "allreduce", "-m", "fugaku", "-s", "4x4x4", "-b", "64KiB")


def results(kumihimo, *words: str) -> list[dict]:
    ended = kumihimo(*words, "--json")
    assert (ended.code, ended.err) == (0, ""), ended.err
    return json.loads(ended.out)["results"]


@pytest.fixture
def relay(tmp_path) -> tuple[str, ...]:
    (tmp_path / "relay.goal").write_text(RELAY)
    return ("simulate", "goal:relay.goal", "--model", "loggp", "--loggops", LOGGOPS)


def test_who_completes_and_who_waits(kumihimo, relay):
    (of,) = results(kumihimo, *relay, "--dies", "1@2us")
    found = of["faults"]
    assert found["dies"] == [{"node": 1, "seconds": pytest.approx(2e-6)}]
    assert [each["state"] for each in found["by_rank"]] == ["complete", "died", "waits", "waits"]
    assert [each["waits"] for each in found["by_rank"]] == [0, 0, 1, 2]
    assert (found["ranks_complete"], found["ranks_died"], found["ranks_waiting"]) == (1, 1, 2)
    assert (found["waiting_directly"], found["waiting_indirectly"]) == (1, 1)
    assert found["chain"] == ["rank 2: receive 'a' (8 bytes from rank 1, tag 0)"] and found["chain_ends_at_rank"] == 1
    assert found["complete_seconds"] == pytest.approx(2.5e-6) == found["last_progress_seconds"]
    assert (found["operations"], found["operations_done"], found["operations_lost"]) == (7, 2, 0)
    (plain,) = results(kumihimo, *relay)
    assert of["seconds"] == plain["seconds"] and "faults" not in plain


def test_the_table_and_the_chain(kumihimo, relay):
    ended = kumihimo(*relay, "--dies", "0@0s")
    assert ended.code == 0
    assert "Ranks if node 0 dies" in ended.out
    assert "rank 1: receive 'a' (8 bytes from rank 0, tag 0) waits\n  rank 0 died" in ended.out


def test_a_share_of_the_time(kumihimo, relay):
    (of,) = results(kumihimo, *relay, "--dies", "3@50%")
    assert of["faults"]["dies"] == [{"node": 3, "seconds": pytest.approx(of["seconds"] / 2), "share": 0.5}]
    assert of["faults"]["ranks_complete"] == 3
    (after,) = results(kumihimo, *relay, "--dies", "0@101%", "--dies", "3@101%")
    assert after["faults"]["ranks_complete"] == 4 and after["faults"]["operations_done"] == 7


def test_the_timeline_ends_at_the_death(kumihimo, relay, tmp_path):
    assert kumihimo(*relay, "--dies", "1@2us", "--timeline", "a.json").code == 0
    events = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    assert {each["pid"] for each in events if each["ph"] == "X"} == {0}


@pytest.mark.parametrize("model", ["loggp", "packet"])
def test_every_algorithm(kumihimo, model):
    words = (*ALLREDUCE, "--model", model, "--dies", "5@50%")
    some = ("-a", "ring") if model == "packet" else ()
    found = results(kumihimo, *words, *some)
    assert found
    for of in found:
        faults = of["faults"]
        assert faults["ranks_complete"] + faults["ranks_died"] + faults["ranks_waiting"] == 64
        assert faults["ranks_died"] == 1 and faults["dies"][0]["seconds"] == pytest.approx(of["seconds"] / 2)
        assert faults["last_progress_seconds"] < 2 * of["seconds"]
    shown = kumihimo(*words, *some)
    assert "Ranks if node 5 dies" in shown.out and "stuck from" in shown.out


@pytest.mark.parametrize("model", ["loggp", "packet"])
def test_all_ranks_of_a_node(kumihimo, model):
    words = (*ALLREDUCE, "--ranks-per-node", "2", "--model", model, "-a", "ring", "--dies", "0,1,1@0s")
    (of,) = results(kumihimo, *words)
    dead = [rank for rank, each in enumerate(of["faults"]["by_rank"]) if each["state"] == "died"]
    assert dead == [10, 11]  # node (0,1,1) is number 5
    (by_order,) = results(kumihimo, *words, "--order", "round-robin")
    dead = [rank for rank, each in enumerate(by_order["faults"]["by_rank"]) if each["state"] == "died"]
    assert dead == [5, 69]


def test_nodes_without_a_machine(kumihimo):
    words = ("simulate", "barrier", "--model", "loggp", "--loggops", LOGGOPS, "-p", "8", "--ranks-per-node", "4")
    (of,) = results(kumihimo, *words, "-a", "dissemination", "--dies", "1@0s")
    assert [each["state"] for each in of["faults"]["by_rank"]] == ["waits"] * 4 + ["died"] * 4


def test_a_halo_exchange(kumihimo):
    words = ("simulate", "halo:8x8x8", "-m", "fugaku", "-s", "4x4x4", "--dies", "5@0s")
    for model in ("loggp", "packet"):
        (of,) = results(kumihimo, *words, "--model", model)
        assert of["faults"]["waiting_directly"] == 6 and of["faults"]["ranks_complete"] == 57


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--dies", "5"), "--dies must be NODE@TIME, as in 5@20us"),
        (("--dies", "x@20us"), "--dies must be NODE@TIME, as in 5@20us"),
        (("--dies", "5@soon"), "the time of --dies must be a time such as"),
        (("--dies", "5@1y"), "the time of --dies must be at most 1000000 s"),
        (("--dies", "64@20us"), "--dies must name a node that has ranks, one of 0 to 63 (got 64)"),
        (("--dies", "0,4,0@20us"), "a node of --dies must be a number, or a place in the shape of nodes (4x4x4)"),
        (("--dies", "5@20us", "--dies", "5@30us"), "--dies must name a node once"),
        (("--slow", "5=0.5"), "--slow needs --model flow, exact or packet (got --model loggp)"),
    ],
)
def test_wrong_deaths_are_one_sentence(kumihimo, words, sentence):
    ended = kumihimo(*ALLREDUCE, "-a", "ring", "--model", "loggp", *words)
    assert ended.code == 2 and ended.out == ""
    assert sentence in ended.err and ended.err.count("\n") == 1


def test_models_without_single_messages_refuse_deaths(kumihimo):
    for model in ("flow", "exact", "bound", "cost"):
        ended = kumihimo(*ALLREDUCE, "-a", "ring", "--model", model, "--dies", "5@20us")
        needed = models.either(models.with_option("dies", "collective"))
        assert ended.code == 2 and f"--dies needs --model {needed} (got" in ended.err


@pytest.mark.parametrize("model", ["flow", "packet"])
def test_slow_parts_are_those_of_a_machine_file(kumihimo, repository, tmp_path, model):
    text = (repository / "machines" / "fugaku.toml").read_text()
    slow = "\n[[slow_node]]\nnode = 5\nfactor = 0.25\n[[slow_link]]\nfrom = 9\nto = 10\nfactor = 0.1\n"
    (tmp_path / "slow.toml").write_text(text + slow)
    words = ("-a", "ring", "--model", model)
    (plain,) = results(kumihimo, *ALLREDUCE, *words)
    (node,) = results(kumihimo, *ALLREDUCE, *words, "--slow", "0,1,1=0.25")
    (both,) = results(kumihimo, *ALLREDUCE, *words, "--slow", "5=0.25", "--slow", "9-10=0.1")
    (of_file,) = results(kumihimo, *ALLREDUCE[:3], "slow.toml", *ALLREDUCE[4:], *words)
    assert plain["seconds"] < node["seconds"] <= both["seconds"] == of_file["seconds"]
    (full,) = results(kumihimo, *ALLREDUCE, *words, "--slow", "5=1")
    assert full["seconds"] == plain["seconds"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--slow", "5"), "--slow must be NODE=FACTOR, as in 5=0.5, or a link, FROM-TO=FACTOR"),
        (("--slow", "5=0"), "the factor of --slow must be more than 0 and at most 1 (got 0)"),
        (("--slow", "5=1.5"), "the factor of --slow must be more than 0 and at most 1 (got 1.5)"),
        (("--slow", "64=0.5"), "a slow node must be one of 0 to 63 (got 64)"),
        (("--slow", "5=0.5", "--slow", "5=0.4"), "a slow part must be named once (got node 5)"),
        (("--slow", "0-42=0.5"), "a slow link must join neighbours"),
    ],
)
def test_wrong_slow_parts_are_one_sentence(kumihimo, words, sentence):
    ended = kumihimo(*ALLREDUCE, "-a", "ring", *words)
    assert ended.code == 2 and ended.out == ""
    assert sentence in ended.err and ended.err.count("\n") == 1


# On K: the packet model leaves out the receiving engine of a lane and the costs of sums that Fugaku has.
def test_a_slow_node_reduces_slowly_in_every_model(kumihimo):
    words = ("simulate", "reduce", "-a", "linear", "-m", "k-computer", "-s", "2x2x1", "-b", "1MiB", "--slow", "0=0.01")
    times = [results(kumihimo, *words, "--model", model)[0]["seconds"] for model in ("exact", "packet")]
    assert times[1] == pytest.approx(times[0], rel=0.01)


def test_packets_refuse_what_their_clock_cannot_count(kumihimo):
    ended = kumihimo(*ALLREDUCE, "--model", "packet", "--slow", "5=0.0000001")
    assert ended.code == 2 and "factor of at least 1e-06" in ended.err
