"""The history of results: one SQLite file, a row for each run, and for each figure of each run.

    pandas.read_sql("SELECT * FROM runs JOIN figures ON run = runs.id", sqlite3.connect("history.sqlite"))

Runs of one machine are a series, in the order of their dates. A series changes where its level changes for good
(change_points.hpp). The present level may be accepted: what came before is then shown, and raises no alarm.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from kumihimo import _measure
from kumihimo.keep.comparison import LEAST, compared_names
from kumihimo.keep.judge import LEAST_RUNS
from kumihimo.keep.observed import ObservedRow
from kumihimo.text import files
from kumihimo.text.errors import BadInput, failed, wrong_value

APPLICATION = 0x4B4D4849  # "KMHI", by which `file` and we know the database
FORM = 1
WAIT_SECONDS = 60  # for another process that writes
OURS = "the history must be a file that `kumihimo compare --history` made"
TABLES = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, date TEXT NOT NULL, version TEXT NOT NULL, machine TEXT NOT NULL,
  file TEXT NOT NULL, accepted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE figures (run INTEGER NOT NULL REFERENCES runs, key TEXT NOT NULL, figure TEXT NOT NULL,
  value REAL NOT NULL, low REAL, high REAL, lower INTEGER NOT NULL, PRIMARY KEY (run, key, figure)) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class HistoryRun:
    """`date`: ISO 8601 in UTC. `version`: a commit, or what else tells the program apart."""

    date: str
    version: str
    machine: str
    file: str = ""
    accepted: bool = False


@dataclass(frozen=True)
class LevelChange:
    """Before the run of index `at`. `times`: how many times as slow the level after it is as that before it."""

    at: int
    times: float
    chance: float


@dataclass
class HistorySeries:
    """One figure of one row on one machine. `values` and `intervals`: of each run."""

    key: str
    figure: str
    machine: str
    lower: bool
    runs: list[HistoryRun] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    intervals: list[tuple[float | None, float | None]] = field(default_factory=list)

    def changes(self, least: float = LEAST) -> list[LevelChange]:
        """Changes of `least` and more, of the medians on either side up to the next one."""
        logarithms = [math.log(value) for value in self.values]
        found = _measure.change_points(logarithms)
        while found:
            places = [0, *(at for at, _ in found), len(self.values)]
            levels = [median(logarithms[a:b]) for a, b in zip(places, places[1:])]
            steps = [(1 if self.lower else -1) * (b - a) for a, b in zip(levels, levels[1:])]
            small = min(range(len(steps)), key=lambda i: abs(steps[i]))
            if abs(steps[small]) >= math.log1p(least):
                return [LevelChange(at, math.exp(step), chance) for (at, chance), step in zip(found, steps)]
            del found[small]
        return []

    def levels(self, changes: Sequence[LevelChange]) -> list[float]:
        """Level of each run: the median of its part."""
        places = [0, *(change.at for change in changes), len(self.values)]
        return [median(self.values[a:b]) for a, b in zip(places, places[1:]) for _ in range(a, b)]

    def alarm(self, changes: Sequence[LevelChange]) -> LevelChange | None:
        """The last change, if it made things worse, and nobody has accepted the level since."""
        if not changes or changes[-1].times <= 1:
            return None
        return None if any(run.accepted for run in self.runs[changes[-1].at :]) else changes[-1]


class ResultHistory:
    """Opened; `with` closes it."""

    def __init__(self, path: Path, new: bool) -> None:
        """`new`: it may be made."""
        self.path = path
        files.check_regular_or_new(path, "--history")
        if not path.exists() and not new:
            raise wrong_value(OURS, path, "there is no such file")
        if new:
            files.check_writable(path, "--history")
        with self.understood():
            self.db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            with self.understood():
                self.check()
        except BaseException:
            self.db.close()
            raise

    def __enter__(self) -> ResultHistory:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def check(self) -> None:
        (application,) = self.db.execute("PRAGMA application_id").fetchone()
        (form,) = self.db.execute("PRAGMA user_version").fetchone()
        (tables,) = self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION:
            raise self.not_ours("another SQLite database")
        if tables and form != FORM:
            rule = f"the history must have form {FORM}"
            raise wrong_value(rule, f"{self.path} has form {form}", "use the version of kumihimo that made it")

    def not_ours(self, reason: str) -> BadInput:
        return wrong_value(OURS, f"{self.path}: {reason}", "name another file")

    @contextlib.contextmanager
    def understood(self) -> Iterator[None]:
        """Turns an error of SQLite into one sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            words = str(error)
            if "readonly" in words or "unable to open" in words:
                rule = "the history must be readable and writable, in a folder that is"
                raise wrong_value(rule, f"{self.path}: {words}", "name another file") from None
            if "malformed" in words or not any(word in words for word in ("lock", "full", "disk")):
                raise self.not_ours(words) from None
            advice = "put the file on a local disk" if "lock" in words else "make space"
            raise failed(f"the history {self.path} could not be used", words, advice) from None

    def add(self, run: HistoryRun, rows: Sequence[ObservedRow]) -> None:
        """All figures of a run, or none if it is killed."""
        with self.understood():
            self.db.execute("BEGIN IMMEDIATE")
            try:
                (tables,) = self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if not tables:
                    self.db.execute(f"PRAGMA application_id = {APPLICATION}")
                    self.db.execute(f"PRAGMA user_version = {FORM}")
                    for statement in filter(str.strip, TABLES.split(";")):
                        self.db.execute(statement)
                number = self.db.execute(
                    "INSERT INTO runs (date, version, machine, file, accepted) VALUES (?, ?, ?, ?, ?)",
                    (run.date, run.version, run.machine, run.file, int(run.accepted)),
                ).lastrowid
                self.db.executemany(
                    "INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?)",
                    ((number, *figure) for row in rows for figure in figures_of(row)),
                )
            except BaseException:
                self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")

    def accept(self) -> int:
        """The newest run of each machine; how many there are."""
        with self.understood():
            newest = "SELECT id FROM (SELECT id, max(date) FROM runs GROUP BY machine)"
            return self.db.execute(f"UPDATE runs SET accepted = 1 WHERE id IN ({newest})").rowcount

    def series(self) -> list[HistorySeries]:
        """All, in the order in which they came up."""
        found: dict[tuple[str, str, str], HistorySeries] = {}
        with self.understood():
            if not self.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
                return []
            rows = self.db.execute(
                "SELECT key, figure, value, low, high, lower, date, version, machine, file, accepted "
                "FROM runs JOIN figures ON figures.run = runs.id ORDER BY date, runs.id"
            )
            for key, figure, value, low, high, lower, date, version, machine, file, accepted in rows:
                of = HistoryRun(date, version, machine, file, bool(accepted))
                series = found.setdefault(
                    (of.machine, key, figure), HistorySeries(key, figure, of.machine, bool(lower))
                )
                series.runs.append(of)
                series.values.append(value)
                series.intervals.append((low, high))
        return list(found.values())


def figures_of(row: ObservedRow) -> Iterator[tuple]:
    for name in compared_names(row):
        found = row.figures[name].estimate()
        if found.value > 0:
            known = found.runs >= LEAST_RUNS  # the margins of fewer runs are no measurement
            low, high = (end if known and math.isfinite(end) else None for end in (found.low, found.high))
            yield row.key, name, found.value, low, high, int(row.figures[name].lower)
