"""Predictions of a transform in three dimensions on the ranks of a described machine. The rate of lines is measured
here; exchanges are alltoalls of the registry on all rows, or all columns, of the grid of ranks at once, or between the
leaders of groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from kumihimo import _collectives, _machine, _predict, _programs, _schedule, _topology
from kumihimo.app import catalogue, launches
from kumihimo.app.fft_leaders import LeaderExchanges
from kumihimo.app.fft_question import FFT, MOST_POINTS, VARIANT, FftQuestion, question
from kumihimo.app.plane_waves import parts
from kumihimo.collectives import arguments
from kumihimo.kernel import identity
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject

__all__ = ["FFT", "FftQuestion", "LineRate", "check", "measure", "predicted", "question"]
MEASURED_SIZE = 96
RUNS = 3
MOST_MESSAGES = 40_000_000  # of all ranks in an exchange
MOST_SPREAD = 1.5  # of the runs of a measurement: beyond, other programs seem to run here
POINT_NUMBERS = 2  # doubles
BARRIERS = 2  # of an exchange through a window: before ranks read, and before they write again
PACKING = ("packed", "derived")  # variants that copy to and from messages in loops of their own
POINT_BYTES = 16
LARGEST_PLANE = 8 * (256 << 10)  # bytes of a block, of the usual ones: src/numerics/distributed_fft/distributed_fft.cpp


@dataclass(frozen=True)
class LineRate:
    """Rate of one thread here, in flops a second by 5 n log2(n) a line, with the copies to and from messages.
    `packing`: seconds that loops of their own pack and unpack a point. `spread`: the slowest of the runs over the
    fastest.
    """

    flops: float
    library: str
    packing: float = 0.0
    spread: float = 1.0

    def measured(self) -> JsonObject:
        processor = identity.this_machine()["processor"]
        return {
            "processor": processor,
            "threads": 1,
            "size": MEASURED_SIZE,
            "runs": RUNS,
            "line_gflops": self.flops * 1e-9,
            "slowest_over_fastest_run": self.spread,
            **({"packing_seconds_of_a_point": self.packing} if self.packing else {}),
        }


def busy_text(measured: JsonObject) -> str:
    """Behind what was measured."""
    spread = measured["slowest_over_fastest_run"]
    if spread <= MOST_SPREAD:
        return ""
    return f"; its runs differ by a factor of {spread:.1f}: other programs seem to run here, measure again without them"


def check(asked: FftQuestion, job: _machine.Job) -> None:
    """BadInput: it does not fit the ranks, or is too long to simulate."""
    ranks = job.rank_space.ranks
    messages = ranks * max(asked.grid(ranks))
    if asked.variant == "window" and job.slots.nodes > 1:
        rule = "a window joins ranks of one node"
        raise not_applicable(rule, f"{job.slots.nodes} nodes", "use fused or leader, or --ranks of one node")
    if asked.variant == "leader":
        LeaderExchanges(asked, job).check()
    elif asked.variant != "window" and messages > MOST_MESSAGES:
        rule = f"a prediction of {FFT} has at most {MOST_MESSAGES} messages in an exchange"
        raise wrong_value(rule, messages, "use pencils that are more equal, or fewer ranks")


def measure(seconds: float, asked: FftQuestion | None = None) -> LineRate:
    """Runs the application on one thread. Raises what it says."""
    packs = asked is not None and asked.variant in PACKING
    options = {"transforms": "4", **({"cutoff": "sphere", "bands": "4"} if asked and asked.sphere else {})}
    problem = launches.AppProblem(catalogue.find(FFT), str(MEASURED_SIZE), options, "", most_iterations=4)
    alone = launches.Resources(1, 1, None, seconds=seconds)
    candidate = catalogue.AppCandidate(PACKING[0] if packs else VARIANT, ())
    runs = launches.run(problem, [candidate], alone, turns=RUNS, check=False).results
    best = min(runs, key=lambda run: run["seconds"])
    lines = [kernel for kernel in best["kernels"] if kernel["flops"] > 0]
    rate = sum(kernel["flops"] for kernel in lines) / sum(kernel["seconds"] for kernel in lines)
    copies = [kernel for kernel in best["kernels"] if kernel["name"].startswith(("pack", "unpack"))]
    packed = sum(kernel["calls"] for kernel in copies if kernel["name"].startswith("pack")) * MEASURED_SIZE**3
    packing = sum(each["seconds"] for each in copies) / max(1, packed)
    return LineRate(rate, best["facts"]["lines by"], packing, max(run["seconds"] for run in runs) / best["seconds"])


def measure_long_lines(seconds: float) -> LineRate:
    """The same of lines that outgrow the cache, as the Global FFT has them: the longest that the application takes.
    Without copies to and from messages."""
    size = f"1x1x{MOST_POINTS}"
    options = {"transforms": "4", "profile": "yes"}
    problem = launches.AppProblem(catalogue.find(FFT), size, options, "", most_iterations=4)
    alone = launches.Resources(1, 1, None, seconds=seconds)
    runs = launches.run(problem, [catalogue.AppCandidate(VARIANT, ())], alone, turns=RUNS, check=False).results
    rates = []
    for run in runs:
        flops = sum(kernel["flops"] for kernel in run["kernels"] if kernel["name"].startswith("lines along z"))
        (took,) = (row["mean"] for row in run["profile"] if row["name"] == "transforming lines")
        rates.append(flops / took)
    return LineRate(max(rates), runs[0]["facts"]["lines by"], spread=max(rates) / min(rates))


@dataclass(frozen=True)
class FftExchange:
    """All groups of `members` ranks that are `stride` apart exchange blocks of so many points."""

    members: int
    stride: int
    points: int


def exchanges(asked: FftQuestion, ranks: int) -> list[FftExchange]:
    """Exchanges of the forward transform, with the longest blocks of any rank, between each stage and the next one. The
    backward one has the same.
    """
    rows, columns = asked.grid(ranks)
    nx, ny, nz = asked.spectrum
    if asked.sphere:
        return [FftExchange(ranks, 1, max(asked.sphere.columns_of_ranks(ranks)) * ceil(nz / ranks))]
    part = [ceil(nx / rows), ceil(ny / columns), ceil(nz / columns), ceil(ny / rows)]
    return [
        FftExchange(columns, 1, part[0] * part[1] * part[2]),  # from lines along z to lines along y
        FftExchange(rows, columns, part[0] * part[3] * part[2]),  # and on to lines along x
    ]


def nodes_of_group(exchange: FftExchange, space: _topology.RankSpace) -> tuple[int, ...]:
    """Nodes of the ranks of the first group, as the application sees them."""
    last = exchange.members * exchange.stride
    sizes = space.node_sizes or [space.ranks_per_node] * ceil(last / space.ranks_per_node)
    return tuple(node for node, size in enumerate(sizes) for _ in range(size))[: last : exchange.stride]


def bytes_sent(asked: FftQuestion, ranks: int) -> float:
    """Bytes that all ranks send to others for one band, one way, by blocks as long as they are. Not through leaders,
    whose messages are fewer.
    """
    rows, columns = asked.grid(ranks)
    nx, ny, nz = asked.spectrum
    if asked.sphere:
        own = sum(a * b for a, b in zip(asked.sphere.columns_of_ranks(ranks), parts(nz, ranks)))
        return asked.point_bytes * float(asked.sphere.columns * nz - own)
    of_z = parts(nz, columns)
    stay_in_row = nx * sum(a * b for a, b in zip(parts(ny, columns), of_z))
    stay_in_column = nz * sum(a * b for a, b in zip(parts(nx, rows), parts(ny, rows)))
    return asked.point_bytes * float(2 * nx * ny * nz - stay_in_row - stay_in_column)


class Exchanges:
    """The times of all exchanges on one job, each of which is simulated once."""

    def __init__(self, asked: FftQuestion, setting: Setting) -> None:
        self.asked, self.setting = asked, setting
        self.ranks = setting.ranks.ranks
        self.leaders = LeaderExchanges(asked, setting.known_job) if asked.variant == "leader" else None
        self.planned = exchanges(asked, self.ranks)
        self._known: dict[tuple[int, int], float] = {}

    def seconds(self, stage: int, bands: int) -> float:
        """Seconds of the exchange after a stage, of so many bands, or of one of its pieces."""
        if (stage, bands) not in self._known:
            self._known[stage, bands] = self._simulated(stage, bands)
        return self._known[stage, bands]

    def _simulated(self, stage: int, bands: int) -> float:
        asked, exchange = self.asked, self.planned[stage]
        if exchange.members == 1:
            return 0.0
        if asked.variant == "window":
            barrier = _schedule.Collective("barrier", self.ranks, 0)
            case = _predict.CollectiveCase(barrier, _collectives.find("barrier", "dissemination"))
            return BARRIERS * self.setting.predict(case).seconds
        if self.leaders:
            return self.leaders.seconds(stage, bands, self.setting.model)
        numbers = POINT_NUMBERS * ceil(exchange.points / asked.pieces) * bands
        collective = _schedule.Collective("alltoall", exchange.members, numbers, asked.wire)
        space = _topology.RankSpace.on_nodes(nodes_of_group(exchange, self.setting.known_job.rank_space))
        given = arguments.parameters(**asked.windows, group=asked.group or None)
        schedule = _collectives.find("alltoall", asked.exchange).build(collective, space, given)
        programs = _programs.on_groups(schedule, self.ranks, exchange.stride)
        return self.setting.predict(programs).seconds


def in_turns(computing: list[float], exchanges_: Exchanges, blocks: list[int]) -> float:
    """Seconds of all bands, if lines and exchanges take turns."""
    waits = [sum(exchanges_.seconds(stage, bands) for stage in range(len(exchanges_.planned))) for bands in blocks]
    return sum(computing) * sum(blocks) + sum(waits)


def overlapped(computing: list[float], exchanges_: Exchanges, blocks: list[int], pieces: int) -> float:
    """The same, if the exchange of a block of bands, or of a piece, goes on beside the lines of the next ones, in the
    order of DistributedFft::Pipeline::run() and SphereFft. One exchange is under way after the other."""
    now = network = 0.0
    done: dict[tuple[int, int], float] = {}  # by stage and block
    stages = len(computing)
    for step in range(len(blocks) + stages - 1):
        for stage in range(stages):
            block = step - stage
            if not 0 <= block < len(blocks):
                continue
            now = max(now, done.get((stage - 1, block), 0.0))
            bands = blocks[block]
            wait = exchanges_.seconds(stage, bands) if stage + 1 < stages else 0.0
            of_pieces = pieces if wait > 0 else 1
            for _ in range(of_pieces):
                now += computing[stage] * bands / of_pieces
                network = max(network, now) + wait
            done[stage, block] = network if wait > 0 else now
    return now


def predicted(asked: FftQuestion, rate: LineRate, job: _machine.Job, model: str, speed: float) -> JsonObject:
    """A transform of one band on the ranks of a job, one way. `speed`: of a core there, relative to one here."""
    ranks = job.rank_space.ranks
    stages = asked.stages(ranks)
    exchanged = Exchanges(asked, Setting(model, job))
    computing = [
        (flops / rate.flops + rate.packing * points * packs(asked, ranks, place)) / speed
        for place, (points, flops) in enumerate(stages)
    ]
    if asked.variant == "overlapped":
        seconds = overlapped(computing, exchanged, asked.blocks, asked.pieces) / asked.bands
    else:
        seconds = in_turns(computing, exchanged, asked.blocks) / asked.bands
    waits = [
        exchanged.seconds(stage, asked.at_once) * asked.pieces / asked.at_once
        for stage, each in enumerate(exchanged.planned)
        if each.members > 1
    ]
    hidden = min(sum(waits), sum(computing), max(0.0, sum(computing) + sum(waits) - seconds))
    points = prod(asked.points)
    sent = exchanged.leaders.bytes_sent() if exchanged.leaders else bytes_sent(asked, ranks)
    return {
        "application": FFT,
        "variant": asked.variant,
        "ranks": ranks,
        "grid": list(asked.grid(ranks)),
        "points": list(asked.points),
        "radius_of_sphere": asked.sphere and asked.sphere.radius,
        "exchange": asked.exchange,
        "bands": asked.bands,
        "at_once": asked.at_once,
        "kind": asked.kind,
        "seconds": seconds,
        "gflops": None if asked.sphere else asked.flops(points, points, True) * 1e-9 / seconds,
        "computing_seconds": sum(computing),
        "exchange_seconds": waits,
        "hidden_seconds": hidden if asked.variant == "overlapped" else 0.0,
        "bytes_sent": 0.0 if asked.variant == "window" else sent,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": model,
    }


def packs(asked: FftQuestion, ranks: int, place: int) -> float:
    """How often a point of a stage is packed and unpacked, by halves: not before the first stage and not after the
    last one. The loops of packed also copy what stays on its rank, but for planes of y and z that are one block; a
    datatype is there for messages alone."""
    packed = [each.members > 1 for each in exchanges(asked, ranks)]
    if asked.variant == PACKING[0]:
        _, ny, nz = asked.spectrum
        packed = [asked.grid(ranks)[1] > 1 or POINT_BYTES * ny * nz > LARGEST_PLANE, True]
    return 0.5 * sum(packed[max(0, place - 1) : place + 1])


def assumed(speed_text: str, asked: FftQuestion | None = None) -> list[str]:
    """Assumptions of the times beside measurements."""
    variant = asked.variant if asked else VARIANT
    in_turns_ = "lines and exchanges take turns: nothing overlaps"
    beside = "messages move beside lines as fast as without them" if variant == "overlapped" else in_turns_
    found = [
        f"{speed_text}, and each rank has one thread",
        beside,
        "lines run at the same rate whatever their length and whatever memory the machine has",
    ]
    if variant == "derived":
        found.append("MPI_Alltoallw sends all messages at once, and packs as fast as the loops of packed")
    if variant == "leader":
        found.append("ranks of a group meet in no time")
    if variant == "window":
        found.append("reading the memory of another rank costs as much as reading messages")
    return found
