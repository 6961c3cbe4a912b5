"""The beginning of a Python program that calls its MPI library by C's names, as a compiled program does: the names are
looked up where the linker would find them. Before it: `family` and `library`, the path of what it is linked with."""

BEGINNING = """ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
names = ctypes.CDLL(None)  # as the linker finds them: the preloaded object first
if family == "openmpi":
    world, double, total = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(names, name)))
                            for name in ("ompi_mpi_comm_world", "ompi_mpi_double", "ompi_mpi_op_sum"))
else:
    world, double, total = 0x44000000, 0x4C00080B, 0x58000003
names.MPI_Init(None, None)
rank, ranks = ctypes.c_int(), ctypes.c_int()
names.MPI_Comm_rank(world, ctypes.byref(rank))
names.MPI_Comm_size(world, ctypes.byref(ranks))
mine, result = (ctypes.c_double * 1000)(*range(1000)), (ctypes.c_double * 1000)()
for _ in range(5):
    names.MPI_Allreduce(mine, result, 1000, double, total, world)
"""
