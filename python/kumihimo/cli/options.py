"""The options that several verbs share, each with one name and one sentence of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

Collective = Annotated[str, typer.Argument(metavar="COLLECTIVE", help="Collective: allreduce, bcast, reduce ...")]
CollectiveOrPrograms = Annotated[
    str, typer.Argument(metavar="COLLECTIVE", help="Collective: allreduce, bcast ..., or halo:16x16x16, or file:PATH")
]
OptionalAlgorithm = Annotated[
    Optional[str],
    typer.Option("--algorithm", "-a", metavar="NAME", help="Name of the algorithm, as in docs/algorithms.md."),
]
Algorithm = Annotated[
    str, typer.Option("--algorithm", "-a", metavar="NAME", help="Name of the algorithm, as in docs/algorithms.md.")
]
Shape = Annotated[
    Optional[str],
    typer.Option(
        "--shape",
        "-s",
        metavar="SHAPE",
        help="Shape of the nodes: 4x3x2 (4x3mx2 with a mesh axis), 64, none or node:4.",
    ),
]
ShapeOfJob = Annotated[
    Optional[str],
    typer.Option("--shape", "-s", metavar="SHAPE", help="Shape of the nodes: 4x3x2 (4x3mx2 with a mesh axis) or 64."),
]
Box = Annotated[
    Optional[str],
    typer.Option(
        "--box", metavar="BOX", help="Box of Tofu nodes: 4x3x8x2x3x2, or 4x3x8x2x3x2@0,0,1 with its first group."
    ),
]
Dead = Annotated[
    Optional[list[str]],
    typer.Option("--dead", metavar="PART", help="Dead node 5,0,3 or dead cable 5,0,3-6,0,3 of Tofu; may be repeated."),
]
Routing = Annotated[
    Optional[str],
    typer.Option(
        "--routing", metavar="NAME", help="Routing: minimal or valiant (dragonfly), d_mod_k or ecmp (fat tree)."
    ),
]
Ranks = Annotated[
    Optional[int], typer.Option("--ranks", "-p", metavar="P", help="Number of ranks; in a row if no shape is given.")
]
RanksOfMachine = Annotated[
    Optional[int],
    typer.Option(
        "--ranks", "-p", metavar="P", help="Number of ranks [default: those of the shape, or of the machine]."
    ),
]
RanksPerNode = Annotated[
    Optional[str],
    typer.Option(
        "--ranks-per-node",
        metavar="G",
        help="Ranks per node (the last node has the rest), or the ranks of each node: 4,3,5 [default: 1].",
    ),
]
RanksPerNodeOrMachine = Annotated[
    Optional[str],
    typer.Option(
        "--ranks-per-node",
        metavar="G",
        help="Ranks per node (the last node has the rest), or the ranks of each node: 4,3,5 [default: the machine's].",
    ),
]
Order = Annotated[
    Optional[str],
    typer.Option(
        "--order",
        metavar="NAME",
        help="Order of ranks on nodes: block, round-robin, reversed-axes or random:SEED [default: block].",
    ),
]
Placement = Annotated[
    Optional[Path],
    typer.Option("--placement", metavar="FILE", help="File with lines 'rank node slot', or an Open MPI rankfile."),
]
AlgorithmOrAll = Annotated[str, typer.Option("--algorithm", "-a", metavar="NAME", help="Name of an algorithm, or all.")]
Count = Annotated[Optional[int], typer.Option("--count", "-n", metavar="N", help="Number of elements.")]
Type = Annotated[str, typer.Option("--type", metavar="TYPE", help="Element type: float64, int32 ...")]
Operation = Annotated[
    str, typer.Option("--op", metavar="OP", help="Reduction operation: sum, prod, min, max, land, bor ...")
]
Root = Annotated[int, typer.Option("--root", metavar="R", help="Root rank of bcast, reduce, gather or scatter.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Use one buffer for input and output.")]
Trees = Annotated[Optional[int], typer.Option("--trees", metavar="K", help="Spanning trees.")]
SegmentBytes = Annotated[
    Optional[str], typer.Option("--segment-bytes", metavar="SIZE", help="Bytes of one lane's step.")
]
Segments = Annotated[Optional[int], typer.Option("--segments", metavar="N", help="Number of segments.")]
Window = Annotated[Optional[int], typer.Option("--window", metavar="W", help="Segments in flight.")]
Overlap = Annotated[bool, typer.Option("--overlap", help="Broadcast follows reduce segment by segment.")]
Throttle = Annotated[
    Optional[int], typer.Option("--throttle", metavar="N", help="Messages of a direct exchange at once.")
]
Radix = Annotated[Optional[int], typer.Option("--radix", metavar="W", help="Base of the digits of a distance.")]
Gap = Annotated[
    Optional[int],
    typer.Option("--gap", metavar="N", help="Pacing, in predictions: lengths a link rests after a message."),
]
Inner = Annotated[Optional[str], typer.Option("--inner", metavar="NAME", help="The algorithm within nodes.")]
Outer = Annotated[Optional[str], typer.Option("--outer", metavar="NAME", help="The algorithm between nodes.")]
Group = Annotated[
    Optional[int],
    typer.Option("--group", metavar="N", help="Ranks that share a leader, at most a node's; all of the node."),
]
SingleCopy = Annotated[
    bool, typer.Option("--single-copy", help="Long messages on a node are read from their sender's memory.")
]
StreamingStores = Annotated[
    bool, typer.Option("--streaming-stores", help="Write received results with non-temporal stores.")
]
Counts = Annotated[
    Optional[str],
    typer.Option(
        "--counts",
        metavar="LIST",
        help="Irregular blocks (allgatherv ...): their elements as 0,5,1000 or bytes as 8B,1MiB; or a distribution "
        "around the given size: zeros, one_huge, ramp, random:SEED.",
    ),
]
Neighbours = Annotated[
    Optional[str],
    typer.Option(
        "--neighbours",
        metavar="N",
        help="Neighbours of each rank (neighbor_allgather ...): cart:4x3mx2, graph:FILE or random:SEED.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
