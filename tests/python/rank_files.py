"""Files of events of made-up ranks, packed as docs/profile-format.md states them."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

from kumihimo import _replay
from kumihimo._trace import NO_SITE, Kind
from kumihimo.run.profile import trace_folder

HEADER = struct.Struct("<8sIIIIQQQQQ")
MAGIC, VERSION = b"\x89KUMITR\n", 1
EVENT_BYTES = 40
KINDS = {kind: number for number, kind in enumerate((
    *(Kind.enter, Kind.leave, Kind.send, Kind.receive, Kind.collective),
    *(Kind.start_send, Kind.start_receive, Kind.start_collective),
    *(Kind.end_send, Kind.end_receive, Kind.end_collective),
    *(Kind.begin_region, Kind.end_region, Kind.begin_program, Kind.end_program),
))}  # fmt: skip


def event(at_ns: int, kind: Kind, what: bytes = b"", call: int = 0, thread: int = 0, request: int = 0) -> bytes:
    return struct.pack("<qBBHI", at_ns, KINDS[kind], call, thread, request) + what.ljust(24, b"\0")


def elapsed(recorder_ns: int = 0, processor_ns: int = 0) -> bytes:
    return struct.pack("<qq", recorder_ns, processor_ns)


def entered(recorder_ns: int = 0, processor_ns: int = 0, site: int = NO_SITE) -> bytes:
    return struct.pack("<qqI", recorder_ns, processor_ns, site)


def message(size: int = 0, peer: int = -1, tag: int = 0, communicator: int = 1) -> bytes:
    return struct.pack("<qiiI", size, peer, tag, communicator)


def collective(name: str, size: int, root: int = -1, communicator: int = 1, parts: int = 0) -> bytes:
    return struct.pack("<qiIIB", size, root, communicator, parts, _replay.collectives().index(name))


def region(number: int) -> bytes:
    return struct.pack("<I", number)


def file(rank: int, ranks: int, events: bytes, lists: Sequence[Sequence[int]] = (), left_out: int = 0) -> bytes:
    ends, sizes = [], []
    for each in lists:
        sizes += each
        ends.append(len(sizes))
    count = len(events) // EVENT_BYTES
    header = HEADER.pack(MAGIC, VERSION, EVENT_BYTES, rank, ranks, count, len(ends), len(sizes), left_out, 0)
    return header + events + struct.pack(f"<{len(ends)}Q{len(sizes)}q", *ends, *sizes)


def write(folder: Path, files: dict[int, bytes], profile: Sequence[dict]) -> None:
    """As `record --trace` leaves a folder, without OTF2."""
    (folder / trace_folder.EVENTS).mkdir(parents=True)
    for rank, content in files.items():
        (folder / trace_folder.EVENTS / f"rank{rank}.events").write_bytes(content)
    text = "".join(json.dumps(line) + "\n" for line in profile)
    (folder / trace_folder.PROFILE).write_text(text, encoding="utf-8")
