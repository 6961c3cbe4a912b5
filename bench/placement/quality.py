#!/usr/bin/env python3
"""Placements of well-known communication graphs on tori, beside those of other tools.

    bench/placement/quality.py [--rows TEXT] [--efforts fast,standard] [--unseen SEED] [--runs 1] [--keep FOLDER]
                               [--peers Scotch,METIS,KaHIP,VieM] [--kahip PROGRAM] [--viem PROGRAM]

Average hops of a byte, and the load of the busiest directed link in units of the mean bytes that a rank sends. Every
map is measured by `kumihimo place --evaluate`. Peers: Scotch's gmap, best and worst of 8 runs (-b0.0001, so that its
maps are legal); recursive bisection by METIS, matched with halves of the torus; global_multisection of KaHIP (fast, no
imbalance) and VieM, which get the torus as a hierarchy of boxes. A peer that is not installed, and a run that failed or
whose map puts too many ranks on a node, is named. `best known` are the best maps of any tool or hand that were known
before this one. --unseen: graphs of the same kinds with other sizes, tori and numberings, drawn by the seed.

Exits with 1 if a row of the last effort has more hops than the best known map, a simple order or a peer, or more than
1.10 x the bound where such a map reaches it, or a busier link than the usual order, than Scotch's best map or than its
lowest; or if the effort fast has more hops than Scotch's first run. --keep writes the traffic of these rows there, and
prints how to search again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Callable

import graphs
from graphs import Traffic

KUMIHIMO = Path(sys.executable).parent / "kumihimo"
PROGRAMS = {"Scotch": ("gmap", "scotch_gmap"), "KaHIP": ("global_multisection",), "VieM": ("viem",)}
TOOLS = {tool: next(filter(None, map(shutil.which, names)), "") for tool, names in PROGRAMS.items()}
PEER_SECONDS = 60  # of processor time, of one run
STRATEGIES = ((), ("-cr",), ("-cb",), ("-cq",))


@dataclass(frozen=True)
class Row:
    name: str
    ranks: int
    shape: str
    make: Callable[[], Traffic] = field(compare=False)
    best_known: float = math.inf
    slots: int = 1  # of a node
    network: str = ""  # other options than --shape; peers do not know such networks

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(int(length.rstrip("m")) for length in self.shape.split("x"))

    def is_mesh(self, axis: int) -> bool:
        return self.shape.split("x")[axis].endswith("m")


def table_rows() -> list[Row]:
    cube, boxes = (16,) * 3, "16x16x16"
    halo27 = lambda: graphs.halo(cube, True)  # noqa: E731
    shuffled27 = lambda: graphs.shuffled(halo27(), 4096)  # noqa: E731
    fem = lambda: graphs.fem(4096, 500_000)  # noqa: E731
    nas = {
        "cg_B_1024": (1024, lambda: graphs.cg(1024, 75_000), {"32x32": 3.882, "8x8x16": 2.230}),
        "lu_B_1024": (1024, lambda: graphs.lu(1024, 102), {"32x32": 1.0, "8x8x16": 1.0162}),
        "mg_B_1024": (1024, lambda: graphs.mg(1024, 256), {"32x32": 3.018, "8x8x16": 1.0024}),
        "bt_C_1024": (1024, lambda: graphs.bt(1024, 162), {"32x32": 1.3334, "8x8x16": 1.415}),
        "ft_B_1024": (1024, lambda: graphs.ft(1024), {"32x32": 8.2581, "8x8x16": 4.2581}),
        "cg_D_8192": (8192, lambda: graphs.cg(8192, 1_500_000, 100), {"128x64": 5.870}),
        "bruck_4096": (4096, lambda: graphs.bruck(4096), {boxes: 1.517}),
    }
    return [
        Row("halo2d_32_shuf", 1024, "32x32", lambda: graphs.shuffled(graphs.halo((32, 32), False), 1024), 1.0),
        Row("halo3d_16", 4096, boxes, lambda: graphs.halo(cube, False), 1.0),
        Row("halo3d_16_shuf", 4096, boxes, lambda: graphs.shuffled(graphs.halo(cube, False), 4096), 1.0),
        Row("halo27_16", 4096, boxes, halo27, 1.0308),
        Row("halo27_16", 4096, "8x8x64", halo27, 2.101),
        Row("halo27_16_shuf", 4096, "8x8x64", shuffled27, 2.101),
        Row("halo27_16", 4096, "48x6x15", halo27, 2.848),
        Row("halo27_16_shuf", 4096, "48x6x15", shuffled27, 2.848),
        Row("halo27_16_shuf", 4096, "7x7x7x2x3x2", shuffled27, 1.898),
        *(Row(n, ranks, s, make, best) for n, (ranks, make, all_best) in nas.items() for s, best in all_best.items()),
        Row("fem_4096", 4096, boxes, fem, 2.407),
        Row("fem_4096", 4096, "8x8x8", fem, 1.068, 8),
    ]


def unseen_rows(seed: int) -> list[Row]:
    """`best_known` is that of a map by hand: the inverse of a shuffle, or axes that are closed walks of other axes."""
    draw = random.Random(seed)
    rows: list[Row] = []

    def add(name: str, ranks: int, lengths: Sequence[int | str], make: Callable[[], Traffic], best: float = math.inf,
            slots: int = 1, mixed: bool | None = None, network: str = "") -> None:  # fmt: skip
        order = draw.randrange(1 << 30)
        if draw.random() < 0.5 if mixed is None else mixed:
            name, unmixed = f"{name} shuffled", make
            make = lambda: graphs.shuffled(unmixed(), ranks, order)  # noqa: E731
        rows.append(Row(name, ranks, text(lengths), make, best, slots, network))

    def text(lengths: Sequence[int | str]) -> str:
        return "x".join(map(str, lengths))

    def some(axes: int, least: int, most: int) -> tuple[int, ...]:
        return tuple(draw.randint(least, most) for _ in range(axes))

    def torus_of(nodes: int, axes: int) -> tuple[int, ...]:
        """Prime factors dealt to the axes at random; the longest axis at most 32 x the shortest."""
        while True:
            lengths = [1] * axes
            left = nodes
            for factor in range(2, nodes + 1):
                while left % factor == 0:
                    lengths[draw.randrange(axes)] *= factor
                    left //= factor
            if max(lengths) <= 32 * min(lengths) and (min(lengths) > 1 or nodes < 2**axes or axes == 1):
                return tuple(lengths)
            axes = max(1, axes - (draw.random() < 0.05))

    def smooth(least: int, most: int) -> int:
        """Without large prime factors, so that there are other tori of as many nodes."""
        while True:
            number = draw.randint(least, most)
            if all(number % factor for factor in range(11, number + 1) if all(factor % f for f in (2, 3, 5, 7))):
                return number

    # The same torus, shuffled: the inverse is best.
    for lengths in (some(2, 9, 30), some(3, 5, 12), some(4, 3, 7)):
        make = lambda g=lengths: graphs.halo(g, False)  # noqa: E731
        add(f"halo {text(lengths)}", math.prod(lengths), lengths, make, 1.0, mixed=True)
    lengths = some(3, 6, 12)
    add(f"halo27 {text(lengths)}", math.prod(lengths), lengths, lambda g=lengths: graphs.halo(g, True))
    lengths = some(2, 9, 24)
    add(f"mesh {text(lengths)}", math.prod(lengths), lengths, lambda g=lengths: graphs.halo(g, False, wraps=False), 1.0)
    lengths = some(2, 12, 24)
    oceans = lambda g=lengths: graphs.without_land(graphs.halo(g, False, wraps=False), g, seed)  # noqa: E731
    add(f"ocean {text(lengths)}", 1 + max(map(max, oceans())), lengths, oceans, 1.0, mixed=True)
    lengths = some(3, 5, 10)
    make = lambda g=lengths: graphs.noisy(graphs.halo(g, False), seed)  # noqa: E731
    add(f"noisy halo {text(lengths)}", math.prod(lengths), lengths, make, 1.0, mixed=True)
    # An axis of the graph is a closed walk through two axes of the torus; 4 = 2 x 2.
    a, b, c, d = some(4, 3, 8)
    for grid, torus in (((a, b * c), (a, c, b)), ((a * b, c * d), (a, c, b, d)), ((a, b, c * d), (d, a, c, b))):
        if math.prod(grid) < 4096:
            add(f"halo {text(grid)}", math.prod(grid), torus, lambda g=grid: graphs.halo(g, False), 1.0)
    a, b = 2 * draw.randint(3, 9), 2 * draw.randint(3, 9)
    add(f"halo {a}x{b}", a * b, (4, a // 2, b // 2), lambda: graphs.halo((a, b), False), 1.0)
    # Other tori of as many nodes.
    for axes, diagonals, least, most in ((2, False, 12, 40), (2, True, 12, 40), (3, False, 5, 14), (3, True, 5, 14),
                                         (3, True, 5, 14), (4, False, 3, 7), (4, True, 3, 6)):  # fmt: skip
        grid = tuple(smooth(least, most) for _ in range(axes))
        torus = torus_of(math.prod(grid), draw.randint(1, 5))
        faces = tuple(draw.choice((1, 1, 2, 5)) for _ in grid)
        add(f"halo{3**axes if diagonals else 2 * axes + 1} {text(grid)}", math.prod(grid), torus,
            lambda g=grid, d=diagonals, f=faces: graphs.halo(g, d, (32768, 512, 8, 8), faces=f))  # fmt: skip
    for grid, torus in (((12, 10, 9), (6, 6, 30)), ((24, 24), (4, 12, 12)), ((20, 20, 10), (10, 20, 20))):
        add(f"halo{3 ** len(grid)} {text(grid)}", math.prod(grid), torus, lambda g=grid: graphs.halo(g, True))
    # Blocks of a grid on each node.
    block, lengths = draw.choice(((2, 2, 2), (2, 2, 1), (3, 2, 1), (4, 1, 2))), some(3, 4, 8)
    grid = tuple(n * b for n, b in zip(lengths, block))
    best = sum(1 / b for b in block) / 3
    add(f"halo7 {text(grid)}", math.prod(grid), lengths, lambda g=grid: graphs.halo(g, False), best, math.prod(block))
    # Several ranks a node, more slots than ranks, meshes, Tofu.
    slots = draw.choice((2, 3, 4, 6, 8))
    grid = (smooth(4, 12), smooth(4, 12), smooth(2, 5) * slots)
    torus = torus_of(math.prod(grid) // slots, 3)
    add(f"halo7 {text(grid)}", math.prod(grid), torus, lambda g=grid: graphs.halo(g, False), slots=slots)
    slots = draw.choice((2, 4, 8))
    add("cg_C_1024", 1024, torus_of(1024 // slots, 3), lambda: graphs.cg(1024, 150_000), slots=slots)
    grid = some(3, 5, 10)
    roomy = tuple(length + draw.randint(0, 2) for length in grid)
    add(f"halo7 {text(grid)}", math.prod(grid), roomy, lambda g=grid: graphs.halo(g, False))
    add("lu_B_256", 256, some(3, 7, 9), lambda: graphs.lu(256, 102))
    torus = [f"{length}{draw.choice(('', 'm'))}" for length in torus_of(512, 3)]
    add("bruck_512", 512, torus, lambda: graphs.bruck(512))
    grid = tuple(smooth(5, 12) for _ in range(3))
    torus = [f"{length}m" for length in torus_of(math.prod(grid), 3)]
    add(f"halo27 {text(grid)}", math.prod(grid), torus, lambda g=grid: graphs.halo(g, True))
    x, y, z = some(3, 2, 4)
    add(f"halo27 {text((2 * x, 3 * y, 2 * z))}", 12 * x * y * z, (x, y, z, 2, 3, 2),
        lambda: graphs.halo((2 * x, 3 * y, 2 * z), True))  # fmt: skip
    add(f"halo7 {text((2 * x, 3 * y - 1, 2 * z))}", 4 * x * (3 * y - 1) * z, (x, y, z, 2, 3, 2),
        lambda: graphs.halo((2 * x, 3 * y - 1, 2 * z), False),
        network=f"--machine k-computer --box {x}x{y}x{z}x2x3x2 --dead 1,2,1")  # fmt: skip
    # NPB of other classes and sizes.
    for ranks, torus in ((256, (16, 16)), (512, (8, 8, 8)), (2048, (16, 16, 8))):
        size = draw.choice((1, 2, 4))
        kinds: dict[str, Callable[[], Traffic]] = {
            "cg": lambda n=ranks, k=size: graphs.cg(n, 75_000 * k),
            "lu": lambda n=ranks, k=size: graphs.lu(n, 102 * k),
            "mg": lambda n=ranks, k=size: graphs.mg(n, 256 * k),
            "ft": lambda n=ranks: graphs.ft(n),
        }
        for kind, make in kinds.items():
            shape = torus if draw.random() < 0.5 else torus_of(ranks, draw.randint(2, 4))
            if (kind, ranks) != ("ft", 2048):
                add(f"{kind}_{ranks}", ranks, shape, make)
    for side in (draw.randint(10, 18), draw.randint(19, 32), draw.choice((16, 24, 32))):
        shape = torus_of(side * side, draw.randint(2, 4))
        add(f"bt_{side * side}", side * side, shape, lambda s=side: graphs.bt(s * s, 162))
    # What collectives send.
    n = smooth(200, 1500)
    add(f"bruck_{n}", n, torus_of(n, 3), lambda n=n: graphs.bruck(n))
    add(f"ring_{n}", n, torus_of(n, draw.randint(2, 4)), lambda n=n: graphs.ring(n), 1.0)
    add("recursive_doubling_512", 512, torus_of(512, 3), lambda: graphs.recursive_doubling(512))
    add("binomial_1000", 1000, torus_of(1000, 3), lambda: graphs.binomial(1000))
    side, other = draw.randint(8, 20), draw.randint(8, 20)
    best = (mean_ring(side) * side + mean_ring(other) * other) / (side + other - 2)
    add(f"pencils_{side}x{other}", side * other, (side, other), lambda: graphs.pencils(side, other), best)
    add("alltoall_180", 180, torus_of(180, 3), lambda: graphs.alltoall(180))
    # Without a grid.
    n, m = smooth(300, 1500), smooth(300, 1500)
    add(f"geometric2d_{n}", n, torus_of(n, 3), lambda n=n: graphs.geometric(n, 2, 8, seed))
    add(f"geometric3d_{m}", m, torus_of(m, 3), lambda m=m: graphs.geometric(m, 3, 14, seed))
    points = draw.randrange(1000)
    add("fem_1024", 1024, torus_of(1024, 3), lambda: graphs.fem(1024, 60_000, points))
    add("fem_plate_768", 768, torus_of(768, 3), lambda: graphs.fem(768, 60_000, points, (1.0, 1.0, 0.1)))
    add("fem_bar_512", 256, torus_of(128, 3), lambda: graphs.fem(256, 30_000, points, (1.0, 0.1, 0.1)), slots=2)
    return rows


def mean_ring(length: int) -> float:
    """Hops from one place of a ring to another, or to itself."""
    return sum(min(at, length - at) for at in range(length)) / length


def number(place: Sequence[int], lengths: Sequence[int]) -> int:
    total = 0
    for coordinate, length in zip(place, lengths):
        total = total * length + coordinate
    return total


@dataclass(frozen=True)
class Map:
    name: str
    hops: float
    link: float
    seconds: float = 0.0  # processor time
    fault: str = ""  # why there is no map, or no legal one

    def text(self) -> str:
        return f"{self.hops:.4f} / {self.link:.2f}"


def failed(name: str, fault: str, seconds: float) -> Map:
    return Map(name, math.inf, math.inf, seconds, fault)


class Case:
    """A row with its files, and what is measured of it."""

    def __init__(self, row: Row, folder: Path) -> None:
        self.row, self.folder = row, folder
        self.traffic = row.make()
        self.file = folder / "traffic.txt"
        graphs.write(self.traffic, row.ranks, self.file)
        self.mean = sum(self.traffic.values()) / row.ranks
        self.target = row.network.split() or ["--shape", row.shape, "--ranks-per-node", str(row.slots)]

    def command(self, *options: str) -> list[str]:
        return [str(word) for word in (KUMIHIMO, "place", "--traffic", self.file, *self.target, *options)]

    def place(self, *options: str) -> dict:
        line = self.command("--json", *options)
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(line)}: {done.stderr}")
        return json.loads(done.stdout)

    def ours(self, effort: str, seed: int) -> tuple[Map, dict]:
        found = self.place("--effort", effort, "--seed", str(seed))
        return Map(
            effort, found["average_hops"], found["link_bytes_max"] / self.mean, found["search_cpu_seconds"]
        ), found

    def evaluated(self, name: str, nodes: list[int], seconds: float) -> Map:
        """`nodes`: the node of each rank."""
        places = math.prod(self.row.lengths)
        if len(nodes) != self.row.ranks or not all(0 <= node < places for node in nodes):
            return failed(name, "an incomplete map", seconds)
        surplus = sum(max(0, count - self.row.slots) for count in Counter(nodes).values())
        if surplus:
            return failed(name, f"{surplus} ranks too many on nodes", seconds)
        taken: Counter[int] = Counter()
        slots = []
        for node in nodes:
            slots.append(node * self.row.slots + taken[node])
            taken[node] += 1
        path = self.folder / "map.txt"
        path.write_text("".join(f"{slot}\n" for slot in slots), encoding="utf-8")
        found = self.place("--evaluate", f"permutation:{path}")
        return Map(name, found["average_hops"], found["link_bytes_max"] / self.mean, seconds)

    def edges(self, unit: int) -> dict[tuple[int, int], int]:
        """Undirected, scaled so that hop-bytes stay below 2^31 in tools with 32-bit numbers. `unit`: of one hop."""
        sums: defaultdict[tuple[int, int], int] = defaultdict(int)
        for (a, b), sent in self.traffic.items():
            sums[min(a, b), max(a, b)] += sent
        common = math.gcd(*sums.values())
        longest = sum(length // 2 + 1 for length in self.row.lengths)
        scale = max(1.0, sum(sums.values()) / common * longest * unit / 2**31)
        return {pair: max(1, round(sent / common / scale)) for pair, sent in sums.items()}

    def neighbours(self, unit: int = 1) -> list[list[tuple[int, int]]]:
        lists: list[list[tuple[int, int]]] = [[] for _ in range(self.row.ranks)]
        for (a, b), weight in self.edges(unit).items():
            lists[a].append((b, weight))
            lists[b].append((a, weight))
        return lists


def tool(case: Case, name: str, line: list, nodes_of: Callable[[list[str]], list[int]]) -> Map:
    """Runs a program that writes a map to a file, whose path is put in place of RESULT. No file survives a failure."""
    result = case.folder / "map.peer"
    result.unlink(missing_ok=True)
    words = [str(word).replace("RESULT", str(result)) for word in line]
    before = os.times()
    done = subprocess.run(["prlimit", f"--cpu={PEER_SECONDS}", *words], capture_output=True, text=True, check=False,
                          cwd=case.folder, env={**os.environ, "SCOTCH_PTHREAD_NUMBER": "1"})  # fmt: skip
    after = os.times()
    seconds = max(0.0, after.children_user + after.children_system - before.children_user - before.children_system)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return failed(name, f"no map within {PEER_SECONDS} s", seconds)
    if done.returncode != 0 or not result.exists():
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no map"]
        return failed(name, f"exit {done.returncode}, {said[0][:60]}".replace("|", "/"), seconds)
    try:
        nodes = nodes_of(result.read_text(encoding="utf-8").split("\n"))
    except (ValueError, IndexError):
        return failed(name, "an unreadable map", seconds)
    return case.evaluated(name, nodes, seconds)


def scotch(case: Case) -> list[Map] | str:
    """Eight runs of four strategies. gmap takes no seed: -Cf makes it reproducible, and a random order of the ranks is
    what another seed would be; the first run has them in their order.

    Architectures have at most five axes: two rings of 2 are one of 4 (Gray code), with the same distances. A node of
    several slots is a domain with several ranks, which the tolerance keeps equal.
    """
    row = case.row
    lengths, twos = list(row.lengths), [at for at, length in enumerate(row.lengths) if length == 2]
    joined = twos[-2:] if len(lengths) > 5 and len(twos) >= 2 else []
    kept = [length for at, length in enumerate(lengths) if at not in joined] + ([4] if joined else [])
    if len(kept) > 5 or "m" in row.shape:
        return "no such torus"
    kept += [1] * (len(kept) == 1)
    target, graph = case.folder / "target.tgt", case.folder / "graph.grf"
    target.write_text(f"torusXD {len(kept)} {' '.join(map(str, kept))}\n" if len(kept) > 3 else
                      f"torus{len(kept)}D {' '.join(map(str, kept))}\n", encoding="utf-8")  # fmt: skip

    def node(terminal: int) -> int:
        # Scotch numbers the first axis fastest.
        if not 0 <= terminal < math.prod(kept):
            return -1
        place = []
        for length in kept:
            terminal, coordinate = divmod(terminal, length)
            place.append(coordinate)
        if joined:
            last = place.pop()
            high, low = last >> 1, (last ^ (last >> 1)) & 1
            for at, digit in zip(joined, (high, low)):
                place.insert(at, digit)
        return number(place[: len(lengths)], lengths)

    lists = case.neighbours()
    maps = []
    for run in range(8):
        order = list(range(row.ranks))
        if run > 0:
            random.Random(run).shuffle(order)
        at = {rank: position for position, rank in enumerate(order)}
        near = [[(at[other], weight) for other, weight in lists[rank]] for rank in order]
        lines = [f"{len(edges)}" + "".join(f"\t{weight}\t{other}" for other, weight in edges) for edges in near]
        head = f"0\n{row.ranks}\t{sum(map(len, near))}\n0\t010\n"
        graph.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")

        def nodes_of(lines: list[str], order: list[int] = order) -> list[int]:
            nodes = [-1] * row.ranks
            for text in lines[1 : row.ranks + 1]:
                position, terminal = map(int, text.split())
                nodes[order[position]] = node(terminal)
            return nodes

        line = [TOOLS["Scotch"], "-Cf", "-b0.0001", *STRATEGIES[run % 4], graph, target, "RESULT"]
        maps.append(tool(case, "Scotch", line, nodes_of))
    return maps


def hierarchy(row: Row) -> tuple[list[int], list[int], list[int]]:
    """Boxes within boxes: the longest axis is cut into as many parts as its least prime factor, down to one node.

    Returns the parts of each level and ten times the mean hops between them, both innermost first, and the node of each
    slot in this order.
    """
    parts, hops = [], []
    extents, boxes = list(row.lengths), [[0] * len(row.lengths)]

    def mean_hops(axis: int, apart: int) -> float:
        """Between two places of the box that are in different parts if it is cut into parts of `apart` along `axis`."""
        length, extent = row.lengths[axis], extents[axis]
        pairs = [abs(a - b) for a in range(extent) for b in range(extent) if apart == 0 or a // apart != b // apart]
        return sum(d if row.is_mesh(axis) else min(d, length - d) for d in pairs) / len(pairs)

    while max(extents) > 1:
        axis = max(range(len(extents)), key=lambda at: extents[at])
        cut = next(f for f in range(2, extents[axis] + 1) if extents[axis] % f == 0)
        size = extents[axis] // cut
        parts.append(cut)
        hops.append(round(10 * sum(mean_hops(at, size if at == axis else 0) for at in range(len(extents)))))
        extents[axis] = size
        boxes = [[*box[:axis], box[axis] + size * k, *box[axis + 1 :]] for box in boxes for k in range(cut)]
    nodes = [number(box, row.lengths) for box in boxes for _ in range(row.slots)]
    if row.slots > 1:
        parts.append(row.slots)
        hops.append(0)
    return parts[::-1], hops[::-1], nodes


def by_hierarchy(name: str, *options: str) -> Callable[[Case], list[Map] | str]:
    """Tools that know a hierarchy of distances instead of a torus. Slots without a rank get a rank without traffic."""

    def run(case: Case) -> list[Map] | str:
        parts, hops, nodes = hierarchy(case.row)
        lists = case.neighbours(10) + [[] for _ in range(len(nodes) - case.row.ranks)]
        lines = [" ".join(f"{other + 1} {weight}" for other, weight in near) for near in lists]
        graph = case.folder / "model.graph"
        head = f"{len(nodes)} {sum(map(len, lists)) // 2} 1\n"
        graph.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
        line = [TOOLS[name], graph, *options, "--seed=1", "--output_filename=RESULT",
                f"--hierarchy_parameter_string={':'.join(map(str, parts))}",
                f"--distance_parameter_string={':'.join(map(str, hops))}"]  # fmt: skip

        def nodes_of(lines: list[str]) -> list[int]:
            slots = [int(text) for text in lines[: len(nodes)]]
            if sorted(slots) != list(range(len(nodes))):
                return []
            return [nodes[slot] for slot in slots[: case.row.ranks]]

        return [tool(case, name, line, nodes_of)]

    return run


def metis(case: Case) -> list[Map] | str:
    """Halves of the graph onto halves of the torus, across its longest axis."""
    import pymetis

    lists = case.neighbours()
    row, lengths = case.row, case.row.lengths
    nodes = [0] * row.ranks

    def bisect(ranks: list[int], low: list[int], extent: list[int]) -> None:
        if math.prod(extent) == 1:
            for rank in ranks:
                nodes[rank] = number(low, lengths)
            return
        axis = max(range(len(extent)), key=lambda at: extent[at])
        half = extent[axis] // 2
        lower, rest = ([e if at == axis else n for at, n in enumerate(extent)] for e in (half, extent[axis] - half))
        upper = [place + half * (at == axis) for at, place in enumerate(low)]
        first = round(len(ranks) * half / extent[axis])
        here = {rank: at for at, rank in enumerate(ranks)}
        side = [0] * len(ranks)
        if 0 < first < len(ranks):
            near = [[(here[o], w) for o, w in lists[rank] if o in here] for rank in ranks]
            starts = [0]
            for edges in near:
                starts.append(starts[-1] + len(edges))
            flat = [e for edges in near for e in edges]
            adjacency = pymetis.CSRAdjacency(starts, [o for o, _ in flat])
            share = first / len(ranks)
            side = pymetis.part_graph(2, adjacency=adjacency, eweights=[w for _, w in flat],
                                      tpwgts=[share, 1 - share], recursive=True)[1]  # fmt: skip
        parts = [[r for r, s in zip(ranks, side) if s == which] for which in (0, 1)]
        for full, other, size in ((0, 1, first), (1, 0, len(ranks) - first)):
            parts[other] += parts[full][size:]
            del parts[full][size:]
        bisect(parts[0], low, lower)
        bisect(parts[1], upper, rest)

    before = os.times()
    bisect(list(range(row.ranks)), [0] * len(lengths), list(lengths))
    after = os.times()
    return [case.evaluated("METIS", nodes, max(0.0, after.user + after.system - before.user - before.system))]


PEERS: dict[str, Callable[[Case], list[Map] | str]] = {
    "Scotch": scotch,
    "METIS": metis,
    "KaHIP": by_hierarchy("KaHIP", "--preconfiguration=fast", "--imbalance=0"),
    "VieM": by_hierarchy("VieM"),
}


def judge(row: Row, ours: Map, found: dict, mean: float, peers: dict[str, list[Map]]) -> list[str]:
    faults = []
    exact, slack = 1 + 1e-9, 1 + 5e-4  # published numbers have four digits
    identity = Map("", found["before"]["average_hops"], found["before"]["link_bytes_max"] / mean)
    bound = found["lower_bound_hops"]
    fewest = {name: min(m.hops for m in maps) for name, maps in peers.items() if maps}
    fewest |= {c["name"]: c["average_hops"] for c in found["candidates"] if c["within_cap"]}
    if ours.hops > row.best_known * slack:
        faults.append(f"{ours.hops / row.best_known:.3f} x the hops of the best known map ({row.best_known})")
    faults += [
        f"{ours.hops / hops:.3f} x the hops of {name}" for name, hops in fewest.items() if ours.hops > hops * exact
    ]
    least = min([row.best_known, *fewest.values()])
    if ours.hops > 1.10 * bound and least <= bound * slack:
        faults.append(f"{ours.hops / bound:.3f} x the bound, which a map reaches")
    if ours.link > identity.link * exact:
        faults.append("a busier link than the usual order")
    if scotch_maps := peers.get("Scotch"):
        best = min(scotch_maps, key=lambda m: m.hops)
        if ours.link > best.link * exact:
            faults.append(f"a link busier than that of Scotch's best map, {ours.link:.4f} against {best.link:.4f}")
        lowest = min(m.link for m in scotch_maps)
        if lowest < best.link and ours.link > lowest * exact:
            faults.append(f"a link busier than the lowest of Scotch's maps, {ours.link:.4f} against {lowest:.4f}")
    return faults


def spread(maps: list[Map] | str) -> str:
    if isinstance(maps, str):
        return maps
    legal, faults = [m for m in maps if not m.fault], Counter(m.fault for m in maps if m.fault)
    parts = []
    if legal:
        best, worst = min(legal, key=lambda m: m.hops), max(legal, key=lambda m: m.hops)
        parts.append(best.text() if len(legal) == 1 else f"{best.text()} .. {worst.hops:.2f}")
    parts += [f"{count} of {len(maps)}: {fault}" if len(maps) > 1 else fault for fault, count in faults.items()]
    return "; ".join([*parts, f"{median(m.seconds for m in maps):.2f} s"])


def peers_here(wanted: list[str]) -> dict[str, Callable[[Case], list[Map] | str]]:
    """Those that are installed; the others are named."""
    missing = {name: f"no program {' or '.join(PROGRAMS[name])}" for name, program in TOOLS.items() if not program}
    for module, name in (("scipy", "the finite element rows"), ("pymetis", "METIS and the finite element rows")):
        if importlib.util.find_spec(module) is None:
            missing[name.split()[0] if name.startswith("METIS") else name] = f"{module} is not installed"
    for name, reason in missing.items():
        if name in wanted or name not in PEERS:
            print(f"Left out: {name} ({reason}).\n")
    return {name: PEERS[name] for name in wanted if name not in missing}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="", help="only rows whose name@shape contains one of these texts: fem,lu_B")
    parser.add_argument("--efforts", default="fast,standard")
    parser.add_argument("--unseen", type=int, metavar="SEED")
    parser.add_argument("--runs", type=int, default=1, help="seeds of each effort")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the traffic of rows with faults there")
    parser.add_argument("--peers", default=",".join(PEERS))
    for name in TOOLS:
        parser.add_argument(f"--{name.lower()}", metavar="PROGRAM", help=f"the program {PROGRAMS[name][-1]}")
    options = parser.parse_args()
    TOOLS.update({name: given for name in TOOLS if (given := getattr(options, name.lower()))})
    rows = table_rows() if options.unseen is None else unseen_rows(options.unseen)
    efforts = options.efforts.split(",")
    peers = peers_here(options.peers.split(","))
    print("Cells: average hops / busiest link; processor time. Scotch: best .. worst of 8.\n")
    print("| graph | torus | bound | identity | " + " | ".join([*efforts, *peers, "best known"]) + " | wall |")
    print("|---" * (6 + len(efforts) + len(peers)) + "|")
    faults: list[str] = []
    for row in rows:
        if any(part in f"{row.name}@{row.shape}" for part in options.rows.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                faults += measured(row, Path(folder), efforts, peers, options.runs, options.keep)
    print()
    for fault in faults:
        print(f"- {fault}")
    if not faults:
        print("No row has more hops than the best known map, an order or a peer, or a busier link than the usual order "
              "or Scotch.")  # fmt: skip
    return 1 if faults else 0


def measured(
    row: Row, folder: Path, efforts: list[str], peers: dict, runs: int, keep: Path | None
) -> list[str]:  # fmt: skip
    """Prints a line of the table. Returns the faults."""
    try:
        case = Case(row, folder)
    except ImportError as error:
        print(f"| {row.name} | {row.shape} | left out: {error.name} is not installed |")
        return []
    cells, found, ours, fast = [], {}, None, None
    for effort in efforts:
        maps = []
        for seed in range(1, runs + 1):
            ours, found = case.ours(effort, seed)
            maps.append(ours)
        fast = ours if effort == "fast" else fast
        cells.append(spread(maps))
    theirs = {name: "no such network" if row.network else run(case) for name, run in peers.items()}
    before = found["before"]
    best = f"{row.best_known:g}" if row.best_known < math.inf else "-"
    name = f"{row.name}, {row.slots} a node" if row.slots > 1 else row.name
    cells = [name, row.network or row.shape, f"{found['lower_bound_hops']:.3f}",
             Map("", before["average_hops"], before["link_bytes_max"] / case.mean).text(),
             *cells, *map(spread, theirs.values()), best]  # fmt: skip
    print("| " + " | ".join(cells) + f" | {found['search_seconds']:.1f} s |", flush=True)
    legal = {name: [m for m in maps if not m.fault] for name, maps in theirs.items() if not isinstance(maps, str)}
    faults = judge(row, ours, found, case.mean, legal)
    if fast and legal.get("Scotch") and fast.hops > legal["Scotch"][0].hops * (1 + 1e-9):
        faults.append(f"fast: {fast.hops / legal['Scotch'][0].hops:.3f} x the hops of Scotch's first run")
    if faults and keep:
        keep.mkdir(parents=True, exist_ok=True)
        case.file = Path(shutil.copy(case.file, keep / f"{row.name.replace(' ', '_')}@{row.shape}.txt"))
        faults[-1] += f"\n  {' '.join(case.command('--effort', efforts[-1]))}"
    return [f"{name} on {row.network or row.shape}: {fault}" for fault in faults]


if __name__ == "__main__":
    sys.exit(main())
