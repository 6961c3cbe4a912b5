"""The database of a campaign: one SQLite file.

`results` has what was computed, by the point's key; `plan` the points of the file as it was at the last run. The view
`points` joins them, a row for each point:

    pandas.read_sql("SELECT * FROM points", sqlite3.connect("campaign.sqlite"))

`measured` has the rows of the campaign's CSV file. Each batch of results is a transaction: a process killed at any time
leaves a whole file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path

import kumihimo
from kumihimo.predict.campaign.description import Campaign, Point, files_of
from kumihimo.text import files
from kumihimo.text.errors import BadInput, failed, wrong_value
from kumihimo.text.json_types import JsonObject

APPLICATION = 0x4B4D484D  # "KMHM", by which `file` and we know the database
FORM = 1
WAIT_SECONDS = 60  # for another process that reads or writes

OK, NOT_APPLICABLE, FAILED = "ok", "not applicable", "failed"
RESULTS = {
    "key": "TEXT PRIMARY KEY",
    "status": "TEXT NOT NULL",
    "seconds": "REAL",
    "bound_seconds": "REAL",
    "bytes_per_second": "REAL",
    "compute_share": "REAL",
    "limiting": "TEXT",
    "doubts": "TEXT",
    "error": "TEXT",
    "version": "TEXT NOT NULL",
    "wall_seconds": "REAL",
    "computed": "TEXT NOT NULL",
    "ranks_of_result": "INTEGER",
    "result": "TEXT",
}
INTERVAL = {  # of the prediction, from the whole result: columns of `points` alone
    "interval_low": "iif(json_valid(result), json_extract(result, '$.interval.low_seconds'), NULL)",
    "interval_high": "iif(json_valid(result), json_extract(result, '$.interval.high_seconds'), NULL)",
}
RESERVED = (*RESULTS, *INTERVAL, "place")
MEASURED = ("seconds", "low", "high")
SHOWN = (
    {"place": "INTEGER"}
    | {name: kind for name, kind in RESULTS.items() if name not in ("key", "ranks_of_result", "result")}
    | dict.fromkeys(INTERVAL, "REAL")
)
OPTIONAL = (*MEASURED[1:], *INTERVAL)
COLUMNS = {"points": SHOWN, "measured": dict.fromkeys(MEASURED, "REAL")}  # which are read, beside parameters
NO_TIME = {  # as conditions of SQL
    "points": f"status = '{OK}' AND NOT coalesce(seconds, -1) >= 0",
    "measured": "NOT coalesce(seconds, 0) > 0",
}
TYPES = {"INTEGER": "'integer'", "REAL": "'real', 'integer', 'null'", "TEXT": "'text', 'null'"}
OURS = "the database must be a file that `kumihimo campaign` made"


class Database:
    """Opened; `with` closes it."""

    def __init__(self, path: Path, new: bool) -> None:
        """`new`: it may be made."""
        self.path = path
        files.check_regular_or_new(path, "the database")
        self._is_new = not path.exists()
        if not new and self._is_new:
            raise wrong_value(OURS, path, "there is no such file")
        if new:
            files.check_writable(path, "--out")
        self.db = self._connected()
        try:
            with self._understood():
                self._check()
        except BaseException:
            self._close()
            raise

    def _connected(self) -> sqlite3.Connection:
        with self._understood():
            return sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        """An empty file that was made is removed: SQLite makes it at its first look."""
        self.db.close()
        with contextlib.suppress(OSError):
            if self._is_new and self.path.stat().st_size == 0:
                self.path.unlink()

    @contextlib.contextmanager
    def _understood(self) -> Iterator[None]:
        """Turns an error of SQLite into one sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            words = str(error)
            cannot_be_read = getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_READ"  # from Python 3.11 on
            if cannot_be_read or "readonly" in words or "unable to open" in words:
                rule = "the database must be readable and writable, in a folder that is"
                raise wrong_value(rule, f"{self.path}: {words}", "name another file") from None
            if "malformed" in words or not any(word in words for word in ("lock", "full", "disk")):
                raise self._not_ours(words) from None
            advice = "put the file on a local disk" if "lock" in words else "make space, and start it again to continue"
            raise failed(f"the database {self.path} could not be used", words, advice) from None

    def _not_ours(self, reason: str) -> BadInput:
        return wrong_value(OURS, f"{self.path}: {reason}", "name another file")

    def _check(self) -> None:
        (application,) = self.db.execute("PRAGMA application_id").fetchone()
        (form,) = self.db.execute("PRAGMA user_version").fetchone()
        (tables,) = self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION:
            raise self._not_ours("another SQLite database")
        if tables and form != FORM:
            rule = f"the database must have form {FORM}"
            raise wrong_value(rule, f"{self.path} has form {form}", "use the version of kumihimo that made it")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self._understood():
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # SQLite itself has rolled back where the disk was full
                    self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")

    def set_plan(
        self, campaign: Campaign, points: Sequence[tuple[str, Point]], measured: Sequence[JsonObject] = ()
    ) -> None:
        """The points of the file as it is now; results of others stay, for when the file has them again."""
        names = list(dict.fromkeys(name for _, point in points for name in point.values))
        taken = next((name for name in names if name.lower() in RESERVED), None)
        if taken is not None:
            raise wrong_value("a variable must not have the name of a column of results", taken, "rename it")
        if len({name.lower() for name in names}) < len(names):
            raise wrong_value("names must differ in more than capitals", ", ".join(names), "rename a variable")
        with self.transaction() as db:
            self._make(db, campaign)
            columns = ", ".join(["place INTEGER PRIMARY KEY", "key TEXT NOT NULL", *map(quoted, names)])
            db.execute(f"CREATE TABLE plan ({columns})")
            marks = ", ".join("?" * (2 + len(names)))
            rows = (
                (place, key, *(stored(point.values.get(name)) for name in names))
                for place, (key, point) in enumerate(points)
            )
            db.executemany(f"INSERT INTO plan VALUES ({marks})", rows)
            db.execute("CREATE INDEX plan_keys ON plan (key)")
            shown = ["place", *(f"plan.{quoted(name)}" for name in names if name != "ranks")]
            shown.append(
                "coalesce(plan.ranks, ranks_of_result) AS ranks" if "ranks" in names else "ranks_of_result AS ranks"
            )
            shown += [f"results.{name}" for name in RESULTS if name not in ("key", "ranks_of_result")]
            shown += [f"{of} AS {name}" for name, of in INTERVAL.items()]
            selected = f"SELECT {', '.join(shown)} FROM plan LEFT JOIN results USING (key) ORDER BY place"
            db.execute(f"CREATE VIEW points AS {selected}")
            self._set_measured(db, measured)

    def _make(self, db: sqlite3.Connection, campaign: Campaign) -> None:
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {FORM}")
        columns = ", ".join(f"{name} {kind}" for name, kind in RESULTS.items())
        db.execute(f"CREATE TABLE IF NOT EXISTS results ({columns})")
        db.execute("CREATE TABLE IF NOT EXISTS campaign (name TEXT, summary TEXT, file TEXT, version TEXT, swept TEXT)")
        for old in ("VIEW IF EXISTS points", "TABLE IF EXISTS plan", "TABLE IF EXISTS measured"):
            db.execute(f"DROP {old}")
        db.execute("DELETE FROM campaign")
        swept = " ".join(campaign.swept)
        about = (campaign.name, campaign.summary, campaign.text, kumihimo.__version__, swept)
        db.execute("INSERT INTO campaign VALUES (?, ?, ?, ?, ?)", about)

    def _set_measured(self, db: sqlite3.Connection, rows: Sequence[JsonObject]) -> None:
        if not rows:
            return
        names = list(dict.fromkeys(name for row in rows for name in row))
        db.execute(f"CREATE TABLE measured ({', '.join(map(quoted, names))})")
        marks = ", ".join("?" * len(names))
        db.executemany(f"INSERT INTO measured VALUES ({marks})", ([row.get(name) for name in names] for row in rows))

    def check_is_of(self, campaign: Campaign) -> None:
        found = self.about()
        if found and found["name"] != campaign.name:
            rule = f"{self.path} must be the database of campaign {campaign.name}"
            raise wrong_value(rule, f"that of {found['name']}", "name another file with --out")

    def about(self) -> JsonObject:
        """Empty where it is new."""
        with self._understood():
            if not self.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'campaign'").fetchone():
                return {}
            row = self.db.execute("SELECT name, summary, file, version, swept FROM campaign").fetchone()
        if not all(isinstance(each, str) for each in row or ()):
            raise self._not_ours("its table campaign has other values than texts")
        return dict(zip(("name", "summary", "file", "version", "swept"), row)) if row else {}

    def finished(self) -> set[str]:
        """Keys that need no work: what failed is tried again."""
        with self._understood():
            return {key for (key,) in self.db.execute("SELECT key FROM results WHERE status <> ?", (FAILED,))}

    def take_over(self, path: Path, campaign: Campaign) -> None:
        """The results in the database of a part; finished ones that are here stay."""
        with Database(path, new=False) as part:
            part.check_is_of(campaign)
        columns = ", ".join(RESULTS)
        here = f"SELECT key FROM main.results WHERE status <> '{FAILED}'"
        there = f"SELECT {columns} FROM part.results WHERE status <> '{FAILED}' AND key NOT IN ({here})"
        with self._understood():
            self.db.execute("ATTACH ? AS part", (str(path),))
            try:
                if self.db.execute("SELECT 1 FROM part.sqlite_master WHERE name = 'results'").fetchone():
                    self.db.execute(f"INSERT OR REPLACE INTO main.results ({columns}) {there}")
            finally:
                self.db.execute("DETACH part")

    def add(self, outcomes: Iterable[tuple[str, JsonObject]]) -> None:
        """Results by their keys; an earlier one of the same point is replaced."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self.transaction() as db:
            for key, outcome in outcomes:
                result = outcome.get("result") or {}
                row = {
                    **{name: result.get(name) for name in RESULTS},
                    "key": key,
                    "status": outcome["status"],
                    "error": outcome.get("error"),
                    "doubts": result.get("accuracy"),
                    "ranks_of_result": result.get("ranks"),
                    "version": kumihimo.__version__,
                    "computed": now,
                    "result": json.dumps(result) if result else None,
                }
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT OR REPLACE INTO results VALUES ({marks})", [row[name] for name in RESULTS])

    def rows(self, table: str = "points") -> list[JsonObject]:
        """Rows of `points`, without the whole results, or of `measured`; none where there is no such table."""
        with self._understood():
            names = [row[1] for row in self.db.execute(f"PRAGMA table_info({table})") if row[1] != "result"]
            if not names:
                return []
            self._check_values(table, names)
            return [
                dict(zip(names, row)) for row in self.db.execute(f"SELECT {', '.join(map(quoted, names))} FROM {table}")
            ]

    def _check_values(self, table: str, names: Sequence[str]) -> None:
        lacking = next((name for name in COLUMNS[table] if name not in names and name not in OPTIONAL), None)
        if lacking is not None:
            raise self._not_ours(f"{table} have no column {lacking}")
        faults = {name: fault_of(name, COLUMNS[table].get(name)) for name in names}
        faults["seconds"] += f" OR {NO_TIME[table]}"
        cases = " ".join(f"WHEN {fault} THEN {number}" for number, fault in enumerate(faults.values()))
        wrong = self.db.execute(f"SELECT CASE {cases} END AS fault FROM {table} WHERE fault IS NOT NULL").fetchone()
        if wrong is not None:
            raise self._not_ours(f"{table} have a value in the column {names[wrong[0]]} that it never has")

    def failures(self) -> dict[str, int]:
        """Errors of failed points, each with the first point that has it."""
        query = "SELECT error, min(place) FROM points WHERE status = ? GROUP BY error ORDER BY 2"
        with self._understood():
            return dict(self.db.execute(query, (FAILED,)).fetchall())

    def counts(self) -> dict[str, int]:
        """Points by their status; `missing`: not computed yet."""
        query = "SELECT coalesce(status, 'missing'), count(*) FROM points GROUP BY 1"
        with self._understood():
            return dict(self.db.execute(query).fetchall())


def key_of(point: Point, folder: Path, machines: Path) -> str:
    """Equal for points with equal options, contents of the files that they name, and version of the models."""
    contents = [digest(path) for path in files_of(point, folder, machines)]
    told = [kumihimo.__version__, sorted(point.options), contents]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


@lru_cache(maxsize=4096)
def digest(path: Path) -> str:
    with files.refused("files of a campaign must be readable", path):
        return hashlib.sha256(path.read_bytes()).hexdigest()


def fault_of(name: str, kind: str | None) -> str:
    """The SQL condition of values that no campaign has. `kind`: in COLUMNS; None for a parameter."""
    column = quoted(name)
    faults = [f"typeof({column}) = 'blob'", f"{column} IN (9e999, -9e999)"]
    if kind is not None:
        faults.append(f"typeof({column}) NOT IN ({TYPES[kind.partition(' ')[0]]})")
    return " OR ".join(faults)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def stored(value: object) -> object:
    """The value as the database has it: several values of an option are joined by spaces."""
    return " ".join(value) if isinstance(value, tuple) else value
