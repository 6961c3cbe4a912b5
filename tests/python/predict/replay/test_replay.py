"""Replays of made-up programs, with results computed by hand."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kumihimo._trace import Kind
from kumihimo.predict.replay import choices, otf2_events, otf2_reading, study
from kumihimo.predict.replay.sources import trace_of
from kumihimo.run.profile import otf2_writing
from kumihimo.text.errors import BadInput

from .conftest import DUPLICATE, OTF2, Rank

LETTERS = ("--loggops", "L=2000,o=100,g=0,G=0,O=0,S=65536")
NS = 1e-9


def ring(ranks: int, ns: int = 1000, steps: int = 1) -> list[Rank]:
    """Each sends to the next and receives from the one before."""
    made = []
    for number in range(ranks):
        rank = Rank()
        for _ in range(steps):
            rank.compute(ns).send((number + 1) % ranks).receive((number - 1) % ranks)
        made.append(rank.compute(5))
    return made


def test_a_message_takes_overheads_and_latency(traced: Callable, replay: Callable) -> None:
    trace = traced([Rank().compute(1000).send(1).compute(500), Rank().compute(10).receive(0).compute(20)])
    result = replay(trace, *LETTERS, "--json")
    assert result["seconds"] == pytest.approx((1000 + 100 + 2000 + 100 + 20) * NS)
    assert result["recorded_seconds"] == pytest.approx(1510 * NS)
    assert result["messages"] == 1 and result["last_rank"] == 1
    sites = {site["name"]: site for site in result["sites"]}
    sends, receives = sites["MPI_Send at step.py:12 (run)"], sites["MPI_Recv at step.py:13 (run)"]
    assert (sends["calls"], sends["seconds"]) == (1, pytest.approx(100 * NS))
    assert receives["seconds"] == pytest.approx((3200 - 10) * NS)
    assert receives["waiting"] == pytest.approx(990 * NS)  # for the computing of rank 0 alone
    assert receives["transferring"] == pytest.approx(2200 * NS)


def test_a_rank_that_dies(traced: Callable, replay: Callable) -> None:
    """The message of rank 0 leaves after 1100 ns."""
    trace = traced([Rank().compute(1000).send(1).compute(500), Rank().compute(10).receive(0).compute(20)])
    early = replay(trace, *LETTERS, "--dies", "0@1us", "--json")["faults"]
    assert [each["state"] for each in early["by_rank"]] == ["died", "waits"] and early["waiting_directly"] == 1
    late = replay(trace, *LETTERS, "--dies", "0@1.2us", "--json")["faults"]
    assert [each["state"] for each in late["by_rank"]] == ["died", "complete"]
    half = replay(trace, *LETTERS, "--dies", "0@50%", "--json")
    assert half["faults"]["dies"][0]["seconds"] == pytest.approx(half["seconds"] / 2)


def test_efficiencies_are_those_of_pop(traced: Callable, replay: Callable) -> None:
    """Computing 1500 and 30 of 3220; on an ideal network rank 0 needs 1500."""
    trace = traced([Rank().compute(1000).send(1).compute(500), Rank().compute(10).receive(0).compute(20)])
    of = replay(trace, *LETTERS, "--json")["efficiencies"]
    assert of["load_balance"] == pytest.approx(765 / 1500)
    assert of["serialisation"] == pytest.approx(1.0)
    assert of["transfer"] == pytest.approx(1500 / 3220)
    assert of["communication"] == pytest.approx(1500 / 3220)
    assert of["parallel"] == pytest.approx(765 / 3220)
    assert of["parallel"] == pytest.approx(of["load_balance"] * of["serialisation"] * of["transfer"])


def test_speed_scales_computing_of_all_and_of_a_region(traced: Callable, replay: Callable) -> None:
    def rank(other: int) -> Rank:
        begun = Rank().compute(300).region(True).compute(900).region(False)
        return begun.send(other).receive(other)

    trace = traced([rank(1), rank(0)])
    at = {words: replay(trace, *LETTERS, *words, "--json")["seconds"] for words in ((), ("--speed", "3"))}
    at["region"] = replay(trace, *LETTERS, "--speed", "solve=9", "--json")["seconds"]
    assert at[()] == pytest.approx((1200 + 2200) * NS)
    assert at["--speed", "3"] == pytest.approx((400 + 2200) * NS)
    assert replay(trace, *LETTERS, "--speed", "3e0", "--json")["seconds"] == at["--speed", "3"]
    assert at["region"] == pytest.approx((300 + 100 + 2200) * NS)
    assert "--speed must name a region of the trace (got 'sole')" in replay(trace, *LETTERS, "--speed", "sole=9")
    assert "--speed must be a number" in replay(trace, *LETTERS, "--speed", "0")


def test_collectives_take_the_algorithm_that_is_named(traced: Callable, replay: Callable, tmp_path: Path) -> None:
    trace = traced([Rank().allreduce().compute(7) for _ in range(4)])
    usual = replay(trace, *LETTERS, "--json")
    assert usual["collectives"] == [
        {"collective": "allreduce", "ranks": 4, "bytes": 8, "algorithm": "recursive_doubling"}
    ]
    assert usual["seconds"] == pytest.approx((2 * 2200 + 7) * NS)
    tree = replay(trace, *LETTERS, "--algorithm", "allreduce=binomial", "--json")
    assert tree["seconds"] == pytest.approx((4 * 2200 + 7) * NS)
    wisdom = tmp_path / "wisdom.json"
    choice = {"collective": "allreduce", "algorithm": "binomial", "from_bytes": 0, "to_bytes": 64}
    wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}), encoding="utf-8")
    assert replay(trace, *LETTERS, "--wisdom", wisdom, "--json")["collectives"] == tree["collectives"]
    assert "--algorithm must be COLLECTIVE=NAME" in replay(trace, *LETTERS, "--algorithm", "binomial")
    wisdom.write_text("{}", encoding="utf-8")
    assert "--wisdom must name a file of kumihimo tune" in replay(trace, *LETTERS, "--wisdom", wisdom)
    with_parameters = {"collective": "allreduce", "algorithm": "ring", "parameters": {"window": 2}}
    wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [with_parameters]}), encoding="utf-8")
    assert replay(trace, *LETTERS, "--wisdom", wisdom, "--json")["collectives"][0]["algorithm"] == "ring"
    for wrong, sentence in (
        ({"parameters": {"windows": 2}}, "unknown parameter (got windows = 2)"),
        ({"parameters": 3}, "parameters must be an object (got 3)"),
        ({"ranks": [4]}, "ranks must be a whole number"),
    ):
        wisdom.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice | wrong]}), encoding="utf-8")
        refused = replay(trace, *LETTERS, "--wisdom", wisdom)
        assert f"{wisdom}: choice 1: " in refused and sentence in refused


def test_noise_makes_computing_longer(traced: Callable, replay: Callable) -> None:
    """A detour of 100 in each 1000 ns, at another phase on each rank."""
    trace = traced([Rank().compute(10_000).allreduce() for _ in range(2)])
    free = replay(trace, *LETTERS, "--json")["seconds"]
    noisy = replay(trace, *LETTERS, "--noise", "periodic:100ns/1us", "--json")
    assert noisy["seconds"] == pytest.approx(free + 1100 * NS, abs=200 * NS)
    assert noisy["noise"] == "periodic:100ns/1us"
    of = noisy["efficiencies"]
    assert of["serialisation"] == pytest.approx(10_000 / 11_100, abs=0.02)  # an ideal network has this noise, too
    assert of["parallel"] == pytest.approx(of["load_balance"] * of["serialisation"] * of["transfer"])
    assert max(of.values()) <= 1 and noisy["computing_seconds"] == pytest.approx(10_000 * NS)


@pytest.mark.parametrize("noise", ["periodic:3us/10us", "exponential:2us/9us,seed=5"])
def test_no_efficiency_is_above_one_with_noise(traced: Callable, replay: Callable, noise: str) -> None:
    ranks = [Rank() for _ in range(4)]
    for step in range(20):
        for number, rank in enumerate(ranks):
            rank.compute(1000 + 700 * ((number + step) % 3)).allreduce()
    of = replay(traced(ranks), *LETTERS, "--noise", noise, "--json")["efficiencies"]
    assert max(of.values()) <= 1, of


def test_a_described_machine_gives_the_parameters(traced: Callable, replay: Callable) -> None:
    trace = traced(ring(4))
    result = replay(trace, "--machine", "k-computer", "--shape", "2x2x1", "--json")
    assert result["machine"] == "k-computer 2x2x1" and result["loggops"]["L_seconds"] > 0
    assert 1005 * NS < result["seconds"] < 1e-4
    assert replay(trace, "--machine", "k-computer", "--ranks", "64", "--json")["machine"] == "k-computer 4x4x4"
    told = replay(trace, "--machine", "k-computer", "--shape", "2x2x2")
    assert "the machine must have as many ranks as the program (got 8 for 4)" in told


def test_what_would_change_it_is_found_by_running_it(traced: Callable, replay: Callable) -> None:
    trace = traced([Rank().compute(100).call("MPI_Allreduce", (Kind.collective, 8, -1, -1, 0)) for _ in range(4)])
    result = replay(trace, *LETTERS, "--algorithm", "allreduce=binomial", "--what-if", "--json")
    changes = {change["name"]: change["seconds"] for change in result["changes"]}
    assert changes["processors twice as fast"] == pytest.approx((50 + 4 * 2200) * NS)
    assert changes["half the latency (L)"] == pytest.approx((100 + 4 * 1200) * NS)
    assert changes["an ideal network"] == pytest.approx(100 * NS)
    exchanged = changes["allreduce of 8 B by recursive_doubling instead of binomial"]
    assert exchanged == pytest.approx((100 + 2 * 2200) * NS)
    assert list(changes.values()) == sorted(changes.values())


def test_requests_overlap_and_polls_are_left_out(traced: Callable, replay: Callable) -> None:
    sends = Rank().call("MPI_Isend", (Kind.start_send, 8, 1, 4, 9)).compute(5000)
    sends = sends.call("MPI_Test").compute(1).call("MPI_Wait", (Kind.end_send, 8, 1, 4, 9)).compute(10)
    result = replay(traced([sends, Rank().receive(0, tag=4)]), *LETTERS, "--json")
    assert result["seconds"] == pytest.approx((100 + 5000 + 1 + 10) * NS)
    assert result["left_out"] == {"MPI_Test": 1}


def test_a_duplicate_of_the_world_is_another_communicator(traced: Callable, replay: Callable) -> None:
    """Ranks begin collectives on both, and receive from both, in other orders, as MPI allows."""
    reduces, others = (Kind.start_collective, 8, -1, -1, 1), (Kind.start_collective, 4, -1, -1, 2)
    first = Rank().call("MPI_Allreduce", reduces).call("MPI_Bcast", others, on=DUPLICATE)
    second = Rank().call("MPI_Bcast", others, on=DUPLICATE).call("MPI_Allreduce", reduces)
    for rank in (first, second):
        rank.call("MPI_Allreduce", (Kind.end_collective, 8, -1, -1, 1))
        rank.call("MPI_Bcast", (Kind.end_collective, 4, 0, -1, 2), on=DUPLICATE)
    first.call("MPI_Send", (Kind.send, 1000, 1, 0, 0), on=DUPLICATE).receive(1, tag=5).send(1, tag=0)
    second.call("MPI_Irecv", (Kind.start_receive, 0, -1, -1, 3)).call("MPI_Irecv", (Kind.start_receive, 0, -1, -1, 4))
    second.call("MPI_Wait", (Kind.end_receive, 1000, 0, 0, 4), on=DUPLICATE).send(0, tag=5)
    second.call("MPI_Wait", (Kind.end_receive, 8, 0, 0, 3))
    result = replay(traced([first, second]), *LETTERS, "--json")
    assert {(c["collective"], c["bytes"]) for c in result["collectives"]} == {("allreduce", 8), ("bcast", 4)}
    assert result["messages"] == 2 + 1 + 3


def test_communicators_that_one_line_makes_of_two_others_are_apart(traced: Callable, replay: Callable) -> None:
    """BLACS_GRIDMAP splits what it is given: rows of the world, here, and of a duplicate with other members."""

    def split(parent: int, leader: int, own: int) -> dict:
        line = {"name": "MPI_Comm_split", "site": 0, "size": 2, "leader": leader, "inter": False}
        return line | {"rank": own, "parent": parent}

    ranks = [Rank() for _ in range(4)]
    for number, rank in enumerate(ranks):
        rows = split(0, number // 2 * 2, number % 2), split(1, number % 2, number // 2)
        rank.communicators = [*rows]
        for on in (3, 4):
            rank.call("MPI_Bcast", (Kind.collective, 8, 1, -1, 0), on=on)
    found = replay(traced(ranks), *LETTERS, "--json")
    assert {(c["collective"], c["ranks"]) for c in found["collectives"]} == {("bcast", 2)}


def test_rows_and_columns_that_one_line_makes_are_apart(traced: Callable, replay: Callable) -> None:
    """A row and a column of a grid may have the same size and first rank; their last ones differ."""
    ranks = [Rank() for _ in range(4)]
    for number, rank in enumerate(ranks):
        row, column = number // 2 * 2, number % 2
        line = {"name": "MPI_Comm_split", "site": 0, "size": 2, "inter": False, "parent": 0}
        rank.communicators = [
            line | {"leader": row, "last": row + 1, "rank": column},
            line | {"leader": column, "last": column + 2, "rank": number // 2},
        ]
        for on in (3, 4):
            rank.call("MPI_Bcast", (Kind.collective, 8, 1, -1, 0), on=on)
    found = replay(traced(ranks), *LETTERS, "--json")
    assert [(c["collective"], c["ranks"], c["calls"]) for c in found["collectives"]] == [("bcast", 2, 8)]


def test_a_root_in_an_unknown_order_is_some_rank(traced: Callable, replay: Callable) -> None:
    """A line that makes communicators of the same ranks in several orders leaves the order of none known."""
    ranks = [Rank() for _ in range(2)]
    for number, rank in enumerate(ranks):
        line = {"name": "MPI_Comm_create", "site": 0, "size": 2, "leader": 0, "inter": False, "parent": 0}
        rank.communicators = [line | {"rank": own} for own in (number, 1 - number)]
        for on in (3, 4):
            rank.call("MPI_Bcast", (Kind.collective, 8, 1, -1, 0), on=on)
    found = replay(traced(ranks), *LETTERS, "--json")
    assert found["seconds"] > 0, found


def test_blocks_of_an_irregular_alltoall_are_read(traced: Callable) -> None:
    def rank(*parts: int) -> Rank:
        ends = [(kind, sum(parts), -1, -1, 3) for kind in (Kind.start_collective, Kind.end_collective)]
        return Rank().call("MPI_Ialltoallv", *ends, parts=parts)

    read = trace_of(str(traced([rank(1, 2), rank(30, 4)])))
    assert read.recording.calls == [("alltoall", 2, 10, True, True)]


def test_more_ranks_do_what_recorded_ones_did(traced: Callable, replay: Callable) -> None:
    trace = traced(ring(5, steps=2))
    here = replay(trace, *LETTERS, "--json")
    there = replay(trace, *LETTERS, "--ranks", "500", "--json")
    assert (there["ranks"], there["recorded_grid"], there["grid"]) == (500, [5], [500])
    assert there["seconds"] == pytest.approx(here["seconds"])
    assert there["messages"] == 100 * here["messages"] and there["graphs"] == 1
    strong = replay(trace, *LETTERS, "--ranks", "50", "--scaling", "strong", "--json")
    assert strong["seconds"] == pytest.approx(here["seconds"] - 2 * 900 * NS, abs=6 * NS)
    told = replay(trace, *LETTERS, "--ranks", "500")
    assert "500 ranks on a machine" in told and "grid 5 extrapolated to 500, weak scaling" in told


def test_a_program_that_is_not_regular_is_not_extrapolated(traced: Callable, replay: Callable) -> None:
    first = Rank().send(1).send(2).send(3)
    told = replay(traced([first, *(Rank().receive(0) for _ in range(3))]), *LETTERS, "--ranks", "8", "--grid", "4")
    assert "the messages are not regular on the grid 4: ranks 1 and 2 exchange with others at different" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((), "the machine is missing"),
        (("--loggops", "L=1"), "--loggops without --machine must give L, o, g, G, O and S"),
        ((*LETTERS, "--scaling", "strange"), "--scaling must be weak or strong"),
        ((*LETTERS, "--ranks", "0"), "--ranks must be from 1"),
        ((*LETTERS, "--to-grid", "axb"), "--to-grid must be a grid"),
        ((*LETTERS, "--ranks", "7", "--to-grid", "2x4"), "--to-grid must have as many ranks as --ranks"),
    ],
)
def test_bad_input_is_one_sentence(traced: Callable, replay: Callable, words: tuple, wrong: str) -> None:
    told = replay(traced(ring(5)), *words)
    assert wrong in told and told.count("\n") == 1, told


@pytest.mark.parametrize(("overhead", "name", "less"), [("1", "G and O", 500), ("0", "G", 500)])
def test_twice_the_bandwidth_of_ranks_that_copy(
    traced: Callable, replay: Callable, overhead: str, name: str, less: int
) -> None:
    """1,000 bytes take 1 ns each on the wire, while the processor copies them, also 1 ns each, or does not."""
    trace = traced([Rank().send(1, 1000), Rank().receive(0, 1000)])
    result = replay(trace, "--loggops", f"L=2000,o=100,g=0,G=1,O={overhead},S=65536", "--json", "--what-if")
    changes = {change["name"]: change["seconds"] for change in result["changes"]}
    assert result["seconds"] - changes[f"twice the bandwidth ({name})"] == pytest.approx(less * NS, abs=2 * NS)


def test_wrong_traces_name_the_rank_and_the_call(traced: Callable, replay: Callable) -> None:
    told = replay(traced([Rank().send(1), Rank()]), *LETTERS)
    assert "rank 0, event 1 of MPI_Send at step.py:12 (run): a send of 8 bytes to rank 1 with tag 1" in told


def test_ranks_that_lack_a_collective_are_named(traced: Callable, replay: Callable) -> None:
    told = replay(traced([Rank().allreduce(), Rank()]), *LETTERS)
    assert "rank 1 lacks the allreduce that is number 0 of communicator 0: its trace ends before" in told


@OTF2
def test_a_part_of_a_trace_is_one_sentence(traced: Callable, kumihimo: Callable, tmp_path: Path) -> None:
    """OTF2 itself writes a line for each function on its way."""
    trace = traced([Rank().compute(5).send(1), Rank().receive(0)])
    (tmp_path / "alone").mkdir()
    shutil.copy(next(Path(trace).rglob("traces.otf2")), tmp_path / "alone")
    ended = kumihimo("replay", str(tmp_path / "alone" / "traces.otf2"), *LETTERS)
    assert ended.code == 2 and "or copy the whole folder" in ended.err
    file = tmp_path / "alone" / "traces.def"
    assert ended.err.startswith(f"kumihimo: OTF2 could not read {file}: no such file"), ended.err
    assert len(ended.err.splitlines()) == 1


@OTF2
@pytest.mark.parametrize(("name", "kept"), [("traces.otf2", 0), ("traces.otf2", 10), ("traces.def", 200)])
def test_a_file_that_is_not_whole_is_named(traced: Callable, kumihimo: Callable, name: str, kept: int) -> None:
    file = next(Path(traced([Rank().compute(5).send(1), Rank().receive(0)])).rglob(name))
    os.truncate(file, kept)
    ended = kumihimo("replay", str(file.parent), *LETTERS)
    said = f"kumihimo: OTF2 could not read {file}: it is not whole, or no trace; record the program again, or copy"
    assert ended.code == 2 and ended.err.startswith(said) and ended.err.count("\n") == 1, ended.err


@OTF2
@pytest.mark.parametrize("kept", [0.5, None])
def test_the_rank_whose_events_are_not_whole_is_named(traced: Callable, replay: Callable, kept: float | None) -> None:
    trace = traced([Rank().compute(5).send(1), Rank().receive(0), Rank().compute(9)])
    events = next(Path(trace).rglob("1.evt"))
    if kept is None:
        events.unlink()
    else:
        os.truncate(events, int(events.stat().st_size * kept))
    told = replay(trace, *LETTERS)
    assert "the events of each rank must be whole in" in told and "(got those of rank 1); record" in told, told


@OTF2
def test_a_trace_that_contradicts_itself_is_one_sentence(
    traced: Callable, replay: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message to the seventh of two ranks, for one."""
    where = otf2_writing.Writing.where

    def seventh(self: otf2_writing.Writing, *words: int) -> tuple:
        self.own[()] = {0: 7, 1: 7}
        return where(self, *words)

    with monkeypatch.context() as patch:
        patch.setattr(otf2_writing.Writing, "where", seventh)
        trace = traced([Rank().compute(5).send(1), Rank().receive(0)])
    told = replay(trace, *LETTERS).splitlines()
    assert len(told) == 1 and "could not read" in told[0] and "record the program again" in told[0], told

    trace = traced([Rank().compute(5).send(1), Rank().receive(0)])
    anchor = otf2_reading.anchor_of(trace)
    for error in (ValueError("no number"), ZeroDivisionError("no ticks"), otf2_events.struct.error("too large")):

        def fails(*_: object, error: Exception = error) -> bytes:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(otf2_events.Reading, "compute", fails)
            *_, found = otf2_events.results(anchor)
        assert repr(error) in str(found)
        assert "could not read" in str(otf2_reading.error_of(found, anchor))


