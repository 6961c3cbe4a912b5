"""Traces of made-up events, read back by OTF2's own package."""

import importlib
from pathlib import Path

import pytest
import rank_files
from rank_files import event, region

from kumihimo._trace import Kind
from kumihimo.run.profile import otf2_writing
from kumihimo.run.profile.otf2_writing import NO_ROOT, PARTS, SITE

try:
    otf2 = otf2_writing.library()
    reader = importlib.import_module("otf2.reader")
except Exception:
    pytest.skip("no python3-otf2 on this machine", allow_module_level=True)

NAMES = {"1": "MPI_Allreduce", "2": "MPI_Bcast", "3": "MPI_Send", "4": "MPI_Ialltoallv", "5": "MPI_Waitall"}
ALLREDUCE, BCAST, SENDING, STARTED, WAITED = 1, 2, 3, 4, 5


def world(rank: int, ranks: int) -> dict:
    return {"name": "MPI_COMM_WORLD", "site": None, "size": ranks, "leader": 0, "inter": False, "rank": rank}


def line(rank: int, ranks: int, *communicators: dict) -> dict:
    more = {"calls": [], "sites": [], "sizes": {}, "partners": [], "regions": [], "seconds": 1.0, "mpi_seconds": 0.1}
    return {"rank": rank, "host": "h", "finalized": True, "communicators": [world(rank, ranks), *communicators], **more}


def enter(at: int, call: int, site: int = rank_files.NO_SITE, thread: int = 0) -> bytes:
    return event(at, Kind.enter, rank_files.entered(site=site), call, thread)


def leave(at: int, call: int) -> bytes:
    return event(at, Kind.leave, call=call)


def sent(at: int, to: int, communicator: int = 1, size: int = 0) -> bytes:
    return event(at, Kind.send, rank_files.message(size, to, 0, communicator), SENDING)


def made(folder: Path, ranks: int, lines: list[dict], files: dict[int, bytes]) -> Path:
    """`files`: the events of each rank, or a whole file."""
    header = {"kumihimo_profile": 1, "mpi": "a library", "ranks": ranks, "sync": False, "trace": {"calls": NAMES}}
    whole = {
        rank: content if content.startswith(rank_files.MAGIC) else rank_files.file(rank, ranks, content)
        for rank, content in files.items()
    }
    rank_files.write(folder / "trace", whole, [header, *lines])
    return folder / "trace"


def read(folder: Path, ranks: int, lines: list[dict], events: dict[int, bytes]) -> tuple[dict, list]:
    """Members of each communicator, and (rank, event) in order of time."""
    with reader.open(str(otf2_writing.write(made(folder, ranks, lines, events)))) as found:
        members = {c.name: [m.group.name for m in c.group.members] for c in found.definitions.comms}
        return members, [(int(where.group.name.split()[-1]), what) for where, what in found.events]


def kind(what: object) -> str:
    return type(what).__name__


def bcast(communicator: int, root: int) -> bytes:
    told = rank_files.collective("bcast", 8, root, communicator)
    return enter(10, BCAST) + event(20, Kind.collective, told, BCAST) + leave(20, BCAST)


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
        return enter(5, SENDING) + sent(6, to, communicator, 8) + leave(7, SENDING)

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
        enter(5, SENDING)
        + leave(6, SENDING)
        + leave(7, SENDING)  # of what was left out
        + enter(8, SENDING, thread=1)
        + enter(10, BCAST)
        + enter(11, SENDING)
        + sent(12, 0, size=4)
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
    rows = enter(10, SENDING) + sent(11, 2) + leave(12, SENDING)
    outside = enter(30, SENDING) + sent(31, 7) + leave(29, SENDING)
    members, events = read(tmp_path, 3, [line(0, 3)], {0: rows, 1: bcast(1, 2) + outside})
    assert len(members["MPI_COMM_WORLD"]) == 3
    assert [(rank, e.receiver) for rank, e in events if kind(e) == "MpiSend"] == [(0, 2)]
    assert [(rank, e.root) for rank, e in events if kind(e) == "MpiCollectiveEnd"] == [(1, 2)]


def test_nodes_have_the_processors_that_their_ranks_could_run_on(tmp_path: Path) -> None:
    """Bound ranks have some each; of ranks without a line, and older recorders, nothing is known."""
    lines = [line(0, 4) | {"processors": "0-1,8"}, line(1, 4) | {"processors": "1,9"}, line(2, 4) | {"host": "old"}]
    with reader.open(str(otf2_writing.write(made(tmp_path, 4, lines, {0: b"", 3: b""})))) as found:
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
    rows = event(2, Kind.begin_region, region(0)) + enter(3, SENDING) + leave(4, SENDING)
    rows += event(5, Kind.end_region, region(0))
    trace = {"events": 4, "left_out": 0, "sites": [], "regions": ["MPI_Send"]}
    _, events = read(tmp_path, 1, [line(0, 1) | {"trace": trace}], {0: rows})
    told = [(kind(e), str(e.region.paradigm).split(".")[-1]) for _, e in events]
    assert told == [("Enter", "USER"), ("Enter", "MPI"), ("Leave", "MPI"), ("Leave", "USER")]


def test_requests_sites_parts_and_regions_are_told(tmp_path: Path) -> None:
    """What a replay needs beside messages and blocking collectives."""
    reduced = rank_files.collective("alltoall", 8, parts=1)
    rows = event(1, Kind.begin_program) + event(2, Kind.begin_region, region(0))
    rows += enter(3, STARTED, site=1)
    rows += event(3, Kind.start_collective, reduced, STARTED, request=17)
    rows += leave(4, STARTED) + enter(5, WAITED, site=0)
    rows += event(5, Kind.start_receive, rank_files.message(), WAITED, request=18)
    rows += event(5, Kind.start_send, rank_files.message(4, 0, 6), WAITED, request=19)
    rows += event(6, Kind.end_collective, reduced, STARTED, request=17)
    rows += event(6, Kind.end_receive, rank_files.message(4, 0, 6), WAITED, request=18)
    rows += event(6, Kind.end_send, rank_files.message(4, 0, 6), WAITED, request=19)
    rows += leave(6, WAITED) + event(7, Kind.end_region, region(0))
    rows += event(9, Kind.end_program, rank_files.elapsed())
    python = {"file": "/home/step.py", "line": 12, "function": "run"}
    binary = {"object": "/bin/lmp", "offset": 26, "function": None}
    trace = {"events": 12, "left_out": 0, "sites": [1, 0], "regions": ["solve"]}
    file = rank_files.file(0, 1, rows, lists=[[8]])
    _, events = read(tmp_path, 1, [line(0, 1) | {"sites": [python, binary], "trace": trace}], {0: file})
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
