"""Pairs of transforms by mpi4py-fft. Arguments: points along an axis, pairs, real or complex. Prints JSON."""

import json
import sys
from time import perf_counter

from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

n, pairs, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
world = MPI.COMM_WORLD
start = perf_counter()
fft = PFFT(world, [n, n, n], dtype={"real": "d", "complex": "D"}[kind], slab=True)
values, spectrum = newDistArray(fft, False), newDistArray(fft, True)
planning = perf_counter() - start
values[:] = 1
total = 0.0
for pair in range(pairs + 1):
    world.Barrier()
    start = perf_counter()
    fft.forward(values, spectrum, normalize=False)
    fft.backward(spectrum, values, normalize=False)
    seconds = world.allreduce(perf_counter() - start, MPI.MAX) / 2
    total += seconds if pair else 0
    values[:] = 1
if world.rank == 0:
    print(json.dumps({"seconds": total / pairs, "planning": planning}))
