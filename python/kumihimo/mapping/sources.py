"""Where the traffic of a program comes from: a trace, a profile, a file of another kind, a pattern, programs or a
collective."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _collectives, _machine, _programs, _schedule, _topology, _traffic
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives.arguments import FILE, HALO, CollectiveArguments, Ranks
from kumihimo.mapping import traced
from kumihimo.predict.workloads import catalogue
from kumihimo.run.profile import reading
from kumihimo.text import files
from kumihimo.text.errors import BadInput, did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, counted, share_text
from kumihimo.text.sizes import parse_size

KINDS = {
    "profile": "a profile of kumihimo record",
    "text": "lines of sender, receiver, bytes and, if known, messages",
    "metis": "a METIS graph",
    "scotch": "a Scotch graph",
}
SUFFIXES = {".jsonl": "profile", ".graph": "metis", ".metis": "metis", ".grf": "scotch"}
READERS = {"text": _traffic.parse_traffic, "metis": _traffic.parse_metis, "scotch": _traffic.parse_scotch_graph}
RULE = (
    "the traffic must be a file, a trace, halo:16x16x16:27, file:PROGRAM, workload:NAME or a collective such as "
    "allgather:bruck:1KiB"
)
MOST_OF_A_LINE = 60  # that an error shows


@dataclass(frozen=True)
class TrafficSource:
    """Traffic, and what a user should know of it."""

    traffic: _traffic.Traffic
    description: str
    notes: tuple[str, ...] = ()
    grid: _topology.Shape | None = None  # of the ranks, if they are in one
    programs: _programs.NamedPrograms | _schedule.Schedule | None = None  # that cause the traffic


def traffic_from(
    text: str, ranks: int | None = None, wisdom: Path | None = None, job: _machine.Job | None = None
) -> TrafficSource:
    """Traffic that --traffic names. `ranks`: the number asked for; a collective needs them. `wisdom` and `job`: of a
    trace, by what its collectives are performed and where.
    """
    if traced.is_trace(text):
        found = traced.traffic_of(text, wisdom, job)
        source = TrafficSource(found.traffic, traced.describe(text, found.traffic, wisdom), found.notes)
    elif wisdom is not None:
        raise wrong_value("--wisdom needs a trace as --traffic", text, "record one with kumihimo record --trace FOLDER")
    else:
        source = _named(text, ranks)
    if ranks not in (None, source.traffic.ranks):
        rule = f"{text} has {counted(source.traffic.ranks, 'rank')}"
        raise wrong_value(rule, f"{ranks} asked for", "leave --ranks out")
    if not source.traffic.self_bytes:
        return source
    own = f"ranks send {bytes_text(source.traffic.self_bytes)} to themselves, which no placement changes"
    return TrafficSource(source.traffic, source.description, (*source.notes, own), source.grid, source.programs)


def _named(text: str, ranks: int | None) -> TrafficSource:
    first, colon, rest = text.partition(":")
    if text.startswith(HALO):
        return _of_pattern(rest)
    if text.startswith(FILE):
        return _of_programs(rest)
    if text.startswith(catalogue.WORKLOAD):
        return _of_workload(text, ranks)
    if colon and first in _schedule.collectives():
        return _of_collective(text, ranks)
    if colon and first in KINDS:
        return _of_file(Path(rest), first)
    path = Path(text)
    if colon and not files.kind(path):
        known = ("halo", "file", "workload", *KINDS, *_schedule.collectives())
        raise wrong_value(RULE, f"'{text}'", did_you_mean(first, known))
    return _of_file(path, SUFFIXES.get(path.suffix.lower()))


def _of_pattern(text: str) -> TrafficSource:
    grid = _topology.Shape.parse(text.partition(":")[0])
    traffic = _traffic.of_pattern(text)
    return TrafficSource(traffic, f"halo exchange of {counted(traffic.ranks, 'rank')}, {text}", grid=grid)


def _of_programs(path: str) -> TrafficSource:
    sets = _programs.open_file(path)
    with program_sets.unchanged(sets):
        traffic = _traffic.of_programs(sets)
    return TrafficSource(traffic, f"programs of {counted(sets.ranks, 'rank')} in {path}", programs=sets)


def _of_collective(text: str, ranks: int | None) -> TrafficSource:
    kind, _, rest = text.partition(":")
    algorithm, _, size = rest.partition(":")
    if not algorithm or bool(size) != arguments.moves_data(kind):
        form = f"{kind}:ALGORITHM:BYTES" if arguments.moves_data(kind) else f"{kind}:ALGORITHM"
        raise wrong_value(f"the traffic of a collective must be written {form}", f"'{text}'")
    if ranks is None:
        raise missing(f"the number of ranks of {text}", "add --ranks")
    length = parse_size(size) if size else None
    element = "uint8" if length and length % 8 else "float64"
    space = arguments.rank_space(Ranks(ranks=ranks))
    collective = arguments.collective(CollectiveArguments(kind, bytes=length, type=element), space)
    schedule = _collectives.find(kind, algorithm).build(collective, space, arguments.parameters())
    return TrafficSource(_traffic.of_programs(schedule), f"{text} on {counted(ranks, 'rank')}", programs=schedule)


def _of_workload(text: str, ranks: int | None) -> TrafficSource:
    asked = catalogue.asked(text, ranks)
    found = asked.traffic()
    if not found.bytes:
        calls = ", ".join(found.collectives)
        raise wrong_value(f"{text} must send messages to be placed", f"only {calls}")
    traffic = _traffic.parse_traffic("\n".join(found.lines()) + "\n", text)
    notes = [f"{counted(n, 'call')} of {name} are in no pair of ranks" for name, n in sorted(found.collectives.items())]
    return TrafficSource(traffic, f"{text} on {counted(asked.ranks, 'rank')}", tuple(notes))


def _of_file(path: Path, kind: str | None) -> TrafficSource:
    if kind == "profile" or (kind is None and _begins_as_profile(path)):
        return _of_profile(path)
    text = files.read_text(path, "the traffic")
    kind = kind or _kind_of(text, path)
    traffic = READERS[kind](text, str(path))
    name = "traffic" if kind == "text" else KINDS[kind].removeprefix("a ")
    return TrafficSource(traffic, f"{name} of {counted(traffic.ranks, 'rank')} in {path}")


def _begins_as_profile(path: Path) -> bool:
    """Whether it is JSON. A FIFO cannot be read twice, so it is not looked at."""
    with files.refused("the traffic must be readable", path):
        if files.kind(path) != "a file":
            return False
        with path.open("rb") as file:
            return file.read(4096).lstrip().startswith(b"{")


def _kind_of(text: str, path: Path) -> str:
    """Kind of a file whose name does not say it. METIS has comments of its own, Scotch begins with its version, 0,
    alone.
    """
    if text.startswith("%"):
        return "metis"
    content = re.search(r"^[ \t\r]*([^#\s][^#\n]*)", text, re.MULTILINE)
    first = content[1] if content else ""
    words = first.split()
    begins_as_text = 3 <= len(words) <= 4 and all(re.fullmatch(r"[-+]?[0-9]+", word) for word in words[:2])
    if not words or (begins_as_text and not _is_metis(text, words)):
        return "text"
    if not all(re.fullmatch(r"[-+]?[0-9]{1,20}", word) for word in words) or len(words) > 4:
        shown = " ".join(words)[:MOST_OF_A_LINE]
        *others, last = KINDS.values()
        rule = f"a file of traffic must be {', '.join(others)} or {last}"
        advice = f"if it is one of these, write its kind before its name, such as metis:{path}"
        first_word_of = {"ranks": "file", "num_ranks": "goal"}
        advice = f"write {first_word_of[words[0]]}:{path}" if words[0] in first_word_of else advice
        raise wrong_value(rule, f"{path}, which begins with '{shown}'", advice)
    if len(words) == 1:
        return "scotch"
    return "metis"


def _is_metis(text: str, head: list[str]) -> bool:
    """Whether lines of vertices follow a head with a format. Lines of traffic would hardly have such a number of lines
    and words. Neither comments of ours nor blank lines stand before them."""
    if not all(word.isdecimal() for word in head) or not re.fullmatch(r"[01]{1,3}", head[2]) or "#" in text:
        return False
    if not 1 <= int(head[0]) <= text.count("\n"):
        return False
    first, *lines = [line for line in text.splitlines() if not line.startswith("%")]
    if not first.strip():
        return False
    sizes, weights, weighted_edges = (int(digit) for digit in head[2].zfill(3))
    vertices, edges, weights = int(head[0]), int(head[1]), int(head[3]) if len(head) == 4 else weights
    words = sum(len(line.split()) for line in lines) - (sizes + weights) * vertices
    ends = len(lines) >= vertices and not any(lines[vertices:])
    return ends and words == 2 * edges * (1 + weighted_edges)


def _of_profile(path: Path) -> TrafficSource:
    lines = reading.lines(path)
    header = next(lines)
    builder = _traffic.Builder(header["ranks"])
    seen: set[int] = set()
    resolved = in_collectives = 0
    with reading.explained(path):
        for rank in lines:
            resolved += _add_rank(builder, rank, seen, path)
            in_collectives += sum(row["bytes"] for row in rank["calls"] if "bytes_from" in row)
    if resolved == 0 and in_collectives:
        rule = f"{path} must have messages between two ranks"
        raise wrong_value(rule, "collectives only", "give the collective, such as --traffic allreduce:ring:1MiB")
    notes = []
    if len(seen) < header["ranks"]:
        notes.append(f"{header['ranks'] - len(seen)} of {counted(header['ranks'], 'rank')} are not in the profile")
    if in_collectives:
        share = share_text(in_collectives / (in_collectives + resolved))
        rest = "a profile does not tell who gets them, so they are left out: a folder of record --trace does"
        notes.append(f"{share} of the bytes are in collectives; {rest}")
        if in_collectives > resolved:
            notes.append("a placement may make these slower: compare replays with --placement and without it first")
    try:
        traffic = builder.build()
    except BadInput as error:
        raise BadInput(f"{path}: {error.problem}", error.advice) from None
    return TrafficSource(traffic, f"profile of {counted(traffic.ranks, 'rank')} in {path}", tuple(notes))


def _add_rank(builder: _traffic.Builder, rank: JsonObject, seen: set[int], path: Path) -> int:
    """The bytes that it sends."""
    number, partners = rank["rank"], rank["partners"]
    if number in seen:
        raise wrong_value(reading.RULE, f"{path}, in which rank {number} is twice")
    seen.add(number)
    amounts = [count + one_sided for _, _, count, _, one_sided in partners]
    messages = [count + one_sided for _, count, _, one_sided, _ in partners]
    try:
        builder.add_row(number, [partner[0] for partner in partners], amounts, messages)
    except BadInput as error:
        raise wrong_value(reading.RULE, f"{path}, in which rank {number} is wrong: {error.problem}") from None
    return sum(amounts)
