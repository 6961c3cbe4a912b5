"""Parameters of LogGOPS, and what its runs tell."""



class Parameters:
    """L, o, g, R in picoseconds; G, O in femtoseconds a byte; S in bytes."""

    @property
    def L(self) -> int: ...

    @property
    def o(self) -> int: ...

    @property
    def g(self) -> int: ...

    @property
    def G(self) -> int: ...

    @property
    def O(self) -> int: ...

    @property
    def S(self) -> int: ...

    @property
    def R(self) -> int: ...

    @property
    def processors(self) -> int: ...

class Delays:
    """
    How much later than without noise: by groups of ranks and bins of time.
    """

    @property
    def bin_seconds(self) -> float: ...

    @property
    def ranks_of_group(self) -> int: ...

    @property
    def seconds(self) -> list[list[float]]: ...
