"""Published figures: the registry has all, units are checked, and predictions are those of other commands."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import median

import pytest

from kumihimo.app import published as cases
from kumihimo.app.published_figures import castep, figure, k_computer, networks, registry
from kumihimo.app.published_figures.figure import FigureComparison, PublishedFigure
from kumihimo.app.published_figures.kernel_rates import KernelRates
from kumihimo.demo.experiment import published as of_demo
from kumihimo.predict.memory import designs
from kumihimo.predict.workloads import catalogue
from kumihimo.text.errors import BadInput
from kumihimo.tune.bench.one_sided import published as one_sided
from kumihimo.tune.file_bench import published as files

NAMES = {each.name: each for each in registry.FIGURES}


def test_the_registry_has_every_published_figure_of_the_tree() -> None:
    assert len(NAMES) == len(registry.FIGURES), "a name twice"
    assert {f"k-{key.replace('_', '-')}" for key in of_demo.FIGURES} <= set(NAMES)
    assert {each.name for each in cases.CASES} <= set(NAMES)
    for what, rows in (
        ("pgas-", one_sided.ROWS),
        ("mdtest-", files.METADATA),
        ("ior-", files.BANDWIDTH),
        ("memory-", designs.PUBLISHED),
    ):
        assert sum(name.startswith(what) for name in NAMES) == len(rows), what
    for key, row in of_demo.FIGURES.items():
        assert NAMES[f"k-{key.replace('_', '-')}"].value == row["value"]
    for case in cases.CASES:
        assert NAMES[case.name].value == (None if case.figure is None else case.figure * 1e9)


@pytest.mark.parametrize("each", registry.FIGURES, ids=lambda each: each.name)
def test_each_figure_has_a_source_a_sound_value_and_a_prediction_or_a_reason(each: PublishedFigure) -> None:
    figure.check(each)
    assert each.what and each.source
    assert each.is_compared or each.predict is None


GOOD = PublishedFigure("good", "a rate", "bytes/s", "a paper", 3.2e9, lambda _: 3e9)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    (
        (replace(GOOD, value=3.2), "good must be from 1e\\+06 to 1e\\+14 bytes/s"),  # GB/s
        (replace(GOOD, unit="share"), "good must be from 0.0001 to 1 share"),
        (replace(GOOD, predict=lambda _: 3.0), "the prediction of good must be"),
        (replace(GOOD, value=3.2e12), "must be predicted within 30x"),  # kB/s
        (replace(GOOD, unit="s", value=0.098, predict=lambda _: 98.0), "must be predicted within 30x"),  # ms
    ),
)
def test_a_wrong_unit_is_found(wrong: PublishedFigure, sentence: str) -> None:
    """Sabotage."""
    assert figure.compared(GOOD, KernelRates()).ratio == pytest.approx(3 / 3.2)
    with pytest.raises(BadInput, match=sentence):
        figure.compared(wrong, KernelRates())


def test_a_figure_with_neither_prediction_nor_reason_is_found() -> None:
    with pytest.raises(BadInput, match="must have a prediction, or a reason"):
        figure.check(replace(GOOD, predict=None))


def test_the_median_error_counts_no_inputs_and_bears_a_zero() -> None:
    ratios = (1.1, 0.5, 2.0, 0.0)
    found = [FigureComparison(replace(GOOD, value=1e9), ratio * 1e9) for ratio in ratios]
    assert figure.median_error(found) == pytest.approx(math.log(2))
    far = FigureComparison(replace(GOOD, value=1e9, is_input=True), 9e9)
    assert figure.median_error([*found, far]) == pytest.approx(math.log(2))
    assert figure.median_error([far]) is None
    assert [each.is_off for each in found] == [False, True, True, True]


@pytest.mark.parametrize(
    ("published", "predicted", "effect", "is_off"),
    ((1.14, 1.09, 9 / 14, True), (1.14, 1.13, 13 / 14, False), (1.09, 0.99, -1 / 9, True), (11.0, 10.0, 0.9, False)),
)
def test_gains_are_judged_by_their_effect(published: float, predicted: float, effect: float, is_off: bool) -> None:
    """A gain of 1.09x for 1.14x is within 5 % by its ratio, and has two thirds of the effect."""
    found = FigureComparison(replace(GOOD, unit="ratio", value=published), predicted)
    assert found.effect == pytest.approx(effect) and found.is_off == is_off
    by_effect = math.inf if effect < 0 else abs(math.log(effect))
    assert figure.median_error([found], by_effect=True) == pytest.approx(by_effect)
    assert figure.median_error([found]) == pytest.approx(abs(math.log(predicted / published)))


# --- predictions by another way


def simulated(kumihimo, *words: str) -> list[dict]:
    ended = kumihimo("simulate", *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["results"]


def test_the_bandwidth_on_k_is_that_of_simulate(kumihimo) -> None:
    (found,) = simulated(kumihimo, "allreduce", "-m", "k-computer", "-s", "48x6x32", "-b", "1GiB", "-a", "trinaryx3")
    assert NAMES["k-bytes-per-second"].predict(KernelRates()) == pytest.approx(found["bytes_per_second"])
    assert k_computer.of_part("allreduce", "compute_share")(KernelRates()) == pytest.approx(found["compute_share"])


def test_the_ratio_of_in_network_reduction_is_that_of_simulate(kumihimo) -> None:
    results = simulated(kumihimo, "allreduce", "-m", "reedbush-u", "-s", "420", "-b", "64")
    seconds = {each["algorithm"]: each["seconds"] for each in results}
    found = NAMES["reedbush-offload-ratio"].predict(KernelRates())
    assert found == pytest.approx(seconds["binomial"] / seconds["offloaded"])


def test_the_step_of_bcast_is_that_of_simulate(kumihimo) -> None:
    few, many = (
        simulated(kumihimo, "bcast", "-m", "blue-waters", "-s", shape, "-b", "8..8KiB", "-a", "binomial")
        for shape in networks.BLUE_WATERS_SHAPES.values()
    )
    assert (few[0]["ranks"], many[0]["ranks"]) == (128, 256)
    ratios = [b["seconds"] / a["seconds"] for a, b in zip(few, many)]
    assert NAMES["blue-waters-bcast-step"].predict(KernelRates()) == pytest.approx(median(ratios))


def test_the_gain_of_a_folded_order_is_that_of_simulate(kumihimo) -> None:
    rate = castep.ONE_STEP.call(KernelRates()).values["rate"]
    words = (f"workload:castep,bands=2,rate={rate}", "-m", "hector-2a", "-s", "4x4x4", "--ranks-per-node", "4")
    block, folded = (
        simulated(kumihimo, *words, "-a", "alltoall=linear", *order)[0]["seconds"]
        for order in ((), ("--order", "folded"))
    )
    assert NAMES["castep-al3x3-folded"].predict(KernelRates()) == pytest.approx(block / folded)


def test_a_step_of_castep_is_its_parts(kumihimo) -> None:
    """32 bands with two transpositions each, computing, and one allreduce."""
    case = castep.AL1X1_32
    steps = list(case.call(KernelRates()).steps(0))
    computing = sum(step.seconds for step in steps if hasattr(step, "seconds"))
    block = castep.padded(next(step.bytes for step in steps if getattr(step, "collective", "") == "alltoall") // 32)
    on = ("-m", "hector-2a", "-s", "2x2x2")
    plain = simulated(kumihimo, "alltoall", *on, "--ranks-per-node", "4", "-b", str(block), "-a", "linear")
    leaders = simulated(kumihimo, "alltoall", *on, "--ranks-per-node", "1", "-b", str(16 * block), "-a", "linear")
    sums = simulated(kumihimo, "allreduce", *on, "--ranks-per-node", "4", "-b", str(16 * 32**2), "-a", "rabenseifner")
    totals = [computing + sums[0]["seconds"] + 64 * each[0]["seconds"] for each in (plain, leaders)]
    assert NAMES["castep-al1x1-shm"].predict(KernelRates()) == pytest.approx(totals[0] / totals[1])


def test_cg_has_the_messages_of_its_class() -> None:
    """A product on 1,024 ranks: five sums of a block of 75,000 / 32 numbers along a row, a transposition, ten sums."""
    call = catalogue.asked("workload:npb-cg,products=1", 1024)
    steps = [step for step in call.steps(1) if hasattr(step, "partners")]
    block = 75_000 // 32 * 8
    assert [step.sent for step in steps] == [[block]] * 6 + [[8]] * 10
    assert [step.partners for step in steps[:6]] == [[17], [9], [5], [3], [0], [32]]
