"""`kumihimo simulate --model packet --background`: a job beside others, its repeats, and what it prints."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kumihimo import _goal, _machine, _packet, arguments, programs, quantities, simulation
from kumihimo.arguments import Ranks
from kumihimo.background import spec, study
from kumihimo.background.allocation import Allocator
from kumihimo.cli import options, output, progress
from kumihimo.errors import NotApplicable, missing, not_applicable, wrong_value
from kumihimo.sizes import text_of

BOTH = "both"
DEFAULT_REPEATS = 20
MOST_WARM_UP = 1.0  # seconds of simulated time
REFUSED = ("given", "placement", "links", "every_round", "dies", "noise")
Simulate = Callable[..., _packet.Outcome]


@dataclass
class Beside:
    """The options, as they were given."""

    background: Sequence[str]
    spread: str | None
    repeats: int | None
    warm_up: float | None
    page: Path | None
    order: str | None
    packets: _packet.Options
    as_json: bool

    def __post_init__(self) -> None:
        options.refuse_beside("simulate --background", *REFUSED)
        self.specs = [spec.parsed(text) for text in self.background]
        if self.spread not in (None, *spec.SPREADS, BOTH):
            raise wrong_value(f"--spread must be {', '.join(spec.SPREADS)} or {BOTH}", f"'{self.spread}'")
        if self.repeats is not None and not 1 <= self.repeats <= study.MOST_REPEATS:
            raise wrong_value(f"--repeats must be 1 to {study.MOST_REPEATS}", self.repeats)
        if self.warm_up is not None and self.warm_up > MOST_WARM_UP:
            raise wrong_value(f"--warm-up must be at most {MOST_WARM_UP:g} s", f"{self.warm_up:g} s", "as in 500us")

    @property
    def spreads(self) -> list[str]:
        return list(spec.SPREADS) if self.spread == BOTH else [self.spread or spec.SPREADS[0]]

    @staticmethod
    def all_nodes(asked: Ranks) -> Ranks:
        """The machine's part that all jobs share: --ranks are those of the job watched alone."""
        return replace(asked, ranks=None)

    def study(self, job: _machine.Job, ranks: int | None) -> study.Study:
        if ranks is None:
            advice = "add --ranks, fewer than the shape has slots for"
            raise missing("the number of ranks of the job watched", advice)
        allocator = Allocator(job, ranks, self.order, self.specs)
        return study.Study(allocator, self.packets, self.repeats or DEFAULT_REPEATS, self.warm_up)

    def simulate_collective(self, asked: simulation.Asked, sizes: list[int | None], ranks: int | None) -> None:
        made = self.study(asked.job, ranks)
        variants = arguments.variants(asked.arguments.collective, asked.algorithm)
        cases = [simulation.Case(variant, size) for size in sizes for variant in variants]

        def simulate(case: simulation.Case, spread: str, seed: int) -> tuple[dict, dict]:
            about: dict = {}

            def job_watched(placed: object, packets: object, background: object) -> _packet.Outcome:
                placed_asked = replace(asked, placed=placed)
                collective, _, schedule = simulation.built(placed_asked, case)
                if not about:  # the rate of one second
                    about.update(simulation.result_of(placed_asked, case, collective, schedule, {"seconds": 1.0}))
                rest = (asked.job, placed.placement, packets, not asked.simd, background)
                return _packet.simulate(schedule, *rest)

            return made.repeat(spread, seed, job_watched), about

        found, passed_over = progress.run_interruptible(lambda: self.repeated(made, cases, simulate))
        if not found and asked.algorithm != arguments.ALL:
            raise next(error for error in passed_over if error is not None)
        reasons = [
            {"algorithm": case.variant.name, "bytes": case.bytes, "reason": str(error)}
            for case, error in zip(cases, passed_over)
            if error is not None
        ]
        if not found:
            raise not_applicable("no algorithm fits these ranks", "; ".join(output.reasons(reasons)))
        for result in found:
            result["bytes_per_second"] = result["bytes_per_second"] / result["seconds"] if result["seconds"] else None
        self.show(found, reasons, asked.job, made)

    def simulate_programs(
        self, named: programs.Named, machine: _machine.Machine, ranks: Ranks, part: simulation.Part
    ) -> None:
        job = simulation.on(machine, self.all_nodes(ranks), part)

        def run(placed: object, packets: object, background: object) -> tuple[dict, _packet.Outcome]:
            those = named.on(simulation.space_of(job, placed))
            about = {**those.result(), "machine": job.machine.name, "shape": simulation.shape_of(job.machine)}
            with programs.unchanged(those.sets):
                return about, _packet.simulate(those.sets, job, placed.placement, packets, background)

        self.simulate_one(job, ranks.ranks, run)

    def simulate_goal(
        self, name: str, graphs: _goal.Graphs, machine: _machine.Machine, ranks: Ranks, part: simulation.Part
    ) -> None:
        if ranks.ranks not in (None, graphs.ranks):
            raise wrong_value(f"--ranks must be the {graphs.ranks} of the GOAL file", ranks.ranks, "leave it out")
        job = simulation.on(machine, self.all_nodes(ranks), part)
        about = {"programs": name, "ranks": graphs.ranks}
        about |= {"machine": job.machine.name, "shape": simulation.shape_of(job.machine)}

        def run(placed: object, packets: object, background: object) -> tuple[dict, _packet.Outcome]:
            return about, _packet.simulate(graphs, job, placed.placement, packets, background)

        self.simulate_one(job, graphs.ranks, run)

    def simulate_one(self, job: _machine.Job, ranks: int | None, run: Callable[..., tuple]) -> None:
        """run(placed, options, background): what tells of the program, and its outcome."""
        made = self.study(job, ranks)

        def simulate(_: None, spread: str, seed: int) -> tuple[dict, dict]:
            about: dict = {}

            def job_watched(*where: object) -> _packet.Outcome:
                told, outcome = run(*where)
                about.update(told)
                return outcome

            return made.repeat(spread, seed, job_watched), about

        found, passed_over = progress.run_interruptible(lambda: self.repeated(made, [None], simulate))
        if not found:
            raise passed_over[0]
        self.show(found, [], job, made)

    def repeated(
        self, made: study.Study, cases: Sequence[object], simulate: Callable[..., tuple[dict, dict]]
    ) -> tuple[list[dict], list[NotApplicable | None]]:
        """A result for each case and spread; for each case why there is none."""
        numbers = range(len(cases))
        tasks = [(number, spread, seed) for number in numbers for spread in self.spreads for seed in made.seeds]
        of_task: dict[tuple, tuple[dict, dict]] = {}
        passed_over: list[NotApplicable | None] = [None] * len(cases)
        with progress.bar("simulating", len(tasks)) as advance:

            def work(task: tuple) -> tuple[dict, dict] | None:
                number, spread, seed = task
                return None if passed_over[number] else simulate(cases[number], spread, seed)

            with contextlib.closing(study.in_parallel(work, tasks, study.processors())) as outcomes:
                for task, value, error in outcomes:
                    if isinstance(error, NotApplicable):
                        passed_over[task[0]] = error
                    elif error is not None:
                        raise error
                    elif value is not None:
                        of_task[task] = value
                    advance(f"{task[1]}, seed {task[2]}")
        found = []
        for number in numbers:
            for spread in self.spreads if passed_over[number] is None else []:
                each = [of_task[number, spread, seed] for seed in made.seeds]
                members = self.members(made, spread)
                found.append({**each[0][1], **members, **study.summary([repeat for repeat, _ in each])})
        return found, passed_over

    def members(self, made: study.Study, spread: str) -> dict:
        return {
            "model": "packet",
            "spread": spread,
            "order": made.allocator.order,
            "background": [each.text for each in self.specs],
            "routing": self.packets.routing,
            "packet_bytes": self.packets.packet_bytes,
            "buffer_packets": _packet.buffer_packets_of(made.allocator.job, self.packets),
            "seed": self.packets.seed,
            "limiting": "",
            "accuracy": "",
        }

    def show(self, results: list[dict], passed_over: list[dict], job: _machine.Job, made: study.Study) -> None:
        if self.page is not None:
            from kumihimo.background import page

            output.write(self.page, page.render(results))
        if self.as_json:
            return output.print_results_json(results, passed_over)
        print_results(results, job, made, self.specs)
        output.print_list("Not applicable:", output.reasons(passed_over))
        return None


