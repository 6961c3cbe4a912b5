#!/usr/bin/env python3
"""Meep's steps of 2D TM FDTD with a layer of 10 cells: prints {"wall": rate, "processor": rate}, for compare.py.

PYTHON meep_fdtd.py 1024 STEPS
"""

import json
import sys
import time

import meep


def main() -> int:
    points, steps = int(sys.argv[1]), int(sys.argv[2])
    meep.verbosity(0)
    simulation = meep.Simulation(
        cell_size=meep.Vector3(points, points),
        resolution=1,
        boundary_layers=[meep.PML(10)],
        sources=[meep.Source(meep.GaussianSource(0.05, fwidth=0.05), component=meep.Ez, center=meep.Vector3())],
        force_complex_fields=False,
    )
    simulation.init_sim()
    for _ in range(3):
        simulation.fields.step()
    wall, processor = [], []
    for _ in range(3):
        clock, of_processor = time.perf_counter(), time.process_time()
        for _ in range(steps):
            simulation.fields.step()
        wall.append(time.perf_counter() - clock)
        processor.append(time.process_time() - of_processor)
    work = 1e-6 * points * points * steps
    print(json.dumps({"wall": work / min(wall), "processor": work / min(processor)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
