"""Traces read from the recorder's own files: as from their OTF2 to the last bit, and refused where they are wrong."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import rank_files

from kumihimo import _trace
from kumihimo._trace import Kind
from kumihimo.predict.replay.sources import trace_of
from kumihimo.run.profile import otf2_writing, trace_folder

from .conftest import NUMBERS, Rank, need_otf2, write_trace
from .random_programs import Program
from .test_replay import LETTERS, ring

MEASURED = ("wall_seconds", "peak_rss_bytes")


def same_both_ways(folder: Path, replay: Callable, *words: object) -> dict:
    """The result, which replays of the own files and of the OTF2 have to the last bit, with all that they write."""
    found = []
    for number, trace in enumerate((folder, folder / "otf2")):
        written = [folder.parent / f"{number}.{kind}" for kind in ("goal", "timeline")]
        options = ("--goal", written[0], "--timeline", written[1], "--by-rank", "--what-if", "--json")
        found.append((replay(trace, *words, *options), *(path.read_text(encoding="utf-8") for path in written)))
    assert found[0] == found[1]
    assert isinstance(found[0][0], dict), found[0]
    return found[0][0]


@pytest.mark.parametrize("seed", range(40))
def test_a_program_at_random_is_the_same_from_otf2(tmp_path: Path, replay: Callable, seed: int) -> None:
    need_otf2()
    write_trace(tmp_path / "trace", Program(seed).ranks, "0-1")
    otf2_writing.write(tmp_path / "trace")
    same_both_ways(tmp_path / "trace", replay, *LETTERS)
    own, other = (trace_of(str(folder)) for folder in (tmp_path / "trace", tmp_path / "trace" / "otf2"))
    for name in ("sites", "regions", "seconds", "computing", "silent", "crowded", "shared", "off"):
        assert getattr(own, name) == getattr(other, name), name
    assert own.recording.calls == other.recording.calls


def test_the_comparison_would_find_a_difference(tmp_path: Path, replay: Callable) -> None:
    """One nanosecond of one event."""
    need_otf2()
    write_trace(tmp_path / "trace", ring(3))
    otf2_writing.write(tmp_path / "trace")
    same_both_ways(tmp_path / "trace", replay, *LETTERS)
    path = tmp_path / "trace" / "events" / "rank1.events"
    content = bytearray(path.read_bytes())
    end = len(content) - rank_files.EVENT_BYTES
    struct.pack_into("<q", content, end, struct.unpack_from("<q", content, end)[0] + 1)
    path.write_bytes(content)
    with pytest.raises(AssertionError):
        same_both_ways(tmp_path / "trace", replay, *LETTERS)


def test_no_package_is_needed(tmp_path: Path, replay: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otf2_writing, "library", None)
    write_trace(tmp_path / "trace", ring(3))
    assert replay(tmp_path / "trace", *LETTERS, "--json")["messages"] == 3


def test_events_that_were_left_out_are_warned_of(tmp_path: Path, replay: Callable) -> None:
    write_trace(tmp_path / "trace", ring(2))
    changed(48, 7, form="<Q")(tmp_path / "trace")
    (said,) = replay(tmp_path / "trace", *LETTERS, "--json")["warnings"]
    assert said == "The recorder had no room for 7 events: what came after its last ones counts as computing."


# --- what is wrong with a trace


@pytest.fixture
def refused(tmp_path: Path, replay: Callable) -> Callable[[list[Rank], Callable[[Path], None]], str]:
    """The sentence about a trace of these ranks, of which something was changed."""

    def told(ranks: list[Rank], change: Callable[[Path], None] = lambda _: None) -> str:
        folder = tmp_path / f"trace{len(list(tmp_path.iterdir()))}"
        write_trace(folder, ranks)
        change(folder)
        found = replay(folder, *LETTERS)
        assert found.startswith("kumihimo: ") and found.count("\n") == 1, found
        return found

    return told


def changed(at: int, *values: object, form: str = "<I", rank: int = 0) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "events" / f"rank{rank}.events"
        content = bytearray(path.read_bytes())
        struct.pack_into(form, content, at, *values)
        path.write_bytes(content)

    return change


def test_a_file_of_another_rank_version_or_length_is_refused(refused: Callable) -> None:
    assert "rank0.events: the events of a rank must be of version 1 (got 2)" in refused(ring(2), changed(8, 2))
    assert "the events of a rank must be a file of kumihimo record --trace (got another format)" in refused(
        ring(2), changed(0, b"x", form="1s")
    )
    assert "the file of rank 0 must be of 2 ranks (got one of rank 1 of 2)" in refused(ring(2), changed(16, 1))
    assert "the file of rank 1 must be of 2 ranks (got one of rank 1 of 3)" in refused(ring(2), changed(20, 3, rank=1))
    assert "must be whole (got" in refused(ring(2), changed(24, 2**61 + 3, form="<Q"))

    def cut(folder: Path) -> None:
        os.truncate(folder / "events" / "rank1.events", 100)

    assert "rank1.events: a file of " in refused(ring(2), cut)


def test_what_lacks_is_named(refused: Callable, replay: Callable, tmp_path: Path) -> None:
    told = refused(ring(3), lambda folder: (folder / "events" / "rank1.events").unlink())
    assert "events (got none of rank 1); record the program again, or copy the whole folder" in told
    told = refused(ring(3), lambda folder: (folder / "profile.jsonl").write_text("", encoding="utf-8"))
    assert "a profile must be one that kumihimo record has written" in told
    write_trace(tmp_path / "alone", ring(2))
    (tmp_path / "alone" / "profile.jsonl").unlink()
    assert "profile.jsonl is missing; record the program again, or copy the whole folder" in replay(
        tmp_path / "alone", *LETTERS
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"ranks": 2', '"ranks": 1000000000000'),
        ('"ranks": 2', '"ranks": 3'),
        ('"1": "MPI_Allreduce"', '"1": 5'),
        ('"1": "MPI_Allreduce"', '"1000": "MPI_Allreduce"'),
        ('"1": "MPI_Allreduce"', '"one": "MPI_Allreduce"'),
        ('"trace": {"calls"', '"trace": {"names"'),
        ('"sites": [0', '"sites": [99'),
        ('"regions": ["solve"]', '"regions": [5]'),
        ('"rank": 1, "host"', '"rank": 7, "host"'),
        ('"host": "h"', '"host": "h", "processors": "0-999999999999"'),
    ],
)
def test_a_profile_that_contradicts_its_events_is_refused(refused: Callable, old: str, new: str) -> None:
    def change(folder: Path) -> None:
        path = folder / "profile.jsonl"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    refused(ring(2), change)


def test_numbers_that_stand_for_nothing_are_refused(refused: Callable) -> None:
    def rank(*events: tuple) -> Rank:
        made = Rank()
        made.rows += [rank_files.event(made.now, kind, what, **more) for kind, what, more in events]
        return made

    call = NUMBERS["MPI_Send"]
    enter = (Kind.enter, rank_files.entered(), {"call": call})
    wrong = {
        "recorded event 1: a call must be one that the profile names (got 200)": [
            (Kind.enter, rank_files.entered(), {"call": 200})
        ],
        "of MPI_Send: a call site must be below": [(Kind.enter, rank_files.entered(site=77), {"call": call})],
        "a region must be below 1 (got 1)": [(Kind.begin_region, rank_files.region(1), {})],
        "a communicator must be at most 2 (got 3)": [enter, (Kind.send, rank_files.message(8, 0, 0, 3), {})],
        "a list of parts must be at most 0 (got 1)": [
            enter,
            (Kind.collective, rank_files.collective("alltoall", 8, parts=1), {}),
        ],
        "recorded event 2 of MPI_Send: a call must end before": [enter, enter],
        "a call must begin before it ends": [(Kind.leave, b"", {})],
        "a peer must be a rank from 0 to 0 (got 5)": [enter, (Kind.send, rank_files.message(8, 5), {})],
        "a send must be within a call": [(Kind.send, rank_files.message(8, 0), {})],
        "thread 3 sends or receives); record with one such thread": [
            (Kind.send, rank_files.message(8, 0), {"thread": 3})
        ],
        "request 9 ends, which began as no such request": [
            enter,
            (Kind.end_send, rank_files.message(8, 0), {"request": 9}),
        ],
        "a request must have a number from 1 on (got 0)": [enter, (Kind.start_receive, rank_files.message(), {})],
    }
    for said, events in wrong.items():
        assert said in refused([rank(*events)])
    assert "recorded event 1 of MPI_Send: an event must be of a known kind (got 99)" in refused(
        [rank(enter)], changed(64 + 40 + 8, 99, form="B")
    )
    assert "a time must be at least 0 (got -5)" in refused([rank(enter)], changed(64 + 40, -5, form="<q"))
    assert "computing must be from 0 to 1125899906842624 ns" in refused(
        [rank(enter)], changed(64 + 40, 2**62, form="<q")
    )


def test_a_program_that_does_not_end_is_refused(refused: Callable) -> None:
    rank = Rank().compute(5)
    file = rank_files.file(0, 1, b"".join(rank.rows))
    told = refused([rank], lambda folder: (folder / "events" / "rank0.events").write_bytes(file))
    assert "the trace of each rank must have an end (got rank 0 was cut off)" in told


def test_a_trace_that_is_replaced_meanwhile_is_refused(tmp_path: Path) -> None:
    """The new file was not checked."""
    write_trace(tmp_path / "trace", ring(2))
    read = trace_of(str(tmp_path / "trace"))
    path = trace_folder.files_of(tmp_path / "trace")[1]
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    new.replace(path)
    with pytest.raises(Exception, match="a trace was changed while it was read"):
        _trace_program(read)


def _trace_program(read: object) -> object:
    from kumihimo import _goal, _replay

    return _replay.program_of(read.recording, [], _goal.WorkRates())


def test_the_reader_of_python_keeps_to_the_same_bounds(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace", ring(2))
    path = trace_folder.files_of(tmp_path / "trace")[0]
    file = _trace.File(str(path))
    whole = list(trace_folder.events_of(file))
    assert (file.rank, file.ranks, len(whole)) == (0, 2, len(file))
    assert [each.kind for each in whole[:3]] == [Kind.begin_program, Kind.enter, Kind.send]
    assert (whole[2].what.bytes, whole[2].what.peer) == (8, 1)
    for call in (lambda: file.events(len(file) + 1, 1), lambda: file.parts(1), lambda: file.parts(0)):
        with pytest.raises(Exception, match="must be from"):
            call()
    changed(64 + 8, 99, form="B")(tmp_path / "trace")
    with pytest.raises(Exception, match="of a known kind"):
        _trace.File(str(path)).events(0, 1)
