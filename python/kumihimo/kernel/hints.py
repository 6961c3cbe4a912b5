"""A programmer's knowledge of a kernel, as text at three levels (Gropp's golden copy):

property   "precious, 100 to 10,000 trips, even", "odd", "multiple of 8", "power of two", "not a power of two"
middle     "unroll, align, SIMD and tune"
expert     "unroll by 5", "align to 32", "simd by 8"

A trip is one iteration of the kernel's loop: the number of trips is the size of a call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import lcm

from kumihimo.text.errors import did_you_mean, wrong_value
from kumihimo.text.json_types import JsonObject

TRANSFORMATIONS = ("unroll", "align", "simd")
MOST_TRIPS = 2**62
FACTORS = {"unroll": 64, "align": 4096, "simd": 64}
KNOWN: tuple[str, ...] = ("precious", "even", "odd", "power of two", "not a power of two", "multiple of 8")
KNOWN += ("100 to 10000 trips",)
KNOWN += (*TRANSFORMATIONS, "tune", "unroll by 4", "align to 64", "simd by 8")


@dataclass(frozen=True)
class KernelHints:
    trips: tuple[int, int] | None = None  # least and most, both included
    multiple: int = 1  # of which the number of trips is one
    odd: bool = False
    power_of_two: bool | None = None
    precious: bool = False
    transformations: tuple[str, ...] = ()  # of the middle level
    tune: bool = False  # their parameters are searched
    fixed: tuple[tuple[str, int], ...] = ()  # of the expert level

    def fits(self, size: int) -> bool:
        """Whether a call of this size has the properties."""
        low, high = self.trips or (0, MOST_TRIPS)
        if not low <= size <= high or size % self.multiple or (self.odd and size % 2 == 0):
            return False
        is_power = size > 0 and size & (size - 1) == 0
        return self.power_of_two is None or is_power == self.power_of_two

    def from_size(self, start: int, count: int) -> list[int]:
        """The first `count` sizes that fit, from `start` on; fewer if there are no more."""
        found: list[int] = []
        low, high = self.trips or (0, MOST_TRIPS)
        size = max(start, low)
        next_multiple = -(-size // self.multiple) * self.multiple
        size = 1 << max(0, size - 1).bit_length() if self.power_of_two else next_multiple
        while len(found) < count and size <= high:
            if self.fits(size):
                found.append(size)
            size = size * 2 if self.power_of_two else size + self.multiple
        return found

    def conditions(self) -> JsonObject:
        """Conditions of a choice in a wisdom file: a call without them runs the golden copy."""
        given = {"multiple": self.multiple if self.multiple > 1 else None, "odd": self.odd or None}
        given["power_of_two"] = self.power_of_two
        return {name: value for name, value in given.items() if value is not None}


def parse(text: str) -> KernelHints:
    without_separators = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    found: JsonObject = {"multiple": 1, "transformations": (), "fixed": {}}
    for clause in re.split(r"[,;]|\band\b", without_separators):
        words = " ".join(clause.lower().split())
        if words:
            read(words, found)
    found["fixed"] = tuple(found["fixed"].items())
    hints = KernelHints(**found)
    check(hints, text)
    return hints


def read(words: str, found: JsonObject) -> None:
    if words in ("precious", "odd", "tune"):
        found[words] = True
    elif words == "even":
        found["multiple"] = lcm(found["multiple"], 2)
    elif match := re.fullmatch(r"(not )?(?:a )?power of (?:two|2)", words):
        if found.get("power_of_two") not in (None, not match[1]):
            raise wrong_value("a hint must not contradict itself", f"'{words}' and its opposite", "leave one out")
        found["power_of_two"] = not match[1]
    elif match := re.fullmatch(r"(?:a )?multiple of (\d{1,18})", words):
        if int(match[1]) < 1:
            raise wrong_value("a multiple in a hint must be at least 1", f"'{words}'")
        found["multiple"] = lcm(found["multiple"], int(match[1]))
    elif match := re.fullmatch(r"(\d{1,18})(?: ?(?:to|\.\.|-) ?(\d{1,18}))? trips?", words):
        low, high = int(match[1]), int(match[2] or match[1])
        if high < 1:
            raise wrong_value("trips in a hint must be at least 1", f"'{words}'")
        if low > high:
            raise wrong_value("trips in a hint must run from the least to the most", f"'{words}'")
        if "trips" in found:
            raise wrong_value("a hint must give the trips once", f"'{words}' as well", "leave one out")
        found["trips"] = low, high
    elif words in TRANSFORMATIONS:
        found["transformations"] += (words,)
    elif match := re.fullmatch(r"(unroll|align|simd) (?:by|to) (\d{1,6})", words):
        name, value = match[1], int(match[2])
        most, is_power = FACTORS[name], value > 0 and value & (value - 1) == 0
        if not 1 <= value <= most:
            raise wrong_value(f"{name} in a hint must be from 1 to {most}", f"'{words}'")
        if name != "unroll" and not is_power:
            raise wrong_value(f"{name} in a hint must be a power of two", f"'{words}'")
        if found["fixed"].setdefault(name, value) != value:
            raise wrong_value(f"a hint must give {name} once", f"'{words}' as well", "leave one out")
    else:
        forms = "write properties (precious, even, 100 to 10000 trips), unroll, align, simd, tune, or unroll by 5"
        rule = "a hint must be one of those of docs/guides/tune-your-kernel.md"
        raise wrong_value(rule, f"'{words}'", did_you_mean(words, KNOWN, forms))


def check(hints: KernelHints, text: str) -> None:
    if hints.odd and hints.multiple % 2 == 0:
        raise wrong_value("a number of trips cannot be odd and a multiple of an even number", f"'{text}'")
    if hints.power_of_two and hints.multiple & (hints.multiple - 1):
        raise wrong_value(f"a power of two is no multiple of {hints.multiple}", f"'{text}'")
    if hints.tune and not hints.transformations:
        raise wrong_value("tune in a hint needs what is tuned", f"'{text}'", "write unroll, align, simd and tune")
    if not any_fits(hints):
        raise wrong_value("the range of trips in a hint must hold a number with the other properties", f"'{text}'")


def any_fits(hints: KernelHints) -> bool:
    """From one fitting number to the next but one there are at most 4 multiples, so the search is short."""
    if hints.trips is None:
        return True
    low, high = hints.trips
    if hints.power_of_two or high - low > 8 * hints.multiple:
        return bool(hints.from_size(low, 1))
    return any(hints.fits(size) for size in range(-(-low // hints.multiple) * hints.multiple, high + 1, hints.multiple))
