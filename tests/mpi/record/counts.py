"""Python, by mpi4py."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
x, y = array("d", [1.0] * 100), array("d", [0.0] * 100)


def reduce_all():
    for _ in range(3):
        world.Allreduce([x, MPI.DOUBLE], [y, MPI.DOUBLE])


reduce_all()
request = world.Isend([x, rank + 1, MPI.DOUBLE], dest=(rank + 1) % ranks)
world.Recv([y, MPI.DOUBLE])
request.Wait()
part = world.Split(0, -rank)
part.Barrier()
part.Free()
