"""What is chosen, refused and left out, with real checks and synthetic times."""

from __future__ import annotations

import json
from array import array
from math import fsum
from random import Random

import pytest
from kernel_sessions import InProcess, decision_of, refused_of

from kumihimo.kernel import choices, kernel, serving, tuning
from kumihimo.kernel.hints import parse
from kumihimo.kernel.session import Crashed, Ended
from kumihimo.text.errors import BadInput

DOUBLES = lambda size, seed: (array("d", [(i * 7 + seed) % 5 for i in range(size)]),)  # noqa: E731


def declare(**options):
    options = {"inputs": DOUBLES, "sizes": (16, 128), **options}

    @kernel(**options)
    def total(x):
        return fsum(x)

    @total.variant
    def fast(x):
        return fsum(x)

    @total.variant(block=[2, 4, 8])
    def blocked(x, block):
        return fsum(fsum(x[i : i + block]) for i in range(0, len(x), block))

    return total


def test_the_right_choice_for_each_size_is_found_and_kept(tuned):
    total = declare()

    def cost(variant, parameters, size):
        if size < 64:
            return {"golden": 2e-6, "fast": 1e-6, "blocked": 3e-6}[variant]
        return 1e-6 if parameters == {"block": 4} else 2e-6

    found = tuned(cost)
    assert decision_of(found, 16)["chosen"] == {"variant": "fast", "parameters": {}}
    assert decision_of(found, 128)["chosen"] == {"variant": "blocked", "parameters": {"block": 4}}
    first, second = json.loads(choices.path_of("total").read_text())["choices"]
    assert (first["from_size"], first["to_size"]) == (8, 45)
    assert (second["from_size"], second["to_size"]) == (46, 256)
    assert first["measured"] == [
        {"size": 16, "seconds": 1e-6, "ratio": 0.5, "ratio_low": 0.5, "ratio_high": 0.5, "golden_seconds": 2e-6}
    ]
    assert first["check"] == "bitwise" and first["golden"] == total.golden_hash()
    total._plan = None
    assert total([1.0] * 16) == 16
    assert [choice["variant"] for choice, _ in total._plan] == ["fast", "blocked"]


def declare_with_empty_calls(hint: str, inputs=DOUBLES) -> None:
    @kernel(inputs=inputs, sizes=(2, 128), hint=hint)
    def total(x):
        return fsum(x)

    @total.variant
    def wrong_when_empty(x):
        return fsum(x) if len(x) else -77.0


def faster(variant, parameters, size):
    return 1e-6 if variant == "wrong_when_empty" else 2e-6


def test_size_0_is_checked_where_the_hint_promises_it(tuned):
    declare_with_empty_calls("0 to 1000 trips")
    refused = refused_of(tuned(faster))
    assert refused == {"wrong_when_empty": "size 0, seed 0, random input: result is -77.0, the golden copy's 0.0"}


def test_no_choice_holds_size_0_unless_it_was_checked(tuned):
    declare_with_empty_calls("")
    tuned(faster)
    choice, *_ = json.loads(choices.path_of("total").read_text())["choices"]
    assert (choice["variant"], choice["from_size"]) == ("wrong_when_empty", 1)


def test_a_choice_starts_at_1_where_no_input_of_size_0_can_be_made(tuned):
    def inputs(size, seed):
        if not size:
            raise ValueError("empty")
        return DOUBLES(size, seed)

    declare_with_empty_calls("0 to 1000 trips", inputs)
    tuned(faster)
    choice, *_ = json.loads(choices.path_of("total").read_text())["choices"]
    assert (choice["variant"], choice["from_size"]) == ("wrong_when_empty", 1)


def declare_bounded(operations, magnitude) -> None:
    @kernel(inputs=DOUBLES, sizes=(16,), operations=operations, magnitude=magnitude)
    def total(x):
        return fsum(x)

    @total.variant
    def wrong(x):
        return -77.0


def test_a_bound_that_accepts_everything_leaves_the_kernel_untuned(tuned):
    declare_bounded(lambda size: 2**60, fsum)
    found = tuned(faster)
    (left,) = found.left
    assert "at size 1 the error bound holds for fewer operations than 1 / unit roundoff" in left["reason"]
    assert not found.files


