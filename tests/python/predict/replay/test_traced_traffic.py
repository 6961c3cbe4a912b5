"""What `kumihimo place` takes from a trace: messages and what collectives send, by pairs of ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import kumihimo
from kumihimo import _machine, _traffic, cli
from kumihimo._trace import Kind
from kumihimo.mapping import request, sources
from kumihimo.predict import simulation
from kumihimo.text.errors import KumihimoError

from .conftest import Rank

CALLS, SIZE = 3, 65536
MESSAGE = 1000  # bytes from each rank to the next one


def program(calls: int = CALLS, size: int = SIZE, message: int = MESSAGE) -> list[Rank]:
    """Of eight ranks: a ring of messages, then allreduces."""
    ranks = []
    for number in range(8):
        rank = Rank().compute(100)
        after, before = (number + 1) % 8, (number - 1) % 8
        if message and number % 2 == 0:
            rank.send(after, message).receive(before, message)
        elif message:
            rank.receive(before, message).send(after, message)
        for _ in range(calls):
            rank.allreduce(size)
        ranks.append(rank)
    return ranks


def job(shape: str = "2x2x2") -> _machine.Job:
    return request.network(None, shape, simulation.PartOfMachine(), None, None).job


def wisdom(folder: Path, algorithm: str, **place: object) -> Path:
    path = folder / f"{algorithm}.json"
    choice = {"collective": "allreduce", "algorithm": algorithm, **place}
    path.write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}))
    return path


def left(calls: int) -> str:
    """The note that all of so many calls are the library's."""
    of = f"{calls} of {calls} collective call{'s' if calls > 1 else ''}"
    return f"the wisdom leaves {of} to the MPI library: {calls} do not fit the algorithm of their choice"


def flows(traffic: _traffic.Traffic) -> dict[tuple[int, int], tuple[int, int]]:
    """Bytes and messages by pairs."""
    return {(rank, to): (b, n) for rank in range(traffic.ranks) for to, b, n in zip(*traffic.row(rank)) if b or n}


def expected(algorithm: str) -> dict[tuple[int, int], tuple[int, int]]:
    """The ring of messages, and what the schedule of a collective sends, as often as it is called."""
    alone = flows(sources.traffic_from(f"allreduce:{algorithm}:{SIZE}", 8).traffic)
    sums = {pair: (CALLS * b, CALLS * n) for pair, (b, n) in alone.items()}
    for rank in range(8):
        b, n = sums.get((rank, (rank + 1) % 8), (0, 0))
        sums[rank, (rank + 1) % 8] = (b + MESSAGE, n + 1)
    return sums


def test_collectives_go_as_the_library_sends_them(traced: Callable) -> None:
    found = sources.traffic_from(str(traced(program())))
    assert flows(found.traffic) == expected("rabenseifner")
    assert found.notes == () and "trace of 8 ranks" in found.description


@pytest.mark.parametrize("algorithm", ["recursive_doubling", "binomial_in_turn", "linear"])
def test_collectives_go_by_the_wisdom(traced: Callable, tmp_path: Path, algorithm: str) -> None:
    found = sources.traffic_from(str(traced(program())), wisdom=wisdom(tmp_path, algorithm), job=job())
    assert flows(found.traffic) == expected(algorithm)


@pytest.mark.parametrize("places", ["2x2x2", None])
def test_algorithms_that_go_along_the_network_are_left_out(
    traced: Callable, tmp_path: Path, places: str | None
) -> None:
    on = job(places) if places else job("4x4x4")  # more nodes than ranks: the places of the ranks are open
    found = sources.traffic_from(str(traced(program())), wisdom=wisdom(tmp_path, "rotated_rings"), job=on)
    assert flows(found.traffic) == {(rank, (rank + 1) % 8): (MESSAGE, 1) for rank in range(8)}
    (note,) = found.notes
    assert note == "left out, since they go along the network in any placement: allreduce by rotated_rings"


def test_choices_are_for_the_nodes_that_the_ranks_will_have(traced: Callable, tmp_path: Path) -> None:
    trace, by = str(traced(program())), wisdom(tmp_path, "recursive_doubling", nodes=8, shape="2x2x2")
    found = sources.traffic_from(trace, wisdom=by, job=job("2x2x2"))
    assert found.notes == () and flows(found.traffic) == expected("recursive_doubling")
    other = sources.traffic_from(trace, wisdom=by, job=job("4x2"))
    assert flows(other.traffic) == expected("rabenseifner")
    (note,) = other.notes
    assert note.endswith("3 have choices for other ranks, nodes or shapes")


