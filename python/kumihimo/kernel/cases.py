"""The inputs of a check and of a measurement: what the program's own generator makes, and edges of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any, cast

from kumihimo.kernel.compare import view_of

RANDOM = "random"
ZERO = 1e-30  # up to here a number of an output counts as not set
SCALES = {  # by kind of case, and by format of the number
    "zeros": {"d": 0.0, "f": 0.0},
    "huge": {"d": 1e145, "f": 1e15},
    "tiny": {"d": 1e-145, "f": 1e-15},
}


def arguments(inputs: Callable[[int, int], tuple], size: int, seed: int, kind: str) -> list:
    made = inputs(size, seed)
    values = list(made) if isinstance(made, (tuple, list)) else [made]
    return values if kind == RANDOM else [edge_of(value, kind) for value in values]


def filled(output: object, seed: int) -> object:
    """An output that inputs() leaves zero, with random numbers: a variant may add to what it must set."""
    numbers = Random(seed)
    if isinstance(output, list):
        is_zero = all(isinstance(each, float) and abs(each) < ZERO for each in output)
        return [numbers.uniform(0.5, 1.5) for _ in output] if is_zero else output
    changed = copy.deepcopy(output)
    cells = cells_of(changed, "dfbBhHiIlLqQ")
    if cells is None or any(abs(each) > ZERO for each in cells):
        return output
    for place in range(len(cells)):
        cells[place] = numbers.uniform(0.5, 1.5) if cells.format in "df" else numbers.randint(1, 99)
    return changed


def cells_of(array: object, formats: str) -> memoryview[Any] | None:
    """The elements of an array in the order of C; None if it is none of these formats, or cannot be written."""
    view: memoryview[Any] | None = view_of(array)
    if view is None or not view.c_contiguous or view.readonly or not view.nbytes or view.format not in {*formats}:
        return None
    plain: Any = view.cast("B")  # whose types know no format that is not written out
    return cast("memoryview[Any]", plain.cast(view.format))


def edge_of(value: object, kind: str) -> object:
    """Floats all zero, huge or tiny; other values stay, as they may be indices."""
    scale = SCALES[kind]
    if isinstance(value, float):
        return value * scale["d"]
    if isinstance(value, list) and value and all(isinstance(each, float) for each in value):
        return [edge_of(each, kind) for each in value]
    changed = copy.deepcopy(value)
    numbers = cells_of(changed, "df")
    if numbers is None:
        return value
    factor = scale[numbers.format]
    for place, number in enumerate(numbers):
        numbers[place] = number * factor
    return changed
