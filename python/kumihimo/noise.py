"""What an operating system takes from the processors, as --noise names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _goal, files
from kumihimo.errors import wrong_value

FORMS = "periodic:LENGTH/INTERVAL, exponential:LENGTH/INTERVAL or trace:FILE"
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}  # picoseconds


@dataclass(frozen=True)
class Noise:
    text: str
    model: _goal.Noise


def model_of(noise: Noise | None) -> _goal.Noise | None:
    return noise and noise.model


def members_of(noise: Noise, seconds: float, without: float) -> dict:
    """Of a result that took `seconds`, and `without` noise so many."""
    slowdown = seconds / without if without else 1.0
    return {"noise": noise.text, "noise_free_seconds": without, "slowdown": slowdown}


def named(text: str | None) -> Noise | None:
    """ "periodic:10us/1ms,cosched,every=4,seed=7": detours of 10 us every ms. None: no noise."""
    if text is None:
        return None
    kind, _, rest = text.partition(":")
    what, *words = rest.split(",")
    if kind == "trace":
        model = _goal.Noise.read(files.read_text(Path(what), "the trace of --noise"), what)
    elif kind in ("periodic", "exponential") and what.count("/") == 1:
        length, interval = (_picoseconds(part) for part in what.split("/"))
        model = _goal.Noise(kind, length, interval)
    else:
        raise wrong_value(f"--noise must be {FORMS}", f"'{text}'", "as in periodic:10us/1ms")
    for word in words:
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
    return Noise(text, model)


def _picoseconds(text: str) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *(ps|ns|us|ms|s)", text.strip())
    if not match or not 1 <= float(match[1]) * UNITS[match[2]] <= UNITS["s"] * 1000:
        rule = "a time of --noise must be above 0, at most 1000 s and with its unit, such as 10us, 250ns or 1ms"
        raise wrong_value(rule, f"'{text}'")
    return round(float(match[1]) * UNITS[match[2]])