def test_only_the_end_of_initialisation_begins_the_program(traced: Callable, replay: Callable) -> None:
    result = replay(traced([Rank().compute(1000).call("MPI_Initialized").compute(500)]), *LETTERS, "--json")
    assert result["seconds"] == pytest.approx(1500 * NS)
    assert result["left_out"] == {"MPI_Initialized": 1}


def test_a_buffered_send_ends_before_it_is_received(traced: Callable, replay: Callable) -> None:
    """Head to head: MPI_Send of so many bytes would wait for its receive for ever, and the sentence says so."""

    def both(name: str) -> Path:
        size = 100_000
        return traced([Rank().call(name, (Kind.send, size, to, 1, 0)).receive(to, size) for to in (1, 0)])

    assert replay(both("MPI_Bsend"), *LETTERS, "--json")["messages"] == 2
    told = replay(both("MPI_Send"), *LETTERS)
    assert "waits for its receive, which never starts: ranks wait for each other" in told and told.count("\n") == 1


def test_no_trace_and_a_damaged_one(traced: Callable, replay: Callable, tmp_path: Path) -> None:
    assert "the trace nowhere is missing" in replay("nowhere", *LETTERS)
    assert "a trace must be a folder of kumihimo record --trace" in replay(tmp_path, *LETTERS)
    assert replay("", *LETTERS) == "kumihimo: the trace is missing; name a folder of kumihimo record --trace\n"
    trace = traced(ring(3, steps=50))
    events = next(path for path in trace.rglob("*") if path.suffix in (".evt", ".events"))
    events.write_bytes(events.read_bytes()[:90])
    told = replay(trace, *LETTERS)
    assert told.splitlines()[-1].startswith("kumihimo: "), told
    assert "record the program again" in told.splitlines()[-1]


