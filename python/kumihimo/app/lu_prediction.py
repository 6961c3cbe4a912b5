"""Predictions of an LU factorisation on the ranks of a described machine. The rates of updates, panels and row
exchanges are measured here; panels go along rows of the grid by a broadcast of the registry, as operations of a GOAL
file that a simulator times. A recurrence over the panels (src/numerics/lu/pipeline.hpp) takes its place where there are
too many of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, log2

from kumihimo import _collectives, _goal, _lu, _machine, _predict, _topology
from kumihimo.app import catalogue, launches, panel_broadcast
from kumihimo.app.panel_broadcast import PanelBroadcast
from kumihimo.kernel import identity
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import did_you_mean, wrong_value
from kumihimo.text.json_types import JsonObject

LU, VARIANT, TOURNAMENT = "lu", "rows", "tournament"
TASKS = "tasks"  # begins the names of the variants by tasks
MEASURED_ROWS = 3000
RUNS = 3
BUSY_SHARE = 0.6  # of the peak: a BLAS library's DGEMM alone reaches more
MOST_ROWS = _lu.MOST_ROWS
MOST_PANELS = 500_000  # of all ranks together that are simulated, one ahead: half a gigabyte of operations
MOST_STEPS = 2_000_000_000  # of the recurrence, panels times ends of messages of a broadcast: a minute
LONGEST_SECONDS = 5e5  # of a factorisation that is simulated: a simulation ends at 13 days (goal/longest_run.hpp)
RECURRENCE_ERROR = 0.02  # largest difference from flow: tests/python/cli/test_simulate_lu.py
SETTINGS = ("broadcast", "grid", "panels", "speeds")  # beside the parameters of the variant
PANELS = ("auto", "simulated", "recurrence")
MOST_NODES = 1 << 20
PIVOT_BYTES, NUMBER_BYTES = 24, 8  # of the head of a pivot's record (src/numerics/lu/panel.hpp), and of a number


@dataclass(frozen=True)
class LuRates:
    """Rates of one thread here, with one block. Flops a second, and seconds of a number that changes its row."""

    block: int
    updates: float
    panels: float
    solution: float
    move_seconds: float
    blas: str

    def measured(self) -> JsonObject:
        return {
            "processor": identity.this_machine()["processor"],
            "threads": 1,
            "rows": MEASURED_ROWS,
            "runs": RUNS,
            "block": self.block,
            "update_gflops": self.updates * 1e-9,
            "panel_gflops": self.panels * 1e-9,
            "blas": self.blas,
        }


@dataclass(frozen=True)
class LuQuestion:
    rows: int
    block: int
    grid: tuple[int, int] | None  # P x Q; None: the application's rule
    panels: str = "auto"
    peaks: tuple[float, ...] = ()  # of the nodes, in GFLOPS, where they are unequal
    lookahead: int = 1
    broadcast: str = panel_broadcast.USUAL
    variant: str = VARIANT
    parameters: tuple[tuple[str, int], ...] = ()  # of the variant, for the measurement

    @property
    def has_tasks(self) -> bool:
        return self.variant.startswith(TASKS)

    @property
    def has_tournament(self) -> bool:
        return self.variant != VARIANT

    def is_simulated(self, ranks: int, nodes: tuple[int, ...]) -> bool:
        """Or by the recurrence. `nodes`: those of nodes_of_row()."""
        return self.panels == "simulated" or (
            self.panels == "auto" and self.panels_of(ranks) <= self.most_panels(ranks, nodes)
        )

    def panels_of(self, ranks: int) -> int:
        return ranks * ceil(self.rows / self.block)

    def most_panels(self, ranks: int, nodes: tuple[int, ...]) -> int:
        """Panels of as many operations as MOST_PANELS with a look-ahead of 1 and a chain. For a panel each rank of a
        row has an update and two ends of messages; its owner factors it, and updates its column once for each panel of
        the look-ahead.
        """
        q = grid_of(self, ranks)[1]
        ends = len(PanelBroadcast(self.broadcast, q, nodes).events()) + 2
        return MOST_PANELS * (3 * q + 2) // (q + ends + 1 + max(1, self.lookahead))


def peaks_of(text: str) -> tuple[float, ...]:
    """ "16x670,64x202": of the nodes in their order."""
    found: list[float] = []
    for word in text.split(","):
        match = re.fullmatch(r"(?:([1-9][0-9]{0,6})x)?([0-9]{1,9}(?:\.[0-9]{1,9})?)", word.strip())
        if not match or float(match[2]) <= 0:
            rule = "speeds must be peaks of the nodes, in GFLOPS, such as 16x670,64x202"
            raise wrong_value(rule, f"'{text}'")
        found += [float(match[2])] * int(match[1] or 1)
        if len(found) > MOST_NODES:
            raise wrong_value(f"speeds must be those of at most {MOST_NODES} nodes", f"'{text}'")
    return tuple(found)


def question(size: str | None, settings: dict[str, str], variant: str | None = None) -> LuQuestion:
    """Question that the options ask. BadInput: the application has no such problem."""
    application = catalogue.find(LU)
    variant = variant or VARIANT
    predicted = [row["name"] for row in application.variants if row["name"] != application.golden]
    if variant not in predicted:
        advice = did_you_mean(variant, predicted)
        raise wrong_value(
            f"--variant of simulate app {LU} must be one of {', '.join(predicted)}", f"'{variant}'", advice
        )
    of_all = {each["name"] for row in application.variants for each in row["parameters"]}
    for name in settings:
        if name not in SETTINGS and name not in of_all:
            known = ", ".join(f"--set {each}=..." for each in (*application.defaults(variant), *SETTINGS))
            raise wrong_value(f"simulate app {LU} takes {known}", f"'{name}'", "leave it out")
    (candidate,) = catalogue.candidates(
        application, variant, {name: value for name, value in settings.items() if name in of_all}
    )
    text = size or application.default_size
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= MOST_ROWS:
        raise wrong_value(f"--size must be a number of rows from 1 to {MOST_ROWS}", f"'{text}'")
    grid = settings.get("grid")
    if grid is not None and not re.fullmatch(r"[1-9][0-9]{0,6}x[1-9][0-9]{0,6}", grid):
        raise wrong_value("grid must be two numbers, P x Q", f"'{grid}'", "write grid=4x8")
    panels = settings.get("panels", "auto")
    if panels not in PANELS:
        raise wrong_value(f"panels must be one of {', '.join(PANELS)}", f"'{panels}'")
    broadcast = settings.get("broadcast", panel_broadcast.USUAL)
    _collectives.find("bcast", broadcast)
    parameters = dict(candidate.parameters)
    return LuQuestion(
        int(text),
        min(parameters["block"], int(text)),
        (int(grid.split("x")[0]), int(grid.split("x")[1])) if grid else None,
        panels,
        peaks_of(settings["speeds"]) if "speeds" in settings else (),
        parameters.get("lookahead", _lu.PANELS_OF_TASKS - 1),
        broadcast,
        variant,
        candidate.parameters,
    )


def ranks_of_nodes(asked: LuQuestion, machine: _machine.Machine) -> tuple[list[int], str]:
    """Ranks of unequal nodes, and how the rule derives them."""
    return _lu.processes_of_nodes(list(asked.peaks), [machine.cores] * len(asked.peaks))


def speeds_of_ranks(peaks: Sequence[float], processes: Sequence[int], peak_here: float) -> list[float]:
    """Relative to one thread here, whose peak is in flops a second. A node's ranks share its peak."""
    return [
        peak * 1e9 / number / peak_here for peak, number in zip(peaks, processes, strict=True) for _ in range(number)
    ]


