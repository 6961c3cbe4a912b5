"""Cross-validation by scale: what is fitted and judged, and which form of a cost is taken."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from small_machine import MACHINE

from kumihimo import _machine
from kumihimo.predict.calibrate import by_scale, cases, days, fitting, forms, numbers
from kumihimo.predict.calibrate.by_scale import ScaleSplit
from kumihimo.text.errors import BadInput

PATH = Path("small.toml")
PUTS = MACHINE.replace(
    "segment_bytes =",
    'receive_cost = { value = "1.5 us", assumed = "a guess" }\n'
    'put_setup = { value = "9 us", assumed = "a guess" }\nsegment_bytes =',
)
SPLITS = [ScaleSplit(8, 16), ScaleSplit(16, 64)]


def timed(true_times, text: str) -> list[cases.TimedCase]:
    """The same cases, with the times of this machine."""
    machine = _machine.parse(text, "true.toml")
    every = [replace(case, cells=dict(case.cells)) for case in true_times]
    seconds = cases.Predictor(every, machine).seconds(machine, every)
    return [replace(case, seconds=each) for case, each in zip(every, seconds)]


def validated(times, text, splits=SPLITS, held=lambda case: False, wanted=None, state=""):
    predictor = cases.Predictor(times, _machine.parse(text, "small.toml", state))
    ids = {id(case) for case in predictor.cases if held(case)}
    return by_scale.validate(PATH, text, predictor, splits, ids, wanted, state=state)


def test_by_default_each_size_is_judged_by_all_smaller_ones(true_times):
    assert by_scale.splits_of(true_times, None) == SPLITS
    assert by_scale.splits_of(true_times, "8:16, 16:64") == SPLITS
    fit, judged = ScaleSplit(16, 64).parts(true_times)
    assert {case.cells["nodes"] for case in fit} == {8, 16} and {case.cells["nodes"] for case in judged} == {64}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("8", "pairs of nodes"),
        ("64:8", "pairs of nodes"),
        ("8:32", "the jobs have 8, 16, 64 nodes"),
        ("x:y", "'x:y'"),
        ("8:64,16:64", "64 twice"),
    ],
)
def test_wrong_scales(true_times, asked, words):
    with pytest.raises(BadInput, match="--scales") as found:
        by_scale.splits_of(true_times, asked)
    assert words in str(found.value)


def test_times_of_the_judged_job_have_no_influence(true_times):
    """Absurd ones change the loss and no prediction."""
    absurd = [
        replace(case, seconds=case.seconds * 100 if case.cells["nodes"] == 64 else case.seconds) for case in true_times
    ]
    wanted = ["message_cost", "link_bandwidth"]
    first, second = (validated(times, MACHINE, [ScaleSplit(16, 64)], wanted=wanted) for times in (true_times, absurd))
    assert first.judged[0].seconds == second.judged[0].seconds
    assert first.judged[0].loss < 0.2 < second.judged[0].loss


def few(true_times) -> list[cases.TimedCase]:
    """Of two lengths in four: each form is fitted to all of them."""
    return true_times[::2]


def test_the_form_that_made_the_times_is_taken(true_times):
    found = validated(timed(few(true_times), PUTS), PUTS)
    assert found.chosen is forms.FORMS[0], "none is clearly better"
    assert {each.form for each in found.tried} == set(forms.FORMS)
    assert {each.split for each in found.tried} == {ScaleSplit(16, 64)}, "8 nodes alone tell no hop from the root"


def test_a_form_that_lacks_an_effect_is_not_taken(true_times):
    """Three times of the small machine are of allreduce by puts: they do not tell both numbers of sums apart."""
    text = forms.applied(PUTS, forms.FORMS[-1])
    known = numbers.read(fitting.parsed(text, PATH))
    truth = {"put_latency": "4 us", "put_sum_latency": "2 us", "put_turn_latency": "12 us"}
    times = timed(few(true_times), numbers.with_values(text, {known[key]: value for key, value in truth.items()}))
    found = validated(times, PUTS)
    losses = {each.form: each.loss for each in found.tried}
    assert found.chosen is not forms.FORMS[0]
    assert losses[found.chosen] < losses[forms.FORMS[0]]


def test_held_cases_choose_no_form(true_times):
    """All that could judge is held: the file keeps its form."""
    found = validated(timed(true_times, PUTS), PUTS, [ScaleSplit(16, 64)], held=lambda case: case.cells["nodes"] == 64)
    assert found.tried == [] and found.text == PUTS and len(found.judged) == 1


def test_a_form_that_none_judged_is_not_applied(true_times):
    """Keys that no form has together stay, with and without splits, and so does a form without splits."""
    for keys in (["put_latency", "put_turn_latency"], ["put_latency"]):
        lines = "".join(f'{key} = {{ value = "3 us", measured = "here" }}\n' for key in keys)
        text = PUTS.replace("segment_bytes =", f"{lines}segment_bytes =")
        found = validated(true_times[:12], text, [])
        assert (found.chosen, found.text) == (None, text)
    assert (
        forms.candidates(PUTS.replace("put_setup", 'put_turn_latency = { value = "3 us", assumed = "x" }\nput_setup'))
        == []
    )


def test_a_state_of_the_software_tries_no_form(true_times):
    """And keys in its table are no keys of the file's form."""
    text = PUTS + '\n[software.new]\nput_latency = { value = "3 us", assumed = "x" }\n'
    found = validated(true_times[:4], text, [], state="new")
    assert (found.chosen, found.tried, found.text) == (None, [], text)
    one = [case for case in true_times if case.values["algorithm"] == "binomial" and case.values["bytes"] == 8]
    assert validated(one, text, [ScaleSplit(8, 16)], state="new").tried == []
    assert forms.candidates(text)[0] is forms.FORMS[0]
    assert forms.applied(text, forms.FORMS[0]) == text


