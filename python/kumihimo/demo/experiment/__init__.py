"""The experiment of the MPI_Allreduce paper (Matsumoto et al., SACSIS 2012), repeated in the simulator.

`run` simulates everything anew and returns one object, the content of simulated.json; nothing here is read from a file
but the description of the machine.
"""

from kumihimo.text.lazy_names import lazily

OF_MODULES = {
    "run": "simulated",
}
__all__ = [*OF_MODULES]
__getattr__ = lazily(__name__, OF_MODULES)
