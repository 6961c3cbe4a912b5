"""Profiles of MPI programs as the recorder writes them (docs/profile-format.md): read, summed up over ranks, told."""
