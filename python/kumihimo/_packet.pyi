"""Options of the packet model, and jobs beside the one watched."""

from collections.abc import Sequence

import kumihimo._goal
import kumihimo._machine


class Options:
    """How packets are made, stored and routed."""

    def __init__(self, adaptive: bool = False, packet_bytes: int = 2048, header_bytes: int = 0, buffer_packets: int = 0, seed: int = 1, bins: int = 128, links_over_time: bool = False) -> None: ...

    @property
    def routing(self) -> str: ...

    @property
    def packet_bytes(self) -> int: ...

    @property
    def header_bytes(self) -> int: ...

    @property
    def links_over_time(self) -> bool: ...

    @property
    def seed(self) -> int: ...

    def with_seed(self, seed: int) -> Options:
        """The same with another seed."""

class Background:
    """Other jobs on nodes of their own, beside the job watched."""

    def __init__(self) -> None: ...

    def add_sources(self, pattern: str, nodes: Sequence[int], load: float, bytes: int, seed: int) -> None:
        """Nodes that send at random times."""

    def add_recorded(self, graphs: kumihimo._goal.Graphs, nodes: Sequence[int], seed: int) -> None:
        """Graphs that run again and again."""

    @property
    def warm_up(self) -> float | None:
        """Seconds before the job watched starts; None: by rule."""

    @warm_up.setter
    def warm_up(self, seconds: float | None) -> None: ...

class BackgroundUse:
    """Of a background job while the job watched ran."""

    @property
    def offered(self) -> int: ...

    @property
    def delivered(self) -> int: ...

    @property
    def runs(self) -> int: ...

def buffer_packets_of(job: kumihimo._machine.Job, options: Options) -> int:
    """Packets in the buffer of each virtual channel."""
