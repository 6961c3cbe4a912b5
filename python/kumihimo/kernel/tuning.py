"""Finds the fastest right variant of a program's kernel for each size: every candidate is checked against the golden
copy before it is measured, and replaces it only if it is faster by its whole interval, in rounds of the two alone
(ADR 36)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf, log
from pathlib import Path

from kumihimo.kernel import compiling, loops, rounds, search
from kumihimo.kernel.candidates import CandidateFamily, KernelCandidate, space
from kumihimo.kernel.choices import GOLDEN
from kumihimo.kernel.hints import KernelHints, parse
from kumihimo.kernel.rounds import QuickLook, RoundEffort, Runner
from kumihimo.kernel.session import Changed, Crashed, Ended, Session
from kumihimo.text.errors import Failed, failed, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.ranges import FARTHEST

USUAL_SIZES = (64, 512, 4096, 32768, 262144)
PRECIOUS = 4  # times the effort of another kernel
FINALISTS = 4
LIMIT_SECONDS, LIMIT_TIMES = 2.0, 20  # of one call: so long, and so many times the golden copy's
GOLDEN_SECONDS, GOLDEN_SHARE = 600.0, 0.25  # of one call of the golden copy: so long, and this share of the time left
LEAST_CALLS = 20  # of the golden copy, about, in the checks and rounds of a size
SHARE_OF_SEARCH = 0.6
EDGE_SIZES = 5
Step = Callable[[str], None]


class Misdeclared(Failed):
    """The kernel itself is wrong: its error bound would accept every result, an output is not declared, or its size is
    another."""


def sizes_of(kernel: JsonObject, hints: KernelHints, asked: Sequence[int] = ()) -> list[int]:
    """Sizes to tune: those named, those of the program, or some over the range of trips; each with the properties of
    the hint.
    """
    given = list(asked) or list(kernel["sizes"])
    if given:
        for size in given:
            if not hints.fits(size):
                raise wrong_value(f"sizes of {kernel['name']} must fit its hint '{kernel['hint']}'", size)
        return sorted(set(given))
    if not hints.trips:
        return sorted({size for start in USUAL_SIZES for size in hints.from_size(start, 1)})
    low, high = hints.trips
    steps = max(1, ceil(log(high / max(low, 1)) / log(FARTHEST)))
    starts = [round(max(low, 1) * (high / max(low, 1)) ** (step / steps)) for step in range(steps + 1)]
    found = {size for start in starts for size in hints.from_size(start, 1)}
    return sorted(found | set(largest(hints)))


def largest(hints: KernelHints) -> list[int]:
    """The largest size that fits, if it is near the end of the range."""
    if hints.trips is None:
        return []
    low, high = hints.trips
    near = range(high, max(low, high - 4 * hints.multiple) - 1, -1)
    return [next(size for size in near if hints.fits(size))] if any(map(hints.fits, near)) else []


def families_of(kernel: JsonObject, hints: KernelHints) -> list[CandidateFamily]:
    fixed = dict(hints.fixed)
    families = []
    for each in kernel["variants"]:
        tried = loops.parameters(hints) if each["kind"] == "loop" else dict(each["parameters"])
        values = ((name, (fixed[name],) if name in fixed else tuple(of)) for name, of in tried.items())
        families.append(CandidateFamily(each["name"], tuple(values)))
    return families


class KernelTuning:
    """Tuning of one kernel of the program in `session`. `folder`: for compiled sources."""

    def __init__(self, session: Session, listing: JsonObject, kernel: JsonObject, folder: Path, seed: int = 0) -> None:
        self.session, self.kernel, self.folder, self.seed = session, kernel, folder, seed
        self.hints = parse(kernel["hint"])
        self.language = "c++" if listing["language"] == "c++" else "c"
        self.families = families_of(kernel, self.hints)
        self.kinds = {each["name"]: each for each in kernel["variants"]}
        self.faults: dict[KernelCandidate, str] = {}
        self.unavailable: set[KernelCandidate] = set()  # of the faults: no library, command or compiler here
        self.objects: dict[KernelCandidate, str] = {}
        self.hashes: dict[KernelCandidate, str] = {}  # of generated sources
        self.golden_seconds: dict[int, float] = {}
        self.gamma: dict[int, float] = {}
        self.checked_empty: set[KernelCandidate] = set()  # compared with the golden copy on size 0
        self.sizes: list[int] = []
        self._compiler: compiling.KernelCompiler | None = None

    @property
    def golden(self) -> KernelCandidate:
        return KernelCandidate(GOLDEN)

    @property
    def builder(self) -> str:
        """The compiler of generated sources, with its flags."""
        return f"{self._compiler.version}, {' '.join(self._compiler.flags)}" if self._compiler else ""

    def decisions(
        self, sizes: Sequence[int], strategy: str, seconds_left: Callable[[], float], step: Step
    ) -> Iterator[JsonObject]:
        """One for each size, within the time. A candidate that is wrong at any size is chosen for none, so all sizes
        are checked first."""
        self.sizes = self.reached(sorted(sizes), seconds_left)
        for place, size in enumerate(self.sizes):
            if seconds_left() <= 0:
                return
            step(f"{self.kernel['name']}: {size}")
            yield self.decide(size, strategy, seconds_left() / (len(self.sizes) - place))

    def reached(self, sizes: Sequence[int], seconds_left: Callable[[], float]) -> list[int]:
        """The sizes, from the smallest up, at which there is time for calls of the golden copy."""
        for place, size in enumerate(sizes):
            left = seconds_left()
            if left <= 0 or not self.time_golden(size, min(GOLDEN_SECONDS, GOLDEN_SHARE * left)):
                return list(sizes[:place])
            if LEAST_CALLS * self.golden_seconds[size] > left:
                return list(sizes[:place])
        return list(sizes)

    def time_golden(self, size: int, seconds: float) -> bool:
        """Whether a call ends within `seconds`."""
        asked = self.request("time", self.golden, size=size, times=1)
        try:
            for _ in range(2):  # the first touches memory and code
                answer = right(self.session.ask(asked, seconds))
        except Crashed as error:
            raise failed(f"the golden copy of {self.kernel['name']} {error} at size {size}") from None
        except Ended:
            return False
        if "refused" in answer:
            raise failed(f"the golden copy of {self.kernel['name']} fails at size {size}", answer["refused"])
        self.golden_seconds[size] = answer["seconds"]
        return True

    def decide(self, size: int, strategy: str, seconds: float) -> JsonObject:
        began = time.monotonic()
        spent = lambda: time.monotonic() - began  # noqa: E731
        of_rounds = (1 - SHARE_OF_SEARCH) / 2 * seconds  # first all finalists, then the winner alone
        effort = RoundEffort(seconds=min(0.5, of_rounds))
        times = 1
        if self.hints.precious:
            times = 2
            effort = RoundEffort(min(2.0, of_rounds), 5e-3, least_rounds=15, most_rounds=60)
        every = len(space(self.families))
        chosen_strategy = search.strategy_for(strategy, every)
        quick = QuickLook(self.golden, self.golden_seconds[size], effort)
        found = search.run(
            chosen_strategy,
            self.families,
            lambda candidate: self.cost(candidate, size, quick),
            search.evaluations_of(chosen_strategy, every, times),
            self.seed,
            lambda: spent() > SHARE_OF_SEARCH * seconds,
        )
        runners = [Runner(self.golden, rounds.times_of(self.golden_seconds[size], effort))]
        for candidate in search.best(found, FINALISTS * times):
            if found[candidate] <= rounds.FAR_SLOWER * min(found.values()):
                runners.append(Runner(candidate, rounds.times_of(found[candidate], effort)))
        rows = self.confirmed(size, runners, self.measured(size, runners, effort), effort)
        return self.decision(size, runners, rows, quick, found, chosen_strategy, every)

    def measured(self, size: int, runners: list[Runner], effort: RoundEffort) -> list[JsonObject]:
        """A row for each runner, after rounds beside the golden copy, the first one."""
        began = time.monotonic()
        by_runner = lambda runner: self.sample(runner, size)  # noqa: E731
        rounds.by_turns(runners, by_runner, effort, lambda: time.monotonic() - began)
        golden = runners[0]
        if golden.refused:
            raise failed(f"the golden copy of {self.kernel['name']} {golden.refused} at size {size}")
        for runner in runners[1:]:
            if runner.refused:
                self.faults[runner.candidate] = f"size {size}: {runner.refused}"
        return [rounds.row_of(runner, golden) for runner in runners]

    def confirmed(
        self, size: int, runners: list[Runner], rows: list[JsonObject], effort: RoundEffort
    ) -> list[JsonObject]:
        """The rows, with new figures of the winner and the golden copy: the best of several intervals of 95 % is faster
        by chance too often, so rounds of these two alone decide."""
        faster = [place for place, row in enumerate(rows) if row.get("is_faster")]
        if not faster:
            return rows
        best = min(faster, key=lambda place: rows[place]["ratio"])
        for place in faster:
            rows[place]["is_faster"] = False
        fresh = [Runner(runners[place].candidate, runners[place].times) for place in (0, best)]
        rows[0], rows[best] = self.measured(size, fresh, effort)
        return rows

    def decision(self, size, runners, rows, quick, found, strategy, every) -> JsonObject:
        final = {runner.candidate for runner in runners}
        for candidate in found:
            if candidate in final:
                continue
            row = {"variant": candidate.variant, "parameters": candidate.parameters}
            if found[candidate] < inf:
                dropped = quick.dropped.get(candidate, "slower in the search")
                rows.append({**row, "seconds": found[candidate], "dropped": dropped})
            else:
                away = {"unavailable": True} if candidate in self.unavailable else {}
                rows.append({**row, "refused": self.faults[candidate], **away})
        faster = [row for row in rows if row.get("is_faster")]
        best = min(faster, key=lambda row: row["ratio"], default=rows[0])
        pick = lambda row: {"variant": row["variant"], "parameters": row["parameters"]}  # noqa: E731
        decision = {"kernel": self.kernel["name"], "size": size, "chosen": pick(best), "untuned": pick(rows[0])}
        decision |= {"search": strategy, "candidates": every, "measured": len(found), "tried": rows}
        return decision | {"check": self.check_text(size)}

    def check_text(self, size: int) -> str:
        if not self.kernel["bound"]:
            return "bitwise"
        gamma = self.gamma.get(size)
        value = f" = {gamma:.3g}" if gamma is not None else ""
        return f"within 2 gamma_n M, gamma_n{value}"

    def cost(self, candidate: KernelCandidate, size: int, quick: QuickLook) -> float:
        """Seconds of one call, inf where it is refused."""
        if self.fault(candidate):
            return inf
        took = quick.seconds(candidate, lambda runner: self.sample(runner, size))
        if isinstance(took, str):
            self.faults[candidate] = f"size {size}: {took}"
            return inf
        return took

    def sample(self, runner: Runner, size: int) -> float | str:
        asked = self.request("time", runner.candidate, size=size, times=runner.times)
        answer = self.answer(asked, self.limit(size) * runner.times)
        return answer["seconds"] if "seconds" in answer else answer["refused"]

    def limit(self, size: int) -> float:
        """Time limit of one call of a variant; for a size that is not tuned, that of the next larger one that is."""
        known = min((each for each in self.golden_seconds if each >= size), default=max(self.golden_seconds))
        return LIMIT_SECONDS + LIMIT_TIMES * self.golden_seconds[known]

    def fault(self, candidate: KernelCandidate) -> str:
        """Why it may not be chosen: the input on which it is wrong. Checked once."""
        if candidate not in self.faults:
            self.faults[candidate] = self.found_fault(candidate)
        return self.faults[candidate]

    def found_fault(self, candidate: KernelCandidate) -> str:
        try:
            self.objects[candidate] = self.compiled(candidate)
        except (Changed, Misdeclared):
            raise
        except Failed as error:
            self.unavailable.add(candidate)
            return str(error)
        compared, skipped, nothing = 0, "", ""
        for size, seed, kind in self.inputs():
            asked = self.request("check", candidate, size=size, seed=seed, input=kind)
            answer = self.answer(asked, 2 * self.limit(size))  # the golden copy runs too
            if answer.get("unavailable"):
                self.unavailable.add(candidate)
                return answer["refused"]
            if "unbounded" in answer:
                raise Misdeclared(f"at size {size} {answer['unbounded']}")
            if "refused" in answer:
                if "outside" in answer["refused"]:
                    self.session.close()  # its memory may be damaged
                return f"size {size}, seed {seed}, {kind} input: {answer['refused']}"
            compared += "ok" in answer
            if size == 0 and "ok" in answer:
                self.checked_empty.add(candidate)
            skipped, nothing = answer.get("skipped", skipped), answer.get("nothing", nothing)
            if "gamma" in answer:
                self.gamma[size] = answer["gamma"]
        if nothing and not compared:
            raise Misdeclared(nothing)
        return "" if compared else f"no input could be compared: {skipped}"

    def inputs(self) -> list[tuple[int, int, str]]:
        """(size, seed, kind): size 0 if the hint promises it, the smallest sizes, one beside each tuned size, and the
        tuned ones; every edge at the smallest ones and the tuned ones. Odd seeds shift arrays off the boundary of a
        cache line, and fill outputs."""
        small = self.hints.from_size(1, EDGE_SIZES)
        beside = {size for tuned in self.sizes for size in self.hints.from_size(tuned + 1, 1)}
        empty = [0] if self.hints.trips and self.hints.fits(0) else []
        found = [(size, seed, "random") for size in (*small, *empty) for seed in (0, 1)]
        found += [(size, 1, "random") for size in sorted(beside.difference(small, self.sizes))]
        found += [(size, seed, "random") for size in self.sizes for seed in (2, 3)]
        of_edges = enumerate(sorted({small[0], small[-1], *self.sizes}))
        return found + [(size, place % 2, kind) for place, size in of_edges for kind in self.kernel["edges"]]

    def answer(self, asked: JsonObject, seconds: float) -> JsonObject:
        """Answer of the program, or the reason why it ended. A crash counts only if a new process has it too: one
        before it may have damaged the memory.
        """
        try:
            try:
                return right(self.session.ask(asked, seconds))
            except Crashed:
                return right(self.session.ask(asked, seconds))
        except Ended as error:
            return {"refused": str(error)}

    def request(self, do: str, candidate: KernelCandidate, **more: object) -> JsonObject:
        asked = {"do": do, "kernel": self.kernel["name"], "variant": candidate.variant}
        asked["parameters"] = candidate.parameters
        return {**asked, "object": self.objects.get(candidate, ""), **more}

    def compiled(self, candidate: KernelCandidate) -> str:
        """The path of the shared library of a generated source; empty for other variants."""
        row = self.kinds.get(candidate.variant, {})
        if row.get("kind") == "loop":
            loop = loops.Loop(**{**row["loop"], "sums": tuple(row["loop"]["sums"])})
            multiple = self.hints.multiple
            text = loops.source(loop, candidate.parameters, cplusplus=self.language == "c++", multiple=multiple)
        elif row.get("kind") == "source":
            answer = self.answer(self.request("source", candidate), LIMIT_SECONDS)
            if "text" not in answer:
                raise failed("its generator fails", answer["refused"])
            text, self.hashes[candidate] = answer["text"], answer["hash"]
        else:
            return ""
        if self._compiler is None:
            self._compiler = compiling.find(self.language)
        return str(self._compiler.compile(text, self.folder))

    def hash_of(self, candidate: KernelCandidate) -> str:
        """Hash of the checked candidate, though the program may be edited since."""
        return self.hashes.get(candidate) or self.kinds[candidate.variant]["hash"]


def right(answer: JsonObject) -> JsonObject:
    if "misdeclared" in answer:
        raise Misdeclared(answer["misdeclared"])
    return answer
