"""The experiment of the MPI_Allreduce paper (Matsumoto et al., SACSIS 2012), repeated in the simulator.

`run` simulates everything anew and returns one object, the content of simulated.json; nothing here is read from a file
but the description of the machine.
"""

from kumihimo.experiment.run import run

__all__ = ["run"]
