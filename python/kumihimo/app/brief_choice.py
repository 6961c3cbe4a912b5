"""`--variant auto` without --tune: a variant for at most a quarter of the time of the run that it serves.

Candidates run on a share of the problem (Application.shares in `application`), one after another, the promising ones
first; the first that fits is the reference. Scaled, the least time tells how long the run takes, and a quarter of that
is the budget. A stage that has used its part of the budget ends, also within a run.

1. On the smallest share: every variant with its usual parameters. If that is cheap, to the end: it counts iterations.
2. There too: the best variants with their other parameters.
3. On each larger share, where data do not fit in caches, the best of them run a few iterations; on the problem itself,
   if two such runs fit in the budget.

The best of the last stage run once more, and the least time counts. As times of few runs are noisy, a candidate must be
clearly faster than the reference.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kumihimo.app import launches
from kumihimo.app.catalogue import AppCandidate, ApplicationRow, Share
from kumihimo.app.figures import key_of
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.text.errors import BadInput, Failed, NotApplicable, OutOfTime, failed
from kumihimo.text.json_types import JsonObject

PART_OF_RUN = 0.25
BESIDE_SECONDS = 1.0  # of a run for its start, the rates of the machine and the check, at least
ENDS = (0.4, 0.65, 0.95)  # of the stages, as parts of the budget
ENDS_OF_ONE = (0.7, 0.95)  # where a larger share does not follow
WORTH_SOLVING = 16.0  # times a share's solve that the whole one takes at least, so that shares are solved to the end
VARIED = 3  # variants whose parameters are tried
REPEATED = 4  # candidates that run again on the last share, where the budget allows it
CLEARLY = 1.05  # times as fast as the reference
FEWEST, USUAL_ITERATIONS, MOST = 10, 100, 1000  # of a solve, where nothing else tells them


class Enough(Exception):
    """The stage has used its part of the budget."""


@dataclass
class BriefChoice:
    chosen: AppCandidate
    rows: list[JsonObject] = field(default_factory=list)  # of the candidates that were tried
    candidates: int = 0
    seconds: float = 0.0
    run_seconds: float = 0.0  # predicted, of the run that it serves, at least


@dataclass
class ShareStage:
    """Runs on one share. `ends`: at this part of the budget; `sample`: iterations, None to the end."""

    share: Share
    sample: int | None
    ends: float


def in_order(
    every: Sequence[AppCandidate], application: ApplicationRow, known: Sequence[AppCandidate] = ()
) -> list[AppCandidate]:
    """The most promising first: `known` from other cases on this machine, then the usual variants with their default
    parameters, then the other parameters of each; the golden copy last."""
    usual = [*application.usual, *(row["name"] for row in application.variants[1:]), application.golden]

    def place(each: AppCandidate) -> tuple:
        at = known.index(each) if each in known else len(known)
        return at, dict(each.parameters) != application.defaults(each.variant), usual.index(each.variant)

    return sorted(every, key=place)


class BriefSearch:
    """`every`: in order. `on_budget` is called with the budget, as the first candidate tells it, and the time spent."""

    def __init__(
        self,
        problem: AppProblem,
        every: Sequence[AppCandidate],
        resources: Resources,
        shares: Sequence[Share] = (),
        on_object: Callable[[JsonObject], None] = lambda found: None,
        on_budget: Callable[[float, float], None] = lambda budget, spent: None,
        run: Callable = launches.run,
        clock: Callable[[], float] = time.monotonic,
        beside: float = BESIDE_SECONDS,
    ) -> None:
        self.problem, self.resources, self.shares = problem, resources, list(shares)
        self.on_object, self.on_budget, self._run, self._clock = on_object, on_budget, run, clock
        self.rows = [{"candidate": each, **each.as_task(), "predicted": {}} for each in every]
        self.run_seconds, self.beside = 0.0, beside
        self._begin, self._overhead = clock(), 0.0

    def choose(self) -> BriefChoice:
        whole = Share(self.problem.size, 1.0, 1.0)
        ran: list[JsonObject] = []
        if self.shares:
            follows = len(self.shares) > 1 or self.stage(self.shares[0], 1.0).sample is None
            decided, ran = self.compare_all(self.shares[0], ENDS if follows else ENDS_OF_ONE)
        if not ran:  # no share, or it is too small for the ranks or the options
            self.shares = []
            decided, ran = self.compare_all(whole, ENDS_OF_ONE)
        if not ran:
            reasons = (row["not_applicable"] for row in self.rows if "not_applicable" in row)
            raise failed("no variant can solve the problem", next(reasons, ""))
        last = self.shares[0] if self.shares else whole
        for share in [*self.shares[1:], whole] if self.shares else []:
            others = [row for row in self.best_first(ran, last) if row is not decided]
            if share is whole and not self.affords([decided, *others[:1]]):
                break
            again = self.measure([decided, *others], self.stage(share, ENDS[2]))
            if len(again) > 1:
                ran, last = again, share
                decided = self.best_of(ran, last)
        best = [decided, *(row for row in self.best_first(ran, last) if row is not decided)]
        if self.measure(best[:REPEATED], self.stage(last, ENDS[2])):  # other programs only add time
            decided = self.best_of(best[:REPEATED], last)
        tried = [row for row in self.rows if row["predicted"] or "not_applicable" in row]
        return BriefChoice(decided["candidate"], tried, len(self.rows), self.spent(), self.run_seconds)

    def compare_all(self, share: Share, ends: Sequence[float]) -> tuple[JsonObject, list[JsonObject]]:
        """The best one, and those that ran: the first candidate of each variant, then others of the best variants."""
        stage = self.stage(share, ends[0])
        of_variant = {row["variant"]: row for row in reversed(self.rows)}
        ran = self.measure([row for row in self.rows if of_variant[row["variant"]] is row], stage)
        if not ran:
            return {}, []
        best = [row["variant"] for row in self.best_first(ran, share)[:VARIED]]
        others = [row for name in best for row in self.rows if row["variant"] == name and row not in ran]
        ran += self.measure(others, replace(stage, ends=ends[1]))
        return self.best_of(ran, share), ran

    def stage(self, share: Share, ends: float) -> ShareStage:
        is_smallest = bool(self.shares) and share is self.shares[0]
        is_solved = is_smallest and share.work * share.iterations >= WORTH_SOLVING
        return ShareStage(share, None if is_solved else self.problem.application.sample, ends)

    @staticmethod
    def best_first(rows: Sequence[JsonObject], share: Share) -> list[JsonObject]:
        return sorted(rows, key=lambda row: row["predicted"][share.size])

    def spent(self) -> float:
        return self._clock() - self._begin

    def left(self, ends: float) -> float:
        """Seconds of a part of the budget; as many as it takes, before anything has told the length of the run."""
        return math.inf if self.run_seconds == 0 else ends * PART_OF_RUN * self.run_seconds - self.spent()

    def measure(self, rows: Sequence[JsonObject], stage: ShareStage) -> list[JsonObject]:
        """The rows that ran, in order."""
        rows = [row for row in rows if "not_applicable" not in row]
        left = self.left(stage.ends)
        if not rows or left <= 2 * self._overhead:
            return []
        ran: list[JsonObject] = []
        of_key = {(row["variant"], tuple(sorted(row["parameters"].items()))): row for row in rows}
        begin = self._clock()

        def take(line: JsonObject) -> None:
            if "about" in line:
                self._overhead = max(self._overhead, self._clock() - begin)
            if "result" in line:
                row = of_key[key_of(line["result"])]
                if "not_applicable" in line["result"]:
                    row["not_applicable"] = line["result"]["not_applicable"]
                else:
                    self.note(row, stage, line["result"])
                    ran.append(row)
                    self.predict_run(row, stage, line["result"])
            self.on_object(line)
            if self.left(stage.ends) <= 0:
                raise Enough

        problem = (
            self.problem if stage.share.size == self.problem.size else replace(self.problem, size=stage.share.size)
        )
        resources = replace(self.resources, seconds=min(self.resources.seconds, left))
        try:
            candidates = [row["candidate"] for row in rows]
            options = {"sample": stage.sample, "check": False, "in_order": True, "on_object": take}
            self._run(problem, candidates, resources, **options)
        except Enough:
            pass
        except OutOfTime:
            if resources.seconds == self.resources.seconds:  # the user's limit
                raise
        except BadInput:
            if problem is self.problem:
                raise
        except (NotApplicable, Failed) as error:
            if len(rows) == 1:
                rows[0]["not_applicable"] = str(error)
            elif not ran:
                raise
        return ran

    def note(self, row: JsonObject, stage: ShareStage, result: JsonObject) -> None:
        """The seconds of the whole solve, as this run predicts them."""
        iterations = max(1, result["iterations"])
        if stage.sample is None:
            row["iterations_counted"] = iterations
        of_whole = self.iterations_of(row, result)
        row["seconds_per_iteration"] = result["seconds"] / iterations * stage.share.work
        seconds = row["seconds_per_iteration"] * of_whole
        row["predicted"][stage.share.size] = min(seconds, row["predicted"].get(stage.share.size, seconds))

    def iterations_of(self, row: JsonObject, result: JsonObject) -> float:
        """Iterations of a whole solve: known beforehand, or counted on the smallest share, or by the convergence so
        far.
        """
        if "planned_iterations" in result:
            return float(result["planned_iterations"])
        if "iterations_counted" in row:
            return row["iterations_counted"] * self.shares[0].iterations
        history = result.get("history") or [0.0]
        if len(history) > 1 and 0 < history[-1] < history[0]:
            of_history = (len(history) - 1) * math.log(self.problem.tolerance) / math.log(history[-1] / history[0])
            return min(max(of_history, FEWEST), MOST)
        return FEWEST if self.problem.application.sample == 1 else USUAL_ITERATIONS

    def predict_run(self, row: JsonObject, stage: ShareStage, result: JsonObject) -> None:
        """Predicts the whole run of the fastest candidate on this share."""
        row["setup_seconds"] = (result["setup_seconds"] + result.get("problem_seconds", 0.0)) * stage.share.work
        size = stage.share.size
        on_share = [each for each in self.rows if size in each["predicted"]]
        is_first = self.run_seconds == 0
        self.run_seconds = self.beside + min(each["setup_seconds"] + each["predicted"][size] for each in on_share)
        if is_first:
            self.on_budget(PART_OF_RUN * self.run_seconds, self.spent())

    def affords(self, rows: Sequence[JsonObject]) -> bool:
        """Samples of these candidates on the problem itself."""
        sample = self.problem.application.sample
        cost = sum(row["setup_seconds"] + sample * row["seconds_per_iteration"] for row in rows)
        return len(rows) > 1 and cost + self._overhead <= self.left(ENDS[2])

    def best_of(self, rows: Sequence[JsonObject], share: Share) -> JsonObject:
        best = min(rows, key=lambda row: row["predicted"][share.size])
        reference = rows[0]
        is_clear = reference["predicted"][share.size] > CLEARLY * best["predicted"][share.size]
        return best if is_clear else reference
