"""Maps of one graph by Kumihimo and by its peers, each measured by `kumihimo place --evaluate`."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import graphs
from rows import Row, number

KUMIHIMO = Path(sys.executable).parent / "kumihimo"
PROGRAMS = {"Scotch": ("gmap", "scotch_gmap"), "KaHIP": ("global_multisection",), "VieM": ("viem",)}
TOOLS = {tool: next(filter(None, map(shutil.which, names)), "") for tool, names in PROGRAMS.items()}
PEER_SECONDS = 60  # of processor time, of one run
STRATEGIES = ((), ("-cr",), ("-cb",), ("-cq",))


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