def print_results(results: list[dict], job: _machine.Job, made: study.Study, specs: Sequence[spec.Spec]) -> None:
    first = results[0]
    what = first.get("collective") or first["programs"]
    single = {name: len({str(r.get(name)) for r in results}) == 1 for name in ("bytes", "algorithm")}
    details = [text_of(first["bytes"])] if single["bytes"] and first.get("bytes") else []
    place = f"{job.machine.name} {simulation.shape_of(job.machine)}".strip()
    ranks = quantities.counted(first["ranks"], "rank")
    output.print_line(", ".join([f"{what} on {place}", ranks, *details, "model packet"]))
    if single["algorithm"] and "algorithm" in first:
        output.print_line(f"algorithm {first['algorithm']}")
    free = job.slots.nodes - len(set(made.allocator.made("compact", 0)[0].placement.node_of_rank))
    for each in specs:
        output.print_line(f"beside {each.text}, on {free} free nodes")
    print_accepted(results)
    count = len(first["repeats"])
    starts = quantities.seconds_text(first["start_seconds"])
    output.print_line(f"{quantities.counted(count, 'repeat')}; the job starts {starts} after the others")
    output.print_line("")
    shown = [name for name in COLUMNS if name not in left_out(results, single)]
    rows = [[cells[name] for name in shown] for cells in map(row, results)]
    output.print_table("", shown, rows)


