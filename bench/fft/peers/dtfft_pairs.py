"""Pairs of complex transforms by dtFFT (wheels dtfft-fftw-openmpi). Arguments: points along an axis, pairs, and a name
of its Backend. Prints JSON."""

import json
import sys
from time import perf_counter

import dtfft
import numpy
from mpi4py import MPI

n, pairs, backend = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
world = MPI.COMM_WORLD
start = perf_counter()
config = dtfft.Config(backend=getattr(dtfft.Backend, backend))
plan = dtfft.PlanC2C([n, n, n], comm=world, executor=dtfft.Executor.FFTW3, config=config)
elements = plan.alloc_size
values, spectrum = numpy.zeros(elements, "D"), numpy.zeros(elements, "D")
planning = perf_counter() - start
values[:] = 1 + 2j
total = 0.0
for pair in range(pairs + 1):
    world.Barrier()
    start = perf_counter()
    plan.execute(values, spectrum, dtfft.Execute.FORWARD)
    plan.execute(spectrum, values, dtfft.Execute.BACKWARD)
    seconds = world.allreduce(perf_counter() - start, MPI.MAX) / 2
    total += seconds if pair else 0
    values[:] = 1 + 2j
if world.rank == 0:
    print(json.dumps({"seconds": total / pairs, "planning": planning}))
