"""Assertions on a program's speed: texts in the program (kumihimo.h) and TOML files.

A text holds asserts with `;` between them:

    seconds <= 0.5 in 95 % of passages; bytes 1e9 share >= 0.5 of triad; waiting <= 10 %; rate >= 2e9

A TOML file has a table for each thing that it asserts something of:

    [references]                  # JSON that earlier commands wrote
    earlier = "last.json"

    [region.solve]                # or [whole], [call.MPI_Allreduce], [site."solver.c:41"], [row."simd*"]
    seconds = "<= 1.05 of earlier"
    judge = "95 % of passages"
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from kumihimo.keep.judge import ALL, MEDIAN
from kumihimo.text import files
from kumihimo.text.documents import read_toml
from kumihimo.text.errors import BadInput, did_you_mean, errors_at, wrong_value
from kumihimo.text.json_types import JsonObject

SECONDS, RATE, SHARE, WAITING, MPI, RATIO = "seconds", "rate", "share", "waiting", "mpi", "ratio"
QUANTITIES = (SECONDS, RATE, SHARE, WAITING, MPI, RATIO)
WORK = ("bytes", "operations")
ROOFS = {"triad": "bytes", "peak": "operations"}
PREDICTED, EARLIER, GOLDEN, LIBRARY, BOUND = "predicted", "earlier", "golden", "library", "bound"
ROOFS_FILE = "roofs"
REFERENCES = (PREDICTED, EARLIER, GOLDEN, LIBRARY, BOUND)
FILES = (PREDICTED, EARLIER, GOLDEN, ROOFS_FILE)  # of [references]
WHOLE, REGION, CALL, SITE, ROW = "whole", "region", "call", "site", "row"
SUBJECTS = (WHOLE, REGION, CALL, SITE, ROW)
FORMS = (
    "`seconds <= 0.5`, `seconds <= 1.05 of earlier`, `rate >= 1e9`, `bytes 1e9 rate >= 1e9`, "
    "`bytes 1e9 share >= 0.5 of triad` or `waiting <= 10 %`, perhaps with `in 95 % of passages`"
)
RULE = f"an assert must be {FORMS}"

_NUMBER = r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)"
_UNIT = r"(?:\s*(s|ms|us|ns|%))?"
_OF = rf"(?:\s+of\s+(?:(?:the\s+)?([a-z]+)|{_NUMBER}(?:\s+(?:bytes|operations) per second)?))?"
_JUDGE = r"(?:\s+in\s+(.+))?"
_ASSERT = re.compile(
    rf"(?:(bytes|operations)\s+{_NUMBER}\s+)?([a-z]+)\s*(<=|>=)\s*{_NUMBER}{_UNIT}{_OF}{_JUDGE}", re.DOTALL
)
_SHARE_OF_PASSAGES = re.compile(rf"{_NUMBER}\s*%\s+of\s+(?:the\s+)?passages")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "%": 0.01, None: 1.0}
_MOST_NUMBER = 1e30


@dataclass(frozen=True)
class PerformanceAssert:
    """`quantity` is at most `number` (rates, shares: at least), times what `of` says if that is a name. `work`: bytes
    or operations of one passage on one rank, for rates and shares; 0: the rate is one that the command gives. `roof`:
    the rate that a share is of, if it is a number. `share`: of the passages that must keep to it. `subject` and `name`:
    of what it is asserted. `origin`: where it is written."""

    quantity: str
    number: float
    text: str
    of: str = ""
    work: float = 0.0
    unit: str = ""
    roof: float = 0.0
    share: float = MEDIAN
    subject: str = WHOLE
    name: str = ""
    origin: str = "the program"

    def on(self, subject: str, name: str, origin: str) -> PerformanceAssert:
        """BadInput: the subject never has what it is about."""
        found = replace(self, subject=subject, name=name, origin=origin)
        if subject in (REGION, CALL, SITE):
            check_recorded(found)
        return found


def parse_all(text: str) -> list[PerformanceAssert]:
    """The asserts of a text, at least one."""
    return [parse(part) for part in text.split(";") if part.strip()] or [parse(text)]


def parse(text: str) -> PerformanceAssert:
    """One assert. BadInput: it cannot be read, or makes no sense."""
    text = " ".join(text.split())
    match = _ASSERT.fullmatch(text)
    if match is None:
        raise wrong_value(RULE, f"`{text}`")
    unit, work, quantity, sign, number, scale, of, roof, judge = match.groups()
    if quantity not in QUANTITIES:
        raise wrong_value(RULE, f"`{text}`", did_you_mean(quantity, QUANTITIES))
    at_least = quantity in (RATE, SHARE)
    if sign != (">=" if at_least else "<="):
        raise wrong_value(f"{quantity} must have {'>=' if at_least else '<='}", f"`{text}`")
    found = PerformanceAssert(
        quantity=quantity,
        number=float(number) * _UNITS[scale],
        text=text,
        of=of or "",
        work=float(work or 0),
        unit=unit or "",
        roof=float(roof or 0),
        share=share_of(judge, text),
    )
    check(found, scale, bool(work), bool(roof))
    return found


def check(found: PerformanceAssert, scale: str | None, has_work: bool, has_roof: bool) -> None:
    """Refuses what the grammar lets pass and no run could keep or break."""
    text = f"`{found.text}`"
    numbers = [found.number, *([found.work] if has_work else []), *([found.roof] if has_roof else [])]
    if not all(0 < each < _MOST_NUMBER for each in numbers):
        raise wrong_value("the numbers of an assert must be above zero and finite", text)
    if (scale in ("s", "ms", "us", "ns") and found.quantity != SECONDS) or (
        scale == "%" and found.quantity == RATE and not found.of
    ):
        raise wrong_value(f"{found.quantity} takes no {scale}", text, "leave the unit out")
    if scale == "%" and found.quantity == SECONDS and not found.of:
        raise wrong_value("a percentage of seconds must be of something", text, f"add of {EARLIER}, for one")
    if found.quantity in (WAITING, MPI) and found.number > 1:
        rule = f"{found.quantity} is a share of the time, 100 % at most"
        raise wrong_value(rule, text, "write 10 % or 0.1")
    if has_work != (found.quantity == SHARE and found.of != BOUND) and found.quantity != RATE:
        rule = "rates and shares, and they alone, begin with `bytes N` or `operations N` of one passage"
        raise wrong_value(rule, text)
    if found.quantity == RATE and not has_work and found.share != MEDIAN:
        raise wrong_value("a rate that the command gives is judged in the median", text)
    if found.quantity == SHARE and not (found.of or has_roof):
        raise wrong_value("a share must be of a rate, of triad or of peak", text)
    if found.of in ROOFS and (found.quantity != SHARE or ROOFS[found.of] != found.unit):
        rule = f"{found.of} is a rate of {ROOFS[found.of]}, for `{ROOFS[found.of]} N share >= F of {found.of}`"
        raise wrong_value(rule, text)
    if found.of and found.of not in (*ROOFS, *REFERENCES):
        known = (*ROOFS, *REFERENCES)
        raise wrong_value(
            f"what follows `of` must be a number or {', '.join(known)}", text, did_you_mean(found.of, known)
        )
    is_of_rate = found.quantity == RATE and not has_work and found.of in (PREDICTED, EARLIER, GOLDEN)
    if found.of in REFERENCES and found.quantity != (SHARE if found.of == BOUND else SECONDS) and not is_of_rate:
        form = "share >= 0.5 of bound" if found.of == BOUND else f"seconds <= 1.05 of {found.of}"
        raise wrong_value(f"{found.of} stands in `{form}`", text)
    if has_roof and found.quantity != SHARE:
        raise wrong_value("`of` and a rate stand behind a share alone", text)


def check_recorded(found: PerformanceAssert) -> None:
    """A recording has seconds and waiting of regions, functions and call sites, and of regions the share of MPI."""
    text = f"`{found.text}`"
    if found.quantity == RATE and not found.work:
        rule = f"the rate of a {found.subject} needs the bytes or operations of one passage on one rank"
        raise wrong_value(rule, text, "add bytes = 1e9, or write `bytes 1e9 rate >= ...` in the code")
    if found.quantity == RATIO or found.of in (LIBRARY, BOUND):
        what = RATIO if found.quantity == RATIO else f"of {found.of}"
        raise wrong_value(f"`{what}` stands under [row.NAME], for results of bench and app", text)
    if found.quantity == MPI and found.subject != REGION:
        raise wrong_value(f"all of a {found.subject} is MPI, so that `mpi` says nothing of it", text, "leave it out")


def share_of(judge: str | None, text: str) -> float:
    """`the median`, `95 % of passages`, `all passages`; without one the median."""
    if judge is None or re.fullmatch(r"(?:the )?median", judge.strip()):
        return MEDIAN
    if re.fullmatch(r"all (?:the )?passages", judge.strip()):
        return ALL
    match = _SHARE_OF_PASSAGES.fullmatch(judge.strip())
    if match is None or not 0 < float(match[1]) <= 100:
        raise wrong_value("an assert is judged in the median, in 95 % of passages or in all passages", f"`{text}`")
    return float(match[1]) / 100


@dataclass(frozen=True)
class AssertFile:
    """A TOML file: its asserts, and the files that it refers to."""

    asserts: Sequence[PerformanceAssert] = ()
    references: Mapping[str, Path] = field(default_factory=dict)


def read(path: Path) -> AssertFile:
    """BadInput names the file and the table."""
    text = files.read_text(path, "a file of asserts")
    tables = tables_of(text, path)
    known = (*SUBJECTS, "references")
    place = FilePlaces(path, text)
    for key in tables:
        if key not in known:
            rule = f"{place.of(key)}a table must be one of {', '.join(known)}"
            raise wrong_value(rule, key, did_you_mean(key, known))
    references = tables.get("references", {})
    for key, value in table(references, f"{place.of('references')}references").items():
        if key not in FILES or not isinstance(value, str):
            rule = f"{place.of('references', key)}references must name files by {', '.join(FILES)}"
            raise wrong_value(rule, f"{key} = {value!r}", did_you_mean(key, FILES) if key not in FILES else "")
    found: list[PerformanceAssert] = []
    for subject, content in tables.items():
        if subject != "references":
            found += of_subject(subject, content, place)
    if not found:
        raise wrong_value(f"{path} must assert something", "no table of asserts", "add [whole] or [region.NAME]")
    return AssertFile(found, {key: path.parent / value for key, value in references.items()})


def tables_of(text: str, path: Path) -> JsonObject:
    try:
        return read_toml(text)
    except ValueError as error:
        raise wrong_value(f"{path} must be TOML", error, "docs/guides/keep-a-program-fast.md shows the form") from None


@dataclass(frozen=True)
class FilePlaces:
    """Where the tables and keys of a TOML file are."""

    path: Path
    text: str

    def of(self, *keys: str) -> str:
        """`asserts.toml:7: ` of the key, else of its table; without the line where it is not found."""
        line = self.line_of(keys) or self.line_of(keys[:-1])
        return f"{self.path}:{line}: " if line else f"{self.path}: "

    def line_of(self, keys: Sequence[str]) -> int:
        """From 1; 0: none. Headers and keys on lines of their own are found, as people write them."""
        return next((number for number, at in self._named if keys and at[: len(keys)] == tuple(keys)), 0)

    @cached_property
    def _named(self) -> list[tuple[int, tuple[str, ...]]]:
        """Lines, and the keys from the outermost table that each names."""
        named: list[tuple[int, tuple[str, ...]]] = []
        inside: tuple[str, ...] = ()
        for number, line in enumerate(self.text.split("\n"), 1):
            line = line.strip()
            with contextlib.suppress(ValueError):
                if line.startswith("["):
                    inside = path_to_leaf(read_toml(line))
                    named.append((number, inside))
                elif "=" in line:
                    named.append((number, (*inside, *path_to_leaf(read_toml(f"{line.partition('=')[0]} = 0")))))
        return named


def path_to_leaf(tables: object) -> tuple[str, ...]:
    """The keys of nested tables of one key each."""
    if not isinstance(tables, dict) or not tables:
        return ()
    ((key, content),) = tables.items()
    return (key, *path_to_leaf(content))


def of_subject(subject: str, content: object, place: FilePlaces) -> Iterator[PerformanceAssert]:
    whole = table(content, f"{place.of(subject)}{subject}")
    named = {"": whole} if subject == WHOLE else whole
    for name, keys in named.items():
        inside = (subject, name) if name else (subject,)
        table(keys, f"{place.of(*inside)}{'.'.join(inside)}")
        yield from of_table(keys, inside, place)


def table(content: object, where: str) -> JsonObject:
    if not isinstance(content, dict):
        raise wrong_value(f"{where} must be a table", f"{content!r}")
    return content


def of_table(keys: Mapping[str, object], inside: Sequence[str], place: FilePlaces) -> Iterator[PerformanceAssert]:
    """`bytes = 1e9`, `share = ">= 0.5 of triad"`: the texts of kumihimo.h, key by key."""
    name = ".".join(inside)
    known = (*QUANTITIES, *WORK, "judge")
    for key in keys:
        if key not in known:
            rule = f"{place.of(*inside, key)}{name}: a key must be one of {', '.join(known)}"
            raise wrong_value(rule, key, did_you_mean(key, known))
    asserted = [key for key in keys if key in QUANTITIES]
    if not asserted:
        raise wrong_value(f"{place.of(*inside)}{name} must assert something", "no " + ", ".join(QUANTITIES))
    for key in asserted:
        where, content = f"{place.of(*inside, key)}{name}", keys[key]
        with errors_at(where):
            for text in content if isinstance(content, list) else [content]:
                if not isinstance(text, str):
                    raise wrong_value(f"{key} must be a text with its sign", repr(text), f'write {key} = "<= 0.5"')
                judge = "" if " in " in text or "judge" not in keys else f" in {keys['judge']}"
                found = parse(f"{work_of(key, text, keys)}{key} {text}{judge}")
                yield found.on(inside[0], ".".join(inside[1:]), where)


def work_of(key: str, text: str, keys: Mapping[str, object]) -> str:
    if key not in (RATE, SHARE) or BOUND in text:
        return ""
    unit = "operations" if "peak" in text else "bytes" if "triad" in text else None
    given = [name for name in WORK if name in keys and unit in (None, name)]
    if key == RATE and not given:
        return ""
    if len(given) != 1:
        what = unit or "bytes or operations"
        raise BadInput(f"{key} needs the {what} of one passage on one rank", f"add {(unit or 'bytes')} = 1e9")
    number = keys[given[0]]
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise wrong_value(f"{given[0]} must be a number", repr(number))
    return f"{given[0]} {float(number):.12g} "
