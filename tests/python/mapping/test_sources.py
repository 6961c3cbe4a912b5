"""What `kumihimo place --traffic` takes: files of all kinds, patterns, programs and collectives."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from pathlib import Path

import pytest
from by_c_names import BEGINNING

from kumihimo import _traffic
from kumihimo.mapping.sources import KINDS, traffic_from
from kumihimo.text.errors import KumihimoError

RING = [(0, 1, 7), (1, 2, 7), (2, 3, 7), (3, 0, 7), (1, 0, 7), (2, 1, 7), (3, 2, 7), (0, 3, 7)]  # from, to, bytes
FILES = {
    "text": "# 4 ring\n" + "".join(f"{a} {b} {n}\n" for a, b, n in RING),
    "metis": "% a comment\n4 4 001\n2 7 4 7\n1 7 3 7\n2 7 4 7\n1 7 3 7\n",
    "scotch": "0\n4 8\n0 010\n2 7 1 7 3\n2 7 0 7 2\n2 7 1 7 3\n2 7 0 7 2\n",
}
HEADER = {"kumihimo_profile": 1, "mpi": "openmpi", "ranks": 4, "sync": False}
# Ranks in a grid of 2 x 2, whose neighbours get 100 elements along one axis and 10 along the other, three times.
HALO_PROGRAM = f"""
import ctypes, sys
family, library = sys.argv[1:]
{BEGINNING}
status = (ctypes.c_int * 10)()
for _ in range(3):
    for axis, count in ((1, 100), (2, 10)):
        other = rank.value ^ axis
        names.MPI_Sendrecv(mine, count, double, other, 7, result, count, double, other, 7, world, status)