@pytest.mark.parametrize(("mpi", "of_bcast"), [("", "chain"), ("MPICH 4.0.2", "chain"), ("Open MPI v4.1.4", "linear")])
def test_every_collective_has_a_usual_algorithm(mpi, of_bcast) -> None:
    ground = choices.Ground(mpi=mpi)
    assert choices.usual(choices.Call("bcast", 8, 1 << 20, False), ground).name == of_bcast
    for collective in choices.USUAL:
        for ranks in (1, 2, 3, 6, 8, 17):
            for size in (0, 8, 4096, 1 << 20):
                call = choices.Call(collective, ranks, 0 if collective == "barrier" else size, False)
                if not collective.startswith("neighbor"):
                    assert choices.is_applicable(choices.usual(call, ground), call, ground), call


def test_a_workload_takes_the_algorithms_of_the_library_that_is_named(replay: Callable) -> None:
    """Open MPI 4.1 and 5 send a long vector from the root to each of 9 ranks; so HPL's panels."""
    asked = ("workload:hpl,n=3456,nb=64,rate=1e12", "--ranks", "27", "--machine", "fugaku", "--model", "flow", "--json")
    seconds = {
        name: replay(*asked, *words)["seconds"]
        for name, words in {
            "none": (),
            "mpich": ("--mpi", "mpich"),
            "openmpi": ("--mpi", "openmpi"),
            "linear": ("--mpi", "openmpi", "--algorithm", "bcast=linear"),
        }.items()
    }
    assert seconds["none"] == seconds["mpich"] != seconds["openmpi"] == seconds["linear"]
    assert "--mpi must be one of openmpi, mpich" in replay(*asked, "--mpi", "intel")