def test_calls_that_a_choice_does_not_fit_are_the_librarys(traced: Callable, tmp_path: Path) -> None:
    """swing needs axes of powers of two; `run` forwards such calls."""
    ranks = program(message=0)[:6]
    found = sources.traffic_from(str(traced(ranks)), wisdom=wisdom(tmp_path, "swing"), job=job("6"))
    assert found.notes == (left(3),)
    assert found.traffic == sources.traffic_from(str(traced(ranks))).traffic


def test_nothing_is_left_to_place(traced: Callable, tmp_path: Path) -> None:
    with pytest.raises(
        KumihimoError, match=r"messages that a placement changes \(got only allreduce by rotated_rings\)"
    ):
        sources.traffic_from(str(traced(program(message=0))), wisdom=wisdom(tmp_path, "rotated_rings"), job=job())


def test_wisdom_is_of_traces_alone(tmp_path: Path) -> None:
    with pytest.raises(KumihimoError, match="--wisdom needs a trace"):
        sources.traffic_from("halo:2x2x2:7", wisdom=wisdom(tmp_path, "ring"))
    with pytest.raises(KumihimoError, match="wisdom needs a trace"):
        kumihimo.place([[0, 1], [1, 0]], shape="2", wisdom="w.json")


def test_a_goal_file_is_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "two.goal"
    file.write_text(
        "num_ranks 2\nrank 0 {\nsend 5b to 1\nsend 6b to 1\n}\nrank 1 {\nrecv 5b from 0\nrecv 6b from 0\n}\n"
    )
    assert flows(sources.traffic_from(f"goal:{file}").traffic) == {(0, 1): (11, 2)}


def test_a_goal_file_takes_no_wisdom(tmp_path: Path) -> None:
    file = tmp_path / "two.goal"
    file.write_text("num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\nrecv 5b from 0\n}\n")
    with pytest.raises(KumihimoError, match="a GOAL file takes no --wisdom"):
        sources.traffic_from(f"goal:{file}", wisdom=wisdom(tmp_path, "ring"))
    with pytest.raises(KumihimoError, match=f"write goal:{file}"):
        sources.traffic_from(str(file))


def halves() -> list[Rank]:
    """Eight ranks, of which each four have a communicator of their own."""
    ranks = [Rank() for _ in range(8)]
    for number, rank in enumerate(ranks):
        half = {"name": "MPI_Comm_split", "site": None, "size": 4, "leader": number // 4 * 4, "inter": False}
        rank.communicators.append(half | {"rank": number % 4})
        rank.call("MPI_Allreduce", (Kind.collective, SIZE, -1, -1, 0), on=3)
    return ranks


@pytest.mark.parametrize("traced", ["own"], indirect=True)
def test_calls_that_a_choice_does_not_fit_go_as_the_library_sends_them(traced: Callable, tmp_path: Path) -> None:
    """As in `run`: four of eight ranks have no torus, and seven ranks are no power of two."""
    for ranks, algorithm, shape, calls in (
        (halves(), "rotated_rings", "2x2x2", 2),
        ([Rank().allreduce(SIZE) for _ in range(7)], "bine", "7", 1),
    ):
        trace = str(traced(ranks))
        found = sources.traffic_from(trace, wisdom=wisdom(tmp_path, algorithm), job=job(shape))
        assert found.notes == (left(calls),)
        assert flows(found.traffic) == flows(sources.traffic_from(trace).traffic)


@pytest.mark.parametrize("traced", ["own"], indirect=True)
def test_calls_without_data_are_named(traced: Callable) -> None:
    ranks = program()
    for rank in ranks:
        rank.call("MPI_Neighbor_allgather", (Kind.collective, 8, -1, -1, 0))
    found = sources.traffic_from(str(traced(ranks)))
    assert found.notes == ("the trace gives no data of MPI_Neighbor_allgather: they are left out",)
    assert flows(found.traffic) == expected("rabenseifner")


def test_place_counts_collectives(traced: Callable, capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    trace, by = str(traced(program())), str(wisdom(tmp_path, "recursive_doubling"))
    code = cli.carry_out(["place", "--traffic", trace, "--wisdom", by, "--shape", "2x4m", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0 and found["bytes"] == sum(b for b, _ in expected("recursive_doubling").values())
    assert found["hop_bytes"] <= found["before"]["hop_bytes"]