names.MPI_Finalize()
"""
CALL = {"site": None, "communicator": None, "calls": 1, "seconds": 0, "min_seconds": 0, "max_seconds": 0}


def flows_of(traffic: _traffic.Traffic) -> list[tuple[int, int, int, int]]:
    """Sender, receiver, bytes and messages."""
    return [(rank, *flow) for rank in range(traffic.ranks) for flow in zip(*traffic.row(rank))]


RING_FLOWS = sorted((a, b, n, 1) for a, b, n in RING)


def rank_of(number: int, partners: list[list[int]], calls: list[dict] | None = None) -> dict:
    of = {"rank": number, "finalized": True, "seconds": 1, "mpi_seconds": 0, "calls": calls or []}
    return {**of, "communicators": [], "sites": [], "sizes": {}, "partners": partners, "regions": []}


def profile(ranks: list[dict], header: dict = HEADER) -> str:
    return "".join(json.dumps(line) + "\n" for line in (header, *ranks))


def ring_of_ranks(calls: list[dict] | None = None) -> list[dict]:
    partners = {rank: [[b, 1, n, 0, 0] for a, b, n in RING if a == rank] for rank in range(4)}
    return [rank_of(rank, partners[rank], calls) for rank in (2, 0, 3, 1)]


def refusal(text: str, ranks: int | None = None) -> str:
    with pytest.raises(KumihimoError) as refused:
        traffic_from(text, ranks)
    assert refused.value.exit_code == 2
    return str(refused.value)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_read_whatever_its_name(folder, kind):
    (folder / "a:b.x").write_text(FILES[kind], encoding="utf-8")
    for name in ("a:b.x", f"{kind}:a:b.x"):
        source = traffic_from(name)
        assert flows_of(source.traffic) == RING_FLOWS, name
        assert source.description.endswith(" of 4 ranks in a:b.x")
        assert source.notes == ()
    for other in KINDS.keys() - {kind}:
        assert "a:b.x" in refusal(f"{other}:a:b.x"), f"{kind} as {other}"


@pytest.mark.parametrize(("suffix", "kind"), [(".graph", "metis"), (".metis", "metis"), (".grf", "scotch")])
def test_a_suffix_says_what_a_file_is(folder, suffix, kind):
    (folder / f"g{suffix}").write_text(FILES[kind], encoding="utf-8")
    assert flows_of(traffic_from(f"g{suffix}").traffic) == RING_FLOWS
    (folder / f"g{suffix}").write_text("0 1 5\n1 0 5\n", encoding="utf-8")
    assert refusal(f"g{suffix}").startswith(f"g{suffix}:")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0 1 5\n", "text"),
        ("\n# one\n2 1 1 1\n", "text"),
        ("\n2 1 1\n1 0 1\n", "text"),
        ("2 1 1\n1 0 1\n", "text"),  # as many lines as a graph of 2 vertices has less one
        ("3 1 1\n0 1 1\n1 2 1\n2 0 1\n", "text"),  # as many lines as a graph of 3 vertices has, with other words
        ("2 1\n2\n1\n", "metis"),
        ("2 1 1\n2 5\n1 5\n", "metis"),
        ("3 1 0\n2\n1\n\n", "metis"),
        ("2 1 011 2\n1 1 2 5\n1 1 1 5\n", "metis"),
        ("2 1 110\n3 1 2\n3 1 1\n\n", "metis"),
        ("% any\n2 1\n2\n1\n", "metis"),
        ("0\n2 2\n0 0\n1 1\n1 0\n", "scotch"),
    ],
)
def test_the_content_says_what_a_file_is(folder, text, kind):
    (folder / "t").write_text(text, encoding="utf-8")
    assert traffic_from("t") == traffic_from(f"{kind}:t")


def test_a_profile_gives_messages_and_one_sided_accesses(folder):
    ranks = [
        rank_of(1, [[0, 2, 100, 0, 0], [3, 1, 10, 4, 40]]),
        rank_of(0, [[1, 1, 8, 0, 0], [0, 3, 300, 0, 0]]),
        rank_of(3, []),
        rank_of(2, [[1, 0, 0, 2, 64]]),
    ]
    (folder / "p.jsonl").write_text(profile(ranks), encoding="utf-8")
    source = traffic_from("p.jsonl", ranks=4)
    assert flows_of(source.traffic) == [(0, 1, 8, 1), (1, 0, 100, 2), (1, 3, 50, 5), (2, 1, 64, 2)]
    assert source.description == "profile of 4 ranks in p.jsonl"
    assert source.notes == ("ranks send 300 B to themselves, which no placement changes",)
    (folder / "p").write_text("\n " + profile(ranks), encoding="utf-8")
    assert "line 1 is not a complete JSON object" in refusal("p"), "a profile by its content"


def test_a_profile_tells_what_it_does_not_resolve(folder):
    (folder / "p.jsonl").write_text(profile(ring_of_ranks()[:3]), encoding="utf-8")
    assert traffic_from("p.jsonl").notes == ("1 of 4 ranks are not in the profile",)
    call = {**CALL, "call": "MPI_Allreduce", "bytes": 42, "bytes_from": 32}
    send = {**CALL, "call": "MPI_Send", "bytes": 14}
    (folder / "p.jsonl").write_text(profile(ring_of_ranks([call, send])), encoding="utf-8")
    source = traffic_from("p.jsonl")
    assert flows_of(source.traffic) == RING_FLOWS
    assert source.notes == (
        "75 % of the bytes are in collectives; a profile does not tell who gets them, so they are left out: a folder "
        "of record --trace does",
        "a placement may make these slower: compare replays with --placement and without it first",
    )
    call["bytes"] = 2
    (folder / "p.jsonl").write_text(profile(ring_of_ranks([call, send])), encoding="utf-8")
    assert len(traffic_from("p.jsonl").notes) == 1
    (folder / "p.jsonl").write_text(profile([rank_of(r, [], [call]) for r in range(4)]), encoding="utf-8")
    assert refusal("p.jsonl") == (
        "p.jsonl must have messages between two ranks (got collectives only); give the collective, such as --traffic "
        "allreduce:ring:1MiB"
    )
    (folder / "p.jsonl").write_text(profile([rank_of(r, []) for r in range(4)]), encoding="utf-8")
    assert refusal("p.jsonl") == "p.jsonl: the traffic must have a line with bytes between two ranks (got none)"


def test_wrong_profiles_are_refused_by_name(folder):
    rule = "a profile must be one that kumihimo record has written (got p.jsonl"
    for ranks, wrong in (
        ([rank_of(0, [[4, 1, 1, 0, 0]])], "in which rank 0 is wrong: the rank must be 0 to 3 (got 4)"),
        ([rank_of(0, [[1, 1, -1, 0, 0]])], "in which rank 0 is wrong: bytes must be 0 or more (got -1)"),
        ([rank_of(0, []), rank_of(0, [])], "in which rank 0 is twice"),
        ([rank_of(0, []), rank_of(1, [[0, 1]])], "in which line 3 is wrong"),
        ([rank_of(0, [[1, 2**70, 1, 0, 0]])], "in which a key is missing or has a value of the wrong type"),
    ):
        (folder / "p.jsonl").write_text(profile(ranks), encoding="utf-8")
        assert refusal("p.jsonl").startswith(f"{rule}, {wrong}"), wrong
    (folder / "p.jsonl").write_text("", encoding="utf-8")
    assert refusal("p.jsonl").startswith(f"{rule}, which is empty")
    (folder / "other").write_text('{"a": 1}\n', encoding="utf-8")
    assert "in which line 1 is wrong" in refusal("other")


def test_a_halo_pattern_has_a_grid():
    source = traffic_from("halo:4x3mx2:7,face=1KiB")
    assert (source.traffic.ranks, str(source.grid)) == (24, "4x3mx2")
    assert source.traffic == _traffic.of_pattern("4x3mx2:7,face=1KiB")
    assert source.description == "halo exchange of 24 ranks, 4x3mx2:7,face=1KiB"
    assert traffic_from("halo:16x16x16:27").traffic.flows == 4096 * 26
    assert refusal("halo:4x3") == (
        "a grid pattern must be a shape and a number of points (got '4x3'); write for example 16x16x16:27,face=32KiB"
    )
    assert refusal("halo:4x3:7", ranks=12).startswith("the points of 2 axes must be 5 or 9 (got '7')")


def test_programs_of_a_file_are_read(folder):
    (folder / "p.txt").write_text(
        "ranks 3\nbuffer 9\nrank 0\nsend 1 0 1\nsend 2 0 3\nrank 1\nreceive 0 0 1\nrank 2\nreceive 0 0 3\n",
        encoding="utf-8",
    )
    source = traffic_from("file:p.txt", 3)
    assert flows_of(source.traffic) == [(0, 1, 8, 1), (0, 2, 24, 1)]
    assert source.description == "programs of 3 ranks in p.txt"
    assert source.programs.ranks == 3
    assert "none.txt" in refusal("file:none.txt")
    assert refusal("p.txt").endswith("(got p.txt, which begins with 'ranks 3'); write file:p.txt")


def test_a_collective_needs_ranks():
    source = traffic_from("allgather:ring:1KiB", 8)
    assert flows_of(source.traffic) == [(r, (r + 1) % 8, 7 * 1024, 7) for r in range(8)]
    assert source.description == "allgather:ring:1KiB on 8 ranks"
    assert traffic_from("allgather:bruck:1001", 8).traffic.bytes == 8 * 7 * 1001
    assert refusal("allgather:bruck:1KiB") == "the number of ranks of allgather:bruck:1KiB is missing; add --ranks"
    for text in ("allgather:bruck", "allgather:bruck:", "allgather::1KiB", "allgather:"):
        assert refusal(text, 8) == (
            f"the traffic of a collective must be written allgather:ALGORITHM:BYTES (got '{text}')"
        )
    assert refusal("barrier:dissemination:8", 8).endswith(
        "must be written barrier:ALGORITHM (got 'barrier:dissemination:8')"
    )
    assert refusal("barrier:dissemination", 8).endswith("bytes between two ranks (got 24 messages without bytes)")
    assert "bruck" in refusal("allgather:bruk:1KiB", 8)
    assert "1x" in refusal("allgather:bruck:1x", 8)


def test_the_number_of_ranks_must_fit():
    assert traffic_from("halo:4x4:5", 16).traffic.ranks == 16
    assert refusal("halo:4x4:5", 17) == "halo:4x4:5 has 16 ranks (got 17 asked for); leave --ranks out"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "hello\n",
            "which begins with 'hello'); if it is one of these, write its kind before its name, such as metis:t",
        ),
        ("1 2 3 4 5\n", "which begins with '1 2 3 4 5')"),
        ("<html>" * 100, f"which begins with '{('<html>' * 10)}')"),
        ("a\fb\tc\n", "which begins with 'a b c')"),
        ("1" * 5000, f"which begins with '{'1' * 60}')"),
    ],
)
def test_other_files_are_refused(folder, text, sentence):
    (folder / "t").write_text(text, encoding="utf-8")
    assert refusal("t").startswith(
        "a file of traffic must be a profile of kumihimo record, lines of sender, receiver, bytes and, if known, "
        f"messages, a METIS graph or a Scotch graph (got t, {sentence}"
    )


def test_errors_of_lines_name_the_line(folder):
    (folder / "t").write_text("0 1 5\n1 0 -5\n", encoding="utf-8")
    assert refusal("t") == "t:2: bytes must be 0 or more (got -5)"
    (folder / "t").write_text("", encoding="utf-8")
    assert refusal("t") == "t: the traffic must have a line with bytes between two ranks (got none)"
    (folder / "t").write_bytes(b"0 1 5 \xff\n")
    assert "UTF-8" in refusal("t")
    assert "a folder" in refusal(str(folder))
    assert "none" in refusal("none")


def test_a_misspelt_kind_is_recognised(folder):
    rule = (
        "the traffic must be a file, a trace, halo:16x16x16:27, file:PROGRAM, workload:NAME or a collective such as "
        "allgather:bruck:1KiB"
    )
    assert refusal("hallo:4x4:5") == f"{rule} (got 'hallo:4x4:5'); did you mean halo?"
    assert refusal("algather:ring:8", 4) == f"{rule} (got 'algather:ring:8'); did you mean allgather?"


def test_a_pipe_is_read(folder):
    os.mkfifo("pipe")
    writer = os.open("pipe", os.O_RDWR)
    os.write(writer, FILES["text"].encode())
    end = threading.Timer(0.2, os.close, [writer])
    end.start()
    assert flows_of(traffic_from("pipe").traffic) == RING_FLOWS
    end.join()


def test_renumbered_traffic_moves_with_its_ranks():
    traffic = traffic_from("halo:4x3:5").traffic
    new_of_old = list(range(12))
    random.Random(3).shuffle(new_of_old)
    moved = traffic.renumbered(new_of_old)
    assert flows_of(moved) == sorted((new_of_old[a], new_of_old[b], n, m) for a, b, n, m in flows_of(traffic))
    assert moved.renumbered([new_of_old.index(rank) for rank in range(12)]) == traffic
    for wrong in ([0] * 12, list(range(11)), [*range(11), 12]):
        with pytest.raises(KumihimoError):
            traffic.renumbered(wrong)


def test_programs_of_traffic_send_it():
    traffic = traffic_from("halo:4x4:9").traffic
    assert _traffic.of_programs(_traffic.programs_of(traffic)) == traffic
    half = _traffic.of_programs(_traffic.programs_of(traffic, 0.5))
    assert half.bytes == traffic.bytes // 2
    for share in (0, -1, 1.5, float("nan")):
        with pytest.raises(KumihimoError, match="above 0 and at most 1"):
            _traffic.programs_of(traffic, share)


def test_a_builder_is_empty_once_it_has_built():
    builder = _traffic.Builder(3)
    builder.add(0, 1, 5)
    builder.add_row(1, [0, 2], [3, 4], [1, 2])
    assert flows_of(builder.build()) == [(0, 1, 5, 1), (1, 0, 3, 1), (1, 2, 4, 2)]
    with pytest.raises(KumihimoError, match="bytes between two ranks"):
        builder.build()
    builder.add(4, 5, 6)
    assert builder.build().ranks == 6
    with pytest.raises(KumihimoError, match="the rank must be"):
        _traffic.Builder(3).add(0, 3, 1)
    with pytest.raises(KumihimoError, match="for each receiver"):
        _traffic.Builder(3).add_row(0, [1], [1], [])


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_recorded_program_gives_its_traffic(folder, kumihimo, installation):
    (folder / "halo.py").write_text(HALO_PROGRAM, encoding="utf-8")
    program = [sys.executable, "halo.py", installation.family, str(installation.library)]
    environment = {**os.environ, **installation.environment(4)}
    ended = kumihimo("record", "--", *installation.arguments(4), *program, env=environment)
    assert ended.code == 0, ended.err
    source = traffic_from("kumihimo-profile.jsonl", 4)
    assert flows_of(source.traffic) == sorted(
        (rank, rank ^ axis, 3 * 8 * count, 3) for rank in range(4) for axis, count in ((1, 100), (2, 10))
    )
    collective, pairs = 4 * 5 * 8000, source.traffic.bytes
    assert source.notes[0].startswith(
        f"{100 * collective / (collective + pairs):.0f} % of the bytes are in collectives"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("-1 1 100 1\n", "t.txt:1: the rank must be 0 to 16777215 (got -1)"),
        ("0 1 1.5 1\n", "t.txt:1: bytes must be a whole number below 2^63 (got '1.5')"),
        ("0 1 99999999999999999999999\n", "t.txt:1: bytes must be a whole number below 2^63"),
    ],
)
def test_an_error_in_the_first_line_names_the_line(kumihimo, tmp_path, text, error):
    (tmp_path / "t.txt").write_text(text)
    ended = kumihimo("place", "-t", "t.txt", "-s", "4")
    assert ended.code == 2 and error in ended.err


def test_nodes_that_died_get_no_ranks(kumihimo):
    ended = kumihimo("place", "-t", "halo:7x2:5", "-s", "4x4", "--dead", "0,1", "--dead", "3,3", "--json")
    assert ended.code == 0
    nodes = json.loads(ended.out)["node_of_rank"]
    assert len(set(nodes)) == 14 and not {1, 15} & set(nodes)
    for wrong in ("0,4", "1", "0,1-0,2", "x"):
        ended = kumihimo("place", "-t", "halo:7x2:5", "-s", "4x4", "--dead", wrong)
        assert ended.code == 2 and "by its coordinates, from 0,0 to 3,3" in ended.err


def test_hosts_without_numbers_get_the_slots_that_are_asked_for(kumihimo, tmp_path):
    (tmp_path / "hosts").write_text("a\nb\n")
    asked = ("place", "-t", "halo:4x2:5", "-s", "2", "--allocation", "hosts", "--json")
    ended = kumihimo(*asked, "--ranks-per-node", "4")
    assert ended.code == 0 and json.loads(ended.out)["slots"] == 8
    assert kumihimo(*asked, "--ranks-per-node", "4,4,4").code == 2
    (tmp_path / "hosts").write_text("a slots=4\nb slots=4\n")
    assert kumihimo(*asked).code == 0
    assert "--ranks-per-node must be left out" in kumihimo(*asked, "--ranks-per-node", "4").err