def test_losses_and_shares() -> None:
    of = study.Efficiencies.of([1.0, 3.0], 10.0, 4.0)
    assert (of.parallel, of.load_balance, of.communication) == (0.2, pytest.approx(2 / 3), 0.3)
    assert (of.serialisation, of.transfer, of.largest_loss()) == (0.75, 0.4, "transfer")


def test_a_choice_of_an_unknown_algorithm_is_refused() -> None:
    with pytest.raises(BadInput):
        choices.Wished.read(["allreduce=rings"], None)


def test_computing_is_what_a_rank_had_of_a_processor(traced: Callable, replay: Callable) -> None:
    """Of 1000 ns rank 0 had 400, a half of them in a region; nobody measured rank 1."""
    one = Rank().compute(500).region(True).compute(500).had_processor(400).send(1).region(False)
    other = Rank().compute(1000).receive(0).compute(20)
    trace = traced([one, other], "0")
    result = replay(trace, *LETTERS, "--json")
    assert result["seconds"] == pytest.approx((400 + 100 + 2000 + 100 + 20) * NS)
    assert result["computing_seconds"] == pytest.approx((400 + 1020) / 2 * NS)
    at_speed = replay(trace, *LETTERS, "--speed", "solve=2", "--json")["seconds"]
    assert at_speed == pytest.approx(result["seconds"] - 100 * NS), "half of the 200 ns in the region"
    assert not result["warnings"], "there is nothing to warn of"


