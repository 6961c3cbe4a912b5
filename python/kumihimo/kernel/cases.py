"""The inputs of a check and of a measurement: what the program's own generator makes, and edges of it."""

from __future__ import annotations

import copy
from collections.abc import Callable

from kumihimo.kernel.compare import view_of

RANDOM = "random"
SCALES = {"zeros": 0.0, "huge": {"d": 1e145, "f": 1e15}, "tiny": {"d": 1e-145, "f": 1e-15}}


def arguments(inputs: Callable[[int, int], tuple], size: int, seed: int, kind: str) -> list:
    made = inputs(size, seed)
    made = list(made) if isinstance(made, (tuple, list)) else [made]
    return made if kind == RANDOM else [edge_of(value, kind) for value in made]


def edge_of(value: object, kind: str) -> object:
    """Floats all zero, huge or tiny; other values stay, as they may be indices."""
    scale = SCALES[kind]
    if isinstance(value, float):
        return value * (scale if kind == "zeros" else scale["d"])
    if isinstance(value, list) and value and all(isinstance(each, float) for each in value):
        return [edge_of(each, kind) for each in value]
    view = view_of(value)
    if view is None or not view.c_contiguous or view.readonly or view.format not in ("d", "f") or not view.nbytes:
        return value
    changed = copy.deepcopy(value)
    numbers = memoryview(changed).cast("B").cast(view.format)
    factor = scale if kind == "zeros" else scale[view.format]
    for place, number in enumerate(numbers):
        numbers[place] = number * factor
    return changed