def test_no_number_stays_on_trial(true_times):
    """Times without puts tell none of the keys that a form adds; `before` is of the file before that."""
    trees = [case for case in true_times if case.values["algorithm"] in ("binomial", "chain")]
    predictor = cases.Predictor(trees, _machine.parse(PUTS, "small.toml"))
    fit = [case for case in predictor.cases if case.cells["nodes"] < 64]
    tried = forms.applied(PUTS, forms.FORMS[-1])
    found = fitting.calibrate(PATH, tried, predictor, fit, None, original=PUTS)
    assert found.text == PUTS and "on trial" not in fitting.machine_file(found, "times", [])
    assert found.before == predictor.seconds(_machine.parse(PUTS, "small.toml"), predictor.cases)


def test_before_is_of_the_file_and_not_of_its_new_form(true_times):
    """Of three keys that the form adds, the one that is fitted stays."""
    tried = forms.applied(PUTS, forms.FORMS[-1])
    times = timed(
        true_times, tried.replace('put_turn_latency = { value = "4 us"', 'put_turn_latency = { value = "9 us"')
    )
    predictor = cases.Predictor(times, _machine.parse(PUTS, "small.toml"))
    fit = [case for case in predictor.cases if case.values["algorithm"] == "trinaryx3"]
    found = fitting.calibrate(PATH, tried, predictor, fit, ["put_turn_latency"], original=PUTS)
    assert forms.added(PUTS, found.text) == ["put_turn_latency"]
    assert found.before == predictor.seconds(_machine.parse(PUTS, "small.toml"), predictor.cases)
    assert found.before != predictor.seconds(_machine.parse(tried, "small.toml"), predictor.cases)


def test_forms_are_written_and_taken_out_again():
    whole = forms.applied(PUTS, forms.FORMS[-1])
    machine = fitting.parsed(whole, PATH)["software"]
    assert {"put_latency", "put_sum_latency", "put_turn_latency"} <= set(machine)
    assert forms.candidates(whole)[0] is forms.FORMS[-1], "its own first"
    changed = numbers.with_values(whole, {numbers.read({"software": machine})["put_latency"]: "2.5 us"})
    kept = fitting.parsed(forms.applied(changed, forms.FORMS[1]), PATH)["software"]
    assert kept["put_latency"]["value"] == "2.5 us" and "put_sum_latency" not in kept
    assert forms.applied(whole, forms.FORMS[0]) == PUTS
    assert forms.candidates(MACHINE) == [], "no puts"


def test_errors_are_by_class_and_hold_on_new_curves(true_times):
    found = validated(true_times, MACHINE, wanted=["message_cost", "link_bandwidth"])
    judged = by_scale.judged_times(found.judged)
    assert len(judged) == 80 and {each.algorithms for each in judged} == {
        "trees",
        "puts",
        "rings",
        "direct",
        "exchanges",
    }
    first = found.judged[0]
    assert judged[0].log == pytest.approx(math.log(first.cases[0].seconds / first.seconds[0]))
    enough = {row.algorithms for row in by_scale.error_rows(found) if not row.is_pooled}
    assert enough == {"all", "puts"}, "20 and more times"
    assert {row.lengths for row in by_scale.error_rows(found) if row.is_pooled} == {"all"}
    within, of = by_scale.coverage_on_largest(found)
    assert 0 < within <= of == 40


def test_days_need_the_same_case_on_several(true_times):
    few = [replace(case, cells={**case.cells, "day": "1"}) for case in true_times[:30]]
    assert days.spread(few) == (None, 0)
    later = [replace(case, seconds=1.1 * case.seconds, cells={**case.cells, "day": "2"}) for case in few]
    factor, repeated = days.spread(few + later)
    assert repeated == 30
    assert factor == pytest.approx(math.exp(math.log(1.1) / 2 * math.sqrt(2)), rel=1e-6)
    assert days.spread(true_times) == (None, 0), "no day is told"


def test_repeats_of_a_day_are_averaged(true_times):
    """Logs of 0 and 0.2 on the first day, 0.3 on the second: 0.1 from the mean of 0.2, in any order of rows."""
    every = []
    for case in true_times[:30]:
        for day, log in (("1", 0.0), ("1", 0.2), ("2", 0.3)):
            every.append(replace(case, seconds=math.exp(log), cells={**case.cells, "day": day}))
    for rows in (every, every[::-1]):
        factor, repeated = days.spread(rows)
        assert repeated == 30 and factor == pytest.approx(math.exp(0.1 * math.sqrt(2)), rel=1e-6)
