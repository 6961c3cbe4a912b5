"""The file of a campaign (TOML, docs/campaigns.md): which points it has.

A point has a value for each parameter: the options of `kumihimo simulate`, without dashes, and variables of the file's
own. Lists and ranges are swept, all with all; derived values, rules and conditions follow from those.
"""

from __future__ import annotations

import contextlib
import functools
import graphlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.collectives import arguments
from kumihimo.predict.campaign.expressions import FUNCTIONS, CampaignExpression
from kumihimo.predict.workloads.catalogue import WORKLOAD
from kumihimo.text import files
from kumihimo.text.documents import read_toml
from kumihimo.text.errors import did_you_mean, errors_at, missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import parse_size, parse_sizes

MOST_POINTS = 1_000_000
LARGEST_FILE = 2**24
KEYS = ("name", "summary", "labels", "skip", "parameters", "derived", "choose", "sweep", "measured")
THIS_MACHINE = "this-machine"
NOTE = "note"  # a remark that rules may set, such as the source of a choice
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
RANGE = re.compile(r"[0-9.]+[A-Za-z]*\.\.[0-9.]+[A-Za-z]*")


@dataclass(frozen=True)
class SimulateOption:
    """An option of `kumihimo simulate`. `kind`: flag, integer, size or text. `repeats`: takes several values."""

    name: str
    word: str  # as the command line has it: --ranks-per-node; empty: the argument without a name
    kind: str
    repeats: bool = False


@dataclass(frozen=True)
class Point:
    """One prediction: its options, and the variables that tell it from others."""

    options: tuple[tuple[str, object], ...]
    variables: tuple[tuple[str, object], ...]

    @property
    def values(self) -> dict[str, object]:
        return dict((*self.options, *self.variables))


@dataclass
class CampaignRule:
    """`when` None: always."""

    when: CampaignExpression | None
    values: dict[str, object]


@dataclass
class Campaign:
    """The file, read and checked."""

    name: str
    summary: str
    text: str
    folder: Path
    options: dict[str, SimulateOption]
    sweeps: list[dict[str, list]] = field(default_factory=list)
    derived: dict[str, CampaignExpression] = field(default_factory=dict)  # each after those that it uses
    rules: list[CampaignRule] = field(default_factory=list)
    skip: list[CampaignExpression] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # variables that no expression needs to use
    measured: JsonObject | None = None

    def points(self) -> list[Point]:
        """In the order of the file, each once."""
        found: dict[Point, None] = {}
        for sweep in self.sweeps:
            for combination in itertools.product(*sweep.values()):
                found |= dict.fromkeys(self._points(dict(zip(sweep, combination))))
        if not found:
            raise wrong_value("a campaign must have points", f"none in {self.name}: all are skipped", "change `skip`")
        return list(found)

    @property
    def swept(self) -> list[str]:
        """Names whose values do not follow from others."""
        names = dict.fromkeys(name for sweep in self.sweeps for name in sweep)
        chosen = {name for rule in self.rules for name in rule.values}
        return [*names, *(["algorithm"] if "algorithm" not in (*names, *self.derived, *chosen) else [])]

    def _points(self, values: dict[str, object]) -> list[Point]:
        """None where it is skipped; one for each algorithm where they are not named."""
        for name, expression in self.derived.items():
            values[name] = self._checked(name, expression.value(values), expression.where)
        rule = next((each for each in self.rules if each.when is None or each.when.value(values)), None)
        values |= rule.values if rule else {}
        if any(expression.value(values) for expression in self.skip):
            return []
        return [self._point({**values, **each}) for each in self._algorithms(values)]

    def _algorithms(self, values: dict[str, object]) -> list[dict[str, str]]:
        collective = str(values["collective"])
        if values.get("algorithm", arguments.ALL) != arguments.ALL:
            return [{}]
        if arguments.names_programs(collective) or collective.startswith(WORKLOAD):
            return [{}]
        if values.get("model") == "bound":
            return [{}]
        return [{"algorithm": each.name} for each in arguments.variants(collective, arguments.ALL)]

    def _point(self, values: dict[str, object]) -> Point:
        if values.get("machine") == THIS_MACHINE:
            rule = "a campaign must name described machines"
            raise wrong_value(rule, THIS_MACHINE, "each worker would measure it while others compute: write a file")
        options = tuple((name, value) for name, value in values.items() if name in self.options)
        return Point(options, tuple((name, value) for name, value in values.items() if name not in self.options))

    def _checked(self, name: str, value: object, where: str) -> object:
        if name in self.options:
            return one_value(self.options[name], value, where)
        return own_value(name, value)