def test_the_recorder_does_not_count_as_computing(traced: Callable, replay: Callable) -> None:
    one = Rank().compute(1000).recorded(150).send(1).compute(30)
    other = Rank().compute(10).recorded(40).receive(0).compute(20)
    result = replay(traced([one, other]), *LETTERS, "--json")
    assert result["seconds"] == pytest.approx((850 + 100 + 2000 + 100 + 20) * NS)
    assert result["computing_seconds"] == pytest.approx((880 + 20) / 2 * NS), "no less than none"


def test_processor_time_has_no_part_of_the_recorder(traced: Callable, replay: Callable) -> None:
    """The recorder reads it as it leaves a call, and as the next one enters it. Of 1000 ns between two calls the
    recorder took 150 and other ranks 450, so the program had 1000 - 150 - 450 = 400. The recorder's own time is one
    of the clock: the 4000 ns hold a time slice of another rank, and taken off the 600 they would leave nothing."""
    shared = Rank().compute(1000).had_processor(400).recorded(150).send(1)
    preempted = Rank().compute(5000).had_processor(600).recorded(4000).receive(0)
    result = replay(traced([shared, preempted]), *LETTERS, "--json")
    assert result["computing_seconds"] == pytest.approx((400 + 600) / 2 * NS)


def test_what_comes_before_the_end_is_shortened_like_the_rest(traced: Callable, replay: Callable) -> None:
    one = Rank().send(1).compute(1000).recorded(150)
    other = Rank().receive(0).compute(2000).had_processor(300).recorded(900)
    result = replay(traced([one, other]), *LETTERS, "--json")
    assert result["computing_seconds"] == pytest.approx((850 + 300) / 2 * NS)


