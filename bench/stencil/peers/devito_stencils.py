#!/usr/bin/env python3
"""Devito's generated sweep of Himeno, or steps of FDTD: prints {"wall": rate, "processor": rate}, for compare.py.

    PYTHON devito_stencils.py himeno 128x128x256 SWEEPS THREADS
    PYTHON devito_stencils.py fdtd2d 1024 STEPS THREADS

The sweep reads the same 12 arrays of coefficients; it has no gosa. FDTD: metal walls, no absorbing layer.
"""

import json
import sys
import time

import numpy as np
from devito import Eq, Function, Grid, Operator, TimeFunction, configuration


def himeno(points: tuple, sweeps: int):
    grid = Grid(shape=tuple(n - 2 for n in points), dtype=np.float32)
    i, j, k = grid.dimensions
    p = TimeFunction(name="p", grid=grid, space_order=2, time_order=1)
    names = ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "c0", "c1", "c2", "bnd", "wrk1")
    m = {name: Function(name=name, grid=grid, space_order=0) for name in names}
    for name in ("a0", "a1", "a2", "c0", "c1", "c2", "bnd"):
        m[name].data[:] = 1
    m["a3"].data[:] = 1 / 6
    p.data_with_halo[:] = 1

    def at(di: int, dj: int, dk: int):
        return p.subs({i: i + di * i.spacing, j: j + dj * j.spacing, k: k + dk * k.spacing})

    s0 = m["a0"] * at(1, 0, 0) + m["a1"] * at(0, 1, 0) + m["a2"] * at(0, 0, 1)
    s0 += m["b0"] * (at(1, 1, 0) - at(1, -1, 0) - at(-1, 1, 0) + at(-1, -1, 0))
    s0 += m["b1"] * (at(0, 1, 1) - at(0, -1, 1) - at(0, 1, -1) + at(0, -1, -1))
    s0 += m["b2"] * (at(1, 0, 1) - at(-1, 0, 1) - at(1, 0, -1) + at(-1, 0, -1))
    s0 += m["c0"] * at(-1, 0, 0) + m["c1"] * at(0, -1, 0) + m["c2"] * at(0, 0, -1) + m["wrk1"]
    operator = Operator([Eq(p.forward, p + 0.8 * (s0 * m["a3"] - p) * m["bnd"])])
    work = 34e-9 * float(np.prod([n - 2 for n in points])) * sweeps
    return work, lambda: operator.apply(time_m=0, time_M=sweeps - 1)


def fdtd2d(points: int, steps: int):
    grid = Grid(shape=(points, points), dtype=np.float32)
    y, x = grid.dimensions
    ez, hx, hy = (TimeFunction(name=name, grid=grid, space_order=2, time_order=1) for name in ("ez", "hx", "hy"))
    ez.data[0, points // 2, points // 2] = 1
    s = np.float32(0.5)
    up = {axis: {axis: axis + axis.spacing} for axis in (x, y)}
    down = {axis: {axis: axis - axis.spacing} for axis in (x, y)}
    new_h = [
        Eq(hx.forward, hx - s * (ez.subs(up[y]) - ez)),
        Eq(hy.forward, hy + s * (ez.subs(up[x]) - ez)),
    ]
    h_x, h_y = hx.forward, hy.forward
    new_e = Eq(ez.forward, ez + s * (h_y - h_y.subs(down[x]) - h_x + h_x.subs(down[y])), subdomain=grid.interior)
    operator = Operator([*new_h, new_e])
    return 1e-6 * points * points * steps, lambda: operator.apply(time_m=0, time_M=steps - 1)


def main() -> int:
    what, size, repeats, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    configuration["log-level"] = "ERROR"
    if threads > 1:
        configuration["language"] = "openmp"
    work, call = himeno(tuple(map(int, size.split("x"))), repeats) if what == "himeno" else fdtd2d(int(size), repeats)
    call()
    wall, processor = [], []
    for _ in range(3):
        clock, of_processor = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - clock)
        processor.append((time.process_time() - of_processor) / threads)
    print(json.dumps({"wall": work / min(wall), "processor": work / min(processor)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