def read(path: Path, options: Mapping[str, SimulateOption]) -> Campaign:
    text = files.read_text(path, "the campaign file", LARGEST_FILE)
    return parsed(text, path, options)


def parsed(text: str, path: Path, options: Mapping[str, SimulateOption]) -> Campaign:
    told = toml(text, path)
    check_keys(told, KEYS, f"a campaign file ({path.name})")
    named = told.get("name", path.stem)
    if not isinstance(named, str) or not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", named):
        raise wrong_value("the name of a campaign must have only letters, digits, -, _ and .", repr(named))
    campaign = Campaign(named, str(told.get("summary", "")), text, files.real(path).parent, dict(options))
    common = table_of(told, "parameters")
    listed = told.get("sweep", [{}])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise wrong_value("sweeps must be tables, each under [[sweep]]", repr(listed)[:80])
    campaign.sweeps = [sweep_of(campaign, {**common, **each}) for each in listed]
    campaign.derived = derived_of(table_of(told, "derived"))
    campaign.rules = rules_of(campaign, told.get("choose", []))
    campaign.skip = [CampaignExpression(each, "skip") for each in as_list(told.get("skip", []))]
    campaign.labels = [str(each).replace("-", "_") for each in as_list(told.get("labels", []))]
    campaign.measured = table_of(told, "measured") or None
    check_names(campaign)
    number = sum(math.prod(map(len, each.values())) for each in campaign.sweeps)
    if number > MOST_POINTS:
        raise wrong_value(f"a campaign must have at most {MOST_POINTS:,} points", f"{number:,}", "make several of it")
    return campaign


def toml(text: str, path: Path) -> JsonObject:
    try:
        return read_toml(text)
    except ValueError as error:
        raise wrong_value(f"{path} must be TOML", error, "docs/campaigns.md shows the form") from None


def check_keys(told: Mapping, known: Iterable[str], what: str) -> None:
    for key in told:
        if key not in known:
            advice = did_you_mean(key, known, f"put parameters under [parameters]; known are {', '.join(known)}")
            raise wrong_value(f"{what} has no key '{key}'", None, advice)


def table_of(told: Mapping, name: str, parent: str = "") -> JsonObject:
    found = told.get(name, {})
    if not isinstance(found, dict):
        raise wrong_value(f"{name} must be a table, [{parent}{name}]", repr(found)[:80])
    return {key.replace("-", "_") if name != "measured" else key: value for key, value in found.items()}


def as_list(value: object) -> list:
    return value if isinstance(value, list) else [value]


def sweep_of(campaign: Campaign, table: JsonObject) -> dict[str, list]:
    sweep = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        values = values_of(campaign.options.get(name), name, value)
        if not values:
            raise wrong_value(f"{name} must have at least one value", "an empty list", "leave it out or give one")
        sweep[name] = values
    return sweep


def values_of(option: SimulateOption | None, name: str, value: object) -> list:
    """All that is swept. A range A..B is A doubled as long as it is at most B."""
    found = []
    for each in as_list(value):
        if isinstance(each, str) and takes_ranges(option) and ("," in each or RANGE.fullmatch(each)):
            with errors_at(name):
                found += parse_sizes(each, 0)
        else:
            found.append(each)
    return list(dict.fromkeys(one_value(option, each, name) if option else own_value(name, each) for each in found))


def takes_ranges(option: SimulateOption | None) -> bool:
    return option is None or option.kind in ("integer", "size")


def own_value(name: str, value: object) -> object:
    if not NAME.fullmatch(name) or name in FUNCTIONS:
        raise wrong_value("a variable must be a word of letters, digits and _, and no function", f"'{name}'")
    if not is_value(value):
        raise wrong_value(f"{name} must be a number of at most 64 bits, a text or a list of them", repr(value)[:80])
    return value


def is_value(value: object) -> bool:
    """Whether the database can hold the value."""
    is_number = isinstance(value, (int, float)) and abs(value) < 2**63  # which not-a-number is not
    return is_number or isinstance(value, str)


def one_value(option: SimulateOption, value: object, where: str) -> object:
    """As this option takes it."""
    name = option.name
    if option.kind == "flag":
        if isinstance(value, bool):
            return value
        raise wrong_value(f"{name} must be true or false", repr(value))
    if isinstance(value, bool):
        raise wrong_value(f"{name} must be {KINDS[option.kind]}", str(value).lower())
    if option.kind == "integer":
        if isinstance(value, int):
            return value
        raise wrong_value(f"{name} must be {KINDS['integer']}", repr(value), f"see {where}" if where != name else "")
    if option.kind == "size":
        if not isinstance(value, (int, str)):
            raise wrong_value(f"{name} must be {KINDS['size']}", repr(value))
        with errors_at(name):
            return parse_size(str(value), 0)
    if option.repeats and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    if isinstance(value, (str, int, float)):
        return value
    raise wrong_value(f"{name} must be {KINDS['text']}", repr(value)[:80])


