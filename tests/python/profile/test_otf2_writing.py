"""Traces of made-up events, read back by OTF2's own package."""

import importlib
import json
from pathlib import Path

import pytest

from kumihimo.profile import otf2_writing
from kumihimo.profile.otf2_writing import COLLECTIVE, ENTER, LEAVE, NO_ROOT, PARTS, ROW, SEND, SITE

try:
    otf2 = otf2_writing.library()
    reader = importlib.import_module("otf2.reader")
except Exception:
    pytest.skip("no python3-otf2 on this machine", allow_module_level=True)

NAMES = {"1": "MPI_Allreduce", "2": "MPI_Bcast", "3": "MPI_Send", "4": "MPI_Ialltoallv", "5": "MPI_Waitall"}
ALLREDUCE, BCAST, SENDING = 1, 2, 3


def world(rank: int, ranks: int) -> dict:
    return {"name": "MPI_COMM_WORLD", "site": None, "size": ranks, "leader": 0, "inter": False, "rank": rank}


def line(rank: int, ranks: int, *communicators: dict) -> dict:
    more = {"calls": [], "sites": [], "sizes": {}, "partners": [], "regions": [], "seconds": 1.0, "mpi_seconds": 0.1}
    return {"rank": rank, "host": "h", "finalized": True, "communicators": [world(rank, ranks), *communicators], **more}


def event(at: int, what: int, call: int, communicator: int = 1, partner: int = -1, thread: int = 0, size: int = 0):
    return ROW.pack(at, size, what, call, thread, partner, communicator, 0, at - 10 if what == COLLECTIVE else 0)


def made(folder: Path, ranks: int, lines: list[dict], events: dict[int, bytes]) -> tuple[Path, Path]:
    raw = folder / "trace" / otf2_writing.RAW
    raw.mkdir(parents=True)
    for rank, rows in events.items():
        (raw / f"rank{rank}.events").write_bytes(rows)
    profile = folder / "profile"
    header = {"kumihimo_profile": 1, "mpi": "a library", "ranks": ranks, "sync": False, "trace": {"calls": NAMES}}
    profile.write_text("".join(json.dumps(x) + "\n" for x in (header, *lines)), encoding="utf-8")
    return folder / "trace", profile


def read(folder: Path, ranks: int, lines: list[dict], events: dict[int, bytes]) -> tuple[dict, list]:
    """Members of each communicator, and (rank, event) in order of time."""
    trace, profile = made(folder, ranks, lines, events)
    otf2_writing.write(trace, profile)
    with reader.open(str(trace / "otf2" / "traces.otf2")) as found:
        members = {c.name: [m.group.name for m in c.group.members] for c in found.definitions.comms}
        return members, [(int(where.group.name.split()[-1]), what) for where, what in found.events]


def kind(what: object) -> str:
    return type(what).__name__


def bcast(communicator: int, root: int) -> bytes:
    return (
        event(10, ENTER, BCAST, communicator)
        + event(20, COLLECTIVE, BCAST, communicator, root, size=8)
        + event(20, LEAVE, BCAST, communicator)
    )


def test_a_root_is_a_rank_in_the_order_of_its_communicator(tmp_path: Path) -> None:
    """The program has turned it around, by the keys of MPI_Comm_split: rank 0 of it is the last of the world."""
    ranks = 3
    turned = [world(2 - rank, ranks) | {"name": "MPI_Comm_split", "leader": 2} for rank in range(ranks)]
    lines = [line(rank, ranks, turned[rank]) for rank in range(ranks)]
    members, events = read(tmp_path, ranks, lines, dict.fromkeys(range(ranks), bcast(2, 0)))
    assert members["MPI_COMM_WORLD"] == [f"MPI Rank {rank}" for rank in (0, 1, 2)]
    assert members["MPI_Comm_split"] == [f"MPI Rank {rank}" for rank in (2, 1, 0)]
    ends = [what for _, what in events if kind(what) == "MpiCollectiveEnd"]
    assert [(e.communicator.name, e.root) for e in ends] == [("MPI_Comm_split", 0)] * ranks


def test_where_the_order_is_not_known_no_root_is_told(tmp_path: Path) -> None:
    """Made again and again with other keys, or with a rank that wrote nothing."""
    for number, own in enumerate((None, 1)):
        unknown = world(0, 2) | {"name": "MPI_Comm_split", "rank": own}
        lines = [line(rank, 2, unknown) for rank in range(2)]
        members, events = read(tmp_path / str(number), 2, lines, {0: bcast(2, 1), 1: bcast(2, 1)})
        assert members["MPI_Comm_split"] == members["MPI_COMM_WORLD"]
        assert {e.communicator.name for _, e in events if kind(e) == "MpiCollectiveEnd"} == {"MPI_Comm_split"}
        assert [e.root for _, e in events if kind(e) == "MpiCollectiveEnd"] == [NO_ROOT, NO_ROOT]


