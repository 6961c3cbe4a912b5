"""Jacobi sweeps of a periodic grid: each rank exchanges faces of its block with the ranks beside it, dimension by dimension."""

import sys

import numpy
from mpi4py import MPI

n, sweeps = int(sys.argv[1]), int(sys.argv[2])  # points along each edge of a rank's block
grid = [int(word) for word in sys.argv[3:]]
cart = MPI.COMM_WORLD.Create_cart(grid, periods=[True] * len(grid), reorder=False)
own = (slice(1, -1),) * len(grid)
u = numpy.zeros([n + 2] * len(grid))
u[own] = numpy.random.default_rng(cart.rank).random(u[own].shape)
for _ in range(sweeps):
    for axis in range(len(grid)):
        before, after = cart.Shift(axis, 1)
        for to, sent, source, received in ((before, 1, after, n + 1), (after, n, before, 0)):
            halo = numpy.empty_like(numpy.take(u, received, axis))
            cart.Sendrecv(numpy.ascontiguousarray(numpy.take(u, sent, axis)), to, 0, halo, source)
            u[(slice(None),) * axis + (received,)] = halo
    shifted = [numpy.roll(u, by, axis)[own] for axis in range(len(grid)) for by in (1, -1)]
    u[own] = sum(shifted) / len(shifted)
total = cart.allreduce(float(u[own].sum()))
if cart.rank == 0:
    print(f"mean {total / (cart.size * n ** len(grid)):.12f}")
