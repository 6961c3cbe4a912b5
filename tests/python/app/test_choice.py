"""The search of `--variant auto` on invented variants: it finds the fastest, cheaply, and never a wrong one."""

from __future__ import annotations

import random

import pytest

from kumihimo.app import choice
from kumihimo.app.catalogue import Application, Candidate
from kumihimo.app.launches import Problem, Resources, Run
from kumihimo.errors import Failed

APPLICATION = Application("toy", "", "", "", "64", "abc", ("cg",), ({"name": "golden", "parameters": []},), ())
PROBLEM = Problem(APPLICATION, "64", {}, "cg")
HERE = Resources(1, 1, None)


class Machine:
    """Runs that cost what their candidate says: seconds of an iteration, iterations, seconds of the set-up."""

    def __init__(self, costs: dict[Candidate, tuple[float, int, float]]) -> None:
        self.costs = costs
        draw = random.Random(len(costs))
        self.in_cache = {each: draw.uniform(0.6, 1.0) for each in costs}  # other ratios than in memory
        self.wrong: set[Candidate] = set()
        self.unfit: set[Candidate] = set()
        self.spent = 0.0
        self.solved: list[Candidate] = []

    def __call__(self, problem, candidates, resources, *, turns=1, sample=None, check=True, on_object=None, **_) -> Run:
        run = Run()
        small = problem.size != PROBLEM.size
        for _ in range(turns):
            for each in candidates:
                if each in self.unfit:
                    run.results.append({**each.as_task(), "not_applicable": "it does not fit"})
                    continue
                per_iteration, iterations, setup = self.costs[each]
                if small:
                    iterations, per_iteration, setup = (
                        iterations // 4,
                        per_iteration / 64 * self.in_cache[each],
                        setup / 64,
                    )
                count = min(iterations, sample or iterations)
                seconds = count * per_iteration
                self.spent += seconds + setup
                found = {**each.as_task(), "seconds": seconds, "iterations": count, "setup_seconds": setup}
                if check and sample is None:
                    found["checked"] = {"right": each not in self.wrong}
                    self.solved.append(each)
                run.results.append(found)
        return run

    def exhaustive(self) -> float:
        return sum(setup + t * n for t, n, setup in self.costs.values())


def machine_of(seed: int, number: int = 60) -> Machine:
    draw = random.Random(seed)
    costs = {
        Candidate("v", (("m", i),)): (draw.uniform(0.01, 0.06), draw.randrange(200, 420), draw.uniform(0.2, 0.6))
        for i in range(number)
    }
    return Machine(costs)


@pytest.mark.parametrize("seed", range(20))
def test_the_choice_is_near_the_best_at_a_tenth_of_the_cost(seed: int) -> None:
    machine = machine_of(seed)
    found = choice.search(PROBLEM, list(machine.costs), HERE, "16", run=machine)
    time_of = {each: t * n for each, (t, n, _) in machine.costs.items()}
    assert time_of[found.chosen] <= 1.03 * min(time_of.values())
    assert machine.spent <= 0.1 * machine.exhaustive()
    assert 0.3 * machine.exhaustive() <= found.exhaustive_seconds <= 1.05 * machine.exhaustive()


def test_fewer_iterations_win_over_faster_ones() -> None:
    slow, fast = Candidate("slow"), Candidate("fast")
    machine = Machine({fast: (0.010, 400, 0.0), slow: (0.015, 200, 0.0)})
    assert choice.search(PROBLEM, [fast, slow], HERE, "16", run=machine).chosen == slow


def test_without_a_smaller_problem_candidates_solve_the_problem_itself() -> None:
    slow, fast = Candidate("slow"), Candidate("fast")
    machine = Machine({fast: (0.010, 400, 0.0), slow: (0.012, 200, 0.0)})
    assert choice.search(PROBLEM, [fast, slow], HERE, None, run=machine).chosen == slow
    assert set(machine.solved) == {fast, slow}


def test_wrong_and_unfit_variants_are_not_chosen() -> None:
    best, good, unfit = Candidate("best"), Candidate("good"), Candidate("unfit")
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
