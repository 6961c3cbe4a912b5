"""Processes of this machine and of a job: launchers, children, signals, MPI libraries, and what a scheduler gave."""
