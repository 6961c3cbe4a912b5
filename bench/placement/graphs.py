"""Traffic of well-known programs, as {(from, to): bytes}; written as lines 'from to bytes messages' by write().

Halos; the NAS Parallel Benchmarks CG, LU, MG, FT and BT by their papers (Bailey et al., NAS-95-020) and the ranks that
they talk to; the allgather of Bruck et al. (IEEE TPDS 8, 1997); finite elements: a Delaunay mesh of random points,
partly on a shell, cut by METIS. Seeds are fixed.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

Traffic = dict[tuple[int, int], int]


def of(lines: Iterable[tuple[int, int, float]]) -> Traffic:
    sums: defaultdict[tuple[int, int], float] = defaultdict(float)
    for sender, receiver, sent in lines:
        if sender != receiver:
            sums[sender, receiver] += sent
    return {pair: int(sent) for pair, sent in sums.items()}


def halo(
    lengths: tuple[int, ...],
    diagonals: bool,
    bytes_by_axes: tuple[int, ...] = (32768, 512, 8),
    wraps: bool = True,
    faces: tuple[int, ...] = (),
) -> Traffic:
    """Row-major. A neighbour that differs in k coordinates gets bytes_by_axes[k - 1], times `faces` of these axes."""
    steps = [s for s in itertools.product((-1, 0, 1), repeat=len(lengths)) if any(s)]
    if not diagonals:
        steps = [s for s in steps if sum(map(abs, s)) == 1]

    def number(place: Iterable[int]) -> int:
        total = 0
        for coordinate, length in zip(place, lengths):
            total = total * length + coordinate % length
        return total

    def sent(step: tuple[int, ...]) -> int:
        return bytes_by_axes[sum(map(abs, step)) - 1] * math.prod(f for f, s in zip(faces, step) if s)

    return of(
        (number(place), number(p + s for p, s in zip(place, step)), sent(step))
        for place in itertools.product(*map(range, lengths))
        for step in steps
        if wraps or all(0 <= p + s < length for p, s, length in zip(place, step, lengths))
    )


def shuffled(traffic: Traffic, ranks: int, seed: int = 1) -> Traffic:
    order = list(range(ranks))
    random.Random(seed).shuffle(order)
    return {(order[a], order[b]): sent for (a, b), sent in traffic.items()}


def cg(ranks: int, rows: int, iterations: int = 75, inner: int = 26) -> Traffic:
    """A row of the process grid adds its parts by recursive halving of distances; then blocks are transposed."""
    columns = 2 ** (ranks.bit_length() // 2)
    lines = ranks // columns
    steps = columns.bit_length() - 1

    def sends(me: int) -> Iterable[tuple[int, int, float]]:
        row, column = divmod(me, columns)
        block = rows // lines * 8
        for step in range(steps):
            partner = row * columns + (column ^ (columns >> (step + 1)))
            halved = columns != lines and step == steps - 1
            yield me, partner, (block // 2 if halved else block) * inner * iterations
            yield me, partner, 8 * (2 * inner + 1) * iterations  # sums of one number
        if columns == lines:
            yield me, me % lines * lines + me // lines, block * inner * iterations
        else:
            yield me, 2 * (me // 2 % lines * lines + me // 2 // lines) + me % 2, block // 2 * inner * iterations

    return of(line for me in range(ranks) for line in sends(me))


def lu(ranks: int, size: int, iterations: int = 250) -> Traffic:
    """Sweeps over pencils of a plane of processes, and faces of two layers; five numbers a point."""
    lines = 2 ** ((ranks.bit_length() - 1) // 2)
    columns = ranks // lines

    def sends(me: int) -> Iterable[tuple[int, int, float]]:
        row, column = divmod(me, columns)
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= row + down < lines and 0 <= column + right < columns:
                points = size // columns if down else size // lines
                sent = iterations * ((size - 2) * 5 * 8 * points + 2 * 5 * 8 * points * size)
                yield me, (row + down) * columns + column + right, sent

    return of(line for me in range(ranks) for line in sends(me))


def mg(ranks: int, size: int, iterations: int = 20) -> Traffic:
    """Faces on every level. On coarse levels only every second, fourth ... process of an axis takes part."""
    log = ranks.bit_length() - 1
    across = (2 ** (log // 3), 2 ** ((log - log // 3) // 2), 2 ** (log - log // 3 - (log - log // 3) // 2))

    def number(place: list[int]) -> int:
        return (place[2] * across[1] + place[1]) * across[0] + place[0]

    def sends() -> Iterable[tuple[int, int, float]]:
        for level in range(size.bit_length() - 1, 0, -1):
            local = [max(1, 2**level // p) for p in across]
            stride = [max(1, p // 2**level) for p in across]
            x, y, z = local
            faces = (y * z, (x + 2) * z, (x + 2) * (y + 2))
            for place in itertools.product(*(range(s - 1, p, s) for s, p in zip(stride, across))):
                for axis, sign in itertools.product(range(3), (-1, 1)):
                    other = list(place)
                    other[axis] = (other[axis] + sign * stride[axis]) % across[axis]
                    yield number(list(place)), number(other), faces[axis] * 8 * 4 * iterations

    return of(sends())


def pencils(lines: int, columns: int, sent_along: float = 32768, sent_across: float = 32768) -> Traffic:
    """Transposes within the rows and within the columns of a plane of processes."""

    def sends(me: int) -> Iterable[tuple[int, int, float]]:
        row, column = divmod(me, columns)
        for other in range(columns):
            yield me, row * columns + other, sent_along
        for other in range(lines):
            yield me, other * columns + column, sent_across

    return of(line for me in range(lines * columns) for line in sends(me))


def ft(ranks: int, points: int = 512 * 256 * 256, iterations: int = 20) -> Traffic:
    lines = 2 ** ((ranks.bit_length() - 1) // 2)
    columns = ranks // lines
    held = points * 16 / ranks
    return pencils(lines, columns, held / columns * iterations, held / lines * iterations)


def bt(ranks: int, size: int, iterations: int = 200) -> Traffic:
    """Multi-partitioning of a cube: neighbours in a row, a column, and along a diagonal of the torus of processes."""
    side = math.isqrt(ranks)
    face = (size / side) ** 2

    def sends(me: int) -> Iterable[tuple[int, int, float]]:
        row, column = divmod(me, side)
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
            forward = (down, right) in ((0, 1), (1, 0), (1, -1))
            sent = side * face * 5 * 8 * 2 + (side - 1) * face * (30 if forward else 5) * 8
            yield me, (row + down) % side * side + (column + right) % side, sent * iterations

    return of(line for me in range(ranks) for line in sends(me))


def bruck(ranks: int, block: int = 1024) -> Traffic:
    """Allgather: in each step twice as many blocks, from twice as far."""
    steps = [2**k for k in range((ranks - 1).bit_length())]
    return of((me, (me - s) % ranks, min(s, ranks - s) * block) for me in range(ranks) for s in steps)


def without_land(traffic: Traffic, lengths: tuple[int, ...], seed: int) -> Traffic:
    """An ocean: three random rectangles have no ranks; the others are numbered in their order."""
    draw = random.Random(seed)
    lands = [[sorted(draw.choices(range(length), k=2)) for length in lengths] for _ in range(3)]

    def is_land(rank: int) -> bool:
        place = divmod(rank, lengths[1])
        return any(all(low <= p < high for p, (low, high) in zip(place, land)) for land in lands)

    edges = [pair for pair in traffic if not any(map(is_land, pair))]
    wet = sorted({rank for pair in edges for rank in pair})
    names = {rank: name for name, rank in enumerate(wet)}
    return {(names[a], names[b]): traffic[a, b] for a, b in edges}


def noisy(traffic: Traffic, seed: int) -> Traffic:
    """Each pair of ranks with up to 20 % more or less."""
    draw = random.Random(seed)
    factors = {pair: draw.uniform(0.8, 1.2) for pair in sorted(traffic)}
    return {(a, b): int(sent * factors[min(a, b), max(a, b)]) for (a, b), sent in traffic.items()}


def ring(ranks: int) -> Traffic:
    """Allgather of 1 KiB blocks round a ring."""
    return of((me, (me + 1) % ranks, (ranks - 1) * 1024) for me in range(ranks))


def recursive_doubling(ranks: int) -> Traffic:
    """Allreduce of 1 KiB among a power of two of ranks."""
    return of((me, me ^ 2**k, 1024) for me in range(ranks) for k in range(ranks.bit_length() - 1))


def binomial(ranks: int) -> Traffic:
    """Scatter from rank 0: each message holds the blocks of a subtree."""
    steps = [2**k for k in range((ranks - 1).bit_length())]
    return of(
        (me, me + s, 1024 * min(s, ranks - me - s)) for s in steps for me in range(0, ranks, 2 * s) if me + s < ranks
    )


def alltoall(ranks: int) -> Traffic:
    return of((a, b, 1024) for a in range(ranks) for b in range(ranks))


def geometric(ranks: int, axes: int, near: int, seed: int) -> Traffic:
    """Random points in a box; about `near` neighbours within a radius, more bytes the closer. Needs scipy."""
    import numpy as np
    from scipy.spatial import cKDTree

    points = np.random.default_rng(seed).random((ranks, axes))
    radius = (near / ranks / (math.pi if axes == 2 else 4 / 3 * math.pi)) ** (1 / axes)
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    sent = (4096 * (1.05 - np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) / radius)).astype(int)
    lines = [(int(a), int(b), int(count)) for (a, b), count in zip(pairs, sent)]
    return of([*lines, *((b, a, count) for a, b, count in lines)])


@functools.cache  # takes minutes
def fem(parts: int, points: int, seed: int = 3, box: tuple[float, ...] = (1.0, 1.0, 1.0)) -> Traffic:
    """Five numbers of 8 bytes for each point that another part's elements need. Needs numpy, scipy and pymetis."""
    import numpy as np
    import pymetis
    from scipy.spatial import Delaunay

    numbers = np.random.default_rng(seed)
    within = numbers.random((points * 2 // 3, 3))
    shell = numbers.normal(size=(points - len(within), 3))
    shell /= np.linalg.norm(shell, axis=1)[:, None]
    shell = 0.5 + shell * (0.25 + 0.02 * numbers.normal(size=(len(shell), 1)))
    simplices = Delaunay(np.vstack([within, shell]) * box).simplices
    pairs = np.vstack([simplices[:, [i, j]] for i, j in itertools.permutations(range(4), 2)]).astype(np.int64)
    keys = np.unique(pairs[:, 0] * points + pairs[:, 1])
    ends, others = keys // points, keys % points
    first = np.searchsorted(ends, np.arange(points + 1))
    adjacency = pymetis.CSRAdjacency(first.astype(int), others.astype(int))
    part = np.array(pymetis.part_graph(parts, adjacency=adjacency, recursive=False)[1])
    crossing = part[ends] != part[others]
    needed = np.unique(others[crossing] * parts + part[ends[crossing]])  # each point once for each part
    flows, counts = np.unique(part[needed // parts] * np.int64(parts) + needed % parts, return_counts=True)
    return {(int(f) // parts, int(f) % parts): int(count) * 40 for f, count in zip(flows, counts)}


def write(traffic: Traffic, ranks: int, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# {ranks} {path.stem}\n")
        file.writelines(f"{a} {b} {sent} 1\n" for (a, b), sent in sorted(traffic.items()))
