"""Rank 1 dies between two transforms; rank 0 writes what it is told to a file, since its launcher may be gone."""

import os
import signal
import sys
from pathlib import Path

from mpi4py import MPI

from kumihimo import KumihimoError
from kumihimo.fft import PFFT

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # mpirun ends the others, at last by SIGKILL
fft = PFFT(MPI.COMM_WORLD, (16, 16, 16), dtype=complex, variant=sys.argv[1])
grid = fft.new_array()
fft.forward(grid)
MPI.COMM_WORLD.Barrier()
if MPI.COMM_WORLD.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    fft.forward(grid)
except KumihimoError as error:
    Path(sys.argv[2]).write_text(str(error), encoding="utf-8")
os._exit(3)
