"""What `kumihimo run` says of a finished program, from the summary that its processes wrote."""

import json
from pathlib import Path

import pytest

from kumihimo.cli import run
from kumihimo.run import run_summary

WHY = {"collective": "bcast", "reason_id": "id", "reason": "why"}
NOT_CHOSEN = {"reason_id": run.NOT_CHOSEN, "reason": "no Kumihimo algorithm was chosen"}
BETWEEN = {"reason_id": "between", "reason": "an intercommunicator"}


LINE = ["mpirun", "-n", "2", "./none"]


def part_of(rank: int, calls: int, finalized: bool = True) -> dict:
    row = {"collective": "bcast", "bytes_from": 4, "bytes_to": 7}
    return {
        "rank": rank,
        "ranks": 3,
        "finalized": finalized,
        "of_all_ranks": False,
        "calls": [{**row, "algorithm": "ring", "calls": calls}, {**row, "algorithm": "library", "calls": 1}],
        "forwarded": [{**WHY, "calls": 1, "reproducible": rank == 0}],
        "others": {"MPI_Scatterv": 2},
        "unhooked_reductions": 1,
        "communicators": {f"row of {rank}": 1},
    }


def test_parts_of_ranks_are_added_up(tmp_path: Path) -> None:
    summary = tmp_path / "s.json"
    assert run_summary.read(summary) is None
    for rank, calls in ((2, 5), (0, 7)):
        text = json.dumps(part_of(rank, calls))
        (tmp_path / f"s.json.rank{rank}").write_text(text, encoding="utf-8")
    (tmp_path / "s.json.rank1").write_text('{"rank": 1, "cal', encoding="utf-8")  # killed
    (tmp_path / "s.json.rank10.old").write_text("no part", encoding="utf-8")
    found = run_summary.read(summary)
    assert [row["calls"] for row in found["calls"]] == [12, 2]
    assert found["forwarded"] == [{**WHY, "calls": 2, "reproducible": False}]
    assert (found["others"], found["unhooked_reductions"]) == ({"MPI_Scatterv": 4}, 2)
    assert (found["ranks_reported"], found["of_all_ranks"], found["finalized"]) == ([0, 2], False, True)
    lines = run.lines({**found, "reproducible": "", "wisdom": None})
    assert "bcast from 4 B to under 8 B: ring, 12 calls of 2 of 3 ranks" in lines
    assert "communicators of rank 0: row of 0 (1)" in lines
    assert run.LOST not in lines
    (tmp_path / "s.json.rank1").write_text(json.dumps(part_of(1, 1, finalized=False)), encoding="utf-8")
    found = run_summary.read(summary)
    lines = run.lines({**found, "reproducible": "", "wisdom": None})
    assert "bcast from 4 B to under 8 B: ring, 13 calls of all ranks" in lines
    assert any("MPI_Abort ended the program" in line for line in lines)


