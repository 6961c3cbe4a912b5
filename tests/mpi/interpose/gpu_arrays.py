"""A program with CuPy arrays on a GPU, held against numpy: the exit status is 0 if all results are equal."""

import ctypes
import sys

import cupy
import numpy
from mpi4py import MPI

takes_arrays = getattr(ctypes.CDLL(None), "MPIX_Query_cuda_support", None)
if not takes_arrays or not takes_arrays() or cupy.cuda.runtime.getDeviceCount() == 0:
    print("an MPI library with CUDA, or a GPU, was not found")
    sys.exit(0)

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
wrong = []


def on_device(array):
    copy = cupy.asarray(array)
    cupy.cuda.Device().synchronize()
    return copy


def same(found, expected, what):
    if not numpy.array_equal(cupy.asnumpy(found), expected):
        wrong.append(what)


for length in (1, 7, 1024, 1 << 18):
    for turn in range(3):
        own = numpy.arange(length, dtype="d") * (rank + 1) + turn
        sums = numpy.zeros_like(own)
        comm.Allreduce(own, sums)

        found = on_device(numpy.zeros_like(own))
        comm.Allreduce(on_device(own), found)
        same(found, sums, "allreduce")

        root, expected = on_device(own), own.copy()
        comm.Bcast(root, 1)
        comm.Bcast(expected, 1)
        same(root, expected, "bcast")

        every, expected = on_device(numpy.zeros(length * ranks)), numpy.zeros(length * ranks)
        comm.Allgather(on_device(own), every)
        comm.Allgather(own, expected)
        same(every, expected, "allgather")

        blocks = numpy.arange(length * ranks, dtype="d") + rank
        comm.Alltoall(on_device(blocks), every)
        comm.Alltoall(blocks, expected)
        same(every, expected, "alltoall")

        # One rank alone has its data on the device.
        mine, found = (on_device(own), on_device(numpy.zeros_like(own))) if rank == 1 else (own, numpy.zeros_like(own))
        comm.Allreduce(mine, found)
        same(found, sums, "allreduce of one rank's array")

for each in sorted(set(wrong)):
    print(f"rank {rank}: another result: {each}", file=sys.stderr)
sys.exit(comm.allreduce(len(wrong)) > 0)