def test_noise_is_on_ranks_of_the_program(traced: Callable, replay: Callable) -> None:
    trace = traced([Rank().compute(10_000).allreduce() for _ in range(2)])
    told = replay(trace, *LETTERS, "--noise", "periodic:100ns/1us,ranks=1+2-3")
    assert told == "kumihimo: ranks with noise must be from 0 to 1, the last one of the job (got 2-3)\n"
    assert replay(trace, *LETTERS, "--noise", "periodic:100ns/1us,ranks=1", "--json")["seconds"] > 0


@pytest.mark.parametrize(("processors", "crowded"), [("0-1", True), ("0,2", True), ("0-2", False), (None, False)])
def test_more_ranks_than_processors_are_warned_of(
    traced: Callable, replay: Callable, processors: str | None, crowded: bool, tmp_path: Path
) -> None:
    """A recorder that tells no processors is an older one."""
    trace = traced(ring(3), processors)
    (said,) = replay(trace, *LETTERS, "--json")["warnings"] or [""]
    assert said.startswith("While it was recorded, h ran 3 ranks on 2 processors") == crowded
    told = replay(trace, *LETTERS, "--page", tmp_path / "page.html")
    assert ("Warnings:" in told) == crowded
    assert ("3 ranks on 2 processors" in (tmp_path / "page.html").read_text(encoding="utf-8")) == crowded