def test_an_infinite_magnitude_compares_nothing(tuned):
    declare_bounded(lambda size: size, lambda x: float("inf"))
    said = "no input could be compared: the magnitude of result is infinite, so no error bound holds"
    assert refused_of(tuned(faster)) == {"wrong": said}


def test_an_output_that_is_not_declared_is_the_fault_of_the_kernel(tuned):
    @kernel(inputs=DOUBLES, sizes=(16,))
    def doubled(x):
        x[0] = 2

    doubled.variant(lambda x: None, name="wrong")
    (left,) = tuned(faster).left
    said = "the golden copy writes to x, which is not declared as an output; declare outputs=('x',)"
    assert left["reason"].startswith(said)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (None, "size raises TypeError: \"object of type 'float' has no len()\" for the arguments of inputs(1, 0); "),
        (lambda a, x: len(x) / 1, "size raises TypeError: \"'float' object cannot be interpreted as an integer\" for "),
        (lambda a, x: 2 * len(x), "size gives 2 for the arguments of inputs(1, 0); correct size= or inputs="),
    ],
)
def test_a_size_that_does_not_fit_the_inputs_is_the_fault_of_the_kernel(tuned, size, said):
    """Otherwise calls would run choices for other sizes, or end in a stack trace."""

    @kernel(inputs=lambda n, seed: (2.0, *DOUBLES(n, seed)), sizes=(16,), size=size)
    def scaled(a, x):
        return a * fsum(x)

    scaled.variant(lambda a, x: a * fsum(x), name="same")
    found = tuned(faster)
    (left,) = found.left
    assert left["reason"].startswith(said)
    assert found.failed == ["scaled"] and not found.files
    asked = {"do": "time", "kernel": "scaled", "variant": "golden", "size": 1, "times": 1}
    assert InProcess(faster).server.answer(asked)["misdeclared"].startswith(said)


def test_a_kernel_of_which_nothing_can_be_compared_is_left_untuned(tuned):
    @kernel(inputs=DOUBLES, sizes=(16,))
    def nothing(x):
        fsum(x)

    nothing.variant(lambda x: None, name="same")
    (left,) = tuned(faster).left
    assert left["reason"] == serving.NOTHING


def test_none_may_be_a_result(tuned):
    @kernel(inputs=DOUBLES, sizes=(16,))
    def first_large(x):
        return next((each for each in x if each > 2), None)

    first_large.variant(lambda x: next(filter(lambda each: each > 2, x), None), name="right")
    first_large.variant(lambda x: next(filter(lambda each: each > 2, x), 0.0), name="wrong")
    found = tuned(faster)
    assert not found.left
    assert refused_of(found) == {"wrong": "size 1, seed 0, random input: result is 0.0, the golden copy's None"}


@pytest.mark.parametrize("zeros", [lambda n: array("d", [0] * n), lambda n: array("i", [0] * n), lambda n: [0.0] * n])
def test_a_variant_that_adds_to_its_output_is_refused_though_inputs_make_zeros(tuned, zeros):
    @kernel(inputs=lambda n, seed: (*DOUBLES(n, seed), zeros(n)), sizes=(16,), outputs=("y",))
    def tripled(x, y):
        for i, value in enumerate(x):
            y[i] = 3 * int(value)

    @tripled.variant
    def adds(x, y):
        for i, value in enumerate(x):
            y[i] += 3 * int(value)

    @tripled.variant
    def sets(x, y):
        for i in reversed(range(len(x))):
            y[i] = 3 * int(x[i])

    refused = refused_of(tuned(faster))
    assert list(refused) == ["adds"]
    assert refused["adds"].startswith("size 1, seed 1, random input: y[0] is ")


def test_edges_are_tried_at_the_tuned_sizes_and_off_cache_lines(tuned):
    total = declare(sizes=(16, 1000))
    total.variant(lambda x: fsum(x) if len(x) < 1000 or any(x) else 1.0, name="wrong_when_large")
    session = InProcess(faster)
    refused = refused_of(tuned(None, session=session))
    assert refused["wrong_when_large"].endswith("zeros input: result is 1.0, the golden copy's 0.0")
    tried = {(each["size"], each["seed"] % 2) for each in session.asked if each.get("input") == "zeros"}
    assert {size for size, _ in tried} == {1, 5, 16, 1000}
    assert {odd for _, odd in tried} == {0, 1}


