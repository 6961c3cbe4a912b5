"""Programs on MPI processes: bench drivers, and unmodified programs with the preload libraries; their profiles and the
wisdom that they run with."""
