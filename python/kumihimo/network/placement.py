"""Which rank sits in which slot, as the user asks: by the name of an order, or by a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _placement, _topology
from kumihimo.text import files, odd_bytes
from kumihimo.text.errors import wrong_value

LARGEST_FILE = 64 << 20


@dataclass(frozen=True)
class Wanted:
    """One of them: `order`, such as random:1, or the text of a placement `file`."""

    order: str | None = None
    file: str | None = None
    text: str = ""
    format: str = ""  # of the file; empty: recognised

    def __str__(self) -> str:
        return self.order or self.file or ""

    def place(
        self,
        slots: _placement.Slots,
        nodes: _topology.Shape,
        names: list[str] | None = None,
        cores_per_node: int = 0,
    ) -> _placement.Placement:
        """On these slots, of nodes of this shape (or of none), with these names and cores (0: a slot each)."""
        if self.order is not None:
            return _placement.Placement.in_order(self.order, slots, nodes)
        text, file = self.text or "", self.file or ""
        format_ = self.format or map_format_of(text, file)
        if format_ == PLACEMENT:
            return _placement.Placement.parse(text, file, slots, names or [])
        return _placement.read_map(format_, text, file, slots, names or [], nodes, cores_per_node, True)


PLACEMENT = "placement"
FORMS = (  # of the first line: the format, which may be a placement file with an error where none fits
    ("mpich5", r"-hosts\s.*"),
    ("vcoord", r"\(.*"),
    ("permutation", r"\d+"),
    ("cray", r"[-\d,\s]*[-,][-\d,\s]*"),
    ("hydra", r"[^\s:]+:\d+(\s+[\w-]+\s*=.*)?|\S+\s+[\w-]+\s*=.*"),
    ("slurm", r"[^\s:]+"),
)


LATER_LINES = {  # of files that begin like those of another format: the first line, any other one, the format
    "cray": (r"\d+", r"\d+\s*[-,].*"),
}
ALIASES = {"hostfile": "hydra", "rankfile": ""}  # before the name of a file; empty: recognised


def map_format_of(text: str, file: str | None) -> str:
    """Format of a map by its lines, without comments; mostly the first one is enough. A list of ranks, a line for each
    node, looks like a permutation if all nodes have one rank. It must then have the name that MPICH gives it, or the
    prefix cray:.
    """
    if Path(file or "").name.startswith("MPICH_RANK_ORDER"):
        return "cray"
    if _placement.is_rankfile(text):
        return "openmpi5"
    lines = list(filter(None, (line.partition("#")[0].strip() for line in text.splitlines())))
    first = lines[0] if lines else ""
    for name, (begin, later) in LATER_LINES.items():
        if re.fullmatch(begin, first) and any(re.fullmatch(later, line) for line in lines):
            return name
    return next((name for name, form in FORMS if re.fullmatch(form, first)), PLACEMENT)


def format_and_file(text: str) -> tuple[str, str]:
    """Both parts of FORMAT:FILE; the format is empty if the text is FILE alone, which may have a colon."""
    name, _, file = text.partition(":")
    has_format = file and name in (*_placement.map_formats(), *ALIASES) and not Path(text).exists()
    return (name, file) if has_format else ("", text)


@dataclass(frozen=True)
class Placed:
    """A placement, and what the user calls it."""

    name: str
    placement: _placement.Placement


def wanted(order: str | None, file: Path | None) -> Wanted | None:
    """The placement that --order and --placement ask for; None: block order, as without them."""
    if order is not None and file is not None:
        raise wrong_value("--order excludes --placement", "both", "leave one of them out")
    if file is not None:
        return read_wanted(file)
    return None if order is None else Wanted(order=order)


def read_wanted(path: Path) -> Wanted:
    """The placement of FILE or FORMAT:FILE."""
    format_, name = format_and_file(str(path))
    text = files.read_text(Path(name), "the placement file", LARGEST_FILE)
    return Wanted(file=odd_bytes.printable(name), text=text, format=ALIASES.get(format_, format_))


def on_space(space: _topology.RankSpace, wanted: Wanted) -> _placement.Placement:
    """On the nodes of ranks that are described without a machine."""
    if not space.has_shape and not space.node_sizes and space.ranks_per_node == 1 and space.ranks > 1:
        raise wrong_value(
            "--order, --placement and --save-placement need ranks on nodes",
            f"a {space}",
            "add --shape or --ranks-per-node",
        )
    sizes = space.node_sizes or [space.ranks_per_node] * (space.ranks // space.ranks_per_node)
    return wanted.place(_placement.Slots.of_nodes(sizes), _shape_of_nodes(space))


def placed(
    space: _topology.RankSpace, wanted: Wanted | None, ranks: int | None = None
) -> tuple[_topology.RankSpace, _placement.Placement | None]:
    """The space that ranks see where the user wants them, and the placement; None: unchanged. `ranks`: the number asked
    for; None: any number.
    """
    if wanted is None:
        return space, None
    placement = on_space(space, wanted)
    check_places_all(wanted, placement, ranks)
    return space_of(space, placement), placement


def check_places_all(wanted: Wanted, placement: _placement.Placement, ranks: int | None) -> None:
    """Whether a placement has as many ranks as were asked for; None: any number."""
    if ranks not in (None, placement.ranks):
        raise wrong_value(f"{wanted} must place all {ranks} ranks", placement.ranks, "give as many --ranks")


def space_of(space: _topology.RankSpace, placement: _placement.Placement) -> _topology.RankSpace:
    """The space that ranks see after on_space() has placed them."""
    if placement.is_block and placement.ranks == space.ranks:
        return space
    return placement.rank_space(_shape_of_nodes(space))


def _shape_of_nodes(space: _topology.RankSpace) -> _topology.Shape:
    return space.between_nodes.shape if space.has_shape else _topology.Shape()
