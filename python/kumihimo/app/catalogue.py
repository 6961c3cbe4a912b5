"""The applications that the package holds, as the native program lists them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from kumihimo.processes import child_output
from kumihimo.processes.package_files import program
from kumihimo.text.errors import did_you_mean, failed, missing, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject

PROGRAM = "kumihimo-app"
ALL, AUTO = "all", "auto"
LIMIT_SECONDS = 60
RELATIVE = "relative residual"  # of a linear solver
LISTS = (  # of an ApplicationRow
    "methods",
    "variants",
    "options",
    "by_name_only",
    "reproducible_variants",
    "stateless_variants",
    "usual",
)


@dataclass(frozen=True)
class AppCandidate:
    """A variant with values for some of its parameters; the others have their defaults."""

    variant: str
    parameters: tuple[tuple[str, int], ...] = ()

    @property
    def text(self) -> str:
        """ "br_1 colours=40"."""
        return " ".join([self.variant, *(f"{name}={value}" for name, value in self.parameters)])

    def as_task(self) -> JsonObject:
        return {"variant": self.variant, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class Share:
    """A smaller problem: by how much more work the whole one takes for an iteration, and how many times as many."""

    size: str
    work: float
    iterations: float


@dataclass(frozen=True)
class ApplicationRow:
    """A row of `kumihimo app`."""

    name: str
    summary: str
    paper: str
    sizes: str
    default_size: str
    golden_hash: str
    methods: tuple[str, ...]
    variants: tuple[JsonObject, ...] = field(hash=False)
    options: tuple[JsonObject, ...] = field(hash=False)
    compiler: str = ""
    most_iterations: int = 100_000
    residual: str = RELATIVE
    has_tolerance: bool = False  # of the residual: --tolerance
    golden_may_be_chosen: bool = True
    by_name_only: tuple[str, ...] = ()  # variants to compare with, which auto does not try
    has_grid: bool = True  # that ranks divide
    saves_state: bool = False  # --checkpoint and --restart
    stateless_variants: tuple[str, ...] = ()  # of one that saves states: variants that save none
    usual: tuple[str, ...] = ()  # variants, the fastest ones elsewhere first
    sample: int = 6  # iterations that tell the time of one
    reproducible_variants: tuple[str, ...] = ()  # with the same bits: what auto tries with --reproducible; none: all

    @property
    def golden(self) -> str:
        return self.variants[0]["name"]

    def variant(self, name: str) -> JsonObject:
        for row in self.variants:
            if row["name"] == name:
                return row
        if name in (ALL, AUTO):
            raise wrong_value(f"--variant {name} stands alone", "a list with it", f"use --variant {name}")
        names = [row["name"] for row in self.variants]
        advice = did_you_mean(name, [*names, ALL, AUTO], f"use {', '.join(names)}, all or auto")
        raise wrong_value(f"--variant must name a variant of {self.name}", f"'{name}'", advice)

    def defaults(self, name: str) -> dict[str, int]:
        return {each["name"]: each["values"][0] for each in self.variant(name)["parameters"]}


def told(*words: str) -> JsonObject:
    """Output of the program about its applications."""
    command = [program(PROGRAM), *words]
    try:
        done = child_output.run(command, seconds=LIMIT_SECONDS)
    except child_output.TimedOut:
        raise failed(f"{PROGRAM} {words[0]} did not end within {LIMIT_SECONDS} s", "", "run it again") from None
    if done.returncode != 0:
        reason = next(iter(done.stderr.strip().splitlines()[-1:]), f"exit code {done.returncode}")
        raise failed(f"{PROGRAM} {words[0]} failed", reason, "build the package again with make build")
    return json.loads(done.stdout)


def shares(application: ApplicationRow, size: str) -> list[Share]:
    """Smaller problems that tell which variants are fast, the smallest first; none for a small size."""
    return [Share(**each) for each in told("shares", application.name, size)["shares"]]


@functools.cache
def applications() -> tuple[ApplicationRow, ...]:
    rows = told("list")["applications"]
    return tuple(
        ApplicationRow(
            **{
                **row,
                **{name: tuple(row[name]) for name in LISTS},
            }
        )
        for row in rows
    )


def find(name: str) -> ApplicationRow:
    for each in applications():
        if each.name == name:
            return each
    names = [each.name for each in applications()]
    advice = did_you_mean(name, names, "run kumihimo app to list them")
    raise wrong_value("there is no application of this name", f"'{name}'", advice)


def settings_of(words: Iterable[str]) -> dict[str, str]:
    """{"colours": "40"} of --set colours=40."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise wrong_value("--set must be NAME=VALUE", f"'{word}'", "write for example --set colours=40")
        if name in found:
            raise wrong_value("--set takes each name once", f"{name} again", "leave one of them out")
        found[name] = value
    return found


