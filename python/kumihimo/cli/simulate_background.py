"""`kumihimo simulate --model packet --background`: a job beside others, its repeats, and what it prints."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kumihimo import _machine, _packet
from kumihimo.cli import options, output, progress
from kumihimo.cli.simulate_request import Request
from kumihimo.predict import simulation
from kumihimo.predict.background import spec, study
from kumihimo.predict.background.allocation import Allocator
from kumihimo.predict.prediction import Setting
from kumihimo.predict.subjects import Subject
from kumihimo.text import quantities
from kumihimo.text.errors import NotApplicable, missing, not_applicable, wrong_value
from kumihimo.text.sizes import text_of

BOTH = "both"
DEFAULT_REPEATS = 20
MOST_WARM_UP = 1.0  # seconds of simulated time
OF_SUBJECT = (
    *("programs", "space", "collective", "algorithm", "parameters", "ranks", "bytes", "type", "simd", "operation"),
    *("root", "neighbours", "machine", "shape", "network", "losses", "ranks_per_node", "node_sizes", "placement"),
    *("extension", "segments", "bytes_per_second"),
)
REFUSED = ("given", "placement", "links", "without", "explain", "dies", "noise")


def run(name: str, request: Request) -> None:
    """The subject beside other jobs. --ranks are those of the job watched alone."""
    Beside(request).run(name)


@dataclass
class Beside:
    request: Request

    def __post_init__(self) -> None:
        options.refuse_beside("simulate --background", *REFUSED)
        request = self.request
        self.packets = request.packets
        self.specs = [spec.parsed(text) for text in request.background]
        if request.spread not in (None, *spec.SPREADS, BOTH):
            raise wrong_value(f"--spread must be {', '.join(spec.SPREADS)} or {BOTH}", f"'{request.spread}'")
        if request.repeats is not None and not 1 <= request.repeats <= study.MOST_REPEATS:
            raise wrong_value(f"--repeats must be 1 to {study.MOST_REPEATS}", request.repeats)
        if request.warm_up is not None and request.warm_up > MOST_WARM_UP:
            raise wrong_value(f"--warm-up must be at most {MOST_WARM_UP:g} s", f"{request.warm_up:g} s", "as in 500us")

    @property
    def spreads(self) -> list[str]:
        spread = self.request.spread
        return list(spec.SPREADS) if spread == BOTH else [spread or spec.SPREADS[0]]

    def run(self, name: str) -> None:
        request = self.request
        subject = request.subject(name)
        machine = request.loaded_machine()
        asked = subject.ranks(request.asked_ranks)
        job = simulation.on(machine, replace(asked, ranks=None), request.part)
        made = self.study(job, self.ranks_of(subject, asked.ranks))
        setting = Setting("packet", job, simd=not request.no_simd)
        cases = subject.cases(setting)

        def simulate(case: object, spread: str, seed: int) -> tuple[dict, dict]:
            about: dict = {}

            def job_watched(placed: object, packets: object, background: object) -> dict:
                on_it = replace(setting, placed=placed, background=background, options={"packets": packets})
                found, result = subject.predict(on_it, case)
                about.update(result)
                return {**found.members, **study.beside(found.native)}

            return made.repeat(spread, seed, job_watched), about

        found, errors = progress.run_interruptible(lambda: self.repeated(made, cases, simulate))
        if not found and not subject.may_not_fit:
            raise next(error for error in errors if error is not None)
        passed_over = [
            {"algorithm": case.variant.name, "bytes": case.bytes, "reason": str(error)}
            for case, error in zip(cases, errors)
            if error is not None
        ]
        if not found:
            raise not_applicable("no algorithm fits these ranks", "; ".join(simulation.reasons(passed_over)))
        self.show(found, passed_over, job, made)

    @staticmethod
    def ranks_of(subject: Subject, asked: int | None) -> int | None:
        """Ranks of the job watched."""
        if subject.kind != "goal":
            return asked
        if asked not in (None, subject.graphs.ranks):
            rule = f"--ranks must be the {subject.graphs.ranks} of the GOAL file"
            raise wrong_value(rule, asked, "leave it out")
        return subject.graphs.ranks

    def study(self, job: _machine.Job, ranks: int | None) -> study.Study:
        if ranks is None:
            advice = "add --ranks, fewer than the shape has slots for"
            raise missing("the number of ranks of the job watched", advice)
        allocator = Allocator(job, ranks, self.request.order, self.specs)
        return study.Study(allocator, self.packets, self.request.repeats or DEFAULT_REPEATS, self.request.warm_up)

    def repeated(
        self, made: study.Study, cases: Sequence[object], simulate: study.Simulate
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
                summary = study.summary([repeat for repeat, _ in each])
                found.append({**about(each[0][1], summary["seconds"]), **members, **summary})
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
        if self.request.page is not None:
            from kumihimo.predict.background import page

            output.write(self.request.page, page.render(results))
        if self.request.as_json:
            return output.print_results_json(results, passed_over)
        print_results(results, job, made, self.specs)
        output.print_list("Not applicable:", simulation.reasons(passed_over))
        return None


def about(result: dict, seconds: float) -> dict:
    """Line about the subject and place of a single result; the rate at the median of all repeats."""
    told = {name: value for name, value in result.items() if name in OF_SUBJECT}
    if result.get("bytes_per_second"):
        told["bytes_per_second"] = result["bytes_per_second"] * result["seconds"] / seconds if seconds else None
    return told


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
