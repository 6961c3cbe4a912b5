"""Schedules as users name them: collectives with their algorithms, halo exchanges, program files; and their proofs."""
