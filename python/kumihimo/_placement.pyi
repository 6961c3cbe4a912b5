"""Which rank sits in which slot."""

from collections.abc import Sequence

import kumihimo._topology


class Slots:
    """Where ranks can sit: so many slots on each node."""

    @staticmethod
    def of_nodes(sizes: Sequence[int]) -> Slots: ...

    @property
    def sizes(self) -> list[int]: ...

    @property
    def size(self) -> int:
        """Of all nodes together."""

    @property
    def nodes(self) -> int: ...

class Placement:
    """Which rank sits in which slot."""

    @staticmethod
    def in_order(order: str, slots: Slots, nodes: kumihimo._topology.Shape, grid: kumihimo._topology.Shape | None = None, ranks: int | None = None) -> Placement:
        """
        By the name of an order. `nodes`: their shape, or one without axes; `grid`: of the ranks, if they have one; `ranks`: as many as slots by default.
        """

    @staticmethod
    def parse(text: str, file_name: str, slots: Slots, names: Sequence[str] = []) -> Placement:
        """
        From the text of a placement file or of a rankfile; `names`: of the nodes.
        """

    @staticmethod
    def on_nodes(slots: Slots, node_of_rank: Sequence[int]) -> Placement:
        """
        By the node of each rank; ranks take a node's slots in their own order.
        """

    @property
    def slots(self) -> Slots: ...

    @property
    def ranks(self) -> int: ...

    @property
    def is_block(self) -> bool: ...

    @property
    def node_of_rank(self) -> list[int]: ...

    @property
    def slot_of_rank(self) -> list[int]:
        """Its number on the node."""

    def rank_space(self, nodes: kumihimo._topology.Shape) -> kumihimo._topology.RankSpace:
        """What the ranks see on nodes of this shape."""

    def __str__(self) -> str: ...

def simple_orders(slots: Slots, nodes: kumihimo._topology.Shape, grid: kumihimo._topology.Shape | None = None, ranks: int | None = None) -> list[str]:
    """The names of all different orders that apply, block first."""

def map_formats() -> list[str]:
    """The names of the formats of placements as files."""

def write_map(format: str, placement: Placement, names: Sequence[str] = [], nodes: kumihimo._topology.Shape = ..., cores_per_node: int = 0, slots_are_alike: bool = False) -> str:
    """
    The placement as a file of this format. `names`, `nodes`: names and shape of the nodes, or none. `slots_are_alike`: the slots of a node may be exchanged.
    """

def read_map(format: str, text: str, file: str, slots: Slots, names: Sequence[str] = [], nodes: kumihimo._topology.Shape = ..., cores_per_node: int = 0, slots_are_alike: bool = False) -> Placement:
    """The placement in a file of this format."""

def is_rankfile(text: str) -> bool:
    """Whether the first line is one of a rankfile of Open MPI."""

def read_hostfile(text: str, file: str) -> list[tuple[str, int]]:
    """
    The host and the ranks of each line of a hostfile of Open MPI or Hydra.
    """

def launch_hint(format: str, file: str, ranks: int) -> str:
    """The command line that starts PROGRAM by the file, or an empty text."""

def map_warning(format: str, placement: Placement) -> str:
    """
    What a user should know of this placement in this format; mostly empty.
    """
