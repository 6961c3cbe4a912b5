"""With which probability a choice is the best: exact cases, shared errors, and jobs whose errors are known."""

from __future__ import annotations

import json
import math
import random

import pytest
from small_machine import MACHINE, judged

from kumihimo.predict import chances, prediction_errors
from kumihimo.predict.chances import Correlations, UncertainTime
from kumihimo.predict.prediction_errors import JudgedTime

ERRORS = judged(
    ("trees", "short", 40, 0.5, 2.0),
    ("rings", "all", 30, 0.8, 1.25),
    ("all", "all", 90, 0.8, 1.25),
)


def two(ratio: float, other: str = "b", width: float = 1.5) -> list[UncertainTime]:
    return [UncertainTime("a", 1.0, 1 / width, width, 1.0), UncertainTime(other, ratio, 1 / width, width, 1.0)]


def normal(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


@pytest.mark.parametrize("ratio", [1.0, 1.1, 1.3, 2.0])
@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9])
def test_two_candidates_are_as_the_formula_says(ratio, shared):
    """The difference of two logarithms is normal, with the variance 2 (1 - correlation) of one."""
    deviation = math.log(1.5) / chances.NINTH
    expected = normal(math.log(ratio) / (deviation * math.sqrt(2 * (1 - shared))))
    for known, other in ((Correlations(shared, shared), "b"), (Correlations(shared, 0.0), "a")):
        found = chances.of_candidates(two(ratio, other), known)
        assert found[0] == pytest.approx(expected, abs=0.035), "2000 draws: three deviations of 0.011"
        assert sum(found) == pytest.approx(1)


@pytest.mark.parametrize("ratio", [1.02, 1.1, 1.3])
def test_of_a_skewed_interval_half_of_the_draws_are_on_each_side_of_the_median(ratio):
    """The other time is certain, so the chance is that of one half-normal; about the middle of the interval it would be
    below one half at any ratio here."""
    candidates = [UncertainTime("a", 1.0, 0.9, 2.5, 1.0), UncertainTime("b", ratio, 1.0, 1.0, 1.0)]
    expected = normal(math.log(ratio) / (math.log(2.5) / chances.NINTH))
    assert expected > 0.5
    found = chances.of_candidates(candidates, Correlations())
    assert found[0] == pytest.approx(expected, abs=0.035), "2000 draws: three deviations of 0.011"


def test_skewed_errors_have_no_correlation_of_their_own():
    """Both are of the class's long tail at random: about the middle of their interval they would seem to agree."""
    rng = random.Random(5)
    times = [
        JudgedTime(name, "short", (abs if i % 2 else lambda x: -abs(x) / 8)(rng.gauss(0, 0.4)), name, case)
        for case in range(200)
        for name in ("trees", "rings")
        for i in [rng.randrange(2)]
    ]
    rows = prediction_errors.rows(times)
    assert all(row.median / row.low < (row.high / row.median) ** 0.5 for row in rows)
    assert chances.correlations(times, rows).others < 0.15


def test_a_score_is_that_of_its_half():
    row = prediction_errors.ErrorRow("trees", "all", 40, 0.8, 2.0, 1.0)
    assert chances.score(math.log(2.0), row) == pytest.approx(chances.NINTH)
    assert chances.score(math.log(0.8), row) == pytest.approx(-chances.NINTH)
    flat = prediction_errors.ErrorRow("trees", "all", 40, 1.0, 2.0, 1.0)
    assert [chances.score(math.log(x), flat) for x in (0.9, 1.0)] == [-chances.FAR, 0.0]


def test_an_error_that_both_share_does_not_decide():
    apart, alike = (chances.of_candidates(two(1.2, "a"), Correlations(shared)) for shared in (0.0, 0.9))
    assert alike[0] > apart[0] + 0.1
    different = chances.of_candidates(two(1.2, "b"), Correlations(0.9, 0.0))
    assert different == pytest.approx(chances.of_candidates(two(1.2, "b"), Correlations()), abs=0.05)


def test_what_is_slower_at_its_best_is_never_the_fastest():
    assert chances.of_candidates(two(3.0), Correlations()) == [1.0, 0.0]
    assert chances.of_candidates([], Correlations()) == []


def test_a_bias_of_a_class_counts():
    """The first is predicted slower, and measured at half of its prediction."""
    found = chances.of_candidates(
        [UncertainTime("a", 1.5, 0.45, 0.55, 0.5), UncertainTime("b", 1.0, 0.95, 1.05, 1.0)], Correlations()
    )
    assert found[0] > 0.99