def print_accepted(results: list[dict]) -> None:
    offered, delivered, messages = (
        sum(r[name] for r in results) for name in ("offered_bytes", "delivered_bytes", "offered_messages")
    )
    if messages >= study.LEAST_OFFERED:
        share = quantities.share_text(delivered / offered)
        output.print_line(f"delivered while the job ran: {share} of what they offer")
    elif any(use["message_bytes"] for use in results[0]["repeats"][0]["background"]):
        number = quantities.counted(messages, "message")
        output.print_line(f"they offered {number} while the job ran, too few to tell how many are delivered")


COLUMNS = (
    *("bytes>", "algorithm", "spread", "alone>", "median>", "its 95 % interval>", "p99>", "longest>", "slowdown>"),
    "waited>",
)


def left_out(results: list[dict], single: dict[str, bool]) -> list[str]:
    names = [f"{name}>" if name == "bytes" else name for name, alike in single.items() if alike]
    has = results[0]
    names += ["p99>"] if has["p99_seconds"] is None else ["longest>"]
    return names + (["its 95 % interval>"] if has["low_seconds"] is None else [])


def row(r: dict) -> dict[str, str]:
    seconds = quantities.seconds_text
    interval = "" if r["low_seconds"] is None else f"{seconds(r['low_seconds'])} to {seconds(r['high_seconds'])}"
    cells = (
        text_of(r["bytes"]) if r.get("bytes") is not None else "",
        r.get("algorithm", ""),
        r["spread"],
        seconds(r["quiet_seconds"]),
        seconds(r["seconds"]),
        interval,
        "" if r["p99_seconds"] is None else seconds(r["p99_seconds"]),
        seconds(r["max_seconds"]),
        f"{r['slowdown']:.3g}",
        quantities.share_text(r["packets_waiting_share"]),
    )
    return dict(zip(COLUMNS, cells))
