"""Shapes, the ranks' view of them, and the torus as a graph."""

from collections.abc import Sequence


class Axis:
    """One axis of a torus or mesh."""

    def __init__(self, length: int, wraps: bool = True) -> None: ...

    @property
    def length(self) -> int: ...

    @property
    def wraps(self) -> bool: ...

class Shape:
    """
    Axes and coordinates of a box of numbered places, the last axis running fastest.
    """

    def __init__(self) -> None:
        """Without axes."""

    @staticmethod
    def parse(text: str) -> Shape:
        """From 48x6x32; a length followed by m is a mesh axis."""

    @property
    def axes(self) -> list[Axis]: ...

    @property
    def places(self) -> int: ...

    def coordinates(self, place: int) -> list[int]: ...

    def place(self, coordinates: Sequence[int]) -> int: ...

    def __str__(self) -> str: ...

    def __eq__(self, arg: Shape, /) -> bool: ...

class RankSpace:
    """A communicator as its ranks see it."""

    @staticmethod
    def row(ranks: int) -> RankSpace:
        """Ranks without a shape."""

    @staticmethod
    def node(ranks: int) -> RankSpace:
        """Ranks of one shared-memory node."""

    @staticmethod
    def box(nodes: Shape, ranks_per_node: int = 1) -> RankSpace:
        """Nodes in row-major order."""

    @staticmethod
    def of_nodes(sizes: Sequence[int]) -> RankSpace:
        """Consecutive ranks on nodes in a row, so many on each."""

    @staticmethod
    def on_nodes(node_of_rank: Sequence[int]) -> RankSpace:
        """Ranks on nodes in a row, by the number of each one's node."""

    @staticmethod
    def recognise(machine: Shape, node_of_rank: Sequence[int]) -> RankSpace:
        """Ranks on nodes of a machine with this shape."""

    @property
    def ranks(self) -> int: ...

    @property
    def has_shape(self) -> bool: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def is_row_major(self) -> bool:
        """Whether ranks are numbered along the shape's last axis first."""

    @property
    def ranks_per_node(self) -> int:
        """0 where nodes hold unequal numbers of ranks."""

    @property
    def between_nodes(self) -> RankSpace:
        """The space of one rank a node."""

    @property
    def node_sizes(self) -> list[int]:
        """Only where they are unequal."""

    @property
    def levels(self) -> list[tuple[str, int]]:
        """
        Groups of consecutive ranks that are close, outermost first: name, and ranks in each.
        """

    def __str__(self) -> str: ...

class Torus:
    """Torus or mesh with dimension-order routing."""

    def __init__(self, shape: Shape) -> None: ...

    @property
    def nodes(self) -> int: ...

    @property
    def links(self) -> int: ...

    @property
    def diameter(self) -> int: ...

    def is_link(self, link: int) -> bool: ...

    def route(self, from_: int, to: int) -> list[int]:
        """The links that a message crosses, in order."""

    def distance(self, from_: int, to: int) -> int:
        """Hops."""

    def ends(self, link: int) -> tuple[int, int]:
        """The nodes that a link leads from and to."""

    def link_name(self, link: int) -> str: ...