def judged(seed: int, shared: float, cases: int = 150) -> list[JudgedTime]:
    """Cases of four algorithms in two classes, whose errors have a deviation of 0.3 and this correlation in a class."""
    rng = random.Random(seed)
    found = []
    for case in range(cases):
        for name in ("trees", "rings"):
            common = rng.gauss(0, 0.3 * math.sqrt(shared))
            for i in range(2):
                log = common + rng.gauss(0, 0.3 * math.sqrt(1 - shared))
                found.append(JudgedTime(name, "short", log, (name, i), case, math.exp(rng.gauss(0, 0.5))))
    return found


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_correlations_are_found(shared):
    """Of 300 pairs, within four deviations."""
    times = judged(1, shared)
    found = chances.correlations(times, prediction_errors.rows(times))
    assert found.in_class == pytest.approx(shared, abs=0.2)
    assert found.others < 0.15 and found.others <= found.in_class
    assert chances.correlations([], []) == Correlations()


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_choices_are_the_best_as_often_as_was_said(shared):
    """Within four deviations of as many coins."""
    found = chances.judged_choices(judged(2, shared))
    assert len(found) == 150
    expected = sum(each.chance for each in found)
    deviation = math.sqrt(sum(each.chance * (1 - each.chance) for each in found))
    assert abs(sum(each.is_right for each in found) - expected) < 4 * deviation
    sure = [each for each in found if each.chance >= chances.SURE]
    assert len(sure) > 20 and sum(each.is_right for each in sure) >= 0.8 * len(sure)


def test_the_choice_that_is_judged_is_the_one_predicted_as_the_fastest():
    """As tune and best() choose, though another is more probably the best. A repeat is no pair."""
    times = []
    for case in range(40):
        off = case % 5 / 100
        times.append(JudgedTime("trees", "short", math.log(2) + off, "trees", case, 1.0))
        times.append(JudgedTime("rings", "short", off, "rings", case, 1.5))
    found = chances.judged_choices(times)
    assert len(found) == 40 and all(each.chance < 0.1 and not each.is_right for each in found)
    repeated = [each for each in times if each.algorithms == "trees"] * 2
    assert chances.correlations(repeated, prediction_errors.rows(repeated)).in_class == 0


def test_wrong_intervals_are_found_out():
    """Sabotage: errors ten times as large as the intervals that others gave make sure choices wrong."""
    honest = judged(3, 0.0)
    by_case = {case: random.Random(case).random() < 0.5 for case in range(150)}
    wrong = [
        JudgedTime(e.algorithms, e.lengths, e.log * (10 if by_case[e.case] else 0.02), e.curve, e.case, e.seconds)
        for e in honest
    ]
    narrow = prediction_errors.rows([e for e in wrong if not by_case[e.case]])
    rows = {row.algorithms: row for row in narrow if row.lengths == "all"}
    sure = right = 0
    for case in (case for case, is_wide in by_case.items() if is_wide):
        mine = [e for e in wrong if e.case == case]
        candidates = [UncertainTime.of(rows[e.algorithms], e.algorithms, e.seconds) for e in mine]
        found = chances.of_candidates(candidates, Correlations())
        best = max(range(len(mine)), key=found.__getitem__)
        measured = [e.seconds * math.exp(e.log) for e in mine]
        sure, right = sure + (found[best] >= 0.9), right + (found[best] >= 0.9 and measured[best] == min(measured))
    assert sure > 30 and right < 0.6 * sure


def test_simulate_and_the_library_say_how_sure_a_choice_is(kumihimo, tmp_path):
    import kumihimo as library

    path = tmp_path / "small.toml"
    path.write_text(MACHINE + ERRORS + "correlation = 0.1\ncorrelation_in_class = 0.5\n")
    asked = ("simulate", "bcast", "--machine", str(path), "--shape", "4x2x2", "--bytes", "8,64KiB")
    results = json.loads(kumihimo(*asked, "-a", "all", "--json").out)["results"]
    for size in (8, 65536):
        found = [each["fastest_probability"] for each in results if each["bytes"] == size]
        assert len(found) > 5 and sum(found) == pytest.approx(1)
    shown = kumihimo(*asked, "-a", "all").out
    assert "fastest at 8: " in shown and "fastest at 64KiB: " in shown and " %)" in shown
    alone = json.loads(kumihimo(*asked, "-a", "binomial", "--json").out)["results"]
    assert all("fastest_probability" not in each for each in alone), "nothing was chosen"
    other = json.loads(kumihimo(*asked, "-a", "all", "--model", "loggp", "--json").out)["results"]
    assert all("fastest_probability" not in each for each in other), "nobody judged this model"
    job = library.machine(str(path)).job("4x2x2")
    best = library.best("bcast", job, 8)
    assert 0 < best.fastest_probability <= 1 and best.interval[0] < best.seconds < best.interval[1]


def test_a_class_with_few_times_has_the_wider_interval_of_all(kumihimo, tmp_path):
    many = [JudgedTime("trees", "short", i / 100, i) for i in range(40)]
    few = [JudgedTime("offloaded", "short", 2.0, "o")]
    rows = {(row.algorithms, row.lengths): row for row in prediction_errors.rows(many + few)}
    pooled, all_ = rows["offloaded", "all"], rows["all", "all"]
    assert pooled.is_pooled and pooled.times == 1 and not all_.is_pooled
    assert pooled.low == all_.low and pooled.high == pytest.approx(math.exp(2.0)), "wide enough for its own"
    assert ("offloaded", "short") not in rows
    assert prediction_errors.rows(few) == [], "nothing to pool"
    path = tmp_path / "small.toml"
    few_rings = ERRORS.replace('"rings", lengths = "all", times = 30', '"rings", lengths = "all", times = 3')
    path.write_text(MACHINE + few_rings)
    shown = kumihimo("simulate", "bcast", "-m", str(path), "-s", "2x2x2", "-b", "8", "-a", "chain").out
    assert "class rings: by the errors of all classes, as 3 times of its own are too few" in shown