def measure(asked: LuQuestion, seconds: float) -> LuRates:
    """Runs the application on one thread. Raises what it says."""
    problem = launches.AppProblem(catalogue.find(LU), str(MEASURED_ROWS), {}, "", most_iterations=1)
    parameters = {**dict(asked.parameters), "block": min(asked.block, MEASURED_ROWS)}
    candidate = catalogue.AppCandidate(asked.variant, tuple(sorted(parameters.items())))
    alone = launches.Resources(1, 1, None, seconds=seconds)
    runs = launches.run(problem, [candidate], alone, turns=RUNS, check=False).results
    best = min(runs, key=lambda run: run["seconds"])
    kernels = {kernel["name"]: kernel for kernel in best["kernels"]}

    def rate(name: str) -> float:
        return kernels[name]["flops"] / max(kernels[name]["seconds"], 1e-9)

    moved = MEASURED_ROWS**2 / 2
    return LuRates(
        block=asked.block,
        updates=rate("updates"),
        panels=rate("panels"),
        solution=rate("back substitution"),
        move_seconds=kernels["row exchanges"]["seconds"] / moved,
        blas=dict(best["answer"]).get("BLAS", ""),
    )


def grid_of(asked: LuQuestion, ranks: int) -> tuple[int, int]:
    if asked.grid is None:
        return (1, ranks) if asked.has_tasks else _lu.usual_grid(ranks)
    if asked.grid[0] * asked.grid[1] != ranks:
        rule = f"the grid must have as many ranks as the job, {ranks}"
        raise wrong_value(rule, "x".join(map(str, asked.grid)), "leave it out, or change --ranks")
    return asked.grid


