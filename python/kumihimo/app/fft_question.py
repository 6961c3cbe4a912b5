"""Question of a prediction of fft3d: the grid, how ranks divide it, and how they exchange."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, log2

from kumihimo import _collectives
from kumihimo.app import catalogue
from kumihimo.app.plane_waves import PlaneWaves
from kumihimo.text.errors import did_you_mean, not_applicable, wrong_value

FFT, VARIANT = "fft3d", "fused"
MOST_POINTS = 1 << 20  # along an axis
MOST_BANDS, MOST_PIECES, MOST_COUNT = 1 << 16, 1 << 10, 1 << 20
MOST_RADIUS = 2048
KINDS = ("complex", "real")
WIRES = ("float64", "float32")
BY_MESSAGES = ("packed", "fused", "overlapped", "leader")  # of an alltoall of the registry
VARIANTS = (*BY_MESSAGES, "derived", "window")
LIBRARY_EXCHANGE = "linear"  # MPI_Alltoallw of Open MPI and MPICH: all messages at once
WINDOWS = ("throttle", "send_window", "receive_window")  # of messages under way
NUMBERS = {  # settings with their least and most values
    "bands": (1, MOST_BANDS),
    "at_once": (1, MOST_BANDS),
    "pieces": (1, MOST_PIECES),
    **dict.fromkeys(WINDOWS, (0, MOST_COUNT)),
    "group": (0, MOST_COUNT),
}
SETTINGS = ("decomposition", "exchange", "kind", "cutoff", "wire", *NUMBERS)


@dataclass(frozen=True)
class FftQuestion:
    points: tuple[int, int, int]
    decomposition: str = "auto"
    exchange: str = "pairwise"
    at_once: int = 1
    kind: str = "complex"
    variant: str = VARIANT
    bands: int = 1
    pieces: int = 1
    throttle: int = 0
    send_window: int = 0
    receive_window: int = 0
    group: int = 0
    wire: str = "float64"
    sphere: PlaneWaves | None = None

    @property
    def spectrum(self) -> tuple[int, int, int]:
        """Its points: of a real grid half of the frequencies along z."""
        nx, ny, nz = self.points
        return nx, ny, nz // 2 + 1 if self.kind == "real" else nz

    @property
    def point_bytes(self) -> int:
        return 8 if self.wire == "float32" else 16

    @property
    def by_messages(self) -> bool:
        return self.variant in BY_MESSAGES

    @property
    def windows(self) -> dict[str, int]:
        """Windows that are given, by the names of the registry's parameters."""
        return {name: getattr(self, name) for name in WINDOWS if getattr(self, name) > 0}

    @property
    def blocks(self) -> list[int]:
        """Bands of each exchange."""
        whole, rest = divmod(self.bands, self.at_once)
        return [self.at_once] * whole + [rest] * (rest > 0)

    def flops(self, points: float, n: int, halved: bool) -> float:
        """Operations of lines of n points; `halved`: of a real grid."""
        return (2.5 if halved and self.kind == "real" else 5) * points * log2(max(2, n))

    def grid(self, ranks: int) -> tuple[int, int]:
        """Rows and columns: src/numerics/fft/pencils.hpp. A sphere has parts of z alone."""
        auto = self.decomposition == "auto"
        if self.sphere or self.decomposition == "slab" or (auto and ranks <= min(self.points[:2])):
            return ranks, 1
        if auto or self.decomposition == "pencil":
            columns = max(d for d in range(1, int(ranks**0.5) + 1) if ranks % d == 0)
            return ranks // columns, columns
        rows, columns = map(int, self.decomposition.split("x"))
        if rows * columns != ranks:
            raise wrong_value(f"rows x columns must be the number of ranks, {ranks}", self.decomposition)
        return rows, columns

    def stages(self, ranks: int) -> list[tuple[float, float]]:
        """Points and flops of the rank that has most, of one band in each stage of the forward transform."""
        nx, ny, nz = self.points
        if self.sphere:
            depth = ceil(nz / ranks)
            of_columns = max(self.sphere.columns_of_ranks(ranks)) * nz
            of_planes = self.sphere.planes * ny * depth
            along_z = self.flops(of_columns, nz, False)
            along_y_and_x = self.flops(of_planes, ny, False) + self.flops(nx * ny * depth, nx, False)
            return [(of_columns, along_z), (nx * ny * depth, along_y_and_x)]
        rows, columns = self.grid(ranks)
        half = self.spectrum[2]
        of_rank = [  # points while lines along z, y and x are transformed
            (ceil(nx / rows) * ceil(ny / columns) * nz, nz, True),
            (ceil(nx / rows) * ny * ceil(half / columns), ny, False),
            (nx * ceil(ny / rows) * ceil(half / columns), nx, False),
        ]
        return [(points, self.flops(points, n, halved)) for points, n, halved in of_rank]