def test_gaps_of_choices_are_said_to_have_no_effect(tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom.json"
    summary = {"ranks": 2, "calls": [], "forwarded": [], "communicators": {}, "wisdom": str(wisdom)}
    for parameters, told in (({"gap": 2}, True), ({"trees": 2}, False), (None, False)):
        wisdom.write_text(json.dumps({"choices": [{"parameters": parameters}]}), encoding="utf-8")
        assert any("only the simulator heeds it" in line for line in run.lines(summary)) == told


@pytest.mark.parametrize("mode", ["order", "exact"])
def test_the_promise_says_of_which_calls_it_is(mode: str) -> None:
    summary = {"ranks": 2, "calls": [], "forwarded": [], "communicators": {}, "reproducible": mode}
    for none in ({}, {"unhooked_reductions": 0}):
        (line,) = run.lines({**summary, **none})
        assert "float" in line and "fixed order" in line and "library" not in line
    (line,) = run.lines({**summary, "unhooked_reductions": 3})
    assert line.endswith("; the MPI library ran 3 reductions of other kinds, which may not be reproducible")
    assert run.lines({**summary, "reproducible": "", "unhooked_reductions": 3}) == []


def test_says_which_calls_are_never_taken_over() -> None:
    summary = {"calls": [], "forwarded": [], "communicators": {}, "ranks": 2}
    assert run.lines(summary) == []
    said = run.lines({**summary, "others": {"MPI_Alltoallv": 3, "MPI_Gatherv": 1}})
    assert said == [
        "`kumihimo run` does not handle these calls, the MPI library ran them: 3 of MPI_Alltoallv, 1 of MPI_Gatherv"
    ]


def test_says_where_no_wisdom_was_found_and_what_to_do() -> None:
    row = {"collective": "bcast", **NOT_CHOSEN, "calls": 4}
    summary = {"calls": [], "forwarded": [row], "communicators": {}, "ranks": 2}
    first, second = run.lines(summary, named=False, without=run.NONE_FOUND)
    assert first.startswith("no wisdom was found") and first.endswith("run `kumihimo tune`")
    assert second == "bcast: MPI library, 4 calls; reason: no wisdom was found"
    assert run.lines(summary, named=False) == [f"bcast: MPI library, 4 calls; reason: {NOT_CHOSEN['reason']}"]
    found = run.lines({**summary, "wisdom": "/w.json"}, named=False)
    assert found == ["wisdom: /w.json", f"bcast: MPI library, 4 calls; reason: {NOT_CHOSEN['reason']}"]
    assert run.lines({**summary, "wisdom": "/w.json"})[1] == run.NO_CHOICES


def test_the_ids_of_reasons_are_the_interposers(repository: Path) -> None:
    reasons = (repository / "src" / "preload" / "interpose" / "call_counters.cpp").read_text(encoding="utf-8")
    for known in (run.NOT_CHOSEN, run.NOT_LOADED):
        assert f'{{"{known}", "' in reasons


def test_says_why_there_are_no_choices(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    summary = {"mpi": "Open MPI v9"}
    assert run.without_choices(summary, None, True, False, LINE) == "--algorithm names no algorithm for this collective"
    assert run.without_choices(summary, None, False, True, LINE) == "--no-wisdom"
    assert run.without_choices(summary, None, False, False, LINE) == run.NONE_FOUND
    assert run.without_choices(summary, Path("w.json"), False, False, LINE) == run.NOT_TAKEN
    usual = run.wisdom_reading.usual_path("Open MPI v9")
    usual.parent.mkdir(parents=True)
    usual.write_text("damaged", encoding="utf-8")
    assert run.without_choices(summary, None, False, False, LINE) == run.NOT_TAKEN
    assert run.without_choices({**summary, "wisdom": str(usual)}, None, False, False, LINE) == ""


def choice(from_bytes: int, to_bytes: int, **more: object) -> dict:
    return {
        "collective": "bcast",
        "ranks": 4,
        "algorithm": "library",
        "from_bytes": from_bytes,
        "to_bytes": to_bytes,
    } | more


@pytest.mark.parametrize(
    ("choices", "communicators", "reason"),
    [
        ([choice(1, 64, collective="reduce")], {}, "bcast was not tuned; run `kumihimo tune bcast --ranks 4`"),
        ([choice(1, 64)], {"node of 3 ranks": 1}, "3 ranks were not tuned; run `kumihimo tune bcast --ranks 3`"),
        (
            [choice(1, 64)],
            {"node of 8 ranks": 1, "node of 2 ranks": 4, "row of 1 rank": 1},
            "2 or 8 ranks were not tuned; run `kumihimo tune bcast --ranks 2,8`",
        ),
        ([choice(1, 63)], {"mesh 2, 2 ranks a node": 1}, "these sizes were not tuned; run `kumihimo tune bcast`"),
        (
            [choice(1, 70), choice(71, 127, algorithm="ring")],
            {"node of 4 ranks": 1},
            "tuning found nothing certainly faster",
        ),
        (
            [choice(1, 127, ranks=0)],
            {"node of 4 ranks": 1, "node of 2 ranks": 1},
            "tuning found nothing certainly faster",
        ),
        ([choice(1, 70)], {"node of 4 ranks": 1}, "tuning found nothing certainly faster for some of these sizes"),
        ([choice(1, 70, algorithm="ring")], {"node of 4 ranks": 1}, "these sizes were not tuned"),
        ([choice(1, 127, shape="2x2")], {"mesh 2x2m": 1}, "bcast was not tuned; run `kumihimo tune bcast --ranks 4`"),
        ([choice(1, 127, shape="2x2")], {"torus 2x2": 1}, "tuning found nothing certainly faster"),
        ([choice(1, 127)], {"node of 4 ranks": 1, "node of 2 ranks": 1}, run.UNCLEAR),
        ([choice(1, 127)], {"dragonfly of 4": 1}, run.UNCLEAR),
        ([{"collective": "bcast", "ranks": "four"}], {"node of 4 ranks": 1}, "4 ranks were not tuned"),
        ([choice(1, "64")], {"node of 4 ranks": 1}, run.UNCLEAR),
    ],
)
@pytest.mark.parametrize("collective", ["bcast", "ibcast"])
def test_says_why_the_library_was_chosen(choices, communicators, reason, collective) -> None:
    row = {"collective": collective, **NOT_CHOSEN, "calls": 4}
    sizes = {"collective": collective, "bytes_from": 64, "bytes_to": 127, "algorithm": "library", "calls": 4}
    summary = {"calls": [sizes], "communicators": communicators, "ranks": 4}
    assert run.why(row, summary, choices, "").startswith(reason)
    assert run.why(row, summary, choices, "--no-wisdom") == "--no-wisdom"
    assert run.why({**row, **BETWEEN}, summary, choices, "--no-wisdom") == "an intercommunicator"


def test_choices_for_non_blocking_calls_say_nothing_of_blocking_ones() -> None:
    row = {"collective": "bcast", **NOT_CHOSEN, "calls": 4}
    sizes = {"collective": "bcast", "bytes_from": 64, "bytes_to": 127, "algorithm": "library", "calls": 4}
    summary = {"calls": [sizes], "communicators": {"node of 4 ranks": 1}, "ranks": 4}
    begun = [choice(1, 127, start="non-blocking")]
    assert run.why(row, summary, begun, "").startswith("bcast was not tuned")
    sizes["collective"] = row["collective"] = "ibcast"
    assert run.why(row, summary, begun, "") == "tuning found nothing certainly faster"


def test_one_line_tells_of_calls_of_the_library_and_their_reason() -> None:
    calls = [{"collective": "bcast", "bytes_from": 64, "bytes_to": 127, "algorithm": "library", "calls": 4}]
    reasons = [{"collective": "bcast", **NOT_CHOSEN, "calls": 4}]
    summary = {"calls": calls, "forwarded": reasons, "communicators": {}, "ranks": 2}
    (line,) = run.lines(summary, without="--no-wisdom")
    assert line == "bcast from 64 B to under 128 B: MPI library, 4 calls of all ranks; reason: --no-wisdom"
    reasons = [{**reasons[0], "calls": 3}, {"collective": "bcast", **BETWEEN, "calls": 1}]
    assert run.lines({**summary, "forwarded": reasons}, without="--no-wisdom") == [
        "bcast from 64 B to under 128 B: MPI library, 4 calls of all ranks",
        "bcast: MPI library, 3 calls; reason: --no-wisdom",
        "bcast: MPI library, 1 calls; reason: an intercommunicator",
    ]


def test_says_that_the_wisdom_has_no_reproducible_choices(monkeypatch) -> None:
    summary = {"ranks": 2, "calls": [], "forwarded": [], "communicators": {}, "reproducible": "order", "wisdom": "w"}
    for determinism, end in (("any", f"; {run.DEFAULTS}"), ("fixed_order", "")):
        monkeypatch.setattr(run.wisdom_reading, "choices_in", lambda *_, d=determinism: [choice(1, 8, determinism=d)])
        assert run.lines(summary)[0] == f"wisdom: w{end}"


def test_a_program_that_did_not_end_mpi_is_told_of_by_rank_0_alone():
    calls = {"collective": "bcast", "bytes_from": 8, "bytes_to": 15, "algorithm": "ring", "calls": 3}
    summary = {"calls": [calls], "forwarded": [], "communicators": {}, "ranks": 2}
    told = run.lines({**summary, "finalized": False})
    assert told[0] == "the program ended without MPI_Finalize; only the calls of rank 0 are counted"
    assert told[1].endswith("ring, 3 calls of rank 0")
    assert run.lines({**summary, "finalized": True}) == [told[1].replace("rank 0", "all ranks")]


def test_a_rank_on_the_way_to_which_the_object_was_lost_is_told_of():
    lost = {"reason_id": run.NOT_LOADED, "reason": "a process did not load the preload library"}
    left = {"collective": "bcast", **lost, "calls": 3}
    calls = {"collective": "bcast", "bytes_from": 8, "bytes_to": 15, "algorithm": "library", "calls": 3}
    summary = {"calls": [calls], "forwarded": [left], "communicators": {}, "finalized": True, "of_all_ranks": False}
    told = run.lines(summary)
    assert told[0] == run.LOST
    assert "MPI library, 3 calls of rank 0; reason: a process did not load" in told[1]
    assert run.lines({**summary, "forwarded": []})[0] == run.RANK_0_ALONE


def test_buffers_on_devices_that_were_packed_are_told_of():
    summary = {"calls": [], "forwarded": [], "communicators": {}, "ranks": 2}
    assert run.lines({**summary, "packed_from_device": 0}) == []
    (line,) = run.lines({**summary, "packed_from_device": 5})
    assert line.startswith("5 calls had GPU buffers")


def test_lengths_are_told_of_calls_that_have_one():
    calls = {"collective": "alltoall", "bytes_from": 8, "bytes_to": 15, "algorithm": "bruck", "calls": 3}
    summary = {"calls": [calls], "forwarded": [], "communicators": {}, "ranks": 2}
    assert run.lines(summary) == ["alltoall from 8 B to under 16 B: bruck, 3 calls of all ranks"]
    calls.update(collective="ibarrier", bytes_from=0, bytes_to=0, algorithm="binomial")
    assert run.lines(summary) == ["ibarrier: binomial, 3 calls of all ranks"]


def test_reordered_topologies_name_traffic_between_packages() -> None:
    row = {"call": "MPI_Cart_create", "communicators": 2, "on_one_node": 0, "reordered": 1, "measure": "off_node_bytes"}
    found = run.reordered({**row, "before": 200, "after": 100, "packages_before": 40, "packages_after": 10})
    assert found.endswith("traffic between nodes: 50% of that in the original order; between packages of a node 25%")
    none = run.reordered({**row, "before": 200, "after": 100, "packages_before": 0, "packages_after": 0})
    assert none.endswith("traffic between nodes: 50% of that in the original order")