def nodes_of_row(asked: LuQuestion, space: _topology.RankSpace) -> tuple[int, ...]:
    """Nodes of the ranks of the first row of the grid, as the application sees them."""
    q = grid_of(asked, space.ranks)[1]
    sizes = space.node_sizes or [space.ranks_per_node] * ceil(q / space.ranks_per_node)
    return tuple(node for node, size in enumerate(sizes) for _ in range(size))[:q]


def check(asked: LuQuestion, ranks: int, nodes: tuple[int, ...] = ()) -> None:
    """BadInput: it does not fit the ranks, or is too long to simulate. `nodes`: those of nodes_of_row()."""
    grid = grid_of(asked, ranks)
    if asked.rows < max(grid):
        raise wrong_value(f"--size must be at least {max(grid)} on a grid of {grid[0]}x{grid[1]}", asked.rows)
    broadcast = PanelBroadcast(asked.broadcast, grid[1], nodes)
    broadcast.check()
    panels = asked.panels_of(ranks)
    if asked.panels == "simulated" and panels > (most := asked.most_panels(ranks, nodes)):
        rule = f"at most {most} panels of all ranks together can be simulated"
        raise wrong_value(rule, panels, "use --set panels=recurrence, or a larger --set block=N")
    steps = ceil(asked.rows / asked.block) * max(1, len(broadcast.events()))
    if steps > MOST_STEPS:
        rule = f"panels times ends of messages of a broadcast must be at most {MOST_STEPS}"
        raise wrong_value(rule, steps, "use a larger --set block=N, or another broadcast")


def own(end: int, block: int, part: int, parts: int) -> int:
    """Rows or columns before `end` of a part: src/numerics/lu/block_cyclic.hpp."""
    whole, rest = divmod(end, block)
    last = block if part < whole % parts else rest if part == whole % parts else 0
    return whole // parts * block + last


@dataclass
class GoalRank:
    """Operations of a rank, one computation after the other."""

    lines: list[str] = field(default_factory=list)
    last: str = ""
    came: dict[int, tuple[str, ...]] = field(default_factory=dict)  # of each panel: what brought it
    computing_ns: int = 0

    def add(self, operation: str, *after: str) -> str:
        label = f"o{len(self.lines)}"
        self.lines.append(f"{label}: {operation}")
        self.lines += [f"{label} requires {other}" for other in after if other]
        return label

    def compute(self, seconds: float, *after: str) -> None:
        nanoseconds = round(seconds * 1e9)
        self.last = self.add(f"calc {nanoseconds}", self.last, *after)
        self.computing_ns += nanoseconds


