"""The samples of a program's threads, from a profile or from the files that ranks write at the second look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.run.binding import runtimes
from kumihimo.run.profile import reading

Processors = frozenset[int]


@dataclass(frozen=True)
class SampledThread:
    """`library`: that started it. `at_first`: where it might run at the first look. `busy`: the share of a processor
    that it had between the looks. `delayed`: the share of the time in which it was ready and others had its processor.
    `spins_in`: where it waits without leaving its processor."""

    thread: int
    runtime: str
    library: str
    processors: Processors
    at_first: Processors
    processor: int
    busy: float
    spins_in: str | None = None
    name: str = ""
    seconds: float = 0.0
    delayed: float = 0.0

    @property
    def demand(self) -> float:
        """The share of a processor that it would have had alone on it, however busy the machine is."""
        return min(1.0, self.busy / (1 - self.delayed)) if self.delayed < 1 else 1.0


@dataclass(frozen=True)
class SampledRank:
    """`processors`: where the launcher lets it run."""

    rank: int
    host: str
    processors: Processors
    threads: tuple[SampledThread, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def main(self) -> SampledThread | None:
        return next((thread for thread in self.threads if thread.runtime == runtimes.RANK), None)


@dataclass(frozen=True)
class SampledNode:
    """`cores`: the processors of each core that the job may use. `quota`: processors' worth of time that its control
    groups leave it; None: no limit."""

    host: str
    cores: tuple[Processors, ...]
    quota: float | None = None

    @property
    def processors(self) -> Processors:
        return frozenset().union(*self.cores)


@dataclass(frozen=True)
class BindingSamples:
    """Samples of all ranks that have some, in their order. `ranks_of_job`: number of the program's ranks."""

    nodes: tuple[SampledNode, ...]
    ranks: tuple[SampledRank, ...]
    ranks_of_job: int = 0

    def ranks_on(self, host: str) -> list[SampledRank]:
        return [rank for rank in self.ranks if rank.host == host]


def processors_in(text: str) -> Processors:
    """Processors of a list as the kernel writes it: 0-3,8."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def list_text(processors: Iterable[int]) -> str:
    """As the kernel writes it."""
    parts: list[list[int]] = []
    for number in sorted(processors):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def of_profile(path: Path) -> BindingSamples:
    """BadInput: the file is no profile. Without ranks, if an earlier version wrote it."""
    with reading.explained(path):
        lines = reading.lines(path)
        ranks = next(lines)["ranks"]
        return of_lines(lines, ranks)


def rank_files(folder: Path) -> list[Path]:
    """Files that ranks have written at their second look."""
    return sorted(path for path in folder.iterdir() if re.fullmatch(r"threads\.rank\d+", path.name))


def of_rank_files(folder: Path, ranks: int = 0) -> BindingSamples:
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in rank_files(folder)]
    return of_lines([json.loads(text) for text in texts], ranks)


def of_lines(lines: Iterable[Mapping], ranks_of_job: int = 0) -> BindingSamples:
    """Each of a rank, as a profile has it."""
    ranks: list[SampledRank] = []
    nodes: dict[str, SampledNode] = {}
    for line in lines:
        samples = line.get("thread_samples")
        if not samples:
            continue
        host = line.get("host") or ""
        ranks.append(rank_of(line["rank"], host, line.get("processors") or "", samples))
        if samples["node"]:
            nodes.setdefault(host, node_of(host, samples["node"]))
    for rank in ranks:  # no rank has told of its node
        nodes.setdefault(rank.host, node_of_masks(rank.host, [each for each in ranks if each.host == rank.host]))
    ranks.sort(key=lambda rank: rank.rank)
    return BindingSamples(tuple(nodes[host] for host in sorted(nodes)), tuple(ranks), max(ranks_of_job, len(ranks)))


def node_of(host: str, node: Mapping) -> SampledNode:
    allowed = processors_in(node["processors"])
    cores = [processors_in(core) & allowed for core in node["cores"]]
    return SampledNode(host, tuple(core for core in cores if core), node["quota"])


def node_of_masks(host: str, ranks: Sequence[SampledRank]) -> SampledNode:
    """As if each processor that some thread may use were a core."""
    masks = [thread.processors for rank in ranks for thread in rank.threads]
    return SampledNode(host, tuple(frozenset({number}) for number in sorted(frozenset().union(*masks))))


def rank_of(rank: int, host: str, processors: str, samples: Mapping) -> SampledRank:
    threads = tuple(thread_of(row) for row in samples["threads"])
    launched = processors_in(processors)
    if not launched:  # in a file of the second look
        launched = next((thread.at_first for thread in threads if thread.runtime == runtimes.RANK), frozenset())
    return SampledRank(rank, host, launched, threads, dict(samples["environment"]))


def thread_of(row: Mapping) -> SampledThread:
    library = row["started_by"] or ""
    now = processors_in(row["processors"])
    first = processors_in(row["at_first"]["processors"]) if row["at_first"] else now
    busy, delayed = (share_of_time(row, name) for name in ("busy_seconds", "delayed_seconds"))
    return SampledThread(
        row["thread"],
        runtimes.RANK if row["main"] else runtimes.runtime_of(library),
        library,
        now,
        first,
        row["processor"],
        busy,
        runtimes.spins_in(row["instructions"]),
        row["name"],
        row["seconds"],
        min(delayed, 1 - busy),
    )


def share_of_time(row: Mapping, name: str) -> float:
    seconds = row.get(name, 0.0)  # profiles of earlier versions have no delays
    return max(0.0, min(1.0, seconds / row["seconds"])) if row["seconds"] > 0 else 0.0
