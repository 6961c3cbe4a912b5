"""The numbers of a machine file: which there are, and the file with others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kumihimo.text.errors import BadInput, did_you_mean, wrong_value

SECTIONS = ("network", "node", "software", "offload", "copies")
PROVENANCES = ("published", "measured", "fitted", "assumed")
FREE = ("fitted", "assumed")  # what no source has
UNITS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0},
    **{"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12},
    **{"KiB/s": 2.0**10, "MiB/s": 2.0**20, "GiB/s": 2.0**30, "TiB/s": 2.0**40},
}
VALUE = re.compile(r"([0-9.]+) ?(\S+)")
TABLE = r"""\{(?:[^"'{}]|"(?:\\.|[^"\\])*"|'[^']*')*\}"""  # the inline table of a number
NO_QUOTES = {ord('"'): "'", ord("\\"): "/", **dict.fromkeys(range(32), " ")}
WRITTEN = {"s": ("ns", "us", "ms", "s"), "B/s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")}


@dataclass(frozen=True)
class FittedNumber:
    """A time in seconds or a rate in bytes per second: what can be fitted. Counts and sizes are whole numbers."""

    section: str
    key: str
    value: float
    unit: str  # "s" or "B/s"
    provenance: str
    state: str = ""  # of the software, in whose table it is written; empty: in that of its section

    @property
    def table(self) -> str:
        return table_of(self.section, self.state)

    def text(self, value: float, digits: int = 5) -> str:
        fits = [unit for unit in WRITTEN[self.unit] if value >= UNITS[unit]]
        unit = fits[-1] if fits else WRITTEN[self.unit][0]
        return f"{_decimal(value / UNITS[unit], digits)} {unit}"


def table_of(section: str, state: str) -> str:
    """The name of the table that has a section's numbers of this state."""
    if not state:
        return section
    return f"software.{state}" if section == "software" else f"software.{state}.{section}"


def _decimal(value: float, digits: int) -> str:
    """Without an exponent, which machine files do not allow."""
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:.{digits}f}"


def read(told: Mapping, state: str = "") -> dict[str, FittedNumber]:
    """Numbers of the parsed machine file with this state of its software, by key."""
    found = {}
    for section in SECTIONS:
        of_state = told.get("software", {}).get(state, {}) if state else {}
        of_state = of_state if section == "software" else of_state.get(section, {})
        for name, table in (("", told.get(section, {})), (state, of_state)):
            for key, entry in table.items():
                number = _number(section, key, entry, name)
                if number is not None:
                    found[key] = number
    return found


def _number(section: str, key: str, entry: object, state: str) -> FittedNumber | None:
    if not isinstance(entry, Mapping):
        return None
    value = entry.get("value")
    match = VALUE.fullmatch(value) if isinstance(value, str) else None
    if not match or match[2] not in UNITS:
        return None
    unit = "B/s" if match[2].endswith("/s") else "s"
    provenance = next(name for name in PROVENANCES if name in entry)
    return FittedNumber(section, key, float(match[1]) * UNITS[match[2]], unit, provenance, state)


def named(numbers: Mapping[str, FittedNumber], wanted: Iterable[str]) -> list[FittedNumber]:
    """Numbers that the user names, `message_cost` or `software.message_cost`, each once."""
    found = {}
    for word in wanted:
        key = word.split(".")[-1]
        number = numbers.get(key)
        if number is None or word not in (key, f"{number.section}.{key}"):
            known = f"known are {', '.join(numbers)}"
            rule = "--fit must name a time or a rate of the machine file"
            raise wrong_value(rule, f"'{word}'", did_you_mean(key, numbers, known))
        found[key] = number
    return list(found.values())


def with_values(text: str, values: Mapping[FittedNumber, str], source: Mapping[FittedNumber, str] | None = None) -> str:
    """The machine file with these values instead, all other lines as they are. `source`: what they are fitted to."""
    for number, value in values.items():
        entry = entry_of(text, number.table, number.key)
        if not entry:
            raise BadInput(
                f"{number.section}.{number.key} must be written {number.key} = {{ value = ... }}, on one line, under "
                f"[{number.section}]",
                "change the machine file so",
            )
        words = source[number].translate(NO_QUOTES) if source else ""
        known = f'fitted = "{words}"' if source else 'assumed = "on trial"'
        table = f'{{ value = "{value}", {known} }}'
        text = f"{text[: entry.start(1)]}{table}{text[entry.end(1) :]}"
    return text


def entry_of(text: str, table: str, key: str) -> re.Match | None:
    """Where the number is written, its inline table as group 1."""
    start = re.search(rf"^\[{re.escape(table)}\][^\n]*$", text, re.MULTILINE)
    if start is None:
        return None
    end = re.compile(r"^\[", re.MULTILINE).search(text, start.end())
    entry = re.compile(rf"^{key}\s*=\s*({TABLE})", re.MULTILINE)
    return entry.search(text, start.end(), end.start() if end else len(text))


def in_state(text: str, number: FittedNumber, state: str) -> tuple[str, FittedNumber]:
    """The machine file with an entry for the number in this state, and the number there."""
    moved = replace(number, state=state)
    if entry_of(text, moved.table, number.key):
        return text, moved
    for table in dict.fromkeys((table_of("software", state), moved.table)):
        if not re.search(rf"^\[{re.escape(table)}\]", text, re.MULTILINE):
            text = f"{text.rstrip()}\n\n[{table}]\n"
    (end,) = (header.end() for header in re.finditer(rf"^\[{re.escape(moved.table)}\][^\n]*\n", text, re.MULTILINE))
    entry = f'{number.key} = {{ value = "{number.text(number.value)}", assumed = "as in [{number.section}]" }}\n'
    return f"{text[:end]}{entry}{text[end:]}", moved
