"""Replays in the models flow and packet, and of GOAL files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kumihimo import cli
from kumihimo._trace import Kind

from .conftest import Rank
from .test_replay import LETTERS, NS, ring

NUMBERS = """
name = "small"
summary = "small"
[topology]
family = "torus"
shape = "4x4"
[network]
link_bandwidth = { value = "1 GB/s", published = "a" }
link_peak = { value = "1 GB/s", published = "a" }
hop_latency = { value = "100 ns", published = "a" }
engines = { value = 2, published = "a" }
engine_bandwidth = { value = "2 GB/s", published = "a" }
[node]
ranks_per_node = { value = 1, published = "a" }
cores = { value = 8, published = "a" }
memory = { value = "16 GB", published = "a" }
memory_bandwidth = { value = "46 GB/s", published = "a" }
reduction_rate = { value = "6 GB/s", published = "a" }
reduction_rate_scalar = { value = "3 GB/s", published = "a" }
shared_memory_bandwidth = { value = "4 GB/s", published = "a" }
shared_memory_latency = { value = "1 us", published = "a" }
[software]
message_cost = { value = "2 us", published = "a" }
relay_latency = { value = "3 us", published = "a" }
segment_bytes = { value = "1 MiB", published = "a" }
"""


@pytest.fixture
def packets(tmp_path: Path) -> tuple:
    """The options of the model on a machine with round numbers."""
    file = tmp_path / "small.toml"
    file.write_text(NUMBERS, encoding="utf-8")
    return ("--machine", file, "--model", "packet")


@pytest.fixture
def simulate(capsys: pytest.CaptureFixture) -> Callable[..., dict]:
    def ran(*words: object) -> dict:
        code = cli.carry_out(["simulate", *map(str, words), "--json"])
        told = capsys.readouterr()
        assert code in (0, None), told.err
        return json.loads(told.out)["results"][0]

    return ran


def one_message(size: int = 1000) -> list[Rank]:
    return [Rank().compute(1000).send(1, size).compute(50), Rank().compute(200).receive(0, size).compute(20)]


def test_a_message_takes_what_the_packet_model_says(traced: Callable, replay: Callable, packets: tuple) -> None:
    """2 us for the send, 1 us on the link, a hop, 3 us of software."""
    result = replay(traced(one_message()), *packets, "--shape", "2x1", "--json", "--by-rank")
    received = 1000 + 2000 + 100 + 1000 + 3000
    assert result["seconds"] == pytest.approx((received + 20) * NS)
    assert (result["model"], result["packets"], result["messages"]) == ("packet", 1, 1)
    assert result["packets_waiting_share"] == 0
    assert [rank["end_seconds"] for rank in result["by_rank"]] == pytest.approx([4050 * NS, (received + 20) * NS])
    sites = {site["name"]: site for site in result["sites"]}
    receive = sites["MPI_Recv at step.py:13 (run)"]
    assert receive["seconds"] == pytest.approx((received - 200) * NS)
    assert receive["waiting"] == pytest.approx(800 * NS)  # for the computing of rank 0
    of = result["efficiencies"]
    assert of["transfer"] == pytest.approx(1050 / (received + 20))  # on an ideal network rank 0 ends last
    assert of["parallel"] == pytest.approx(of["load_balance"] * of["serialisation"] * of["transfer"])


@pytest.mark.parametrize("model", ["packet", "flow", "loggp"])
def test_a_ring_is_the_same_by_both_routes(
    traced: Callable, replay: Callable, simulate: Callable, packets: tuple, tmp_path: Path, model: str
) -> None:
    """The recording replayed, and the GOAL file of it replayed and simulated."""
    words = (*packets[:3], model, "--shape", "4x2")
    trace = traced(ring(8, steps=5))
    goal = tmp_path / "ring.goal"
    recorded = replay(trace, *words, "--goal", goal, "--json")
    assert goal.read_text(encoding="utf-8").startswith("num_ranks 8")
    again = replay(f"goal:{goal}", *words, "--json")
    simulated = simulate(f"goal:{goal}", *words)
    assert recorded["seconds"] == again["seconds"] == simulated["seconds"] > 5 * 1000 * NS
    assert (recorded["messages"], again["messages"]) == (40, 40)
    assert again["efficiencies"]["transfer"] == pytest.approx(recorded["efficiencies"]["transfer"])
    for of_links in ("utilisation", "link_classes"):
        assert simulated.get(of_links) == recorded.get(of_links)


def test_fluids_share_a_link(traced: Callable, replay: Callable, packets: tuple) -> None:
    """One megabyte alone takes 1 ms on a link; of two that meet on it both take 2 ms, on links of their own 1 ms."""
    size, cost, hop, relay = 1_000_000, 2000, 100, 3000
    both = [Rank().send(2, size), Rank().send(2, size), Rank().receive(0, size).receive(1, size)]
    flow = (*packets[:3], "flow", "--json")
    met = replay(traced(both), *flow, "--shape", "3mx1m")
    assert met["seconds"] == pytest.approx((cost + 2 * size + 2 * hop + relay) * NS)
    assert met["model"] == "flow" and "packets" not in met
    busiest = {of["name"]: of["busiest"] for of in met["link_classes"]}
    assert busiest["x"] == pytest.approx(2 * size * NS / met["seconds"])
    apart = [Rank().send(1, size), Rank().receive(0, size).receive(2, size), Rank().send(1, size)]
    alone = replay(traced(apart), *flow, "--shape", "3mx1m")
    assert alone["seconds"] == pytest.approx((cost + size + hop + relay) * NS)
    told = replay(traced(both), *flow[:-1], "--shape", "3mx1m", "--what-if")
    assert "class  links  busy  at most" in told and "twice the bandwidth" in told


@pytest.mark.parametrize("model", ["loggp", "flow", "packet"])
def test_who_waits_for_a_dead_node_is_told_by_its_call(
    traced: Callable, replay: Callable, packets: tuple, model: str
) -> None:
    trace = traced([Rank().compute(1000).send(1, 8), Rank().compute(10).receive(0, 8).compute(5)])
    words = (*packets[:3], model, "--shape", "2mx1", "--dies", "0@500ns")
    chain = replay(trace, *words, "--json")["faults"]["chain"]
    assert len(chain) == 1 and chain[0].endswith(", in MPI_Recv at step.py:13 (run),"), chain
    assert "in MPI_Recv at step.py:13 (run), waits" in replay(trace, *words)


def test_the_call_that_waits_for_a_receive_is_named_beside_the_one_that_began_it(
    traced: Callable, replay: Callable, packets: tuple
) -> None:
    first = Rank().compute(1000).send(1, 8)
    second = Rank().compute(10).call("MPI_Irecv", (Kind.start_receive, 0, -1, -1, 3)).compute(5)
    second.call("MPI_Wait", (Kind.end_receive, 8, 0, 1, 3)).compute(5)
    words = (*packets[:3], "loggp", "--shape", "2mx1", "--dies", "0@500ns", "--json")
    (only,) = replay(traced([first, second]), *words)["faults"]["chain"]
    assert ", begun in MPI_Irecv at step.py:" in only and ", in MPI_Wait at step.py:" in only, only


@pytest.mark.parametrize("model", ["flow", "packet"])
def test_noise_makes_computing_longer_in_every_model(
    traced: Callable, replay: Callable, packets: tuple, model: str
) -> None:
    trace = traced([Rank().compute(100_000).send(1, 8), Rank().compute(10).receive(0, 8).compute(5)])
    words = (*packets[:3], model, "--shape", "2mx1", "--json")
    noisy = replay(trace, *words, "--noise", "periodic:100ns/1us,ranks=0")
    assert noisy["noise"] == "periodic:100ns/1us,ranks=0"
    assert noisy["seconds"] - replay(trace, *words)["seconds"] == pytest.approx(11.1e-6, abs=0.3e-6)
    told = replay(trace, *words, "--noise", "periodic:100ns/1us,ranks=2")
    assert told == "kumihimo: ranks with noise must be from 0 to 1, the last one of the job (got 2)\n"


@pytest.mark.parametrize("model", ["flow", "packet"])
def test_a_slow_link_is_seen(traced: Callable, replay: Callable, packets: tuple, model: str) -> None:
    words = (*packets[:3], model, "--shape", "2mx1", "--json")
    trace = traced([Rank().send(1, 1_000_000), Rank().receive(0, 1_000_000)])
    usual, slow = replay(trace, *words), replay(trace, *words, "--slow", "0-1=0.5")
    assert slow["seconds"] - usual["seconds"] == pytest.approx(1e-3, rel=0.02)


def test_an_ideal_network_has_the_slow_nodes(traced: Callable, replay: Callable, packets: tuple) -> None:
    trace = traced([Rank().compute(1000).send(1, 8), Rank().compute(500).receive(0, 8)])
    words = (*packets[:3], "flow", "--shape", "2mx1", "--json")
    ideal = [replay(trace, *words, *slow)["ideal_network_seconds"] for slow in ((), ("--slow", "0=0.5"))]
    assert ideal == pytest.approx([1000 * NS, 2000 * NS])


def test_flow_and_packets_agree_on_a_ring(traced: Callable, replay: Callable, packets: tuple) -> None:
    trace = traced(ring(8, steps=5))
    found = [replay(trace, *packets[:3], model, "--shape", "4x2", "--json")["seconds"] for model in ("flow", "packet")]
    assert found[0] == pytest.approx(found[1], rel=0.02)


def test_packets_wait_for_links_that_others_have(traced: Callable, replay: Callable, packets: tuple) -> None:
    """Three ranks send to the fourth of a line over the same link at once."""
    last = Rank()
    for source in range(3):
        last.receive(source, 1 << 20)
    trace = traced([*(Rank().send(3, 1 << 20) for _ in range(3)), last])
    result = replay(trace, *packets, "--shape", "4mx1m", "--json")
    assert result["packets_waiting_share"] > 0.2 and 0 < result["links_waiting_share"] < 1
    told = replay(trace, *packets, "--shape", "4mx1m")
    assert "waited for a link that another message had" in told and "class  links  busy  at most" in told


def test_the_placement_counts_in_packets(traced: Callable, replay: Callable, packets: tuple, tmp_path: Path) -> None:
    """Neighbours of a ring, on neighbours or across the torus."""
    trace = traced(ring(4))
    words = (*packets, "--shape", "4x1", "--json")
    near = replay(trace, *words)
    order = tmp_path / "order"
    order.write_text("".join(f"{rank} {node} 0\n" for rank, node in enumerate((0, 2, 1, 3))), encoding="utf-8")
    far = replay(trace, *words, "--placement", order)
    assert far["seconds"] > near["seconds"] and far["placement"] == str(order)
    assert replay(trace, *words, "--order", "block")["seconds"] == near["seconds"]
    two = replay(trace, *packets, "--shape", "2x1", "--ranks-per-node", "2", "--json", "--what-if")
    assert (near["packets"], two["packets"]) == (4, 2)
    assert "ranks placed by round-robin" in {change["name"] for change in two["changes"]}
    shared = replay(trace, *packets[:3], "flow", "--shape", "4x1", "--json", "--placement", order)
    assert shared["placement"] == str(order) and shared["seconds"] > near["seconds"] / 2
    loggp = replay(trace, *packets[:2], "--shape", "4x1", "--json", "--order", "random:7")
    assert loggp["placement"] == "random:7"


@pytest.mark.parametrize(
    ("machine", "ranks", "name"),
    [
        ("k-computer", 64, "k-computer 4x4x4"),
        ("k-computer", 9, "k-computer 3mx3mx1"),  # no torus of odd lengths fits a box of Tofu
        ("blue-waters", 48, "blue-waters 1x1x2x2"),  # both nodes of a router, 12 of 16 ranks a node
        ("blue-waters", 9, "blue-waters 1x1x1x2"),  # 5 and 4 ranks
        ("reedbush-h", 9, "reedbush-h 9"),  # 1 of 2 ranks a node
        ("reedbush-u", 9, "reedbush-u 9"),
        ("tpu-v4", 25, "tpu-v4 3x3x3"),  # two nodes are free; no mesh of 25 or 26 fits a block of 4x4x4
        ("intrepid", 1000, "intrepid 16x8x8"),  # blocks of 8x8x8
    ],
)
def test_a_part_of_the_machine_is_found(
    traced: Callable, replay: Callable, machine: str, ranks: int, name: str
) -> None:
    trace = traced(ring(5))
    for model in ("packet", "loggp"):
        result = replay(trace, "--machine", machine, "--model", model, "--ranks", ranks, "--json")
        assert (result["machine"], result["ranks"]) == (name, ranks)
    wrong = replay(trace, "--machine", "tpu-v4", "--ranks", 5000)
    assert "tpu-v4 takes 1 to 4096 ranks, 1 on each of 4096 nodes (got 5000)" in wrong and wrong.count("\n") == 1


def test_nodes_of_a_part_may_be_free(traced: Callable, replay: Callable) -> None:
    """25 ranks of a job of 27 nodes, in any order, with a node that dies."""
    trace = traced(ring(5))
    words = ("--machine", "tpu-v4", "--ranks", 25, "--json")
    result = replay(trace, *words, "--model", "packet")
    assert result["placement"] == "block, 25 ranks in 27 slots"
    snake = replay(trace, *words, "--model", "flow", "--order", "snake", "--what-if")
    assert snake["placement"] == "snake, 25 ranks in 27 slots"
    assert "ranks placed by block" in {change["name"] for change in snake["changes"]}
    for model in ("loggp", "packet"):
        died = replay(trace, *words, "--model", model, "--dies", "24@0s")
        assert died["faults"]["ranks_died"] == 1, died["faults"]
        assert "one of 0 to 24 (got 25)" in replay(trace, *words, "--model", model, "--dies", "25@0s")


def test_hosts_of_a_scheduler(traced: Callable, replay: Callable, packets: tuple) -> None:
    trace = traced(ring(4))
    for words in (packets, packets[:2]):
        result = replay(trace, *words, "--shape", "2x1", "--allocation", "a:3,b:1", "--json")
        assert result["ranks"] == 4


def test_what_would_change_it_in_packets(traced: Callable, replay: Callable, packets: tuple) -> None:
    result = replay(traced(one_message()), *packets, "--shape", "2x1", "--json", "--what-if")
    changes = {change["name"]: change["seconds"] for change in result["changes"]}
    whole = result["seconds"]
    assert whole - changes["half the cost of a message"] == pytest.approx(2500 * NS)
    assert whole - changes["half the latency of a hop"] == pytest.approx(50 * NS)
    assert whole - changes["twice the bandwidth"] == pytest.approx(500 * NS)
    assert changes["an ideal network"] == pytest.approx(1050 * NS)


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_a_node_that_dies(traced: Callable, replay: Callable, packets: tuple, model: str) -> None:
    """Rank 0 dies before it sends, or after its message has left."""
    trace = traced(one_message())
    words = (*packets[:3], model, "--shape", "2x1", "--json")
    before, after = (replay(trace, *words, "--dies", f"0@{time}")["faults"] for time in ("500ns", "5us"))
    assert (before["ranks_complete"], after["ranks_complete"]) == (0, 2)
    assert replay(trace, *words)["seconds"] == replay(trace, *words, "--dies", "0@5us")["seconds"]


def test_algorithms_for_tori_need_a_torus(traced: Callable, replay: Callable, packets: tuple) -> None:
    trace = traced([Rank().allreduce(1 << 16) for _ in range(16)])
    words = ("--algorithm", "allreduce=trinaryx3", "--json")
    for machine in (packets, packets[:2]):
        result = replay(trace, *machine, "--shape", "4x4", *words)
        assert [each["algorithm"] for each in result["collectives"]] == ["trinaryx3"]
    assert "allreduce of 65536 bytes on 16 ranks" in replay(trace, *LETTERS, *words)


def test_wisdom_is_compared_with_the_usual_algorithms(traced: Callable, replay: Callable, tmp_path: Path) -> None:
    trace = traced([Rank().allreduce() for _ in range(4)])
    wisdom = tmp_path / "wisdom.json"
    choice = {"collective": "allreduce", "algorithm": "binomial", "from_bytes": 0, "to_bytes": 64}
    wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
    changes = {
        c["name"]: c["seconds"] for c in replay(trace, *LETTERS, "--wisdom", wisdom, "--what-if", "--json")["changes"]
    }
    assert changes["the usual algorithms of MPICH"] == replay(trace, *LETTERS, "--json")["seconds"]
    told = replay(trace, *LETTERS, "--wisdom", wisdom, "--what-if")
    assert "nothing changed" in told
    usual = replay(trace, *LETTERS, "--what-if", "--json")
    assert "the usual algorithms of MPICH" not in {c["name"] for c in usual["changes"]}


GOAL = """num_ranks 2
rank 0 {
a: calc 1000 cpu 0
b: calc 400 cpu 1
c: send 8b to 1
c requires a
d: calc 500
d requires c
}
rank 1 {
a: recv 8b from 0
}
"""


@pytest.fixture
def goal(tmp_path: Path) -> str:
    file = tmp_path / "two.goal"
    file.write_text(GOAL, encoding="utf-8")
    return f"goal:{file}"


def test_a_goal_file_has_efficiencies_and_a_page(replay: Callable, goal: str, tmp_path: Path) -> None:
    """Rank 0 computes 1500 of 1600, rank 1 nothing of 2200 after 1000."""
    files = ("--page", tmp_path / "p.html", "--timeline", tmp_path / "t.json", "--what-if")
    result = replay(goal, *LETTERS, *files, "--json")
    assert result["seconds"] == pytest.approx(3200 * NS)
    assert result["efficiencies"]["load_balance"] == pytest.approx(0.5)
    assert result["efficiencies"]["transfer"] == pytest.approx(1500 / 3200)
    assert [site["name"] for site in result["sites"]] == ["sends and receives"]
    changes = {change["name"]: change["seconds"] for change in result["changes"]}
    assert changes["processors twice as fast"] == pytest.approx(2700 * NS)
    events = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    slices = [(e["tid"], e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert slices[:3] == [(0, "computing", 0, 1.0), (0, "sends and receives", 1.0, 0.1), (0, "computing", 1.1, 0.5)]
    assert goal in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert replay(goal, *LETTERS, "--speed", "2", "--json")["seconds"] == pytest.approx(2700 * NS)
    assert f"({goal})" in replay(goal, *LETTERS)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--algorithm", "allreduce=ring"), "a GOAL file takes no --algorithm"),
        (("--ranks", "9"), "a GOAL file takes no --ranks (got 9)"),
        (("--scaling", "strong"), "a GOAL file takes no --scaling"),
        (("--wisdom", "w"), "a GOAL file takes no --wisdom"),
        (("--speed", "solve=2"), "--speed of a GOAL file, which has no regions, must be one number (got 'solve=2')"),
    ],
)
def test_what_a_goal_file_has_not_is_refused(replay: Callable, goal: str, words: tuple, wrong: str) -> None:
    told = replay(goal, *LETTERS, *words)
    assert wrong in told and told.count("\n") == 1, told


def test_a_goal_file_without_its_word_is_known(replay: Callable, tmp_path: Path) -> None:
    file = tmp_path / "ring.goal"
    file.write_text("// a comment\nnum_ranks 1\nrank 0 {\n}\n", encoding="utf-8")
    told = replay(file, *LETTERS)
    assert f"write goal:{file}" in told and told.count("\n") == 1, told


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (
            ("--model", "cost"),
            "--model of a recorded program or workload must be flow, exact, packet or loggp (got 'cost')",
        ),
        ((*LETTERS, "--grid", "2x3"), "--grid must be of the 5 recorded ranks (got '2x3'); leave it out"),
        (
            ("--machine", "k-computer", "--slow", "0=0.5"),
            "--slow of a recorded program or workload needs --model flow, exact or packet (got --model loggp)",
        ),
        (("--model", "packet"), "the machine is missing; add --machine"),
        (
            ("--model", "packet", "--loggops", "L=1"),
            "--loggops of a recorded program or workload needs --model loggp (got --model packet)",
        ),
        (
            (*LETTERS, "--packet-bytes", "9"),
            "--packet-bytes of a recorded program or workload needs --model packet (got --model loggp)",
        ),
        ((*LETTERS, "--shape", "2"), "the model loggp without --machine takes no --shape"),
        (("--machine", "k-computer", "--model", "packet", "--shape", "2x2x2"), "as many ranks as the program (got 8"),
    ],
)
def test_options_that_a_model_has_not_are_refused(traced: Callable, replay: Callable, words: tuple, wrong: str) -> None:
    told = replay(traced(ring(5)), *words)
    assert wrong in told and told.count("\n") == 1, told


@pytest.mark.parametrize("model", ["flow", "packet", "loggp"])
def test_ranks_without_a_processor_of_their_own_are_warned_of(
    traced: Callable, replay: Callable, packets: tuple, model: str
) -> None:
    words = (*packets[:3], model, "--shape", "2x1", "--ranks-per-node", "2", "--json")
    trace = traced(ring(4))
    assert replay(trace, *words)["warnings"] == []
    packets[1].write_text(NUMBERS.replace("cores = { value = 8", "cores = { value = 1"), encoding="utf-8")
    (warning,) = replay(trace, *words)["warnings"]
    assert warning.startswith("A node has 2 ranks on 1 processor,")


@pytest.mark.parametrize(("model", "lead"), [("flow", "How busy the links"), ("packet", "How long the links")])
def test_a_page_says_what_its_links_count(
    traced: Callable, replay: Callable, packets: tuple, tmp_path: Path, model: str, lead: str
) -> None:
    replay(traced(ring(4)), *packets[:3], model, "--page", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert lead in text and ("carried packets" in text) == (model == "packet")


def test_no_advice_where_nothing_is_lost(replay: Callable, packets: tuple, tmp_path: Path) -> None:
    file = tmp_path / "one.goal"
    file.write_text("num_ranks 1\nrank 0 {\nl1: calc 1000\n}\n", encoding="utf-8")
    told = replay(f"goal:{file}", *packets[:3], "flow")
    assert "parallel efficiency 100 %" in told and "largest loss" not in told