KINDS = {"flag": "true or false", "integer": "a whole number", "size": "a size such as 64KiB", "text": "a text"}


def derived_of(table: JsonObject) -> dict[str, CampaignExpression]:
    found = {name: CampaignExpression(text, name) for name, text in table.items()}
    uses = {name: [each for each in expression.names if each in found] for name, expression in found.items()}
    try:
        order = list(graphlib.TopologicalSorter(uses).static_order())
    except graphlib.CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise wrong_value("derived values must not need themselves", circle) from None
    return {name: found[name] for name in order}


def rules_of(campaign: Campaign, listed: object) -> list[CampaignRule]:
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise wrong_value("rules must be tables, each under [[choose]]", repr(listed)[:80])
    rules = []
    for number, table in enumerate(listed, 1):
        where = f"rule {number} of [[choose]]"
        values = {}
        for key, value in table.items():
            name = key.replace("-", "_")
            if name == "when":
                continue
            option = campaign.options.get(name)
            values[name] = one_value(option, value, where) if option else own_value(name, value)
        if not values:
            raise wrong_value(f"{where} must set a value", "none", 'add for example algorithm = "ring"')
        rules.append(
            CampaignRule(CampaignExpression(table["when"], f"when of {where}") if "when" in table else None, values)
        )
    return rules


def check_names(campaign: Campaign) -> None:
    """Each name has one place that gives it a value, and a use."""
    swept = {name for sweep in campaign.sweeps for name in sweep}
    chosen = {name for rule in campaign.rules for name in rule.values}
    for name in [*campaign.derived, *chosen]:
        if name in swept or (name in chosen and name in campaign.derived):
            rule = f"{name} must have its value from one of [parameters] or [[sweep]], [derived] and [[choose]]"
            raise wrong_value(rule, "several")
    expressions = [*campaign.derived.values(), *campaign.skip, *(r.when for r in campaign.rules if r.when)]
    used = {NOTE, *campaign.labels, *(name for expression in expressions for name in expression.names)}
    used |= {str(name).replace("-", "_") for name in table_of(campaign.measured or {}, "columns", "measured.")}
    known = [*campaign.options, *swept, *campaign.derived, *chosen]
    for expression in expressions:
        for name in expression.names:
            if name not in known:
                rule = f"{expression.where} must use parameters and variables of the campaign"
                advice = did_you_mean(name, known, "give it a value under [parameters]")
                raise wrong_value(rule, f"'{name}'", advice)
    for name in [*swept, *campaign.derived, *chosen]:
        if name not in campaign.options and name not in used:
            rule = f"'{name}' is no option of simulate, and neither an expression nor `labels` names it"
            raise wrong_value(rule, None, did_you_mean(name, campaign.options, "see kumihimo simulate --help"))
        if name not in campaign.options:
            own_value(name, "")
    for needed in ("collective", "machine"):
        instead = {needed, "loggops"} if needed == "machine" else {needed}  # a network by its parameters alone
        given = [bool(instead & {*sweep, *campaign.derived, *chosen}) for sweep in campaign.sweeps]
        if not all(given):
            raise missing(f"the parameter {needed} of campaign {campaign.name}", "add it under [parameters]")


def words_of(options: Mapping[str, SimulateOption], point: Point) -> list[str]:
    """The command line of `kumihimo simulate` that is this point."""
    words = []
    for name, value in point.options:
        option = options[name]
        if option.kind == "flag":
            words += [option.word] if value else []
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words.append(f"{option.word}={each}" if option.word else str(each))
    return words


def files_of(point: Point, folder: Path, machines: Path) -> Iterator[Path]:
    """Files that a value names: their contents are part of the point."""
    for name, value in point.options:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str):
                yield from files_named(name, each, folder, machines)


@functools.lru_cache(maxsize=65536)
def files_named(option: str, text: str, folder: Path, machines: Path) -> tuple[Path, ...]:
    """With or without a prefix: file:PATH, goal:PATH,share=50%."""
    after = text.partition(":")[2]
    paths = [folder / path for path in (text, after, after.partition(",")[0]) if path]
    if option == "machine":
        paths.append(machines / f"{text}.toml")
    found = []
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # no name of a file
            found += [path] if path.is_file() else []
    return tuple(found)
