"""Replays of traces as Score-P, TAU, EZTrace and dumpi2otf2 write them, with results computed by hand."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kumihimo import _collectives, _goal, _replay
from kumihimo._trace import Kind
from kumihimo.predict.replay import otf2_events, otf2_reading, rows
from kumihimo.processes.visible import is_running
from kumihimo.text.errors import BadInput

from .conftest import need_otf2
from .foreign_traces import NOBODY, Archive, Location

LETTERS = ("--loggops", "L=2000,o=100,g=0,G=0,O=0,S=65536")
NS = 1e-9
MESSAGE = 2200 * NS


@pytest.fixture(autouse=True)
def _otf2() -> None:
    need_otf2()


def send(to: int, comm: int = 0, tag: int = 7, size: int = 64) -> tuple:
    return "MpiSend", to, comm, tag, size


def receive(of: int, comm: int = 0, tag: int = 7, size: int = 64) -> tuple:
    return "MpiRecv", of, comm, tag, size


def collective(archive: Archive, name: str, sent: int, got: int, comm: int = 0, root: int = NOBODY) -> tuple:
    return "MpiCollectiveEnd", getattr(archive.otf2, f"COLLECTIVE_OP_{name}"), comm, root, sent, got


def begun(archive: Archive) -> list[Location]:
    """As Score-P begins."""
    return [rank.begin().enter("main").call("MPI_Init").compute(100) for rank in archive.ranks]


def ended(archive: Archive) -> Archive:
    for rank in archive.ranks:
        rank.call("MPI_Finalize").leave("main").end()
    return archive


@pytest.fixture
def replayed(replay: Callable, tmp_path: Path) -> Callable[..., dict | str]:
    """The result; of a failure the sentence."""

    def run(archive: Archive, *words: str) -> dict | str:
        folder = tmp_path / f"foreign{len(list(tmp_path.iterdir()))}"
        archive.write(folder)
        return replay(folder, *(() if "--machine" in words else LETTERS), *words, "--json")

    return run


def seconds(result: dict | str) -> float:
    assert isinstance(result, dict), result
    return result["seconds"]


def ping(archive: Archive, comm: int = 0, of: int = 0, to: int = 1) -> Archive:
    """100 ns of computing on each rank, and a message."""
    ranks = begun(archive)
    ranks[of].call("MPI_Send", send(1, comm))
    ranks[to].call("MPI_Recv", receive(0, comm))
    return ended(archive)


# --- communicators and groups ---


@pytest.mark.parametrize(
    ("kind", "members"), [("COMM_SELF", []), ("COMM_SELF", [0]), ("COMM_GROUP", [])], ids=["score-p", "one", "dumpi"]
)
def test_members_of_mpi_comm_self_are_the_rank_itself(replayed: Callable, kind: str, members: list[int]) -> None:
    unused = Archive(creator="Score-P 8.4")
    unused.communicator("MPI_COMM_SELF", unused.group(kind, members))
    assert seconds(replayed(ping(unused))) == pytest.approx(100 * NS + MESSAGE)
    used = Archive(creator="Score-P 8.4")
    own = used.communicator("MPI_COMM_SELF", used.group(kind, members))
    for rank in begun(used):
        rank.call("MPI_Bcast", collective(used, "BCAST", 8, 8, own, 0)).compute(50)
        rank.call("MPI_Sendrecv", send(0, own), receive(0, own)).compute(50)
    result = replayed(ended(used))
    assert seconds(result) == pytest.approx(200 * NS + MESSAGE), "only the message to itself takes time"
    assert result["messages"] == 2
    assert (
        result["collectives"] == [{"collective": "bcast", "ranks": 1, "bytes": 8, "algorithm": "binomial_in_turn"}] * 2
    )
    for model in ("flow", "packet"):
        assert seconds(replayed(used, "--model", model, "--machine", "k-computer", "--what-if")) > 200 * NS


def test_a_group_of_one_is_another_way_to_say_self(replayed: Callable) -> None:
    archive = Archive()
    of_rank = [archive.communicator("MPI_COMM_SELF", archive.group("COMM_GROUP", [rank])) for rank in range(2)]
    for rank, own in zip(begun(archive), of_rank):
        rank.call("MPI_Barrier", collective(archive, "BARRIER", 0, 0, own))
    assert seconds(replayed(ended(archive))) == pytest.approx(100 * NS)


def test_locations_need_not_be_in_the_order_of_ranks(replayed: Callable) -> None:
    archive = Archive(ranks=3, order=[2, 0, 1])
    ranks = begun(archive)
    ranks[0].call("MPI_Send", send(2))
    ranks[2].compute(900).call("MPI_Recv", receive(0))
    ranks[1].compute(1)
    result = replayed(ended(archive))
    assert result["last_rank"] == 2 and seconds(result) == pytest.approx(100 * NS + MESSAGE)


def test_ranks_in_events_are_those_of_the_communicator(replayed: Callable) -> None:
    """Of a group of ranks 3 and 1 the first is 3; where a group says so, they are those of the world."""
    for flags, peers in (("NONE", (1, 0)), ("GLOBAL_MEMBERS", (1, 3))):
        archive = Archive(ranks=4)
        odd = archive.communicator("odd", archive.group("COMM_GROUP", [3, 1], flags))
        ranks = begun(archive)
        ranks[3].call("MPI_Send", send(peers[0], odd))
        ranks[1].compute(5).call("MPI_Recv", receive(peers[1], odd))
        for rank in (ranks[1], ranks[3]):
            rank.call("MPI_Bcast", collective(archive, "BCAST", 8, 8, odd, peers[1]))
        result = replayed(ended(archive), "--by-rank")
        assert result["messages"] == 2
        ends = [rank["end_seconds"] for rank in result["by_rank"]]
        assert ends == pytest.approx([100 * NS, 2500 * NS, 100 * NS, 300 * NS], abs=210 * NS)


def test_messages_between_two_groups(replayed: Callable) -> None:
    """On an inter-communicator a rank is one of the other group."""
    archive = Archive(ranks=4)
    groups = [archive.group("COMM_GROUP", members) for members in ([0, 1], [2, 3])]
    between = archive.communicator("between", *groups)
    ranks = begun(archive)
    ranks[0].call("MPI_Send", send(1, between))
    ranks[3].call("MPI_Recv", receive(0, between))
    ranks[2].call("MPI_Send", send(0, between, 8))
    ranks[0].call("MPI_Recv", receive(0, between, 8))
    result = replayed(ended(archive))
    assert result["messages"] == 2 and seconds(result) == pytest.approx(100 * NS + MESSAGE, abs=101 * NS)
    for rank in archive.ranks:
        rank.events[-3:] = []
        rank.call("MPI_Barrier", collective(archive, "BARRIER", 0, 0, between)).end()
    told = replayed(archive)
    assert "no collectives on inter-communicators (got a barrier of rank 0 on between)" in told, told


def test_groups_of_other_paradigms_are_no_communicators_of_ranks(replayed: Callable) -> None:
    """Score-P defines "Process x Threads", whose members are threads."""
    archive = Archive()
    thread = archive.location("OMP thread 1", 0)
    archive.group("COMM_LOCATIONS", [0, 1, archive.locations.index(thread)], paradigm="MEASUREMENT_SYSTEM")
    archive.communicator("Threads", archive.group("COMM_GROUP", [0, 1, 2], paradigm="MEASUREMENT_SYSTEM"))
    assert seconds(replayed(ping(archive))) == pytest.approx(100 * NS + MESSAGE)


# --- locations ---


def test_threads_accelerators_and_metrics_are_no_ranks(replayed: Callable) -> None:
    archive = Archive()
    thread = archive.location("OMP thread 1", 0)
    thread.enter("!$omp parallel @solve.c:12").at("ThreadTeamBegin", 0).compute(50).at("ThreadTeamEnd", 0)
    thread.leave("!$omp parallel @solve.c:12").call("MPI_Comm_rank")
    archive.location("CUDA[0:7]", 0, "ACCELERATOR_STREAM").call("kernel")
    archive.location("power", 1, "METRIC").call("sensor")
    archive.location("idle", 1)
    omp = archive.otf2.PARADIGM_OPENMP
    ranks = begun(archive)
    for rank in ranks:
        rank.at("ThreadFork", omp, 2).enter("!$omp parallel @solve.c:12").compute(300)
        rank.leave("!$omp parallel @solve.c:12").at("ThreadJoin", omp).at("ParameterInt", 0, 3)
    ranks[0].call("MPI_Send", send(1))
    ranks[1].call("MPI_Recv", receive(0))
    result = replayed(ended(archive))
    assert seconds(result) == pytest.approx(400 * NS + MESSAGE)
    times = {region["region"]: region["seconds"] for region in result["regions"]}
    assert times["!$omp parallel @solve.c:12"] == pytest.approx(600 * NS) and "kernel" not in times
    thread.call("MPI_Send", send(1))
    told = replayed(archive)
    assert "one thread of each process that calls MPI (got location OMP thread 1 sends or receives)" in told, told


def test_numbers_and_clocks_of_a_location_are_translated(replayed: Callable) -> None:
    archive = Archive()
    archive.shifted = 5
    assert seconds(replayed(ping(archive))) == pytest.approx(100 * NS + MESSAGE)
    drifting = Archive()
    drifting.offsets[1] = (0, 10**6)  # a tick of its clock is two of the others
    ping(drifting)
    assert seconds(replayed(drifting)) == pytest.approx(100 * NS + MESSAGE)
    ends = [rank["computing_seconds"] for rank in replayed(drifting, "--by-rank")["by_rank"]]
    assert ends == pytest.approx([100 * NS, 200 * NS])


# --- regions and calls ---


@pytest.mark.parametrize("paradigm", ["MPI", "USER", "COMPILER"])
def test_calls_are_known_by_their_names(replayed: Callable, paradigm: str) -> None:
    """TAU writes parentheses, no beginning and no end of the program, and all with "mpi" in the name are of MPI."""
    archive = Archive(creator="TAU", paradigm=paradigm)
    for rank in archive.ranks:
        rank.enter(".TAU application").compute(70).call("MPI_Init()").compute(60).enter("my_mpi_solver").compute(40)
    archive.ranks[0].call("MPI_Isend()", send(1)).compute(500).call("MPI_Wait()")
    archive.ranks[1].call("MPI_Recv()", receive(0)).compute(30)
    for rank in archive.ranks:
        rank.call("MPI_Allreduce()").leave("my_mpi_solver").call("MPI_Finalize()").leave(".TAU application")
    result = replayed(archive)
    assert seconds(result) == pytest.approx(130 * NS + MESSAGE), "nothing waits for the send"
    assert {site["name"] for site in result["sites"]} == {"MPI_Isend", "MPI_Recv"}
    assert {".TAU application", "my_mpi_solver"} <= {region["region"] for region in result["regions"]}
    assert result["left_out"] == {"MPI_Wait": 1, "MPI_Allreduce": 2}
    (warning,) = result["warnings"]
    assert warning.startswith("The trace gives no data of MPI_Allreduce: these calls take no time here.")


def test_functions_of_the_program_are_no_calls(replayed: Callable) -> None:
    archive = Archive(creator="Score-P 8.4")
    archive.paradigms = dict.fromkeys(("MPI_Halo", "MPI_Wrapper::send(int)"), archive.otf2.PARADIGM_COMPILER)
    for rank in begun(archive):
        rank.enter("MPI_Halo").compute(50).enter("MPI_Wrapper::send(int)").compute(7)
        rank.call("MPI_Barrier", collective(archive, "BARRIER", 0, 0)).leave("MPI_Wrapper::send(int)")
        rank.leave("MPI_Halo")
    result = replayed(ended(archive))
    assert seconds(result) == pytest.approx(157 * NS + MESSAGE)
    times = {region["region"]: region["seconds"] for region in result["regions"]}
    assert times["MPI_Halo"] == pytest.approx(100 * NS) and times["MPI_Wrapper::send(int)"] == pytest.approx(14 * NS)


def test_a_trace_of_messages_alone(replayed: Callable) -> None:
    """No region, and neither beginning nor end of the program."""
    archive = Archive()
    archive.ranks[0].at("BufferFlush", 1000).compute(50).at(*send(1)).compute(20).at("MpiRequestTest", 3)
    archive.ranks[1].at("BufferFlush", 1000).compute(80).at(*receive(0))
    result = replayed(archive)
    assert seconds(result) == pytest.approx(50 * NS + MESSAGE)
    assert {site["name"] for site in result["sites"]} == {"a call without a record"}


def test_names_need_not_be_utf_8(replayed: Callable) -> None:
    archive = Archive()
    archive.raw["solver"] = b"L\xf6ser"
    for rank in begun(archive):
        rank.enter("solver").compute(40).leave("solver")
    result = replayed(ended(archive))
    assert seconds(result) == pytest.approx(140 * NS)
    assert "L\\xf6ser" in {region["region"] for region in result["regions"]}


def test_time_without_recording_is_not_the_programs(replayed: Callable) -> None:
    archive = Archive()
    o = archive.otf2
    for rank in begun(archive):
        rank.at("BufferFlush", rank.now + 5000).compute(5000).compute(30)
        rank.enter("TRACE BUFFER FLUSH").compute(3000).leave("TRACE BUFFER FLUSH")
        rank.at("MeasurementOnOff", o.MEASUREMENT_OFF).compute(700).at("MeasurementOnOff", o.MEASUREMENT_ON).compute(4)
    result = replayed(ended(archive))
    assert seconds(result) == result["recorded_seconds"] == pytest.approx(134 * NS)
    assert result["warnings"] == ["Recording was off for 700 ns: what the program did meanwhile takes no time here."]


def test_recording_may_be_off_at_the_end(replayed: Callable) -> None:
    """By macros round the loop of interest, as in traces for TraceR: MPI_Finalize is not recorded."""
    archive = Archive()
    for rank in archive.ranks:
        rank.call("MPI_Init").at("MeasurementOnOff", archive.otf2.MEASUREMENT_OFF).compute(500)
        rank.at("MeasurementOnOff", archive.otf2.MEASUREMENT_ON).enter("loop").compute(70)
        rank.call("MPI_Barrier", collective(archive, "BARRIER", 0, 0)).compute(8)
        rank.at("MeasurementOnOff", archive.otf2.MEASUREMENT_OFF)
    assert seconds(replayed(archive)) == pytest.approx(78 * NS + MESSAGE)


# --- requests ---


def test_requests_begin_and_end(replayed: Callable) -> None:
    archive = Archive()
    first, second = begun(archive)
    first.call("MPI_Isend", ("MpiIsend", 1, 0, 7, 64, 2**64 - 1)).compute(5000).call(
        "MPI_Test", ("MpiRequestTest", 2**64 - 1)
    )
    first.call("MPI_Wait", ("MpiIsendComplete", 2**64 - 1)).compute(1)
    second.call("MPI_Irecv", ("MpiIrecvRequest", 1)).compute(4000).call("MPI_Wait", ("MpiIrecv", 0, 0, 7, 64, 1))
    result = replayed(ended(archive))
    assert seconds(result) == pytest.approx((100 + 100 + 5000 + 1) * NS)
    assert result["left_out"] == {"MPI_Test": 1}


def test_cancelled_requests_move_nothing(replayed: Callable) -> None:
    archive = Archive()
    first, second = begun(archive)
    first.call("MPI_Isend", ("MpiIsend", 1, 0, 7, 64, 1)).call("MPI_Wait", ("MpiRequestCancelled", 1))
    second.call("MPI_Irecv", ("MpiIrecvRequest", 2)).call("MPI_Wait", ("MpiRequestCancelled", 2))
    result = replayed(ended(archive))
    assert result["messages"] == 0 and seconds(result) == pytest.approx(100 * NS)


def test_what_ends_without_a_start_is_done_at_once(replayed: Callable) -> None:
    """Recording began later than the request, or the tool records no starts."""
    archive = Archive()
    first, second = begun(archive)
    first.call("MPI_Wait", ("MpiIsendComplete", 9)).call("MPI_Send", send(1))
    second.call("MPI_Wait", ("MpiIrecv", 0, 0, 7, 64, 4))
    for rank in (first, second):
        rank.call("MPI_Wait", ("NonBlockingCollectiveComplete", *collective(archive, "BARRIER", 0, 0)[1:], 5))
    assert seconds(replayed(ended(archive))) == pytest.approx(100 * NS + 2 * MESSAGE, abs=101 * NS)


def test_non_blocking_collectives(replayed: Callable) -> None:
    archive = Archive()
    for rank in begun(archive):
        rank.call("MPI_Ibarrier", ("NonBlockingCollectiveRequest", 3)).compute(900)
        rank.call("MPI_Wait", ("NonBlockingCollectiveComplete", *collective(archive, "BARRIER", 0, 0)[1:], 3))
        rank.call("MPI_Comm_idup", ("NonBlockingCollectiveRequest", 4))
        rank.call("MPI_Wait", ("NonBlockingCollectiveComplete", *collective(archive, "CREATE_HANDLE", 0, 0)[1:], 4))
    result = replayed(ended(archive))
    assert seconds(result) == pytest.approx(100 * NS + MESSAGE)
    assert [c["collective"] for c in result["collectives"]] == ["barrier"]


# --- sizes ---

SCORE_P = {  # of 4 ranks, root 1: bytes sent and received by rank; the collective, and the bytes of its vector or block
    "ALLREDUCE": ([(64, 64)] * 4, 16),
    "ALLREDUCE in place": ([(60, 60)] * 4, 20),
    "BCAST": ([(0, 16), (64, 16), (0, 16), (0, 16)], 16),
    "REDUCE": ([(16, 0), (16, 64), (16, 0), (16, 0)], 16),
    "REDUCE in place": ([(16, 0), (0, 48), (16, 0), (16, 0)], 16),
    "GATHER": ([(16, 0), (16, 64), (16, 0), (16, 0)], 16),
    "GATHER in place": ([(16, 0), (0, 48), (16, 0), (16, 0)], 16),
    "GATHERV": ([(8, 0), (16, 48), (8, 0), (16, 0)], 12),
    "SCATTER": ([(0, 16), (64, 16), (0, 16), (0, 16)], 16),
    "SCATTER in place": ([(0, 16), (48, 0), (0, 16), (0, 16)], 16),
    "SCATTERV": ([(0, 8), (48, 16), (0, 8), (0, 16)], 12),
    "ALLGATHER": ([(64, 64)] * 4, 16),
    "ALLGATHERV": ([(32, 48), (64, 48), (32, 48), (64, 48)], 12),
    "ALLTOALL": ([(64, 64)] * 4, 16),
    "ALLTOALL in place": ([(60, 60)] * 4, 20),
    "ALLTOALLV": ([(40, 40), (56, 40), (40, 56), (56, 56)], 12),
    "REDUCE_SCATTER": ([(64, 32), (64, 96), (64, 64), (64, 64)], 16),
    "REDUCE_SCATTER_BLOCK": ([(64, 64)] * 4, 16),
    "SCAN": ([(64, 16), (48, 32), (32, 48), (16, 64)], 16),
    "SCAN in place": ([(48, 0), (32, 16), (16, 32), (0, 48)], 16),
    "EXSCAN": ([(48, 0), (32, 16), (16, 32), (0, 48)], 16),
    "BARRIER": ([(0, 0)] * 4, 0),
}
OTHERS = {  # what most other tools count: the rank's own arguments
    "ALLREDUCE": ([(16, 16)] * 4, 16),
    "BCAST": ([(0, 16), (16, 0), (0, 16), (0, 16)], 16),
    "REDUCE": ([(16, 0), (16, 16), (16, 0), (16, 0)], 16),
    "GATHER": ([(16, 0), (16, 64), (16, 0), (16, 0)], 16),
    "SCATTER": ([(0, 16), (64, 16), (0, 16), (0, 16)], 16),
    "ALLGATHER": ([(16, 64)] * 4, 16),
    "ALLTOALL": ([(64, 64)] * 4, 16),
    "REDUCE_SCATTER": ([(64, 16)] * 4, 16),
    "SCAN": ([(16, 16)] * 4, 16),
}
ROOTED = ("BCAST", "REDUCE", "GATHER", "GATHERV", "SCATTER", "SCATTERV")


@pytest.mark.parametrize(
    ("creator", "name", "sizes", "expected"),
    [(creator, name, *of) for creator, table in (("Score-P 8.4", SCORE_P), ("", OTHERS)) for name, of in table.items()],
)
def test_sizes_of_collectives(
    replayed: Callable, creator: str, name: str, sizes: list[tuple[int, int]], expected: int
) -> None:
    """Score-P counts what goes to and comes from all ranks."""
    operation = name.partition(" ")[0]
    archive = Archive(ranks=4, creator=creator)
    for rank, (sent, got) in zip(begun(archive), sizes):
        root = 1 if operation in ROOTED else NOBODY
        rank.call(f"MPI_{operation.capitalize()}", collective(archive, operation, sent, got, root=root))
    result = replayed(ended(archive))
    assert isinstance(result, dict), result
    ours = {"gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather", "alltoallv": "alltoall"}
    ours["reduce_scatter_block"] = "reduce_scatter"
    (found,) = result["collectives"]
    assert found["collective"] == ours.get(operation.lower(), operation.lower())
    assert found["bytes"] == expected


# --- what is not whole or cannot be ---


def test_a_rank_that_was_cut_off_is_named(replayed: Callable) -> None:
    archive = ping(Archive())
    archive.ranks[1].events[-5:] = []  # from the receive on
    told = replayed(archive)
    assert (
        told == "kumihimo: the trace of each rank must have an end (got rank 1 was cut off); record the program again\n"
    )


def contradiction(*events: tuple, **defined: object) -> Archive:
    archive = Archive()
    for name, members in defined.items():
        archive.communicator(name, archive.group("COMM_GROUP", members))
    begun(archive)[0].call("MPI_Call", *events)
    return ended(archive)


@pytest.mark.parametrize(
    ("archive", "said"),
    [
        (lambda: contradiction(send(2)), "a message of rank 0 is with rank 2 of the 2 of MPI_COMM_WORLD"),
        (lambda: contradiction(send(NOBODY)), "a message of rank 0 is with rank 4294967295 of the 2 of MPI_COMM_WORLD"),
        (lambda: contradiction(send(1, 9)), "communicator 9 of rank 0 is not defined"),
        (lambda: contradiction(send(1, NOBODY)), "communicator 4294967295 of rank 0 is not defined"),
        (lambda: contradiction(send(1, 0, 2**31)), "a message of rank 0 has the tag 2147483648"),
        (lambda: contradiction(send(1, size=2**63)), "rank 0 moves 9223372036854775808 bytes"),
        (lambda: contradiction(send(0, 1), odd=[7]), "members that are no ranks"),
        (lambda: contradiction(send(0, 1), odd=[1, 1]), "members that are no ranks, or one twice"),
        (
            lambda: contradiction(collective(Archive(), "BCAST", 8, 8, 0, 2)),
            "the root of a bcast of rank 0 is rank 2 of 2",
        ),
        (
            lambda: contradiction(collective(Archive(), "BARRIER", 0, 0, 1), odd=[1]),
            "rank 0 calls barrier on odd, of which it is no member",
        ),
        (
            lambda: contradiction(("MpiIsend", 1, 0, 7, 64, 3), ("MpiIrecv", 1, 0, 7, 64, 3)),
            "request 3 of rank 0 ends as what it did not begin as",
        ),
    ],
)
def test_contradictions_are_said(replayed: Callable, archive: Callable[[], Archive], said: str) -> None:
    told = replayed(archive())
    assert said in told and "it contradicts itself (" in told and told.count("\n") == 1, told


def test_a_trace_without_processes_of_mpi(replayed: Callable) -> None:
    archive = Archive()
    archive.groups.clear()
    archive.communicators.clear()
    assert "a trace must be one of an MPI program (got no MPI processes in " in replayed(archive)


def test_a_clock_that_stands_still(replayed: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    from . import foreign_traces

    monkeypatch.setattr(foreign_traces, "TICKS", 0)
    assert "its clock has no ticks" in replayed(ping(Archive()))


def test_ages_of_computing_are_refused(replayed: Callable) -> None:
    archive = Archive()
    begun(archive)[0].compute(2**62)
    assert "rank 0 computes for 4.61e+09 s" in replayed(ended(archive))


def test_a_trace_may_have_another_name(replay: Callable, tmp_path: Path) -> None:
    """EZTrace names it after the program."""
    ping(Archive()).write(tmp_path / "it", "solver")
    assert seconds(replay(tmp_path / "it", *LETTERS, "--json")) == pytest.approx(100 * NS + MESSAGE)
    ping(Archive()).write(tmp_path / "other", "other")
    for file in (tmp_path / "other").iterdir():
        file.rename(tmp_path / "it" / file.name)
    told = replay(tmp_path / "it", *LETTERS)
    assert "a folder must have one trace (got 2 in " in told and "name one of its files" in told
    assert "100 ns" in replay(tmp_path / "it" / "other.otf2", *LETTERS)


# --- the library in its own process ---


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_of_the_library_is_one_sentence(
    replayed: Callable, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    dies = f"import os, signal; signal.signal({number}, signal.SIG_DFL); os.kill(os.getpid(), {number})"
    monkeypatch.setattr(otf2_reading, "READER", [sys.executable, "-c", dies])
    told = replayed(ping(Archive()))
    assert f"its library ended with {number.name}; record the program again, or copy" in told and told.count("\n") == 1


def test_a_killed_replay_leaves_no_reader(tmp_path: Path) -> None:
    waits = (
        f"import os, time; print(os.getpid(), file=open({str(tmp_path / 'pid')!r}, 'w'), flush=True); time.sleep(60)"
    )
    code = "import pathlib, sys; from kumihimo.predict.replay import otf2_reading; "
    code += "otf2_reading.READER = [sys.executable, '-c', sys.argv[1]]; next(otf2_reading.results(pathlib.Path('a')))"
    process = subprocess.Popen([sys.executable, "-c", code, waits])
    pid = until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    process.kill()
    process.wait()
    until(lambda: not is_running(int(pid)))


def until(what: Callable[[], object], seconds: float = 20) -> object:
    """What it returns, once that is true."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_results_end_with_an_error_or_a_summary(tmp_path: Path) -> None:
    anchor = ping(Archive()).write(tmp_path / "trace")
    ranks, *rows, summary = otf2_events.results(anchor)
    assert ranks == len(rows) == 2 and isinstance(summary, otf2_events.RankSummary)
    anchor.unlink()
    (error,) = otf2_events.results(anchor)
    assert isinstance(error, otf2_events.Unreadable)


