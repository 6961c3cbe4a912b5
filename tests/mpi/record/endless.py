"""Code made anew for each of many calls, all of it at one place by its text. Nothing here keeps it."""

import weakref

from mpi4py import MPI

world = MPI.COMM_WORLD
made = []  # not a set of them: they are equal
for _ in range(6000):
    code = compile("world.Barrier()", "made anew", "exec")
    made.append(weakref.ref(code))
    exec(code)
del code
print(f"alive {sum(code() is not None for code in made)};", flush=True)
