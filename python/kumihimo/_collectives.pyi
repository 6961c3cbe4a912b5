"""The registry of algorithms."""

import kumihimo._schedule
import kumihimo._topology


class Parameters:
    """By name; what is None takes the algorithm's default."""

    def __init__(self, **kwargs) -> None: ...

class ParameterDeclaration:
    """A row of parameters.def."""

    @property
    def name(self) -> str: ...

    @property
    def meaning(self) -> str: ...

    @property
    def symbol(self) -> str: ...

    @property
    def min(self) -> int: ...

    @property
    def max(self) -> int: ...

    @property
    def tuning_scope(self) -> str:
        """The cases in which tune tries it."""

    @property
    def kind(self) -> str: ...

    @property
    def tuning_values(self) -> list[int]:
        """What tune tries beside the default."""

REAL_SEGMENT_BYTES: int = 32768

def declared_parameters() -> list[ParameterDeclaration]:
    """Every parameter of algorithms, in the order of parameters.def."""

class Parameter:
    @property
    def name(self) -> str: ...

    @property
    def default_value(self) -> str: ...

class Variant:
    """One row of the registry: a recipe for a collective."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def cost(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def parameters(self) -> list[Parameter]: ...

    @property
    def extension(self) -> bool:
        """Whether it is our own extension of a published algorithm."""

    @property
    def offloads(self) -> bool:
        """Whether it needs a network's own engine, which no MPI library gives."""

    @property
    def equal_counts(self) -> str:
        """Why it needs blocks of equal counts, if it does."""

    @property
    def all_counts(self) -> str:
        """Why each rank must know the counts of all blocks, if so."""

    @property
    def rounding(self) -> dict:
        """What is promised of the bits of reductions that round."""

    def guarantees(self, collective: kumihimo._schedule.Collective) -> dict:
        """What is promised of the bits of this collective's result."""

    def build(self, collective: kumihimo._schedule.Collective, space: kumihimo._topology.RankSpace, parameters: Parameters = ...) -> kumihimo._schedule.Schedule: ...

def variants(kind: str) -> list[Variant]:
    """The algorithms of a collective."""

def check_collective(collective: kumihimo._schedule.Collective, space: kumihimo._topology.RankSpace, parameters: Parameters = ...) -> None:
    """Refuses what is wrong whatever the algorithm."""

def with_neighbours(collective: kumihimo._schedule.Collective, neighbours: str) -> kumihimo._schedule.Collective:
    """The same of other neighbours: cart:4x3m, random:7, edges:0>1,1>0."""

def all_variants() -> list[Variant]:
    """All algorithms."""

def find(kind: str, name: str) -> Variant:
    """One algorithm; the error names the nearest."""
