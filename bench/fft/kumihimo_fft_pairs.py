"""Pairs of transforms by kumihimo.fft. Arguments: points along an axis, pairs, real or complex, variant.
Prints JSON."""

import json
import sys
from time import perf_counter

import numpy
from mpi4py import MPI

from kumihimo.fft import PFFT

n, pairs, kind, variant = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
world = MPI.COMM_WORLD
start = perf_counter()
fft = PFFT(world, (n, n, n), dtype={"real": float, "complex": complex}[kind], slab=True, variant=variant)
values, spectrum = fft.new_array(), fft.new_array(spectral=True)
planning = perf_counter() - start
values[:] = 1
total = 0.0
for pair in range(pairs + 1):
    world.Barrier()
    start = perf_counter()
    fft.forward(values, spectrum, normalize=False)
    fft.backward(spectrum, values)
    seconds = world.allreduce(perf_counter() - start, MPI.MAX) / 2
    total += seconds if pair else 0
    assert numpy.allclose(values, n**3)
    values[:] = 1
if world.rank == 0:
    print(json.dumps({"seconds": total / pairs, "planning": planning}))
