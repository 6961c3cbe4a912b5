"""Data-parallel training of a small network: each rank has its own samples, and all sum their gradients."""

import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
width, steps = int(sys.argv[1]), int(sys.argv[2])
random = numpy.random.default_rng(1)
first, second = random.normal(size=(64, width)) / 8, random.normal(size=(width, 8)) / numpy.sqrt(width)
own = numpy.random.default_rng(world.rank)
x = own.normal(size=(32, 64))
y = numpy.tanh(x[:, :8])
gradient, summed = numpy.empty(first.size + second.size), numpy.empty(first.size + second.size)
for _ in range(steps):
    hidden = numpy.tanh(x @ first)
    wrong = hidden @ second - y
    gradient[: first.size] = (x.T @ ((wrong @ second.T) * (1 - hidden**2))).ravel()
    gradient[first.size :] = (hidden.T @ wrong).ravel()
    world.Allreduce(gradient, summed)
    summed *= 0.05 / (len(x) * world.size)
    first -= summed[: first.size].reshape(first.shape)
    second -= summed[first.size :].reshape(second.shape)
loss = world.allreduce(float((wrong**2).mean())) / world.size
if world.rank == 0:
    print(f"loss {loss:.6f}")
