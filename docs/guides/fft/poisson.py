"""Solves -(d2/dx2 + d2/dy2 + d2/dz2) u = f in a periodic box of length 2 pi: u's coefficient is f's over k squared."""

import numpy as np
from mpi4py import MPI

from kumihimo.fft import PFFT

comm = MPI.COMM_WORLD
points = (48, 40, 36)

with PFFT(comm, points, dtype=float) as fft:
    # This rank's part of the grid, and of the wave numbers.
    parts = zip(points, fft.local_slice(spectral=False))
    x, y, z = np.ix_(*(2 * np.pi * np.arange(n)[part] / n for n, part in parts))
    frequencies = [np.fft.fftfreq, np.fft.fftfreq, np.fft.rfftfreq]  # of reals, half of those along z
    parts = zip(frequencies, points, fft.local_slice(spectral=True))
    kx, ky, kz = np.ix_(*(wave_numbers(n, 1 / n)[part] for wave_numbers, n, part in parts))

    exact = np.sin(x) * np.cos(2 * y) * np.sin(3 * z) + np.cos(2 * x)
    f = 14 * np.sin(x) * np.cos(2 * y) * np.sin(3 * z) + 4 * np.cos(2 * x)

    spectrum = fft.forward(f)
    squares = kx**2 + ky**2 + kz**2
    spectrum /= np.where(squares == 0, 1, squares)  # the mean of u is that of f: 0
    u = fft.backward(spectrum)

    error = comm.allreduce(np.abs(u - exact).max(initial=0), MPI.MAX)
    if comm.rank == 0:
        print(f"{comm.size} ranks, {fft.description}: largest error {error:.1e}")
