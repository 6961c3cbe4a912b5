"""The search of `--variant auto` on invented variants: it finds the fastest, cheaply, and never a wrong one."""

from __future__ import annotations

import random

import pytest

from kumihimo.app import choice
from kumihimo.app.catalogue import AppCandidate, ApplicationRow
from kumihimo.app.launches import AppProblem, AppRun, Resources
from kumihimo.text.errors import BadInput, Failed

APPLICATION = ApplicationRow("toy", "", "", "", "64", "abc", ("cg",), ({"name": "golden", "parameters": []},), ())
PROBLEM = AppProblem(APPLICATION, "64", {}, "cg")
HERE = Resources(1, 1, None)


OUTLIERS = 0.03  # share of the runs


class Machine:
    """Runs that cost what their candidate says (seconds of an iteration, iterations, seconds of the set-up), and what
    other programs add: about 1 %, seldom four times as much again."""

    def __init__(self, costs: dict[AppCandidate, tuple[float, int, float]], seed: int = 0) -> None:
        self.costs = costs
        self.draw = random.Random(seed)
        # Ratios in caches are others than in memory.
        self.in_cache = {each: self.draw.uniform(0.5, 1.5) for each in costs}
        self.counted: dict[AppCandidate, int] = {}  # iterations of the smaller problem; else a quarter
        self.wrong: set[AppCandidate] = set()
        self.unfit: set[AppCandidate] = set()
        self.spent = 0.0
        self.solved: list[AppCandidate] = []

    def __call__(
        self, problem, candidates, resources, *, turns=1, sample=None, check=True, on_object=None, **_
    ) -> AppRun:
        run = AppRun()
        small = problem.size != PROBLEM.size
        for _ in range(turns):
            for each in candidates:
                if each in self.unfit:
                    run.results.append({**each.as_task(), "not_applicable": "it does not fit"})
                    continue
                per_iteration, iterations, setup = self.costs[each]
                if small:
                    iterations, per_iteration, setup = (
                        self.counted.get(each, iterations // 4),
                        per_iteration / 64 * self.in_cache[each],
                        setup / 64,
                    )
                disturbance = 5 if self.draw.random() < OUTLIERS else 1 + self.draw.expovariate(100)
                setup *= disturbance
                count = min(iterations, sample or iterations)
                seconds = count * per_iteration * disturbance
                self.spent += seconds + setup
                found = {**each.as_task(), "seconds": seconds, "iterations": count, "setup_seconds": setup}
                if check and sample is None:
                    found["checked"] = {"right": each not in self.wrong}
                    self.solved.append(each)
                run.results.append(found)
        return run

    def exhaustive(self) -> float:
        """Solves with every candidate, as often as with the finalists, undisturbed."""
        return choice.TURNS_OF_WHOLE * sum(setup + t * n for t, n, setup in self.costs.values())


def machine_of(seed: int, number: int = 60) -> Machine:
    draw = random.Random(seed)
    costs = {
        AppCandidate("v", (("m", i),)): (draw.uniform(0.01, 0.06), draw.randrange(200, 420), draw.uniform(0.2, 0.6))
        for i in range(number)
    }
    return Machine(costs, seed)


@pytest.mark.parametrize("seed", range(40))
def test_the_choice_is_near_the_best_at_a_tenth_of_the_cost(seed: int) -> None:
    machine = machine_of(seed)
    found = choice.search(PROBLEM, list(machine.costs), HERE, "16", run=machine)
    time_of = {each: t * n for each, (t, n, _) in machine.costs.items()}
    assert time_of[found.chosen] <= 1.03 * min(time_of.values())
    assert machine.spent <= 0.1 * machine.exhaustive()
    assert 0.3 * machine.exhaustive() <= found.exhaustive_seconds <= 1.05 * machine.exhaustive()


def test_the_smaller_problem_does_not_decide() -> None:
    """What has three times the time of another in caches may be the fastest in memory."""
    slow, fast = AppCandidate("slow"), AppCandidate("fast")
    machine = Machine({slow: (0.012, 200, 0.0), fast: (0.010, 200, 0.0)})
    machine.in_cache = {slow: 0.5, fast: 2.0}
    assert choice.search(PROBLEM, [slow, fast], HERE, "16", run=machine).chosen == fast


def test_iterations_are_compared_within_their_class() -> None:
    """Multigrid may solve the smaller problem directly; that says nothing of others' iterations, nor of its own."""
    multigrid, first, second = AppCandidate("multigrid"), AppCandidate("first"), AppCandidate("second")
    for iterations, best in ((30, first), (15, multigrid)):
        machine = Machine({multigrid: (0.05, iterations, 0.6), first: (0.007, 160, 0.3), second: (0.01, 160, 0.3)})
        machine.counted = {multigrid: 1}
        found = choice.search(PROBLEM, list(machine.costs), HERE, "16", run=machine)
        assert found.chosen == best
        assert set(machine.solved) == {multigrid, first}
        assert found.exhaustive_seconds == pytest.approx(machine.exhaustive(), rel=0.2)


def test_numbers_of_iterations_do_not_carry_over() -> None:
    """Few colours cost 4 % more iterations on the smaller problem, and half as many again on the problem itself."""
    costs = {
        AppCandidate(f"layout_{i}", (("colours", colours),)): (0.010 + 0.001 * i + slower, iterations, 0.1)
        for colours, iterations, slower in ((10, 300, 0.0), (40, 200, 0.002))
        for i in range(5)
    }
    machine = Machine(costs)
    machine.counted = {each: 26 if each.parameters == (("colours", 10),) else 25 for each in costs}
    found = choice.search(PROBLEM, list(costs), HERE, "16", run=machine)
    assert found.chosen == AppCandidate("layout_0", (("colours", 40),))
    assert len(set(machine.solved)) <= 4


def test_a_problem_whose_quarter_is_too_small_is_solved_itself() -> None:
    slow, fast = AppCandidate("slow"), AppCandidate("fast")
    machine = Machine({fast: (0.010, 400, 0.0), slow: (0.012, 200, 0.0)})

    def run(problem, *words, **options) -> AppRun:
        if problem.size != PROBLEM.size:
            raise BadInput("16 ranks along x need at least as many cells (got 8)")
        return machine(problem, *words, **options)

    assert choice.search(PROBLEM, [fast, slow], HERE, "8", run=run).chosen == slow
    assert set(machine.solved) == {fast, slow}


def test_fewer_iterations_win_over_faster_ones() -> None:
    slow, fast = AppCandidate("slow"), AppCandidate("fast")
    machine = Machine({fast: (0.010, 400, 0.0), slow: (0.015, 200, 0.0)})
    assert choice.search(PROBLEM, [fast, slow], HERE, "16", run=machine).chosen == slow


def test_without_a_smaller_problem_candidates_solve_the_problem_itself() -> None:
    slow, fast = AppCandidate("slow"), AppCandidate("fast")
    machine = Machine({fast: (0.010, 400, 0.0), slow: (0.012, 200, 0.0)})
    assert choice.search(PROBLEM, [fast, slow], HERE, None, run=machine).chosen == slow
    assert set(machine.solved) == {fast, slow}


def test_wrong_and_unfit_variants_are_not_chosen() -> None:
    best, good, unfit = AppCandidate("best"), AppCandidate("good"), AppCandidate("unfit")
    machine = Machine({best: (0.010, 100, 0.0), good: (0.0104, 100, 0.0), unfit: (0.010, 99, 0.0)})
    machine.wrong.add(best)
    machine.unfit.add(unfit)
    found = choice.search(PROBLEM, [best, good, unfit], HERE, "16", run=machine)
    assert found.chosen == good
    assert {row["variant"]: row.get("not_applicable") for row in found.rows}["unfit"] == "it does not fit"
    machine.wrong.add(good)
    with pytest.raises(Failed, match="wrong solutions"):
        choice.search(PROBLEM, [best, good], HERE, "16", run=machine)
    machine.unfit |= {best, good}
    with pytest.raises(Failed, match="no variant can solve the problem: it does not fit"):
        choice.search(PROBLEM, [best, good], HERE, "16", run=machine)
