"""The phases of IO500 in their order (IO500/io500, src/main.c), reduced: no ior-rnd4K, one iteration, a time limit that
the user gives, and amounts that leave the file system room. No list takes such a score, and it says so."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kumihimo.tune.file_bench.cases import DataSet, FileSteps, ItemSet
from kumihimo.tune.file_bench.job import FileRun
from kumihimo.tune.file_bench.rates import SHORT, source_of
from kumihimo.tune.file_bench.space import FreeSpace

EASY_TRANSFER, HARD_TRANSFER, HARD_FILE = 2 << 20, 47008, 3901  # bytes: of ior-easy, ior-hard, mdtest-hard
LEAST_SECONDS = 300  # of a phase that writes, in a valid run
GIB = float(1 << 30)
BLOCK = 4096

# Name, what the step does, with which set, and of which kind its rate is.
PHASES = (
    ("ior-easy-write", "write", "data", "easy"),
    ("mdtest-easy-write", "create", "items", "easy"),
    ("ior-hard-write", "write", "data", "hard"),
    ("mdtest-hard-write", "create", "items", "hard"),
    ("find", "find", "", ""),
    ("ior-easy-read", "read", "data", "easy"),
    ("mdtest-easy-stat", "stat", "items", "easy"),
    ("ior-hard-read", "read", "data", "hard"),
    ("mdtest-hard-stat", "stat", "items", "hard"),
    ("mdtest-easy-delete", "remove", "items", "easy"),
    ("mdtest-hard-read", "read", "items", "hard"),
    ("mdtest-hard-delete", "remove", "items", "hard"),
)


@dataclass(frozen=True)
class Amounts:
    """At most, of a rank; the time limit ends a phase before."""

    easy_block: int
    hard_segments: int
    easy_items: int
    hard_items: int


def amounts(free: FreeSpace, ranks: int) -> Amounts:
    """A third of the free space for the easy files, a tenth for the hard ones, a tenth for items of a block."""
    of_rank = free.bytes / ranks
    names = free.names / ranks if free.all_names else math.inf
    return Amounts(
        easy_block=max(1, int(of_rank / 3 // EASY_TRANSFER)) * EASY_TRANSFER,
        hard_segments=max(1, int(of_rank / 10 // HARD_TRANSFER)),
        easy_items=max(1, int(min(1_000_000, names / 5, of_rank / 10 // BLOCK))),
        hard_items=max(1, int(min(1_000_000, names / 5, of_rank / 10 // BLOCK))),
    )


def steps(most: Amounts, limit: float, cache: str, seed: int) -> FileSteps:
    data = (
        DataSet("easy", transfer=EASY_TRANSFER, block=most.easy_block, cache=cache, limit=limit, seed=seed),
        DataSet(
            "hard",
            shared=True,
            transfer=HARD_TRANSFER,
            block=HARD_TRANSFER,
            segments=most.hard_segments,
            cache=cache,
            limit=limit,
            seed=seed,
        ),
    )
    items = (
        ItemSet("easy", per_rank=most.easy_items, limit=limit, seed=seed),
        ItemSet("hard", per_rank=most.hard_items, one_folder=True, bytes_each=HARD_FILE, limit=limit, seed=seed),
    )
    made: list[dict[str, object]] = [{"do": "plant", "items": each.name} for each in items]
    for _, word, kind, name in PHASES:
        made.append({"do": "find", "part": "01", "bytes": HARD_FILE} if word == "find" else {"do": word, kind: name})
    made += [{"do": "clear", "items": each.name} for each in items]
    made += [{"do": "remove", "data": each.name} for each in data]
    return FileSteps(data, items, tuple(made))


@dataclass(frozen=True)
class PhaseScore:
    name: str
    value: float  # GiB/s or kIOPS
    seconds: float
    is_bandwidth: bool
    note: str = ""

    @property
    def is_short(self) -> bool:
        return self.name.endswith("-write") and self.seconds < LEAST_SECONDS


def scores(asked: FileSteps, run: FileRun) -> list[PhaseScore]:
    by_step = {(s["do"], s.get("data"), s.get("items")): found for s, found in zip(asked.steps, run.results)}
    sets = {each.name: each for each in asked.data}
    found = []
    for name, word, kind, of in PHASES:
        result = by_step[(word, of if kind == "data" else None, of if kind == "items" else None)]
        seconds = max(result["seconds"], SHORT)
        if kind == "data":
            source, why = source_of(result, sets[of], run.in_memory)
            note = "" if source == "storage" else f"memory's rate: {why}"
            found.append(PhaseScore(name, result["bytes"] / seconds / GIB, seconds, True, note))
        else:
            found.append(PhaseScore(name, result["items"] / seconds / 1000, seconds, False))
    return found


def geometric_mean(values: list[float]) -> float:
    """0 without any."""
    return math.exp(sum(math.log(max(value, 1e-12)) for value in values) / len(values)) if values else 0.0


def score_of(found: list[PhaseScore]) -> tuple[float, float, float]:
    """Bandwidth (GiB/s), metadata (kIOPS), and the root of their product; without rates of the memory."""
    bandwidth = geometric_mean([each.value for each in found if each.is_bandwidth and not each.note])
    metadata = geometric_mean([each.value for each in found if not each.is_bandwidth])
    return bandwidth, metadata, math.sqrt(bandwidth * metadata)


def form(found: list[PhaseScore]) -> str:
    """As io500 prints it. A rate of the memory is no result of the file system: its line begins with blanks in place of
    RESULT, as io500 marks what does not count, and the score is invalid in any case."""
    lines = ["IO500 (in the form of IO500, by kumihimo bench files: a reduced set, not a valid score)"]
    for each in found:
        mark = "[      ]" if each.note else "[RESULT-invalid]" if each.is_short else "[RESULT]"
        unit = "GiB/s" if each.is_bandwidth else "kIOPS"
        value = f"{each.value:15f}"
        line = f"{mark} {each.name:>20} {value} {unit} : time {each.seconds:.3f} seconds"
        lines.append(f"{line} ({each.note})" if each.note else line)
        if each.name == "mdtest-easy-write":
            lines.append(f"[      ] {'timestamp':>20} {0:15f} kIOPS : time {0:.3f} seconds")
    bandwidth, metadata, total = score_of(found)
    lines.append(f"[SCORE ] Bandwidth {bandwidth:f} GiB/s : IOPS {metadata:f} kiops : TOTAL {total:f} [INVALID]")
    return "\n".join(lines) + "\n"