@pytest.mark.parametrize(
    ("operations", "magnitude", "said"),
    [
        (lambda size: 1 // 0, fsum, "operations(1) raises ZeroDivisionError"),
        (lambda size: None, fsum, "operations(1) raises TypeError"),
        (lambda size: size, lambda x: x.gone, "magnitude raises AttributeError"),
    ],
)
def test_a_bound_that_raises_is_the_fault_of_the_kernel(tuned, operations, magnitude, said):
    declare_bounded(operations, magnitude)
    found = tuned(faster)
    (left,) = found.left
    assert left["reason"].startswith(said) and found.failed == ["total"]


def test_a_magnitude_that_overflows_compares_nothing(tuned):
    def overflowing(x):
        raise OverflowError("too large")

    declare_bounded(lambda size: size, overflowing)
    said = "no input could be compared: magnitude raises OverflowError: 'too large'"
    assert refused_of(tuned(faster)) == {"wrong": said}


def test_objects_without_equality_are_compared_by_their_fields(tuned):
    class Box:
        def __init__(self, value):
            self.value = value

    @kernel(inputs=lambda size, seed: ([Box(1.0)] * size,), sizes=(16,))
    def total(x):
        return Box(fsum(each.value for each in x))

    total.variant(lambda x: Box(fsum(each.value for each in x)), name="right")
    total.variant(lambda x: Box(0.5), name="wrong")
    refused = refused_of(tuned(lambda variant, parameters, size: 1e-6))
    assert refused == {"wrong": "size 1, seed 0, random input: result['value'] is 0.5, the golden copy's 1.0"}


def test_a_tie_keeps_the_golden_copy(tuned):
    declare()
    found = tuned(lambda variant, parameters, size: 1e-6)
    assert {each["chosen"]["variant"] for each in found.decisions} == {"golden"}


def test_equal_candidates_are_seldom_faster(tuned):
    """Without rounds of the winner alone, 8 of these 200 decisions claim a gain."""
    declare(sizes=tuple(range(16, 216)))
    numbers = Random(5)
    found = tuned(lambda variant, parameters, size: numbers.lognormvariate(0, 0.05) * 1e-6)
    claims = [each for each in found.decisions if each["chosen"]["variant"] != "golden"]
    assert len(found.decisions) == 200 and len(claims) <= 2


def test_the_winner_has_the_figures_of_its_own_rounds(tuned):
    declare(sizes=(16,))
    asked = []

    def cost(variant, parameters, size):
        asked.append(variant)
        return 1e-6 if variant == "fast" else 2e-6

    (decision,) = tuned(cost).decisions
    rows = {row["variant"]: row for row in decision["tried"] if row["parameters"] == {}}
    rounds_of_two = rows["fast"]["samples"]
    assert set(asked[-2 * rounds_of_two :]) == {"fast", "golden"}
    assert asked[-2 * rounds_of_two :].count("fast") == rounds_of_two == rows["golden"]["samples"]
    assert decision["chosen"]["variant"] == "fast" and rows["fast"]["is_faster"]


def test_a_gain_that_is_not_certain_keeps_the_golden_copy(tuned):
    declare(sizes=(16,))
    calls = iter(range(10**6))
    noisy = lambda variant, parameters, size: (0.9e-6 if next(calls) % 3 else 1.2e-6) if variant == "fast" else 1e-6  # noqa: E731
    found = tuned(noisy)
    row = next(row for row in found.decisions[0]["tried"] if row["variant"] == "fast")
    assert row["ratio_high"] >= 1 > row["ratio_low"]
    assert found.decisions[0]["chosen"]["variant"] == "golden"


def test_a_variant_that_is_wrong_at_one_size_is_chosen_for_none(tuned):
    total = declare()

    @total.variant
    def wrong_when_large(x):
        return fsum(x) + (len(x) == 128)

    found = tuned(lambda variant, parameters, size: 1e-6 if variant == "wrong_when_large" else 2e-6)
    assert {each["chosen"]["variant"] for each in found.decisions} == {"golden"}
    said = refused_of(found)["wrong_when_large"]
    assert said.startswith("size 128, seed 2, random input: result is ")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda x: fsum(x) if any(x) or len(x) == 1 else 1.0, "zeros input: result is 1.0, the golden copy's 0.0"),
        (lambda x: fsum(x) if len(x) != 17 else 0.0, "size 17, seed 1, random input"),
        (lambda x: fsum(x[:1]) if len(x) == 1 else x[len(x)], "size 2, seed 0, random input: raises IndexError"),
        (lambda x: str(fsum(x)), "result is '0.0', the golden copy's 0.0"),
        (lambda x: x.append(1) or fsum(x[:-1]), "writes to its input x"),
    ],
)
def test_a_wrong_variant_is_refused_with_its_input(tuned, wrong, said):
    total = declare()
    total.variant(wrong, name="wrong")
    found = tuned(lambda variant, parameters, size: 1e-6 if variant == "wrong" else 2e-6)
    assert said in refused_of(found)["wrong"]
    assert {each["chosen"]["variant"] for each in found.decisions} == {"golden"}