class LuOperations:
    """The operations of a factorisation, as apps/lu_app/factorisation.cpp makes them; of tasks, which take the most
    urgent first, as if each rank looked as many panels ahead as it has memory for. `speeds`: of the ranks. `message`:
    seconds of a message of so many bytes along a column, whose exchanges meet no others. `nodes`: of the ranks of a
    row."""

    def __init__(
        self,
        asked: LuQuestion,
        rates: LuRates,
        grid: tuple[int, int],
        speeds: Sequence[float],
        message: Callable[[int], float],
        nodes: tuple[int, ...] = (),
    ):
        self.asked = asked
        self.broadcast = PanelBroadcast(asked.broadcast, grid[1], nodes)
        self.tags = self.broadcast.tags
        self.from_owner: dict[int, tuple] = {}  # operations of a broadcast, by its root
        self.n, self.block, self.lookahead = asked.rows, asked.block, asked.lookahead
        self.rates, self.speeds, self.message = rates, speeds, message
        self.p, self.q = grid
        self.blocks = ceil(self.n / self.block)
        self.rounds = ceil(log2(self.p)) if self.p > 1 else 0
        self.ranks = [GoalRank() for _ in range(self.p * self.q)]
        for p in range(self.p):
            self.row(p)

    def row(self, p: int) -> None:
        """The ranks of a row of the grid: their panels come from each other."""
        for q in range(self.q):
            rank, speed = self.ranks[p * self.q + q], self.speeds[p * self.q + q]
            for b in range(min(self.lookahead, self.blocks)):
                self.start_panel(rank, p, q, b, done=0)
            for b in range(self.blocks):
                last = min(b + self.lookahead, self.blocks - 1)  # that is started
                if b + self.lookahead < self.blocks:
                    self.start_panel(rank, p, q, last, done=b)
                end = min(self.n, (last + 1) * self.block)
                columns = own(self.n + 1, self.block, q, self.q) - own(end, self.block, q, self.q)
                rank.compute(self.update_seconds(b, p, columns, speed), *rank.came.pop(b))
            work = self.n**2 / (self.p * self.q)
            rank.compute(work / (self.rates.solution * speed) + self.solution_messages())

    def start_panel(self, rank: GoalRank, p: int, q: int, block: int, done: int) -> None:
        """Its owner brings its column up to date, from the updates by panel `done` on, and makes it."""
        if block % self.q == q:
            width = min(self.block, self.n - block * self.block)
            for b in range(done, block):
                rank.compute(self.update_seconds(b, p, width, self.speeds[p * self.q + q]), *rank.came[b])
            rank.compute(self.panel_seconds(block))
        rank.came[block] = self.passed_on(rank, p, q, block)

    def passed_on(self, rank: GoalRank, p: int, q: int, b: int) -> tuple[str, ...]:
        """The part of this rank in the broadcast of panel b: what has come of it."""
        owner = b % self.q
        size = NUMBER_BYTES * (2 + self.block * (1 + self.block + self.rows_below(b, p)))
        if owner not in self.from_owner:
            self.from_owner[owner] = self.broadcast.operations(owner)
        operations = self.from_owner[owner][q]
        labels: list[str] = []
        for each in operations:
            after = [labels[i] for i in each.after]
            if q == owner and not after:
                after = [rank.last]
            end = f"to {p * self.q + each.peer}" if each.kind == "send" else f"from {p * self.q + each.peer}"
            length = max(1, round(each.share * size))
            labels.append(rank.add(f"{each.kind} {length}b {end} tag {b * self.tags + each.tag}", *after))
        return tuple(label for label, each in zip(labels, operations) if each.kind == "recv")

    def rows_below(self, b: int, p: int) -> int:
        end = min(self.n, (b + 1) * self.block)
        return own(self.n, self.block, p, self.p) - own(end, self.block, p, self.p)

    def panel_seconds(self, b: int) -> float:
        """The column waits for its slowest process at every pivot."""
        width = min(self.block, self.n - b * self.block)
        speeds = [self.speeds[p * self.q + b % self.q] for p in range(self.p)]
        slowest = max(
            (self.rows_below(b, p) + (width if b % self.p == p else 0)) / speed for p, speed in enumerate(speeds)
        )
        return slowest * width**2 / self.rates.panels + self.pivot_messages(width, min(speeds))

    def pivot_messages(self, width: int, speed: float) -> float:
        """An exchange for every pivot; in a tournament one for all, of which every round factors the rows of two, at
        the speed of the slowest."""
        if not self.asked.has_tournament:
            return width * self.rounds * self.message(PIVOT_BYTES + 2 * NUMBER_BYTES * width)
        numbers = 1 + width + width**2  # of candidate_record(), src/numerics/lu/panel.hpp
        if self.asked.has_tasks:  # with the rows that the best displace
            numbers += 1 + width**2
        combining = 2 * width**3 / (self.rates.panels * speed)
        seconds = self.rounds * (self.message(NUMBER_BYTES * numbers) + combining)
        if self.p > 1 and not self.asked.has_tasks:  # rows of the panel change places afterwards
            seconds += 2 * (self.p - 1) * self.message(NUMBER_BYTES * (width**2 // self.p))
        return seconds

    def update_seconds(self, b: int, p: int, columns: int, speed: float) -> float:
        width = min(self.block, self.n - b * self.block)
        flops = columns * (width**2 + 2 * width * self.rows_below(b, p))
        moved = width * columns
        seconds = flops / (self.rates.updates * speed) + moved * self.rates.move_seconds / speed
        if self.p > 1 and columns > 0:  # a ring of rows of U, then the rows that they displace
            part = NUMBER_BYTES * moved // self.p
            seconds += 2 * (self.p - 1) * self.message(part)
        return seconds

    def solution_messages(self) -> float:
        """Messages of the solution: for each block a reduction along a row and a broadcast along a column."""
        depth = sum(ceil(log2(n)) for n in (self.p, self.q) if n > 1)
        return self.blocks * depth * self.message(NUMBER_BYTES * self.block)

    def goal(self) -> str:
        text = [f"num_ranks {len(self.ranks)}"]
        for number, rank in enumerate(self.ranks):
            text += [f"rank {number} {{", *rank.lines, "}"]
        return "\n".join(text) + "\n"


@dataclass(frozen=True)
class PredictedTimes:
    """Times of all ranks. `most_work`, `mean_work`: seconds of computing and exchanges along columns, of a rank."""

    seconds: float
    mean_work: float
    most_work: float
    messages: int | None = None  # None: not counted


def simulated(asked: LuQuestion, rates: LuRates, setting: Setting, speeds: Sequence[float]) -> PredictedTimes:
    grid = grid_of(asked, len(speeds))
    start, each = message_costs(setting)
    nodes = nodes_of_row(asked, setting.known_job.rank_space)
    operations = LuOperations(asked, rates, grid, speeds, lambda size: start + each * size, nodes)
    ran = setting.predict(_goal.read(operations.goal().encode(), LU)).members
    work = [rank.computing_ns * 1e-9 for rank in operations.ranks]
    return PredictedTimes(ran["seconds"], sum(work) / len(work), max(work), ran["messages"])


def message_costs(setting: Setting) -> tuple[float, float]:
    """Seconds of a message, and of each byte of it."""
    parameters = _predict.loggops(setting.place).parameters
    return (parameters.L + 2 * parameters.o) * 1e-12, parameters.G * 1e-15


def by_recurrence(
    asked: LuQuestion,
    rates: LuRates,
    costs: tuple[float, float],
    speeds: Sequence[float],
    ranks: int,
    nodes: tuple[int, ...] = (),
) -> PredictedTimes:
    """`speeds`: of all ranks, or one number. `nodes`: of the ranks of a row."""
    made = _lu.PipelineQuestion()
    made.tournament, made.tasks = asked.has_tournament, asked.has_tasks
    broadcast = PanelBroadcast(asked.broadcast, grid_of(asked, ranks)[1], nodes)
    for owner in broadcast.owners:
        made.add_broadcast()
        for each in broadcast.events(owner):
            if each.sends:
                made.add_send(each.rank, each.share)
            else:
                made.add_wait(each.rank, each.message)
    made.rows, made.block = asked.rows, asked.block
    made.p, made.q = grid_of(asked, ranks)
    made.lookahead = asked.lookahead
    is_equal = min(speeds) == max(speeds)
    speed = speeds[0] if is_equal else 1.0
    made.update_rate, made.panel_rate = rates.updates * speed, rates.panels * speed
    made.solution_rate, made.move_seconds = rates.solution * speed, rates.move_seconds / speed
    made.message_seconds, made.byte_seconds = costs
    if not is_equal:
        made.speeds = list(speeds)
    found = _lu.pipeline(made)
    return PredictedTimes(found.seconds, found.mean_work, found.most_work)


def operations_of(rows: int) -> float:
    """HPL's count."""
    return rows**2 * (2 / 3 * rows + 1.5)


def predicted(
    asked: LuQuestion, rates: LuRates, job: _machine.Job, model: str, speeds: Sequence[float], ranks: int | None = None
) -> JsonObject:
    """A factorisation and its solution on the ranks of a job. `speeds`: of the ranks, or one for all, relative to a
    thread here. `ranks`: another number of them with the message costs of this job, by the recurrence."""
    number = ranks or job.rank_space.ranks
    of_updates = rates.updates * (sum(speeds) if len(speeds) > 1 else speeds[0] * number)
    is_long = asked.panels == "auto" and operations_of(asked.rows) > LONGEST_SECONDS * of_updates
    nodes = () if ranks else nodes_of_row(asked, job.rank_space)
    is_simulated = ranks is None and asked.is_simulated(number, nodes) and not is_long
    setting = Setting(model, job)
    if is_simulated:
        times = simulated(asked, rates, setting, speeds if len(speeds) > 1 else [*speeds] * number)
    else:
        times = by_recurrence(asked, rates, message_costs(setting), speeds, number, nodes)
    gflops = operations_of(asked.rows) * 1e-9 / times.seconds
    return {
        "application": LU,
        "ranks": number,
        "grid": list(grid_of(asked, number)),
        "rows": asked.rows,
        "block": asked.block,
        "lookahead": asked.lookahead,
        "variant": asked.variant,
        "broadcast": asked.broadcast,
        "panels": "simulated" if is_simulated else "recurrence",
        "seconds": times.seconds,
        "gflops": gflops,
        "share_of_updates": gflops * 1e9 / of_updates,
        "computing_seconds": times.mean_work,
        "uneven_seconds": times.most_work - times.mean_work,
        "waiting_seconds": max(0.0, round(times.seconds - times.most_work, 12)),
        "messages": times.messages,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": model,
    }


def matrix_bytes(asked: LuQuestion) -> int:
    return NUMBER_BYTES * asked.rows * (asked.rows + 1)


def memory_bytes(machine: _machine.Machine) -> int | None:
    """Memory of a node; None: the machine file does not have it."""
    memory = json.loads(machine.to_json())["node"].get("memory_bytes")
    return memory and memory["value"]


def has_memory(asked: LuQuestion, job: _machine.Job) -> bool:
    """For the matrix, as far as the machine file knows."""
    each = memory_bytes(job.machine)
    return each is None or matrix_bytes(asked) <= each * job.slots.nodes


def assumed(asked: LuQuestion, speed_text: str, panels: str) -> list[str]:
    """Assumptions of the times beside measurements."""
    lines = [
        f"{speed_text}, and each rank has one thread",
        f"panels go along rows of the grid by {asked.broadcast}, and take what the machine file says",
        "exchanges along columns take the time of LogGP, and meet no other messages",
    ]
    if asked.has_tasks:
        lines.append(f"tasks: the most urgent first, as a look-ahead of {asked.lookahead} panels, the most in memory")
    if panels == "recurrence":
        error = f"within {RECURRENCE_ERROR:.0%} of the simulation by flow on 16 to 256 ranks"
        if asked.broadcast != panel_broadcast.USUAL:
            error = "within 3 % of the simulation by flow for 6,000 rows on 8 ranks, and less near for fewer"
        lines.append(
            "all panels by a recurrence: ranks of a column in lockstep, panels that meet no other messages; " + error
        )
    return lines
