"""Whether a variant gives what the golden copy gives: the same bits, or within a bound of the rounding errors.

If each element of the result comes from at most n operations that round with the unit roundoff u, each of two orders of
them is within gamma_n M of the exact value, gamma_n = n u / (1 - n u), M the result for absolute values (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1). So two of them differ by at most
2 gamma_n M. Results below the range of normal numbers add n times the smallest subnormal number. Where M overflows, the
order decides what overflows: the input is skipped unless every bit is the same. Where n u >= 1 there is no bound.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kumihimo.text.errors import wrong_value

NO_BOUND = "correct operations, or declare the kernel without a bound"
UNIT_OF_FORMAT = {"f": 2.0**-24, "d": 2.0**-53, "e": 2.0**-11, "Zf": 2.0**-24, "Zd": 2.0**-53}
SMALLEST = {2.0**-24: 2.0**-149, 2.0**-53: 5e-324, 2.0**-11: 2.0**-24}
COMPLEX_FACTOR = 2**1.5  # rounding errors of a complex product, Higham section 3.6


class Overflowed(Exception):
    """Results that differ where the magnitude is infinite: they cannot be compared."""


@dataclass(frozen=True)
class Bound:
    operations: int  # behind one element
    unit: float  # of results that are Python floats

    def gamma(self, unit: float) -> float:
        steps = self.operations * unit
        if not 0 <= steps < 1:
            value = f"{self.operations} operations with the unit roundoff {unit:.3g}"
            raise wrong_value("the error bound holds for fewer operations than 1 / unit roundoff", value, NO_BOUND)
        return steps / (1 - steps)

    def of(self, magnitude: float, unit: float) -> float:
        return 2 * self.gamma(unit) * magnitude + self.operations * SMALLEST.get(unit, 5e-324)


def view_of(value: Any) -> memoryview | None:
    """View of an array of numbers; None: the value is no such array."""
    if isinstance(value, (str, bytes)):
        return None
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return None
    return view if view.ndim and view.format != "O" else None


def difference(
    ours: object, golden: object, magnitude: object = None, bound: Bound | None = None, name: str = "result"
) -> str:
    """The difference, in a few words; empty if nothing does."""
    view, theirs = view_of(ours), view_of(golden)
    if view is not None and theirs is not None:
        if view.format != theirs.format or view.shape != theirs.shape:
            return f"{name} has {shape_text(view)}, the golden copy's {shape_text(theirs)}"
        if view.tobytes() == theirs.tobytes():
            return ""
        unit = UNIT_OF_FORMAT.get(theirs.format, 0.0)
        mine, right, size = flat(view), flat(theirs), view_of(magnitude)
        sizes = flat(size) if bound and size is not None else magnitude
        for place, (a, b) in enumerate(zip(mine, right)):
            m = sizes[place] if isinstance(sizes, list) else sizes
            if said := of_numbers(a, b, m, bound, unit, f"{name}[{place}]"):
                return said
        return ""
    if isinstance(ours, (list, tuple)) and isinstance(golden, (list, tuple)):
        if len(ours) != len(golden):
            return f"{name} has {len(ours)} elements, the golden copy's {len(golden)}"
        for place, (a, b) in enumerate(zip(ours, golden)):
            m = magnitude[place] if isinstance(magnitude, (list, tuple)) and len(magnitude) > place else magnitude
            if said := difference(a, b, m, bound, f"{name}[{place}]"):
                return said
        return ""
    if isinstance(ours, dict) and isinstance(golden, dict):
        if list(map(str, sorted(ours, key=str))) != list(map(str, sorted(golden, key=str))):
            return f"{name} has other keys than the golden copy's"
        for key in golden:
            m = magnitude.get(key) if isinstance(magnitude, dict) else magnitude
            if said := difference(ours[key], golden[key], m, bound, f"{name}[{key!r}]"):
                return said
        return ""
    if is_number(ours) and is_number(golden):
        return of_numbers(ours, golden, magnitude, bound, bound.unit if bound else 0.0, name)
    if type(ours) is type(golden) and type(golden).__eq__ is object.__eq__ and hasattr(golden, "__dict__"):
        return difference(vars(ours), vars(golden), magnitude, bound, name)
    return "" if type(ours) is type(golden) and ours == golden else said_of(ours, golden, name)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex)) or hasattr(value, "__float__")


def is_integer(value: object) -> bool:
    return hasattr(value, "__index__") or is_bool(value)


def is_bool(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def of_numbers(ours: Any, golden: Any, magnitude: Any, bound: Bound | None, unit: float, name: str) -> str:
    if is_integer(ours) and is_integer(golden):  # exact
        is_same = int(ours) == int(golden) and is_bool(ours) == is_bool(golden)
        return "" if is_same else said_of(ours, golden, name)
    if is_integer(golden):
        return "" if ours == int(golden) else said_of(ours, golden, name)
    parts = [(complex(ours).real, complex(golden).real), (complex(ours).imag, complex(golden).imag)]
    if all(same(a, b) for a, b in parts):
        return ""
    if bound is None or magnitude is None:
        return said_of(ours, golden, name)
    most = abs(complex(magnitude)) if is_number(magnitude) else math.nan
    if math.isinf(most):
        raise Overflowed(f"the magnitude of {name} is infinite, so no error bound holds")
    allowed = bound.of(most, unit or bound.unit) * (COMPLEX_FACTOR if isinstance(golden, complex) else 1)
    away = max(abs(a - b) for a, b in parts)
    if away <= allowed:  # false where either is no number
        return ""
    return f"{said_of(ours, golden, name)}, beyond the bound {allowed:.3g}"


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or struct.pack("d", a) == struct.pack("d", b)


def said_of(ours: object, golden: object, name: str) -> str:
    return f"{name} is {shown(ours)}, the golden copy's {shown(golden)}"


def shown(value: object) -> str:
    text = " ".join(f"{value!r}".split())
    return text if len(text) <= 60 else text[:57] + "..."


def flat(view: memoryview) -> list:
    """In the order of C, whatever its layout."""
    if view.format.startswith("Z"):
        count = 2 * (view.nbytes // view.itemsize)  # pairs
        parts = struct.unpack(f"{count}{view.format[1:]}", view.tobytes())
        return list(map(complex, parts[::2], parts[1::2]))
    return view.tolist() if view.ndim == 1 else list(elements(view.tolist()))


def elements(nested: list) -> Iterator:
    for each in nested:
        if isinstance(each, list):
            yield from elements(each)
        else:
            yield each


def shape_text(view: memoryview) -> str:
    return f"shape {'x'.join(map(str, view.shape or ()))} of {view.format}"