def test_huge_and_tiny_inputs_are_tried_where_they_are_allowed(tuned):
    total = declare(edges=("huge", "tiny"))
    total.variant(lambda x: fsum(x) if max(x, default=0) < 1e100 else 0.0, name="small_alone")
    total.variant(lambda x: fsum(x) if not 0 < max(x, default=0) < 1e-100 else 0.0, name="large_alone")
    refused = refused_of(tuned(lambda variant, parameters, size: 1e-6))
    assert "huge input" in refused["small_alone"] and "tiny input" in refused["large_alone"]


def test_inputs_that_the_golden_copy_refuses_are_skipped(tuned):
    @kernel(inputs=DOUBLES, sizes=(16,))
    def inverse(x):
        return 1 / fsum(x)

    inverse.variant(lambda x: 1 / sum(x), name="fast")
    found = tuned(lambda variant, parameters, size: 1e-6 if variant == "fast" else 2e-6)
    assert decision_of(found, 16)["chosen"]["variant"] == "fast"  # its sum of zeros cannot be compared


def test_far_slower_candidates_are_dropped_early(tuned):
    declare(sizes=(16,))
    session = InProcess(lambda variant, parameters, size: 9e-3 if variant == "blocked" else 2e-3)
    found = tuned(None, session=session)
    rows = [row for row in found.decisions[0]["tried"] if row["variant"] == "blocked"]
    assert len(rows) == 3 and all(row["dropped"] == "4.5 times as slow as the fastest in its first run" for row in rows)
    timed = [each for each in session.asked if each["do"] == "time" and each["variant"] == "blocked"]
    assert len(timed) == 9  # one run to touch the memory, two that count


def test_finalists_are_dropped_when_their_interval_is_far_above(tuned):
    @kernel(inputs=DOUBLES, sizes=(16,))
    def total(x):
        return fsum(x)

    total.variant(lambda x: fsum(x), name="fast")
    state = {"calls": 0}

    def cost(variant, parameters, size):  # `fast` becomes slow after the search
        state["calls"] += variant == "fast"
        return (1e-6 if state["calls"] < 6 else 9e-6) if variant == "fast" else 2e-6

    row = next(row for row in tuned(cost).decisions[0]["tried"] if row["variant"] == "fast")
    assert state["calls"] < 25  # of all rounds
    assert "times as slow as the fastest after" in row["dropped"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Ended("did not return within 2 s"), "did not return within 2 s"),
        (Crashed("ended by SIGSEGV"), "ended by SIGSEGV"),
    ],
)
def test_a_variant_that_ends_the_process_is_refused(tuned, error, said):
    declare(sizes=(16,))

    class Session(InProcess):
        def ask(self, request, seconds):
            if request.get("variant") == "fast" and request["do"] == "check" and request["size"] == 3:
                raise error
            return super().ask(request, seconds)

    found = tuned(None, session=Session(lambda variant, parameters, size: 1e-6))
    assert refused_of(found)["fast"] == f"size 3, seed 0, random input: {said}"


def test_a_crash_that_a_new_process_does_not_have_counts_for_nothing(tuned):
    declare(sizes=(16,))
    crashed = []

    class Session(InProcess):
        def ask(self, request, seconds):
            if request.get("variant") == "fast" and not crashed:
                crashed.append(request)
                raise Crashed("ended by SIGSEGV")
            return super().ask(request, seconds)

    found = tuned(None, session=Session(lambda variant, parameters, size: 1e-6 if variant == "fast" else 2e-6))
    assert crashed and decision_of(found, 16)["chosen"]["variant"] == "fast"


