"""Processor time that an operating system takes, as --noise names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _goal
from kumihimo.text import files
from kumihimo.text.errors import wrong_value

FORMS = "periodic:LENGTH/INTERVAL, exponential:LENGTH/INTERVAL, EVENTS:SECONDS (per second, of one) or trace:FILE"
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}  # picoseconds
LONGEST = 1000 * UNITS["s"]


@dataclass(frozen=True)
class NamedNoise:
    text: str
    model: _goal.Noise


@dataclass(frozen=True)
class Parsed:
    """The parts of --noise. Times of `trace` are in its file, `what`."""

    kind: str  # periodic, exponential or trace
    what: str
    words: list[str]  # behind commas
    length: int = 0  # picoseconds
    interval: int = 0

    @property
    def seconds(self) -> float:
        return self.length / UNITS["s"]

    @property
    def events_per_second(self) -> float:
        return UNITS["s"] / self.interval if self.interval else 0.0


def parsed(text: str) -> Parsed:
    """ "periodic:10us/1ms,cosched,seed=7", or its shorter form "1000:10e-6,seed=7"."""
    kind, _, rest = text.partition(":")
    what, *words = rest.split(",")
    if kind == "trace":
        return Parsed(kind, what, words)
    if kind in ("periodic", "exponential") and what.count("/") == 1:
        return Parsed(kind, what, words, *(_picoseconds(part) for part in what.split("/")))
    if (rate := _number(kind)) is not None and (seconds := _number(what)) is not None:
        times = [round(each * UNITS["s"]) for each in (seconds, 1 / rate)] if rate and seconds else []
        if not all(1 <= each <= LONGEST for each in times):
            rule = "EVENTS:SECONDS of --noise must be 0.001 to 1e12 events per second, each of 1e-12 to 1000 seconds"
            raise wrong_value(rule, f"'{text}'")
        return Parsed("periodic", what, words, *times)
    raise wrong_value(f"--noise must be {FORMS}", f"'{text}'", "as in periodic:10us/1ms")


def named(text: str | None) -> NamedNoise | None:
    """None: no noise."""
    return None if text is None else read(text)


def read(text: str) -> NamedNoise:
    """ "periodic:10us/1ms,cosched,every=4,seed=7": detours of 10 us every ms."""
    found = parsed(text)
    if found.kind != "trace" and not found.interval:
        raise wrong_value("--noise must have events, and a time of each, above 0", f"'{text}'", "leave it out")
    if found.kind == "trace":
        model = _goal.Noise.read(files.read_text(Path(found.what), "the trace of --noise"), found.what)
    else:
        model = _goal.Noise(found.kind, found.length, found.interval)
    for word in found.words:
        name, equals, number = word.partition("=")
        if word == "cosched":
            model.cosched = True
        elif name == "ranks" and re.fullmatch(r"[0-9]{1,9}(-[0-9]{1,9})?(\+[0-9]{1,9}(-[0-9]{1,9})?)*", number):
            for part in number.split("+"):
                first, _, last = part.partition("-")
                if int(last or first) < int(first):
                    raise wrong_value("ranks of --noise must be from a first to a last one", f"'{part}'")
                model.add_ranks(int(first), int(last or first))
        elif (
            equals
            and name in ("every", "seed")
            and re.fullmatch("[0-9]{1,9}", number)
            and (int(number) or name == "seed")
        ):
            setattr(model, name, int(number))
        else:
            raise wrong_value("--noise takes cosched, every=N (1 or more), ranks=0-7+16 and seed=N", f"'{word}'")
    return NamedNoise(text, model)


def _picoseconds(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]+)?) *(ps|ns|us|ms|s)", text.strip())
    return _within_range(round(float(match[1]) * UNITS[match[2]]) if match else 0, text)


def _within_range(picoseconds: int, text: str) -> int:
    if not 1 <= picoseconds <= LONGEST:
        rule = "a time of --noise must be above 0, at most 1000 s and with its unit, such as 10us, 250ns or 1ms"
        raise wrong_value(rule, f"'{text}'")
    return picoseconds


def _number(text: str) -> float | None:
    """A finite number, 0 or more, as 100e-6."""
    if not re.fullmatch(r"[0-9]{1,30}(\.[0-9]*)?([eE][-+]?[0-9]{1,2})?", text):
        return None
    return float(text)
