"""Wisdom: for a machine, an MPI library and so many ranks, the algorithm to take for each length, found by measurement.

targets         what is tuned for, and how much of the time each gets
search          the sizes at which algorithms are tried: coarse at first, finer where the winner changes
final_comparison  the winners beside the library's own call on launches of their own: is it really faster?
other_cases     the same choices in place, with another root, of a narrow type
wisdom          the file; reading: as `kumihimo run` needs it
journal         what was measured, so that an interrupted tuning goes on
tuner           all of it, within a budget of time
library_report  performance guidelines that the MPI library misses, and files that tune its own choice
time_shares     how the time is divided between these
simulated       the same choice, made by the simulator for a described machine
"""