# --- the binding ---


def test_numbers_from_python_are_checked(tmp_path: Path) -> None:
    recording = otf2_reading.read(ping(Archive(), 0).write(tmp_path / "trace")).recording
    program = _replay.program_of(recording, [], _goal.WorkRates())
    along = _replay.extrapolated(recording, [2], [2], False)
    wrong = [
        (lambda: _replay.Recording(0), "from 1 to 16777216 ranks (got 0)"),
        (lambda: _replay.Recording(-1), "(got -1)"),
        (lambda: recording.set(2, b""), "rows of a rank of the recording (got 2)"),
        (lambda: recording.set(0, b"x"), "whole rows"),
        (lambda: recording.set(0, bytes([0] * 8 + [16] + [0] * 31)), "of a known kind"),
        (lambda: recording.count_of(0), "a call must be from 0 to -1 (got 0)"),
        (lambda: recording.count_of(-1), "(got -1)"),
        (lambda: along.model_of(2), "a rank must be from 0 to 1 (got 2)"),
        (lambda: program.site_of(2, 0), "a rank must be from 0 to 1 (got 2)"),
        (lambda: program.site_of_wait(0, 99), "an operation must be from 0 to "),
        (lambda: _replay.scaled_grid([0], 4), "a grid must have axes from 1 on"),
        (lambda: _replay.scaled_grid([], 4), "a grid must have an axis"),
        (lambda: _replay.scaled_grid([2], 0), "from 1 to 16777216 ranks (got 0)"),
        (lambda: _replay.extrapolated(recording, [2], [-4], False), "(got -4)"),
        (lambda: _replay.extrapolated(recording, [2], [1 << 30], False), "at most 16777216 ranks"),
    ]
    for call, said in wrong:
        with pytest.raises(BadInput) as error:
            call()
        assert said in str(error.value), error.value
    for members in ([], [2], [-1], [0, 0]):
        made = _replay.Recording(2)
        made.add_communicator(members)
        with pytest.raises(BadInput):
            made.complete()
    reduced = _replay.Recording(1)
    reduced.set(0, rows.enter(0) + rows.collective(Kind.collective) + rows.LEAVE)
    reduced.complete()
    with pytest.raises(BadInput):
        _replay.program_of(reduced, [(None, _collectives.Parameters(), 0.0)], _goal.WorkRates())