def test_messages_are_told_on_their_communicator(tmp_path: Path) -> None:
    """Of ranks 2 and 1 of the world, in this order; and of one that is made again and again, once without rank 1."""
    turned = {1: world(1, 2) | {"name": "MPI_Comm_split", "leader": 2}}
    turned[2] = turned[1] | {"rank": 0}
    again = {rank: world(max(0, rank - 1), 2) | {"name": "MPI_Comm_create"} for rank in range(3)}
    again = {rank: which | {"rank": min(rank, 1)} for rank, which in again.items()}
    lines = [line(0, 3, again[0])] + [line(rank, 3, turned[rank], again[rank]) for rank in (1, 2)]

    def send(communicator: int, to: int) -> bytes:
        called = [
            event(at, what, SENDING, communicator, to, size=8) for at, what in ((5, ENTER), (6, SEND), (7, LEAVE))
        ]
        return b"".join(called)

    _, events = read(tmp_path, 3, lines, {0: send(2, 1) + send(1, 2), 2: send(2, 1) + send(3, 0)})
    sends = [(rank, e.communicator.name, e.receiver) for rank, e in events if kind(e) == "MpiSend"]
    assert sorted(sends) == [
        (0, "MPI_COMM_WORLD", 2),
        (0, "MPI_Comm_create", 1),
        (2, "MPI_Comm_create", 0),
        (2, "MPI_Comm_split", 1),
    ]


def test_what_a_full_buffer_left_open_is_closed(tmp_path: Path) -> None:
    rows = (
        event(5, ENTER, SENDING)
        + event(6, LEAVE, SENDING)
        + event(7, LEAVE, SENDING)  # of what was left out
        + event(8, ENTER, SENDING, thread=1)
        + event(10, ENTER, BCAST)
        + event(11, ENTER, SENDING)
        + event(12, SEND, SENDING, partner=0, size=4)
    )
    _, events = read(tmp_path, 1, [line(0, 1)], {0: rows})
    assert [(kind(e), e.time) for _, e in events if kind(e) == "Leave"] == [
        ("Leave", 6),
        ("Leave", 8),
        ("Leave", 12),
        ("Leave", 12),
    ]
    assert sum(kind(e) == "Enter" for _, e in events) == 4
    assert not [e for _, e in events if "Collective" in kind(e)], "its end was left out, so there is no beginning"


def test_ranks_without_a_line_are_in_the_world(tmp_path: Path) -> None:
    rows = event(10, ENTER, SENDING) + event(11, SEND, SENDING, partner=2) + event(12, LEAVE, SENDING)
    outside = event(30, ENTER, SENDING) + event(31, SEND, SENDING, partner=7) + event(29, LEAVE, SENDING)
    members, events = read(tmp_path, 3, [line(0, 3)], {0: rows, 1: bcast(1, 2) + outside})
    assert len(members["MPI_COMM_WORLD"]) == 3
    assert [(rank, e.receiver) for rank, e in events if kind(e) == "MpiSend"] == [(0, 2)]
    assert [(rank, e.root) for rank, e in events if kind(e) == "MpiCollectiveEnd"] == [(1, 2)]


def test_nodes_have_the_processors_that_their_ranks_could_run_on(tmp_path: Path) -> None:
    """Bound ranks have some each; of ranks without a line, and older recorders, nothing is known."""
    lines = [line(0, 4) | {"processors": "0-1,8"}, line(1, 4) | {"processors": "1,9"}, line(2, 4) | {"host": "old"}]
    trace, profile = made(tmp_path, 4, lines, {0: b"", 3: b""})
    otf2_writing.write(trace, profile)
    with reader.open(str(trace / "otf2" / "traces.otf2")) as found:
        nodes = {node.name: node for node in found.definitions.system_tree_nodes}
        assert nodes["h"][otf2_writing.PROCESSORS] == 4
        assert sorted(nodes) == ["h", "node", "old"]
        assert not any(nodes[name]._properties for name in ("node", "old"))


def test_few_locations_are_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rank's is ended before the next begins, and no index of a member is looked for by going through all."""
    ranks, most, opened = 40, 0, set()
    begin = otf2_writing.Writing.location

    def counted(self, rank: int, thread: int):
        nonlocal most
        found = begin(self, rank, thread)
        opened.add(found.writer)
        most = max(most, sum("close" not in vars(writer) for writer in opened))
        return found

    monkeypatch.setattr(otf2_writing.Writing, "location", counted)
    lines = [line(rank, ranks) for rank in range(ranks)]
    members, events = read(tmp_path, ranks, lines, dict.fromkeys(range(ranks), bcast(1, 0)))
    assert (most, len(opened)) == (1, ranks)
    assert len(events) == 4 * ranks and len(members["MPI_COMM_WORLD"]) == ranks
    members = otf2_writing.Members(object() for _ in range(9))
    assert [members.index(member) for member in members] == list(range(9))