def options_in(application: ApplicationRow, settings: dict[str, str]) -> dict[str, str]:
    """Settings that are options of the application; all values are checked."""
    found = {}
    for option in application.options:
        value = settings.get(option["name"])
        if value is None:
            continue
        if option["choices"] and value not in option["choices"]:
            raise wrong_value(f"{option['name']} must be one of {', '.join(option['choices'])}", f"'{value}'")
        found[option["name"]] = value
    return found


def reproducible(application: ApplicationRow, settings: dict[str, str]) -> str:
    """The value of the option `reproducible` that --reproducible asks for."""
    if not any(option["name"] == "reproducible" for option in application.options):
        rule = f"{application.name} has no option reproducible"
        raise not_applicable(
            rule, None, "leave --reproducible out: its sums have a fixed order for each number of ranks"
        )
    if settings.get("reproducible") == "no":
        raise wrong_value("--reproducible excludes --set reproducible=no", None, "leave one of them out")
    return "yes"


def candidates(application: ApplicationRow, wanted: str, settings: dict[str, str]) -> list[AppCandidate]:
    """The variants named, or all with their default parameters. What the settings give beside the application's
    options are parameters that every named variant, or of all of them one at least, must take."""
    names = [row["name"] for row in application.variants] if wanted in (ALL, AUTO) else wanted.split(",")
    if wanted == AUTO and not application.golden_may_be_chosen and len(names) > 1:
        names.remove(application.golden)
    if wanted == AUTO:
        names = [name for name in names if name not in application.by_name_only]
    if wanted == AUTO and settings.get("reproducible") == "yes" and application.reproducible_variants:
        names = list(application.reproducible_variants)
    options = [option["name"] for option in application.options]
    parameters = {each["name"] for row in application.variants for each in row["parameters"]}
    given = {  # a name that is no parameter is told below, whatever its value
        name: number_of(name, value) if name in parameters else 0
        for name, value in settings.items()
        if name not in options
    }
    found = []
    taken: set[str] = set()
    for name in names:
        rows = {each["name"]: each for each in application.variant(name)["parameters"]}
        mine = {key: value for key, value in given.items() if key in rows}
        if wanted not in (ALL, AUTO) and (other := next((key for key in given if key not in rows), None)):
            raise not_applicable(f"the variant {name} takes no {other}", None, takes(application, name, rows))
        for key, value in mine.items():
            check_range(rows[key], value)
        taken |= set(mine)
        found.append(AppCandidate(name, tuple(sorted({**application.defaults(name), **mine}.items()))))
    if unknown := next((key for key in given if key not in taken), None):
        known = {each["name"] for row in application.variants for each in row["parameters"]} | set(options)
        advice = did_you_mean(unknown, known, f"it takes {', '.join(sorted(known))}" if known else "leave it out")
        raise wrong_value(f"{application.name} has no parameter or option of this name", unknown, advice)
    return found


def takes(application: ApplicationRow, name: str, rows: JsonObject) -> str:
    """The advice where a variant does not take a parameter."""
    known = sorted({*rows, *(option["name"] for option in application.options)})
    return f"it takes {', '.join(known)}" if known else "leave it out"


def check_range(row: JsonObject, value: int) -> None:
    if not row["min"] <= value <= row["max"]:
        raise wrong_value(f"{row['name']} must be {row['min']} to {row['max']}", value)


def number_of(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise wrong_value(f"{name} must be an integer", f"'{value}'") from None


def every_candidate(
    application: ApplicationRow, among: Sequence[AppCandidate], settings: dict[str, str], ranks: int
) -> list[AppCandidate]:
    """The candidates with all combinations of the values that tuning tries on so many ranks; a parameter that is set
    keeps its value."""

    def values_of(row: JsonObject) -> list[int]:
        if row["name"] in settings:
            return [int(settings[row["name"]])]
        return row["values"][:1] if ranks == 1 and row.get("of_ranks") else row["values"]

    found = []
    for each in among:
        rows = application.variant(each.variant)["parameters"]
        values = [values_of(row) for row in rows]
        names = [row["name"] for row in rows]
        found += [AppCandidate(each.variant, tuple(sorted(zip(names, taken)))) for taken in product(*values)]
    if not found:
        raise missing("a variant to choose from", "leave --set out")
    return found
