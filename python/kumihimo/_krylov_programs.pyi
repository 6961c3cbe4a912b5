"""Iterations of Krylov methods as program sets."""

from collections.abc import Sequence

import kumihimo._collectives
import kumihimo._programs
import kumihimo._topology


class Iteration:
    """What to iterate, on which grid of cells and ranks."""

    def __init__(self) -> None: ...

    @property
    def application(self) -> str: ...

    @application.setter
    def application(self, arg: str, /) -> None: ...

    @property
    def method(self) -> str: ...

    @method.setter
    def method(self, arg: str, /) -> None: ...

    @property
    def preconditioner(self) -> str: ...

    @preconditioner.setter
    def preconditioner(self, arg: str, /) -> None: ...

    @property
    def cells(self) -> list[int]: ...

    @cells.setter
    def cells(self, arg: Sequence[int], /) -> None: ...

    @property
    def ranks(self) -> list[int]: ...

    @ranks.setter
    def ranks(self, arg: Sequence[int], /) -> None: ...

    @property
    def s(self) -> int: ...

    @s.setter
    def s(self, arg: int, /) -> None: ...

    @property
    def steps(self) -> int: ...

    @steps.setter
    def steps(self, arg: int, /) -> None: ...

    @property
    def halos(self) -> bool: ...

    @halos.setter
    def halos(self, arg: bool, /) -> None: ...

    @property
    def reductions(self) -> bool: ...

    @reductions.setter
    def reductions(self, arg: bool, /) -> None: ...

    @property
    def computing(self) -> bool: ...

    @computing.setter
    def computing(self, arg: bool, /) -> None: ...

def methods() -> list[str]: ...

def applications() -> dict:
    """Their preconditioners by name, the default first."""

def iterations_of(iteration: Iteration) -> int:
    """Iterations that one program set makes."""

def programs(iteration: Iteration, allreduce: kumihimo._collectives.Variant, space: kumihimo._topology.RankSpace) -> kumihimo._programs.NamedPrograms: ...
