"""
The rules of LU factorisations that predictions share with the application.
"""

from collections.abc import Sequence


MOST_ROWS: int = 100000000

PANELS_OF_TASKS: int = 4

def usual_grid(processes: int) -> tuple[int, int]:
    """P x Q with P <= Q and P as large as possible."""

def processes_of_nodes(peaks: Sequence[float], cores: Sequence[int]) -> tuple[list[int], str]:
    """Processes of each node, and how the rule came to them."""

class PipelineQuestion:
    """See src/numerics/lu/pipeline.hpp."""

    def __init__(self) -> None: ...

    @property
    def rows(self) -> int: ...

    @rows.setter
    def rows(self, arg: int, /) -> None: ...

    @property
    def block(self) -> int: ...

    @block.setter
    def block(self, arg: int, /) -> None: ...

    @property
    def p(self) -> int: ...

    @p.setter
    def p(self, arg: int, /) -> None: ...

    @property
    def q(self) -> int: ...

    @q.setter
    def q(self, arg: int, /) -> None: ...

    @property
    def lookahead(self) -> int: ...

    @lookahead.setter
    def lookahead(self, arg: int, /) -> None: ...

    @property
    def update_rate(self) -> float: ...

    @update_rate.setter
    def update_rate(self, arg: float, /) -> None: ...

    @property
    def panel_rate(self) -> float: ...

    @panel_rate.setter
    def panel_rate(self, arg: float, /) -> None: ...

    @property
    def solution_rate(self) -> float: ...

    @solution_rate.setter
    def solution_rate(self, arg: float, /) -> None: ...

    @property
    def move_seconds(self) -> float: ...

    @move_seconds.setter
    def move_seconds(self, arg: float, /) -> None: ...

    @property
    def message_seconds(self) -> float: ...

    @message_seconds.setter
    def message_seconds(self, arg: float, /) -> None: ...

    @property
    def byte_seconds(self) -> float: ...

    @byte_seconds.setter
    def byte_seconds(self, arg: float, /) -> None: ...

    @property
    def speeds(self) -> list[float]: ...

    @speeds.setter
    def speeds(self, arg: Sequence[float], /) -> None: ...

    @property
    def tournament(self) -> bool: ...

    @tournament.setter
    def tournament(self, arg: bool, /) -> None: ...

    @property
    def tasks(self) -> bool: ...

    @tasks.setter
    def tasks(self, arg: bool, /) -> None: ...

    def add_broadcast(self) -> None:
        """
        Of a panel of the next owner; one alone is of all. Without any a panel goes along a chain.
        """

    def add_send(self, process: int, share: float) -> None:
        """The next message of the broadcast added last."""

    def add_wait(self, process: int, message: int) -> None:
        """The process goes on when it has this message."""

class PipelineTimes:
    @property
    def seconds(self) -> float: ...

    @property
    def mean_work(self) -> float: ...

    @property
    def most_work(self) -> float: ...

    @property
    def panels(self) -> int: ...

def pipeline(question: PipelineQuestion) -> PipelineTimes: ...