def question(size: str | None, settings: dict[str, str], variant: str | None = None) -> FftQuestion:
    """Question that the options ask. BadInput: the application has no such problem."""
    for name in settings:
        if name not in SETTINGS:
            known = ", ".join(f"--set {each}=..." for each in SETTINGS)
            raise wrong_value(f"simulate app {FFT} takes {known}", f"'{name}'", "leave it out")
    points = points_of(size or catalogue.find(FFT).default_size)
    decomposition = settings.get("decomposition", "auto")
    if decomposition not in ("auto", "slab", "pencil") and not re.fullmatch(
        r"[1-9]\d{0,6}x[1-9]\d{0,6}", decomposition
    ):
        rule = "the decomposition must be auto, slab, pencil, or rows x columns such as 4x2"
        raise wrong_value(rule, f"'{decomposition}'")
    numbers = {name: number_of(name, settings) for name in NUMBERS if name in settings}
    at_once = numbers.setdefault("at_once", 1)
    if numbers.setdefault("bands", at_once) < at_once:
        raise wrong_value(f"{at_once} bands at once need as many bands", f"bands={numbers['bands']}")
    kind = one_of("kind", KINDS, settings.get("kind", KINDS[0]))
    wire = one_of("wire", WIRES, settings.get("wire", WIRES[0]))
    asked = FftQuestion(
        points,
        decomposition,
        exchange_of(settings, variant or VARIANT),
        kind=kind,
        variant=variant or VARIANT,
        wire=wire,
        sphere=sphere_of(settings.get("cutoff", "none"), points),
        **numbers,
    )
    check_fits(asked, settings)
    return asked


def points_of(text: str) -> tuple[int, int, int]:
    words = text.split("x")
    if len(words) not in (1, 3) or not all(re.fullmatch(r"[0-9]{1,7}", word) for word in words):
        raise wrong_value("--size must be points along x, y and z: 512 or 512x256x256", f"'{text}'")
    nx, ny, nz = [int(word) for word in words] * (3 if len(words) == 1 else 1)
    if not all(1 <= n <= MOST_POINTS for n in (nx, ny, nz)):
        raise wrong_value(f"--size must have 1 to {MOST_POINTS} points along each axis", text)
    return nx, ny, nz


def number_of(name: str, settings: dict[str, str]) -> int:
    least, most = NUMBERS[name]
    text = settings[name]
    if not re.fullmatch(r"[0-9]{1,7}", text) or not least <= int(text) <= most:
        raise wrong_value(f"{name} must be a number from {least} to {most}", f"'{text}'")
    return int(text)


def one_of(name: str, words: tuple[str, ...], text: str) -> str:
    if text not in words:
        raise wrong_value(f"{name} must be {' or '.join(words)}", f"'{text}'")
    return text


def exchange_of(settings: dict[str, str], variant: str) -> str:
    if variant not in VARIANTS:
        rule = f"--variant of {FFT} must be one of {', '.join(VARIANTS)}"
        raise wrong_value(rule, f"'{variant}'", did_you_mean(variant, VARIANTS) or "")
    if variant not in BY_MESSAGES:
        if "exchange" in settings:
            rule = f"{variant} has no messages of an alltoall of the registry"
            raise not_applicable(rule, f"exchange={settings['exchange']}", "leave exchange out")
        return LIBRARY_EXCHANGE if variant == "derived" else "shared memory"
    has_windows = any(settings.get(name, "0") != "0" for name in WINDOWS)
    usual = "linear" if has_windows else "pairwise"  # as exchange=auto has it
    exchange = settings.get("exchange", usual)
    _collectives.find("alltoall", exchange)
    return exchange


def sphere_of(cutoff: str, points: tuple[int, int, int]) -> PlaneWaves | None:
    if cutoff == "none":
        return None
    shortest = min(points)
    if cutoff != "sphere" and not re.fullmatch(r"\d{1,7}(\.\d{1,7})?", cutoff):
        rule = "cutoff must be none, sphere, or the radius of a sphere of frequencies"
        raise wrong_value(rule, f"'{cutoff}'")
    radius = float(shortest // 4) if cutoff == "sphere" else float(cutoff)
    if 2 * int(radius) + 1 > shortest or radius > MOST_RADIUS:
        most = min(MOST_RADIUS, (shortest - 1) // 2)
        raise wrong_value(f"the radius must be from 0 to {most} on a grid of {shortest} points", cutoff)
    return PlaneWaves(radius)


def check_fits(asked: FftQuestion, settings: dict[str, str]) -> None:
    """Refuses settings that a variant or a sphere does not take, as the application does."""
    refused = []
    if not asked.by_messages:
        refused += [*WINDOWS, "group", "wire"]
    if asked.variant != "overlapped":
        refused.append("pieces")
    if len(asked.windows) == len(WINDOWS):
        rule = "throttle has no effect beside send_window and receive_window"
        raise not_applicable(rule, None, "leave one of them out")
    for name in refused:
        if name in settings:
            raise not_applicable(f"{asked.variant} takes no {name}", settings[name], "leave it out")
    if asked.sphere is None:
        return
    if asked.variant in ("packed", "derived"):
        rule = f"columns of a sphere go straight into messages, and {asked.variant} takes whole grids"
        raise not_applicable(rule, None, "use fused, overlapped, leader or window")
    for name in ("pieces", "decomposition"):
        if name in settings:
            raise not_applicable(f"a sphere takes no {name}", settings[name], "leave it out")
    if asked.kind == "real":
        raise wrong_value("a sphere of frequencies belongs to a complex grid", "kind=real", "use kind=complex")
