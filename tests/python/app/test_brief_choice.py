"""The choice of `--variant auto` on invented variants, whose runs move a clock: it keeps to a quarter of the run, and
finds a variant that is nearly the fastest."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kumihimo.app import brief_choice
from kumihimo.app.brief_choice import in_order
from kumihimo.app.catalogue import AppCandidate, ApplicationRow, Share
from kumihimo.app.launches import AppProblem, AppRun, Resources
from kumihimo.text.errors import BadInput, Failed, OutOfTime

ROWS = tuple({"name": name, "parameters": []} for name in ("golden", "slow", "fast", "other"))
APPLICATION = ApplicationRow("toy", "", "", "", "64", "abc", ("cg",), ROWS, (), usual=("slow", "other"))
PROBLEM = AppProblem(APPLICATION, "64", {}, "cg")
HERE = Resources(1, 1, None)
SHARES = [Share("16", 64, 4), Share("32", 8, 2)]
SLOW, FAST, OTHER, GOLDEN = (AppCandidate(name) for name in ("slow", "fast", "other", "golden"))
LAUNCH = 0.1  # seconds


class Machine:
    """Runs that cost what their candidate says: seconds of an iteration, iterations, seconds of the set-up."""

    def __init__(self, costs: dict[AppCandidate, tuple[float, int, float]], seed: int = 0) -> None:
        self.costs, self.now, self.launches = costs, 0.0, []
        self.draw = random.Random(seed)
        self.in_cache = {each: self.draw.uniform(0.8, 1.25) for each in costs}
        self.unfit: set[AppCandidate] = set()
        self.refused: set[str] = set()
        self.planned: int | None = None

    def __call__(self, problem, candidates, resources, *, sample, check, in_order, on_object) -> AppRun:
        assert in_order and not check
        end = self.now + resources.seconds
        self.launches.append((problem.size, sample, list(candidates)))
        self.pass_time(LAUNCH, end)
        if problem.size in self.refused:
            raise BadInput("the size is too small")
        on_object({"about": {}})
        for each in candidates:
            if each in self.unfit:
                on_object({"result": {**each.as_task(), "not_applicable": "it does not fit"}})
                continue
            on_object({"result": {**each.as_task(), **self.run(each, problem.size, sample, end, on_object)}})
        return AppRun()

    def run(self, each: AppCandidate, size: str, sample: int | None, end: float, on_object) -> dict:
        work, ratio = next(((s.work, s.iterations) for s in SHARES if s.size == size), (1.0, 1.0))
        seconds, iterations, setup = self.costs[each]
        seconds *= (self.in_cache[each] if size == "16" else 1.0) * self.draw.uniform(1.0, 1.02) / work
        done = min(max(1, round(iterations / ratio)), sample or iterations)
        self.pass_time(setup / work, end)
        for _ in range(done):
            self.pass_time(seconds, end)
            on_object({"progress": {}})
        planned = {} if self.planned is None else {"planned_iterations": self.planned}
        return {"seconds": seconds * done, "iterations": done, "setup_seconds": setup / work, **planned}

    def pass_time(self, seconds: float, end: float) -> None:
        if self.now + seconds > end:
            self.now = end
            raise OutOfTime("the time is over")
        self.now += seconds

    def whole(self, each: AppCandidate) -> float:
        seconds, iterations, setup = self.costs[each]
        return setup + seconds * iterations

    def choose(self, shares=SHARES, problem=PROBLEM, resources=HERE, **options) -> brief_choice.BriefChoice:
        every = in_order(list(self.costs), problem.application)
        options = {"run": self, "clock": lambda: self.now, "beside": 0.0, **options}
        return brief_choice.BriefSearch(problem, every, resources, shares, **options).choose()


def variants(number: int, **changed: object) -> AppProblem:
    rows = [{"name": "golden", "parameters": []}]
    rows += [
        {"name": f"v{i}", "parameters": [{"name": "m", "min": 1, "max": 9, "values": [1, 2, 3]}]} for i in range(number)
    ]
    return replace(PROBLEM, application=replace(APPLICATION, variants=tuple(rows), usual=("v0",), **changed))


def test_it_costs_at_most_a_quarter_of_the_run_and_is_nearly_the_best() -> None:
    """Of 60 candidates without an order of promise."""
    ratios = []
    for seed in range(40):
        draw, costs = random.Random(seed), {}
        for i in range(20):
            seconds = draw.uniform(0.02, 0.06)
            for m in (1, 2, 3):
                each = AppCandidate(f"v{i}", (("m", m),))
                costs[each] = (seconds * draw.uniform(0.9, 1.1), draw.randrange(280, 340), draw.uniform(0.2, 0.6))
        machine = Machine(costs, seed)
        found = machine.choose(problem=variants(20))
        of_run = machine.whole(found.chosen)
        assert machine.now <= 0.25 * of_run, seed
        assert found.run_seconds == pytest.approx(of_run, rel=0.3)
        ratios.append(of_run / min(map(machine.whole, costs)))
    assert max(ratios) <= 1.4 and sum(ratios) / len(ratios) <= 1.1


def test_a_short_run_takes_the_usual_variant_after_one_launch() -> None:
    machine = Machine({SLOW: (1e-5, 10, 0.0), FAST: (0.5e-5, 10, 0.0)})
    assert machine.choose().chosen == SLOW
    assert len(machine.launches) == 1


def test_what_a_run_takes_beside_the_solve_counts_too() -> None:
    machine = Machine({SLOW: (1e-3, 10, 0.0), FAST: (0.5e-3, 10, 0.0)})
    assert machine.choose(beside=2.0).chosen == FAST
    assert machine.now < 0.5


def test_the_first_that_fits_is_the_reference() -> None:
    machine = Machine({SLOW: (0.1, 100, 0.1), OTHER: (0.2, 100, 0.1), FAST: (0.1, 100, 0.1)})
    machine.unfit = {SLOW}
    found = machine.choose()
    assert found.chosen == FAST
    assert {row["variant"]: row.get("not_applicable") for row in found.rows}["slow"] == "it does not fit"
    machine.unfit = set(machine.costs)
    with pytest.raises(Failed, match="no variant can solve the problem: it does not fit"):
        machine.choose()


def test_a_slow_candidate_is_ended_with_the_budget() -> None:
    machine = Machine({SLOW: (0.1, 100, 0.1), OTHER: (0.09, 100, 0.1), GOLDEN: (1000.0, 100, 0.1)})
    assert machine.choose().chosen == OTHER
    assert machine.launches[0][2] == [SLOW, OTHER, GOLDEN], "the golden copy comes last"
    assert machine.now < 20


def test_few_faster_iterations_do_not_win_over_fewer() -> None:
    machine = Machine({SLOW: (0.1, 400, 0.0), FAST: (0.05, 1600, 0.0), OTHER: (0.2, 100, 0.0)})
    assert machine.choose().chosen == OTHER


def test_data_in_caches_do_not_decide() -> None:
    machine = Machine({SLOW: (0.12, 400, 0.0), FAST: (0.1, 400, 0.0)})
    machine.in_cache = {SLOW: 0.5, FAST: 2.0}
    assert machine.choose().chosen == FAST
    assert [size for size, *_ in machine.launches] == ["16", "32", "64", "64"], "the last one twice"


def test_a_reference_is_left_for_what_is_clearly_faster_alone() -> None:
    machine = Machine({SLOW: (0.1, 400, 0.0), FAST: (0.099, 400, 0.0)})
    machine.in_cache = {SLOW: 1.0, FAST: 1.0}
    assert machine.choose().chosen == SLOW


def test_without_a_share_the_problem_itself_tells() -> None:
    for options in ({"shares": []}, {"shares": SHARES}):
        machine = Machine({SLOW: (0.1, 400, 0.1), FAST: (0.05, 400, 0.1)})
        machine.refused = {"16"}
        assert machine.choose(**options).chosen == FAST
        assert machine.launches[-1][:2] == ("64", APPLICATION.sample)


def test_planned_iterations_are_the_run_s() -> None:
    machine = Machine({SLOW: (0.1, 10**6, 0.0), FAST: (0.05, 10**6, 0.0)})
    machine.planned = 400
    said: list[tuple[float, float]] = []
    assert machine.choose(shares=[], on_budget=lambda *told: said.append(told)).chosen == FAST
    assert said == [(pytest.approx(10, rel=0.03), pytest.approx(LAUNCH + 0.6, rel=0.03))] and machine.now < 5


def test_the_user_s_time_limit_is_an_error() -> None:
    machine = Machine({SLOW: (10.0, 400, 0.0), FAST: (5.0, 400, 0.0)})
    with pytest.raises(OutOfTime):
        machine.choose(resources=replace(HERE, seconds=5.0))


def test_what_was_chosen_elsewhere_comes_first_and_other_parameters_later() -> None:
    application = variants(2).application
    every = [AppCandidate(f"v{i}", (("m", m),)) for i in (1, 0) for m in (3, 1)] + [GOLDEN]
    known = [AppCandidate("v1", (("m", 3),))]
    texts = [each.text for each in in_order(every, application, known)]
    assert texts == ["v1 m=3", "v0 m=1", "v1 m=1", "golden", "v0 m=3"]
