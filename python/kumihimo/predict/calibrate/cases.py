"""Measured cases, and what the models say of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _collectives, _machine, _predict, _schedule
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.predict import simulation
from kumihimo.predict.campaign import measured
from kumihimo.predict.campaign.database import MEASURED, OK
from kumihimo.predict.campaign.description import check_keys, table_of, toml
from kumihimo.text import files
from kumihimo.text.csv_table import CsvTable
from kumihimo.text.errors import BadInput, NotApplicable, did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import parse_size

NEEDED = ("collective", "algorithm", "bytes")
OF_RANKS = ("shape", "ranks", "ranks_per_node")
OF_PART = ("box", "routing")
OF_COLLECTIVE = ("type", "operation", "root")
BASE = "base"  # state of the software: the numbers outside of [software.NAME]
ABOUT = ("day", "software")  # when a time was measured, and with which state of the software


@dataclass
class TimedCase:
    """One measured time. `at`: where it is written. `values`: options of `simulate` by name. `cells`: all that the file
    says of it, and nodes and ranks."""

    at: str
    values: JsonObject
    seconds: float
    cells: JsonObject

    @property
    def curve(self) -> tuple:
        """Members that it shares with the same algorithm at other sizes."""
        return tuple((name, value) for name, value in self.values.items() if name not in ("bytes", "type"))

    def as_point(self, seconds: float) -> JsonObject:
        """For campaign.comparison."""
        return {
            **self.values,
            "status": OK,
            "seconds": seconds,
            "measured": {"seconds": self.seconds},
            "place": self.at,
        }


def parameters_of_cases() -> dict[str, str]:
    """The names that a case may have, with how their values are written."""
    declared = {each.name: each for each in _collectives.declared_parameters() if each.kind != "hint"}
    kinds = {name: "size" if each.symbol == "SIZE" else each.kind for name, each in declared.items()}
    return {**dict.fromkeys((*NEEDED, *OF_RANKS, *OF_PART, *OF_COLLECTIVE, *ABOUT), ""), **kinds}


def read(path: Path) -> list[TimedCase]:
    """From a CSV file whose columns have the names of `simulate`'s options, or from a TOML file with a table
    [measured] as campaigns have it."""
    known = parameters_of_cases()
    told = mapping(path) if path.suffix == ".toml" else by_header(path, known)
    file = path.parent / str(told.get("file"))
    cases = []
    for line, cells, row in measured.rows_of(told, path.parent, known, "an option of a prediction"):
        at = f"{file.name}:{line}"
        values = {name: value for name, value in row.items() if name not in MEASURED and value not in ("", None)}
        lacking = next((name for name in NEEDED if name not in values and name != "bytes"), None)
        if lacking is not None:
            raise missing(f"{at}: the {lacking}", f"add a column {lacking}")
        about = {name: str(values.pop(name)) for name in ABOUT if name in values}
        cases.append(TimedCase(at, checked(at, values), row["seconds"], {**cells, **values, **about}))
    if not cases:
        raise wrong_value("the measured times must have a row", f"none is taken from {path}")
    return cases


def of_state(cases: list[TimedCase], state: str, states: Sequence[str]) -> list[TimedCase]:
    """Cases that were measured with this state of the software, where the file says with which. `states`: what the
    machine file names; one without any takes the times of one state, whatever its name.
    """
    known = dict.fromkeys(case.cells["software"] for case in cases if "software" in case.cells)
    if not known or (not states and state == BASE and len(known) == 1):
        return cases
    found = [case for case in cases if case.cells.get("software") == state]
    if not found:
        rule = "--software, or the machine file's default, must be a state that the times were measured with"
        raise wrong_value(rule, f"'{state}'", f"use --software with one of {', '.join(known)}")
    return found


def mapping(path: Path) -> JsonObject:
    told = toml(files.read_text(path, measured.FILE), path)
    check_keys(told, ("measured",), str(path))
    return table_of(told, "measured")


def by_header(path: Path, known: Mapping[str, str]) -> JsonObject:
    """[measured] for a file in our names; columns of other names are for conditions alone."""
    header = CsvTable(path, measured.FILE)
    names = {name.replace("-", "_"): name for name in header.names if name}
    for needed in (*NEEDED, "seconds"):
        if needed not in names:
            advice = did_you_mean(needed, names, "name the columns as the options of simulate")
            raise missing(f"{path}:{header.line}: the column {needed}", advice)
    taken = {name: name for name in names if name in known or name == "seconds"}
    if any(names[name] != name for name in taken):
        raise wrong_value(f"{path}:{header.line}: names of columns must have _ instead of -", ", ".join(names.values()))
    return {"file": path.name, "columns": taken}


def checked(at: str, values: JsonObject) -> JsonObject:
    """With sizes and numbers as such."""
    known = parameters_of_cases()
    found = {}
    for name, value in values.items():
        try:
            if name == "bytes" or known[name] == "size":
                value = parse_size(str(value), 0)
            elif name in ("ranks", "root") or known[name] == "number":
                value = int(value)
            elif name in ("shape", "ranks_per_node", "box", "routing", *OF_COLLECTIVE, "collective", "algorithm"):
                value = str(value)
        except (ValueError, BadInput) as error:
            problem = getattr(error, "problem", f"{name} must be a whole number (got '{value}')")
            raise BadInput(f"{at}: {problem}", getattr(error, "advice", "")) from None
        found[name] = value
    return found


class Predictor:
    """Predicts the same cases on machines that differ in their numbers alone. Programs are built once."""

    def __init__(self, cases: Sequence[TimedCase], machine: _machine.Machine, model: str = "flow") -> None:
        """Leaves out the cases whose algorithm does not fit: see `left_out`."""
        self.cases: list[TimedCase] = []
        self.left_out: list[tuple[TimedCase, str]] = []
        self._model = model
        self._schedules: dict[int, _schedule.Schedule] = {}
        jobs: dict[tuple, _machine.Job] = {}
        for case in cases:
            try:
                slots = job_of(case, machine, jobs).slots
                case.cells |= {"nodes": slots.nodes, "ranks": slots.size}
                self._schedules[id(case)] = schedule_of(case, machine, jobs)
                self.cases.append(case)
            except NotApplicable as reason:
                self.left_out.append((case, str(reason)))
            except BadInput as error:
                raise BadInput(f"{case.at}: {error.problem}", error.advice) from None

    def seconds(self, machine: _machine.Machine, cases: Sequence[TimedCase]) -> list[float]:
        jobs: dict[tuple, _machine.Job] = {}
        found = []
        for case in cases:
            job = job_of(case, machine, jobs)
            schedule = self._schedules[id(case)]
            subject = _predict.CollectiveCase(schedule.collective, schedule=schedule)
            found.append(_predict.predict(self._model, subject, _predict.Place(job)).seconds)
        return found


def job_of(case: TimedCase, machine: _machine.Machine, jobs: dict[tuple, _machine.Job]) -> _machine.Job:
    key = tuple(case.values.get(name) for name in (*OF_RANKS, *OF_PART))
    if key not in jobs:
        shape, ranks, each, box, routing = key
        asked = Ranks(shape, ranks, arguments.ranks_per_node_named(each))
        jobs[key] = simulation.on(machine, asked, simulation.PartOfMachine(box, [], routing))
    return jobs[key]


def schedule_of(case: TimedCase, machine: _machine.Machine, jobs: dict[tuple, _machine.Job]) -> _schedule.Schedule:
    values = case.values
    space = job_of(case, machine, jobs).rank_space
    told = {name: values[name] for name in OF_COLLECTIVE if name in values}
    length = values.get("bytes") if arguments.moves_data(values["collective"]) else None
    collective = arguments.collective(CollectiveArguments(values["collective"], bytes=length, **told), space)
    variant = _collectives.find(values["collective"], values["algorithm"])
    usual = (*NEEDED, *OF_RANKS, *OF_PART, *OF_COLLECTIVE)
    given = {name: value for name, value in values.items() if name not in usual}
    parameters = arguments.parameters(**given, default_segment_bytes=machine.segment_bytes_of(length or 0))
    return variant.build(collective, space, parameters)


def log_ratios(seconds: Sequence[float], cases: Sequence[TimedCase]) -> list[float]:
    return [math.log(predicted / case.seconds) for predicted, case in zip(seconds, cases)]
