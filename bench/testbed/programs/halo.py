"""Jacobi sweeps of many right-hand sides on a periodic grid: ranks exchange the faces of their blocks."""

import sys

import numpy
from mpi4py import MPI

n, sides, sweeps = map(int, sys.argv[1:4])  # points along each edge of a rank's block, right-hand sides
grid = [int(word) for word in sys.argv[4:]]
cart = MPI.COMM_WORLD.Create_cart(grid, periods=[True] * len(grid), reorder=False)
inner = slice(1, -1)
own = (inner,) * len(grid)
u = numpy.zeros([n + 2] * len(grid) + [sides])
u[own] = numpy.random.default_rng(cart.rank).random(u[own].shape)


def face(axis: int, at: slice | int) -> tuple:
    return (*own[:axis], at, *own[axis + 1 :])


for _ in range(sweeps):
    for axis in range(len(grid)):
        before, after = cart.Shift(axis, 1)
        for to, sent, source, received in ((before, 1, after, n + 1), (after, n, before, 0)):
            halo = numpy.empty_like(u[face(axis, received)])
            cart.Sendrecv(numpy.ascontiguousarray(u[face(axis, sent)]), to, 0, halo, source)
            u[face(axis, received)] = halo
    mean = numpy.zeros_like(u[own])
    for axis in range(len(grid)):
        for beside in (slice(2, None), slice(None, -2)):
            mean += u[face(axis, beside)]
    u[own] = mean / (2 * len(grid))
total = cart.allreduce(float(u[own].sum()))
if cart.rank == 0:
    print(f"mean {total / (cart.size * u[own].size):.12f}")
