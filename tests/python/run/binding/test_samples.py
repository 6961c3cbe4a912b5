"""Samples as the recorder writes them, read and shown."""

from __future__ import annotations

import json
from pathlib import Path

import described_bindings as described
import pytest
from described_bindings import node, rank, thread
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.run.binding import judge, report, runtimes, samples
from kumihimo.text.errors import BadInput

NODE = {"processors": "0-2", "cores": ["0,4", "1,5", "2,6"], "domains": ["0-7"], "quota": None}


def row(number: int, **changes: object) -> dict:
    usual = {"thread": number, "name": "x", "main": False, "started_by": None, "processors": "0-2", "processor": 1}
    usual |= {"state": "R", "seconds": 2.0, "busy_seconds": 1.0, "instructions": {}}
    return {**usual, "at_first": {"processors": "0", "processor": 0}, **changes}


def line(number: int, *threads: dict, host: str = "a", node: dict | None = None) -> dict:
    return {"rank": number, "host": host, "thread_samples": {"threads": threads, "node": node, "environment": {}}}


@given(st.sets(st.integers(0, 300)))
def test_lists_of_processors(numbers: set[int]) -> None:
    assert samples.processors_in(samples.list_text(numbers)) == numbers


def test_lists_are_the_kernels() -> None:
    assert samples.list_text({0, 1, 2, 8}) == "0-2,8"


def test_a_rank_and_its_node() -> None:
    yields = {"libc.so.6:sched_yield": 5}
    worker = row(8, started_by="libgomp.so.1", at_first=None, instructions=yields)
    found = samples.of_lines([line(1, row(9, main=True)), line(0, row(7, main=True), worker, node=NODE)], 3)
    (on,) = found.nodes
    assert on.cores == (frozenset({0}), frozenset({1}), frozenset({2})), "processors that are not allowed do not count"
    assert ([each.rank for each in found.ranks], found.ranks_of_job) == ([0, 1], 3)
    main, openmp = found.ranks[0].threads
    assert (main.runtime, main.busy, main.processors, main.at_first) == ("rank", 0.5, frozenset({0, 1, 2}), {0})
    assert (openmp.runtime, openmp.at_first, openmp.spins_in) == ("OpenMP", openmp.processors, "libc.so.6:sched_yield")
    assert found.ranks[0].processors == {0}, "where the launcher let it run"
    assert "sched_yield of libgomp" in "\n".join(report.table(found))


def test_a_thread_that_polls_is_found_in_the_recorder_too() -> None:
    """A recorded call of MPI spends time in the recorder's code."""
    recorder = "libkumihimo-recorder-mpi4-counts.so"
    polls = samples.thread_of(row(8, instructions={recorder: 3, "libmpich.so.12": 1, "polling": 2}))
    assert judge.polls_mpi(polls) and judge.is_helper(polls)
    assert runtimes.spin_text(polls.spins_in, polls.library) == "calls of MPI"
    assert not judge.is_helper(samples.thread_of(row(8, instructions={recorder: 1, "polling": 4})))


def test_shares_of_time_are_shares() -> None:
    """Threads younger than a tick of the kernel's clock."""
    found = samples.thread_of(row(1, seconds=0.0)), samples.thread_of(row(1, seconds=1.0, busy_seconds=1.01))
    assert [each.busy for each in found] == [0.0, 1.0]


def test_the_time_that_others_had_is_no_time_of_idleness() -> None:
    alone, loaded = (samples.thread_of(row(1, busy_seconds=0.1, delayed_seconds=delay)) for delay in (0.0, 1.8))
    assert (alone.demand, loaded.busy, loaded.demand) == (0.05, 0.05, pytest.approx(0.5))
    never = samples.thread_of(row(1, busy_seconds=0.0, delayed_seconds=2.0))
    assert (never.busy, never.demand) == (0.0, 1.0)


def test_ranks_without_looks_and_nodes_without_a_first_rank() -> None:
    earlier = {"rank": 0, "host": "a"}
    found = samples.of_lines([earlier, line(1, row(9, main=True, processors="4-5"), host="b")])
    assert [each.rank for each in found.ranks] == [1]
    assert [(each.host, each.processors) for each in found.nodes] == [("b", {4, 5})]


def test_files_of_ranks(tmp_path: Path) -> None:
    for number in range(3):
        text = json.dumps(line(number, row(9, main=True), node=NODE)) + "\n"
        (tmp_path / f"threads.rank{number}").write_text(text, encoding="utf-8")
    (tmp_path / "threads.rank1.new").write_text("{", encoding="utf-8")  # that is being written
    assert len(samples.of_rank_files(tmp_path, 3).ranks) == 3


def test_what_is_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(BadInput):
        samples.of_profile(path)


def test_a_long_table_is_cut() -> None:
    on = node(100)
    found = described.samples(on, [rank(n, on, on.cores[n]) for n in range(100)])
    lines = report.table(found)
    assert len(lines) == 1 + report.MOST_ROWS + 2
    assert lines[-2:] == ["36 more threads are in --json", "idle threads, which need no core: 100 of MPI"]


def test_tables_fit_a_terminal() -> None:
    on = node(192, smt=2)
    spins = thread(runtimes.OPENMP, on.processors, spins="libgomp.so.1")
    found = described.samples(on, [rank(n, on, on.processors, 0, spins) for n in range(100)])
    assert max(map(len, report.table(found))) <= 80 - len("kumihimo: ")