def test_a_region_may_be_named_as_a_call(tmp_path: Path) -> None:
    rows = ROW.pack(2, 0, otf2_writing.BEGIN_REGION, 0, 0, 0, 0, -1, 0)
    rows += event(3, ENTER, SENDING) + event(4, LEAVE, SENDING)
    rows += ROW.pack(5, 0, otf2_writing.END_REGION, 0, 0, 0, 0, -1, 0)
    trace = {"events": 4, "left_out": 0, "sites": [], "regions": ["MPI_Send"]}
    _, events = read(tmp_path, 1, [line(0, 1) | {"trace": trace}], {0: rows})
    told = [(kind(e), str(e.region.paradigm).split(".")[-1]) for _, e in events]
    assert told == [("Enter", "USER"), ("Enter", "MPI"), ("Leave", "MPI"), ("Leave", "USER")]


def test_requests_sites_parts_and_regions_are_told(tmp_path: Path) -> None:
    """What a replay needs beside messages and blocking collectives."""
    started, waited, at_once = 4, 5, otf2_writing.START_COLLECTIVE
    rows = ROW.pack(1, 0, otf2_writing.BEGIN_PROGRAM, 0, 0, -1, 0, -1, 0)
    rows += ROW.pack(2, 0, otf2_writing.BEGIN_REGION, 0, 0, 0, 0, -1, 0)
    rows += ROW.pack(3, 0, ENTER, started, 0, 1, 1, -1, 0)
    rows += ROW.pack(3, 8, otf2_writing.PART, started, 0, 0, 1, -1, 0)
    rows += ROW.pack(3, 8, at_once, started, 0, -1, 1, -1, 17)
    rows += ROW.pack(4, 0, LEAVE, started, 0, -1, 1, -1, 0)
    rows += ROW.pack(5, 0, ENTER, waited, 0, 0, 0, -1, 0)
    rows += ROW.pack(5, 0, otf2_writing.START_RECEIVE, waited, 0, -1, 1, -1, 18)
    rows += ROW.pack(5, 4, otf2_writing.START_SEND, waited, 0, 0, 1, 6, 19)
    rows += ROW.pack(6, 8, otf2_writing.END_COLLECTIVE, started, 0, -1, 1, -1, 17)
    rows += ROW.pack(6, 4, otf2_writing.END_RECEIVE, waited, 0, 0, 1, 6, 18)
    rows += ROW.pack(6, 4, otf2_writing.END_SEND, waited, 0, 0, 1, 6, 19)
    rows += ROW.pack(6, 0, LEAVE, waited, 0, -1, 0, -1, 0)
    rows += ROW.pack(7, 0, otf2_writing.END_REGION, 0, 0, 0, 0, -1, 0)
    rows += ROW.pack(9, 0, otf2_writing.END_PROGRAM, 0, 0, -1, 0, -1, 0)
    python = {"file": "/home/step.py", "line": 12, "function": "run"}
    binary = {"object": "/bin/lmp", "offset": 26, "function": None}
    trace = {"events": 15, "left_out": 0, "sites": [1, 0], "regions": ["solve"]}
    _, events = read(tmp_path, 1, [line(0, 1) | {"sites": [python, binary], "trace": trace}], {0: rows})
    told = [e for _, e in events]
    assert [(kind(e), e.time) for e in told] == [
        ("ProgramBegin", 1),
        ("Enter", 2),
        ("Enter", 3),
        ("NonBlockingCollectiveRequest", 3),
        ("Leave", 4),
        ("Enter", 5),
        ("MpiIrecvRequest", 5),
        ("MpiIsend", 5),
        ("NonBlockingCollectiveComplete", 6),
        ("MpiIrecv", 6),
        ("MpiIsendComplete", 6),
        ("Leave", 6),
        ("Leave", 7),
        ("ProgramEnd", 9),
    ]
    entered = [
        (e.region.name, {a.name: v for a, v in (e.attributes or {}).items()}) for e in told if kind(e) == "Enter"
    ]
    assert entered == [
        ("solve", {}),
        ("MPI_Ialltoallv", {SITE: "step.py:12 (run)"}),
        ("MPI_Waitall", {SITE: "lmp+0x1a"}),
    ]
    ended = next(e for e in told if kind(e) == "NonBlockingCollectiveComplete")
    assert (str(ended.collective_op).split(".")[-1], ended.size_sent, ended.request_id) == ("ALLTOALLV", 8, 17)
    assert {a.name: v for a, v in ended.attributes.items()} == {PARTS: "8"}
    assert [(e.request_id, e.msg_length) for e in told if kind(e) in ("MpiIsend", "MpiIrecv")] == [(19, 4), (18, 4)]
