"""What --background names, and which nodes jobs get."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_machine import MACHINE

from kumihimo import _machine, _topology
from kumihimo.predict.background import allocation, spec
from kumihimo.text.errors import BadInput

RING = "num_ranks 3\n" + "".join(
    f"rank {r} {{\nsend 8b to {(r + 1) % 3}\nrecv 8b from {(r + 2) % 3}\n}}\n" for r in range(3)
)


@pytest.fixture
def job() -> _machine.Job:
    """64 nodes of 2 ranks each."""
    machine = _machine.parse(MACHINE.replace("{guess}", "guess"), "small.toml")
    return _machine.Job.with_ranks_per_node(machine.with_shape(_topology.Shape.parse("4x4x4")), 2)


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    path = tmp_path / "a,ring.goal"  # with a comma in its name
    path.write_text(RING, encoding="utf-8")
    return path


def test_a_spec_has_defaults_and_says_what_it_means():
    assert spec.parsed("uniform") == spec.Spec("uniform", "uniform", "", 1.0, 0.3, 65536, "scattered")
    text = "alltoall:share=12.5%,load=100%,bytes=1MiB,spread=compact"
    assert spec.parsed(text) == spec.Spec(text, "alltoall", "", 0.125, 1.0, 2**20, "compact")
    recorded = spec.parsed("goal:a,b.goal,share=50%")
    assert (recorded.file, recorded.share) == ("a,b.goal", 0.5)
    assert spec.parsed("goal:trace.goal").share is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("shift", "--background must be uniform, neighbour, alltoall or goal:FILE (got 'shift')"),
        ("unifrom:load=3%", "did you mean uniform"),
        ("uniform:load=0%", "the load of --background must be above 0 and at most 100 % (got '0%')"),
        ("uniform:load=101%", "the load of --background must be above 0 and at most 100 % (got '101%')"),
        ("uniform:load=0.3", "as in 30%"),
        ("uniform:share=0%", "the share of --background must be above 0 and at most 100 % (got '0%')"),
        ("uniform:bytes=0", "a size must be at least 1 byte"),
        ("uniform:bytes=2GiB", "messages of --background must have at most 1 GiB (got '2GiB')"),
        ("uniform:spread=both", "the spread of --background must be compact or scattered (got 'both')"),
        ("uniform:30%", "--background uniform takes share=, load=, bytes=, spread= (got '30%')"),
        ("goal:", "the file of --background goal:FILE is missing"),
        ("goal:a.goal,load=30%", "takes share= and spread= alone"),
    ],
)
def test_wrong_specs(text: str, error: str):
    with pytest.raises(BadInput) as raised:
        spec.parsed(text).graphs()
    assert error in str(raised.value)


def made(job: _machine.Job, ranks: int, *texts: str, order: str | None = None) -> allocation.Allocator:
    return allocation.Allocator(job, ranks, order, [spec.parsed(text) for text in texts])


@pytest.mark.parametrize("order", [None, "hilbert", "round-robin", "random:3"])
@pytest.mark.parametrize("spread", spec.SPREADS)
def test_no_node_belongs_to_two_jobs(job, ring, order, spread):
    texts = ("uniform:share=30%", "neighbour:share=25%,spread=compact", f"goal:{ring},share=20%")
    for seed in range(5):
        placed, others = made(job, 21, *texts, order=order).made(spread, seed)
        assert placed.placement.ranks == 21
        jobs = [set(placed.placement.node_of_rank), *(set(other.nodes) for other in others)]
        free = 64 - len(jobs[0])
        assert [len(nodes) for nodes in jobs[1:3]] == [int(0.3 * free), int(0.25 * free)]
        assert len(jobs) == 3 + int(0.2 * free) // 3, "copies of the recorded job"
        assert sum(map(len, jobs)) == len(set.union(*jobs))


def test_compact_nodes_are_a_piece_of_the_order(job):
    starts = set()
    for seed in range(20):
        placed, others = made(job, 16, "neighbour:share=50%,spread=compact").made("compact", seed)
        start = placed.placement.node_of_rank[0]
        assert start % 8 == 0
        assert placed.placement.node_of_rank == [start + rank // 2 for rank in range(16)]
        assert others[0].nodes == [(start + 8 + n) % 64 for n in range(28)]
        starts.add(start)
    assert len(starts) > 3
    placed, others = made(job, 16, "neighbour:share=50%,spread=compact", order="reversed-axes").made("compact", 9)
    nodes = placed.placement.node_of_rank[::2]
    assert [node - nodes[0] for node in nodes] == [0, 16, 32, 48, 4, 20, 36, 52]


def test_scattered_nodes_follow_from_the_seed_and_keep_the_order(job):
    allocator = made(job, 16, "uniform:share=50%")
    drawn = []
    for seed in (1, 1, 2):
        placed, others = allocator.made("scattered", seed)
        nodes = placed.placement.node_of_rank
        assert nodes == sorted(nodes) and len(set(nodes)) == 8
        assert others[0].nodes == sorted(others[0].nodes)
        drawn.append((nodes, others[0].nodes))
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][0] != list(range(8))


@pytest.mark.parametrize(
    ("ranks", "texts", "error"),
    [
        (
            128,
            ("uniform",),
            "--background needs nodes that the job watched leaves free (got 128 ranks on all 64 nodes)",
        ),
        (129, ("uniform",), "the job watched must have 1 to 128 ranks (got 129)"),
        (0, ("uniform",), "the job watched must have 1 to 128 ranks (got 0)"),
        (2, ("uniform:share=1%",), "the share of --background must be at least 2 of the 63 nodes left free"),
        (2, ("uniform:share=60%", "uniform:share=50%"), "must be at most 100 % together (got 110 %)"),
        (124, ("goal:RING",), "must have at most 2 ranks, one for each node that is left to it (got 3)"),
        (2, ("goal:RING,share=4%",), "must have at most 2 ranks, one for each node that is left to it (got 3)"),
        (2, ("uniform", "goal:RING"), "must have at most 0 ranks"),
    ],
)
def test_jobs_that_find_no_room(job, ring, ranks, texts, error):
    with pytest.raises(BadInput) as raised:
        made(job, ranks, *(text.replace("RING", str(ring)) for text in texts))
    assert error in str(raised.value)