def test_precious_kernels_get_more_effort(tuned):
    samples = []
    for hint in ("", "precious"):
        declare(sizes=(16,), hint=hint)
        found = tuned(lambda variant, parameters, size: 1e-6 if variant == "fast" else 1.1e-6)
        samples.append(next(row["samples"] for row in found.decisions[0]["tried"] if row["variant"] == "golden"))
    assert samples == [25, 60]


def test_hints_restrict_sizes_and_inputs(tuned):
    declare(sizes=(), hint="100 to 10,000 trips, even")
    session = InProcess(lambda variant, parameters, size: 1e-6)
    found = tuned(None, session=session)
    assert [each["size"] for each in found.decisions] == [100, 464, 2154, 10000]
    asked = {each["size"] for each in session.asked if "size" in each}
    assert {100, 102, 104, 106, 108, 10000} < asked
    assert all(100 <= size <= 10000 and size % 2 == 0 for size in asked)


@pytest.mark.parametrize(
    ("hint", "sizes"),
    [
        ("", [64, 512, 4096, 32768, 262144]),
        ("odd", [65, 513, 4097, 32769, 262145]),
        ("1 to 10 trips", [1, 3, 10]),
        ("16 trips", [16]),
        ("100 to 1000 trips, power of two", [128, 512]),
        ("7 to 1000 trips, multiple of 10", [10, 40, 200, 1000]),
    ],
)
def test_usual_sizes(hint, sizes):
    found = tuning.sizes_of({"sizes": [], "name": "k", "hint": hint}, parse(hint))
    assert found == sizes


def test_named_sizes_must_fit_the_hint():
    with pytest.raises(BadInput, match=r"sizes of k must fit its hint 'even' \(got 7\)"):
        tuning.sizes_of({"sizes": [], "name": "k", "hint": "even"}, parse("even"), [8, 7])


def test_what_there_is_no_time_for_is_said(tuned):
    declare()
    found = tuned(lambda variant, parameters, size: 1e-6, seconds=0)
    assert found.left == [{"kernel": "total", "sizes": [16, 128], "reason": "no time"}]


def test_a_size_whose_golden_copy_does_not_end_leaves_the_smaller_ones(tuned):
    declare(sizes=(16, 128, 1024))
    limits = []

    class Endless(InProcess):
        def ask(self, request, seconds):
            if request["do"] == "time" and request["size"] == 128:
                limits.append(seconds)
                raise Ended("did not return")
            return super().ask(request, seconds)

    session = Endless(lambda variant, parameters, size: 1e-6 if variant == "fast" else 2e-6)
    found = tuned(None, session=session, seconds=60)
    assert [each["chosen"]["variant"] for each in found.decisions] == ["fast"]
    assert found.left == [{"kernel": "total", "sizes": [128, 1024], "reason": "no time"}] and found.files
    assert len(limits) == 1 and limits[0] <= 60 * tuning.GOLDEN_SHARE
    assert max(each["size"] for each in session.asked) < 128


def test_a_size_that_needs_more_than_the_budget_is_left(tuned):
    declare()
    found = tuned(lambda variant, parameters, size: 4.0 if size >= 128 else 1e-6, seconds=60)
    assert [each["size"] for each in found.decisions] == [16]
    assert found.left == [{"kernel": "total", "sizes": [128], "reason": "no time"}]


def test_kernels_that_cannot_be_tuned_are_said(tuned):
    @kernel
    def lonely(x):
        return x

    @kernel
    def without_inputs(x):
        return x

    without_inputs.variant(lambda x: x, name="same")
    found = tuned(lambda variant, parameters, size: 1e-6)
    assert found.left == [
        {"kernel": "lonely", "sizes": [], "reason": "it has no variants"},
        {"kernel": "without_inputs", "sizes": [], "reason": "it has no inputs or size: give both"},
    ]


def test_two_launches_of_tuning_give_the_same_choices(tuned):
    declare()
    cost = lambda variant, parameters, size: 1e-6 * (1 + sum(parameters.values()) % 3)  # noqa: E731
    first, second = tuned(cost), tuned(cost)
    assert first.choices == second.choices
