"""A Python program that uses MPICH by sessions alone, by its C names as a compiled program does (handles are numbers).

Its last argument is the path of the library."""

PROGRAM = """
import ctypes, os, sys
library = sys.argv[2]
ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
names = ctypes.CDLL(None)  # as the linker finds them: the preloaded object first
no_info, errors_return, double, total = 0x1C000000, 0x54000001, 0x4C00080B, 0x58000003
session, group, comm, rank, ranks = (ctypes.c_int() for _ in range(5))
names.MPI_Session_init(no_info, errors_return, ctypes.byref(session))
names.MPI_Group_from_session_pset(session, b"mpi://WORLD", ctypes.byref(group))
names.MPI_Comm_create_from_group(group, b"test", no_info, errors_return, ctypes.byref(comm))
names.MPI_Comm_rank(comm, ctypes.byref(rank))
names.MPI_Comm_size(comm, ctypes.byref(ranks))
mine, result = (ctypes.c_double * 1000)(*range(1000)), (ctypes.c_double * 1000)()
for _ in range(5):
    names.MPI_Allreduce(mine, result, 1000, double, total, comm)
if list(result) != [ranks.value * i for i in range(1000)]:
    os.abort()
if rank.value == 0:
    print("the program's own word", flush=True)
names.MPI_Group_free(ctypes.byref(group))
names.MPI_Comm_free(ctypes.byref(comm))
names.MPI_Session_finalize(ctypes.byref(session))
"""
