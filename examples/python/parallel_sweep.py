"""A sweep of lengths and shapes on all processors: native code runs without Python's lock, so threads suffice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import kumihimo

SHAPES = ("4x4x4", "8x8x4", "8x8x8")
LENGTHS = ("1KiB", "64KiB", "4MiB")


def fastest(point: tuple[str, str]) -> kumihimo.PredictedTime:
    shape, length = point
    return kumihimo.best("allreduce", kumihimo.machine("k-computer").job(shape), length)


def main() -> None:
    points = list(product(SHAPES, LENGTHS))
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(fastest, points))
    for (shape, length), best in zip(points, found):
        print(f"{shape:6} {length:>6} {best.algorithm:20} {best.seconds * 1e6:9.1f} us")


if __name__ == "__main__":
    main()
