"""A forward and a backward FFT of a cube, again and again: its transposes are alltoalls."""

import sys

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

n, times = int(sys.argv[1]), int(sys.argv[2])
fft = PFFT(MPI.COMM_WORLD, [n, n, n], dtype=numpy.float64)
u = newDistArray(fft, False)
u[:] = numpy.random.default_rng(MPI.COMM_WORLD.rank).random(u.shape)
start = u.copy()
for _ in range(times):
    u[:] = fft.backward(fft.forward(u))
error = MPI.COMM_WORLD.allreduce(abs(u - start).max(), MPI.MAX)
if MPI.COMM_WORLD.rank == 0:
    print("error below 1e-12:", error < 1e-12)
