"""The options that several verbs share, each with one name and one sentence of help."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

Collective = Annotated[str, typer.Argument(metavar="COLLECTIVE", help="allreduce, bcast, reduce ...")]
Algorithm = Annotated[
    str, typer.Option("--algorithm", "-a", metavar="NAME", help="Its algorithm, as docs/algorithms.md names it.")
]
Shape = Annotated[
    Optional[str],
    typer.Option("--shape", "-s", metavar="SHAPE", help="Nodes as 4x3x2 (4x3mx2: a mesh axis), 64, none, or node:4."),
]
ShapeOfJob = Annotated[
    Optional[str], typer.Option("--shape", "-s", metavar="SHAPE", help="Nodes as 4x3x2 (4x3mx2: a mesh axis) or 64.")
]
Box = Annotated[
    Optional[str],
    typer.Option(
        "--box", metavar="BOX", help="A job's part of Tofu, 4x3x8x2x3x2 or 4x3x8x2x3x2@0,0,1 (its first group)."
    ),
]
Dead = Annotated[
    Optional[list[str]],
    typer.Option(
        "--dead", metavar="PART", help="What died of a job on Tofu: node 5,0,3, or cable 5,0,3-6,0,3; repeatable."
    ),
]
Routing = Annotated[
    Optional[str],
    typer.Option("--routing", metavar="NAME", help="Way of routing: minimal or valiant (dragonfly), d_mod_k or ecmp."),
]
Ranks = Annotated[
    Optional[int], typer.Option("--ranks", "-p", metavar="P", help="Number of ranks; without a shape, a row of them.")
]
RanksOfMachine = Annotated[
    Optional[int],
    typer.Option("--ranks", "-p", metavar="P", help="Number of ranks: the shape's, or the machine's without one."),
]
RanksPerNode = Annotated[
    Optional[str],
    typer.Option(
        "--ranks-per-node",
        metavar="G",
        help="Ranks on each node, 1 unless told; of --ranks the last node has the rest; or of each node: 4,3,5.",
    ),
]
RanksPerNodeOrMachine = Annotated[
    Optional[str],
    typer.Option(
        "--ranks-per-node",
        metavar="G",
        help="Ranks on each node, by default the machine's (if given, the last has the rest); or of each: 4,3,5.",
    ),
]
AlgorithmOrAll = Annotated[str, typer.Option("--algorithm", "-a", metavar="NAME", help="One algorithm, or all.")]
Count = Annotated[Optional[int], typer.Option("--count", "-n", metavar="N", help="Elements.")]
Type = Annotated[str, typer.Option("--type", metavar="TYPE", help="Element type: float64, int32 ...")]
Operation = Annotated[str, typer.Option("--op", metavar="OP", help="Reduction: sum, prod, min, max, land, bor ...")]
Root = Annotated[int, typer.Option("--root", metavar="R", help="Root of bcast and reduce.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Input and output are the same memory.")]
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
PastCaches = Annotated[
    bool, typer.Option("--past-caches", help="What comes is written past the caches: it is not read soon.")
]
Counts = Annotated[
    Optional[str],
    typer.Option(
        "--counts",
        metavar="LIST",
        help="Irregular blocks (allgatherv ...): of 0,5,1000 elements (bytes with a unit: 1MiB); or spread about the "
        "length: zeros, one_huge, ramp, random:SEED.",
    ),
]
Neighbours = Annotated[
    Optional[str],
    typer.Option(
        "--neighbours",
        metavar="N",
        help="Whose neighbours ranks are (neighbor_allgather ...): cart:4x3mx2, graph:FILE, random:SEED.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
