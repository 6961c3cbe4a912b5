"""The rows of the table of placements: graphs on networks, with the best known maps. Some are of published
measurements, others are drawn by a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable

import graphs
from graphs import Traffic


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
