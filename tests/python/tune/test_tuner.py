"""A whole tuning with made-up times: the never-slower rule, the budget, interruption and going on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumihimo.run.profile.collectives import Form
from kumihimo.text.errors import Failed
from kumihimo.tune import bench
from kumihimo.tune.bench.cases import cases_of_all
from kumihimo.tune.foresight import TRIED_BEFORE_RUNS, Foresight
from kumihimo.tune.targets import FIXED_ORDER, ProgramDemand, Target, usual_ranks
from kumihimo.tune.tuner import known_choices, probe

SIZES = [2**e for e in range(3, 21)]
PAIR = Target("allreduce", 2)


def covered(choices: list[dict], size: int) -> dict:
    (found,) = [choice for choice in choices if choice["from_bytes"] <= size <= choice["to_bytes"]]
    return found


def test_ours_is_chosen_where_it_is_faster_and_nowhere_else(fake):
    fake.library = lambda case: 2e-6 if case.bytes < 1000 else 0.5e-6  # from there on the library cannot be beaten
    fake.ours = lambda case: 1e-6 if case.algorithm == "ring" else 3e-6
    (outcome,) = fake.tuner(1000).tune([PAIR], SIZES)
    assert outcome.whole
    for size in SIZES:
        found = covered(outcome.choices, size)
        assert found["algorithm"] == ("ring" if size < 1000 else "library"), size
        assert ("ratio" in found) == (size < 1000)
    assert covered(outcome.choices, 8)["ratio"] == pytest.approx(0.5)


@pytest.mark.parametrize("factor", [1.0, 1.05])
def test_equal_or_slower_is_left_to_the_library_whatever_the_noise(fake, factor):
    fake.noise = 0.3
    fake.ours = lambda case: factor * 1e-5
    fake.library = lambda case: 1e-5
    (outcome,) = fake.tuner(10000).tune([PAIR], SIZES)
    wins = sum(covered(outcome.choices, size)["algorithm"] != "library" for size in SIZES)
    assert wins <= len(SIZES) // 6, "more than the interval's share of errors"


def test_nothing_that_the_golden_copy_refuses_is_chosen(fake):
    fake.ours = lambda case: 1e-7 if case.algorithm == "ring" else 1e-6
    fake.wrong = lambda case: "2 of 3 bits" if case.algorithm == "ring" and case.in_place else ""
    (outcome,) = fake.tuner(1000).tune([PAIR], SIZES)
    assert {choice["algorithm"] for choice in outcome.choices} == {"library"}
    assert outcome.wrong == ["allreduce of 2 ranks: 2 of 3 bits"]
    assert all(case.bytes in SIZES for launch in fake.launched for case in launch), "it was not judged"


def test_every_choice_was_checked(fake):
    (outcome,) = fake.tuner(1000).tune([PAIR], SIZES)
    chosen = {(c["algorithm"], tuple(c["parameters"])) for c in outcome.choices if c["algorithm"] != "library"}
    assert chosen
    for in_place in (False, True):
        assert chosen <= {(c.algorithm, tuple(c.parameters)) for c in fake.checked if c.in_place == in_place}


# Seconds, and of the 6 times 22 sizes how many are judged in them at least and at most.
BUDGETS = {1: (0, 0), 5: (0, 0), 20: (0, 44), 30: (1, 66), 60: (110, 132), 120: (132, 132), 300: (132, 132)}


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_budget_is_kept_and_what_it_lacks_is_said(fake, budget):
    targets = [Target(name, ranks) for ranks in (2, 4) for name in ("allreduce", "bcast", "reduce")]
    sizes = [2**e for e in range(3, 25)]
    outcomes = list(fake.tuner(budget).tune(targets, sizes))
    assert fake.time <= budget + 1
    for outcome in outcomes:
        for size in sizes:
            assert size in outcome.left or covered(outcome.choices, size)
    done = sum(len(sizes) - len(outcome.left) for outcome in outcomes)
    assert BUDGETS[budget][0] <= done <= BUDGETS[budget][1]
    if budget >= 120:
        assert all(outcome.whole for outcome in outcomes)


@pytest.mark.parametrize("collective", ["allreduce", "barrier"])
def test_one_size_is_measured_whatever_the_budget(fake, collective):
    """On a machine so busy that one launch takes longer than the whole budget."""
    fake.ours = lambda case: 1.0 if (case.bytes or 0) > 8 else 1e-6
    target = Target(collective, 2)
    tuner = fake.tuner(0.1)
    (outcome,) = tuner.tune([target], SIZES)
    assert not outcome.choices
    one = tuner.one_size(target, SIZES)
    (choice,) = one.choices
    assert choice["algorithm"] != "library"
    assert one.left == target.sizes(SIZES)[1:]
    assert not one.whole
    assert {case.bytes for launch in fake.launched for case in launch} == {target.sizes(SIZES)[0]}


DOUBLES = Form("float64", "sum", False)
LONG = Target("allreduce", 8, program=ProgramDemand((2**22,), 100.0, DOUBLES, call_seconds=3.0))


def slow_network(fake):
    """Where a call takes seconds, as on a testbed."""
    fake.library = lambda case: 3.0 * case.bytes / 2**22
    fake.ours = lambda case: {"ring": 0.6, "rotated_rings": 0.9}.get(case.algorithm, 1.5) * case.bytes / 2**22
    return fake


def best_predicted(case, ranks):
    return {"ring": 0.5, "pairwise": 0.6, "bucket": 0.7}.get(case.algorithm, 2.0)


def test_before_whole_runs_the_best_predicted_algorithms_of_long_calls_take_few_launches(fake):
    tuner = slow_network(fake).tuner(70)
    (without,) = tuner.tune([LONG], ())
    assert without.left, "all algorithms of all steps do not fit into this time"
    fake.launched.clear()
    tuner = fake.tuner(100)
    tuner.runs_follow, tuner.foresight = True, Foresight("m", best_predicted, TRIED_BEFORE_RUNS)
    (outcome,) = tuner.tune([LONG], ())
    (choice,) = outcome.choices
    assert choice["algorithm"] == "ring" and not outcome.left
    assert len(fake.launched) == 2, "one to search, one to judge"
    assert len(fake.launched[0]) == TRIED_BEFORE_RUNS
    assert {case.bytes for case in fake.checked} == {2**20}, "a check of shorter vectors"


def test_of_a_program_the_one_size_is_that_with_the_most_time(fake):
    several = replace(LONG, program=replace(LONG.program, sizes=(2**20, 2**20 + 64, 8, 2**12)))
    tuner = fake.tuner(0.1)
    assert [o.choices for o in tuner.tune([several], ())] == [[]]
    one = tuner.one_size(several, ())
    assert {choice["from_bytes"] for choice in one.choices} == {2**20}
    assert one.choices[0]["to_bytes"] == 2**20 + 64 and one.left == [8, 2**12]


def test_choices_of_an_earlier_tuning_stand_where_they_cover_a_program(fake):
    (before,) = slow_network(fake).tuner(1000).tune([Target("allreduce", 8)], [2**21, 2**22])
    fake.launched.clear()
    for sizes, again in (((2**22,), True), ((2**21, 3 * 2**20), True), ((2**22, 8), False)):
        tuner = fake.tuner(1000)
        tuner.known = before.choices
        (outcome,) = tuner.tune([replace(LONG, program=replace(LONG.program, sizes=sizes))], ())
        assert outcome.again == again == (not fake.launched)
        assert not again or {c["algorithm"] for c in outcome.choices} == {"ring"}
    others = [{**choice, "ranks": 4} for choice in before.choices]
    assert known_choices(LONG, others) == []
    assert known_choices(LONG, [{**choice, "algorithm": "library"} for choice in before.choices]) == []
    assert known_choices(Target("allreduce", 8), before.choices) == [], "a usual question asks for all sizes"


@pytest.mark.parametrize("budget", [60, 120])
def test_a_search_that_time_cut_short_goes_on_with_a_larger_budget(fake, journal, budget):
    """Above 4 KiB the algorithm that is tried last is by far the best, those before it take too long to come to it, and
    the best of short vectors is good enough to be chosen."""
    first, *_, last = [case.algorithm for case in cases_of_all("allreduce", ranks=2, sizes=[65536])]

    def ours(case):
        if case.bytes <= 4096:
            return 1e-6 if case.algorithm == first else 2e-6
        return {first: 9e-3, last: 1e-3}.get(case.algorithm, 0.5)

    fake.ours = ours
    fake.library = lambda case: 1e-2
    (before,) = fake.tuner(budget, journal()).tune([PAIR], SIZES)
    assert not before.left or budget < 120
    (after,) = fake.tuner(5000, journal()).tune([PAIR], SIZES)
    assert after.whole and not after.again
    for size in (size for size in SIZES if size > 4096):
        assert covered(after.choices, size)["algorithm"] == last, size


def test_what_fails_costs_itself_alone(fake, journal):
    """An algorithm ends the bench driver; that is known in the next tuning, and the others are chosen among."""
    whole = fake.measure

    def measure(cases, ranks, seconds, limit, tell):
        for place, case in enumerate(cases):
            if case.algorithm == "ring" and case.bytes >= 2**18 and case.collective == "allreduce":
                same = [n for n, other in enumerate(cases) if other.bytes == case.bytes]  # told together, or not
                whole(cases[: min(n for n in same if n <= place)], ranks, seconds, limit, tell)
                raise Failed("rank 0 of kumihimo-bench-driver died of signal 11")
        whole(cases, ranks, seconds, limit, tell)

    fake.ours = lambda case: 1e-6 if case.algorithm == "ring" else 2e-6
    fake.library = lambda case: 3e-6
    fake.measure = measure
    tuner = fake.tuner(5000, journal())
    first, second = tuner.tune([PAIR, Target("bcast", 2)], SIZES)
    assert first.whole and second.whole
    for size in SIZES:
        found = covered(first.choices, size)["algorithm"]
        assert (found == "ring") == (size < 2**18) and found != "library", size
    assert any("ring of 262144 bytes: rank 0 of kumihimo-bench-driver died" in what for what in tuner.launches.failures)
    surveyed = {case.algorithm for cases in fake.launched for case in cases if case.bytes == 2**18}
    assert len(surveyed) > 4, "those beside it are not blamed"
    launches = len(fake.launched)
    again, _ = fake.tuner(5000, journal()).tune([PAIR, Target("bcast", 2)], SIZES)
    assert again.choices == first.choices
    assert len(fake.launched) == launches


def test_where_nothing_runs_that_is_said_and_nothing_is_blamed(fake, journal):
    def measure(*_):
        raise Failed("rank 0 of kumihimo-bench-driver died of signal 9")

    fake.measure, works = measure, fake.measure
    kept = journal()
    with pytest.raises(Failed, match="signal 9"):
        list(fake.tuner(5000, kept).tune([PAIR], SIZES))
    assert kept.known == 0
    fake.measure = works
    (outcome,) = fake.tuner(5000, journal()).tune([PAIR], SIZES)
    assert outcome.whole


def test_a_check_that_fails_tells_which_case_does(fake):
    def check(cases, ranks, seconds):
        if any(case.algorithm == "ring" and case.bytes == 2**20 and case.in_place for case in cases):
            raise Failed("rank 0 of kumihimo-bench-driver died of signal 11")
        return {}

    fake.check = check
    fake.ours = lambda case: 1e-6 if case.algorithm == ("chain" if case.bytes < 1000 else "ring") else 2e-6
    fake.library = lambda case: 3e-6
    (outcome,) = fake.tuner(5000).tune([PAIR], SIZES)
    (wrong,) = outcome.wrong
    assert "ring" in wrong and "signal 11" in wrong
    assert {choice["algorithm"] for choice in outcome.choices} == {"chain", "library"}


def test_the_first_targets_are_the_last_to_suffer(fake):
    targets = [Target(name, 2) for name in ("allreduce", "bcast", "reduce")]
    outcomes = list(fake.tuner(40).tune(targets, SIZES))
    assert len(outcomes[0].left) <= len(outcomes[2].left)


def test_results_that_differ_between_ranks_are_not_chosen(fake):
    fake.bitwise = lambda case: False
    (outcome,) = fake.tuner(1000).tune([PAIR], SIZES)
    assert {choice["algorithm"] for choice in outcome.choices} == {"library"}


def test_what_is_finished_is_not_measured_again(fake, journal):
    (before,) = fake.tuner(1000, journal()).tune([PAIR], SIZES)
    launches = len(fake.launched)
    (after,) = fake.tuner(1000, journal()).tune([PAIR], SIZES)
    assert after.again
    assert after.choices == before.choices
    assert len(fake.launched) == launches


@pytest.mark.parametrize("at", [1, 2, 3, 6, 9])
def test_ctrl_c_keeps_what_was_found_and_the_next_goes_on(fake, journal, at):
    fake.interrupt_at = at
    tuner = fake.tuner(1000, journal())
    outcomes = list(tuner.tune([PAIR, Target("bcast", 2)], SIZES))
    assert tuner.launches.interrupted
    assert len(fake.launched) == at, "nothing is begun after Ctrl-C"
    assert [bool(outcome.left) for outcome in outcomes] == [True, True]
    told = fake.launched[-1][: len(fake.launched[-1]) // 2]

    fake.interrupt_at = 0
    (after, _) = fake.tuner(1000, journal()).tune([PAIR, Target("bcast", 2)], SIZES)
    assert after.whole
    assert not [case for case in fake.launched[at] if case in told], "what was told is not measured again"


def test_going_on_ends_where_it_would_have_ended(fake, journal):
    """Interrupted or not, the choices are the same."""
    (whole,) = fake.tuner(1000).tune([PAIR], SIZES)
    straight = len(fake.launched)
    fake.launched.clear()
    fake.interrupt_at = 5
    list(fake.tuner(1000, journal()).tune([PAIR], SIZES))
    (after,) = fake.tuner(1000, journal()).tune([PAIR], SIZES)
    assert [(c["from_bytes"], c["to_bytes"], c["algorithm"]) for c in after.choices] == [
        (c["from_bytes"], c["to_bytes"], c["algorithm"]) for c in whole.choices
    ]
    assert len(fake.launched) <= straight + 1


def test_cases_are_shuffled_from_launch_to_launch(fake):
    list(fake.tuner(1000).tune([PAIR], SIZES))
    judging = [[case.bytes for case in launch] for launch in fake.launched if len(launch) > 3 * len(SIZES) // 2][-4:]
    assert len({tuple(sorted(sizes)) for sizes in judging}) == 1
    assert len({tuple(sizes) for sizes in judging}) > 1


def test_odd_counts_are_judged_beside_every_size_if_there_is_time(fake):
    beside = {size + more for size in SIZES for more in (-8, 8) if 8 <= size + more <= SIZES[-1]} - set(SIZES)
    list(fake.tuner(1000).tune([PAIR], SIZES))
    assert beside <= {case.bytes for launch in fake.launched for case in launch}
    fake.launched.clear()
    list(fake.tuner(14).tune([PAIR], SIZES))
    measured = {case.bytes for launch in fake.launched for case in launch}
    assert {64 - 8, 64 + 8} <= measured, "beside every third of them in any case"
    assert not {128 - 8, 128 + 8} & measured


def test_a_fixed_order_takes_what_promises_it_even_if_it_is_slower(fake):
    fake.ours = lambda case: 1e-6 if case.algorithm == "ring" else 3e-6
    fake.library = lambda case: 0.5e-6
    target = Target("allreduce", 4, determinism=FIXED_ORDER)
    (outcome,) = fake.tuner(1000).tune([target], SIZES)
    (choice,) = outcome.choices
    assert choice["algorithm"] == "ring"
    assert choice["ratio"] > 1
    assert (choice["nodes"], choice["ranks_per_node"], choice["determinism"]) == (0, 0, "fixed_order")
    tried = {case.algorithm for launch in fake.launched for case in launch}
    assert "recursive_doubling" in tried
    assert all(target.allows(name) for name in tried)


def test_targets_name_their_communicators():
    assert Target("bcast", 4, 2).key == {
        "collective": "bcast",
        "ranks": 4,
        "nodes": 2,
        "ranks_per_node": 2,
        "determinism": "any",
        "emulated": True,
    }
    assert Target("bcast", 3, 2).key["ranks_per_node"] == 0, "nodes that are not alike"
    listed = Target("bcast", 4, (1, 3)).key
    assert (listed["nodes"], listed["ranks_per_node"], listed["emulated"]) == (2, 0, True)
    assert Target("bcast", 4, (2, 2)).key == Target("bcast", 4, 2).key
    assert Target("bcast", 4).key["nodes"] == 1
    assert "emulated" not in Target("bcast", 4).key
    assert "emulated" not in Target("bcast", 4, 4).key
    assert Target("reduce", 4, 2, FIXED_ORDER).key != Target("reduce", 4, determinism=FIXED_ORDER).key


def test_more_ranks_than_processors_only_where_they_make_room(monkeypatch):
    monkeypatch.setattr("kumihimo.processes.mpi.available_processors", lambda: 2)
    assert usual_ranks("openmpi") == [2, 4]
    assert usual_ranks("mpich") == [2]
    monkeypatch.setattr("kumihimo.processes.mpi.available_processors", lambda: 64)
    assert usual_ranks("mpich") == [2, 4, 64]


def test_collectives_of_blocks_are_tuned_alike(fake):
    fake.ours = lambda case: 1e-6 if case.algorithm == "bruck" else 3e-6
    fake.library = lambda case: 2e-6
    (outcome,) = fake.tuner(2000).tune([Target("alltoall", 4)], SIZES)
    assert {choice["algorithm"] for choice in outcome.choices} == {"bruck"}
    assert all(choice["also"] == ["in place"] for choice in outcome.choices)


def test_a_barrier_is_tuned_once_whatever_the_sizes(fake):
    fake.ours = lambda case: 1e-6 if case.algorithm == "dissemination" else 3e-6
    fake.library = lambda case: 2e-6
    (outcome,) = fake.tuner(2000).tune([Target("barrier", 4)], SIZES)
    (choice,) = outcome.choices
    assert (choice["algorithm"], choice["from_bytes"], choice["to_bytes"]) == ("dissemination", 0, 0)
    assert {case.bytes for cases in fake.launched for case in cases} == {0}


def test_the_nodes_of_each_number_of_ranks_are_looked_up(monkeypatch):
    launched = []

    def run_measure(cases, *, ranks, **_):
        launched.append(ranks)
        on = [rank // room for rank in range(ranks)]
        about = {"mpi": "Open MPI", "one_node": on[-1] == 0, "nodes": ["a", "b", "c"][: on[-1] + 1], "node_of_rank": on}
        return bench.LaunchResults(about=about)

    monkeypatch.setattr("kumihimo.tune.tuner.run_measure", run_measure)
    room = 2
    here = probe(None, [2, 4, 3])
    assert here.mpi == "Open MPI"
    assert here.nodes == {2: None, 4: bench.RealNodes((0, 0, 1, 1)), 3: bench.RealNodes((0, 0, 1))}
    room, launched = 8, []
    assert probe(None, [2, 4]).nodes == {2: None, 4: None}
    assert launched == [4], "where these are on one node, fewer are"


def test_a_number_of_ranks_that_cannot_be_started_is_no_end(monkeypatch):
    def run_measure(cases, *, ranks, **_):
        if ranks > most:
            raise Failed(f"mpirun did not start {ranks} processes")
        return bench.LaunchResults(
            about={"mpi": "Open MPI", "one_node": True, "nodes": ["a"], "node_of_rank": [0] * ranks}
        )

    monkeypatch.setattr("kumihimo.tune.tuner.run_measure", run_measure)
    most = 4
    assert probe(None, [2, 4, 512]).nodes == {2: None, 4: None, 512: None}
    most = 1
    with pytest.raises(Failed, match="did not start 2 processes"):
        probe(None, [2, 4])


def test_the_shape_of_the_nodes_files_choices_and_lays_the_ranks(fake, journal):
    about = {"one_node": False, "nodes": list("abcdef"), "node_of_rank": [0, 1, 2, 3, 4, 5]}
    torus = bench.real_nodes({**about, "shape": "2x3", "places": [0, 1, 2, 3, 4, 5]})
    assert str(torus.space) == "torus 2x3"
    assert str(torus.reordered([5, 4, 3, 2, 1, 0]).space) == "torus 2x3"
    target = Target("allreduce", 6, on=torus)
    assert (target.key["shape"], str(target)) == ("2x3", "allreduce of 6 ranks on 2x3 nodes")
    (outcome,) = fake.tuner(2000, journal()).tune([target], SIZES)
    assert {c["shape"] for c in outcome.choices} == {"2x3"}
    assert "trinaryx3" in {case.algorithm for cases in fake.launched for case in cases}, "it needs a torus"
    plane = bench.real_nodes({**about, "shape": "3x2x3", "places": [0, 1, 2, 3, 4, 5]})
    assert Target("allreduce", 6, on=plane).shape == "1mx2x3", "that of the part that the ranks have"
    assert torus.key != plane.key
    scattered = bench.real_nodes({**about, "shape": "3x2x3", "places": [0, 1, 2, 3, 4, 17]})
    assert "shape" not in Target("allreduce", 6, on=scattered).key


def test_a_launch_on_other_nodes_ends_the_tuning_and_no_case_is_blamed(fake, journal):
    here, there = bench.RealNodes((0, 0, 1, 1), ("a", "b")), bench.RealNodes((0, 1, 0, 1), ("a", "b"))
    whole = fake.measure

    def measure(*asked):
        if len(fake.launched) == 5:
            raise bench.OtherNodes(here, there)
        whole(*asked)

    fake.measure = measure
    tuner = fake.tuner(2000, journal())
    with pytest.raises(bench.OtherNodes, match=r"same nodes, a \(2 ranks\), b \(2 ranks\) \(got"):
        list(tuner.tune([Target("allreduce", 4, on=here)], SIZES))
    assert tuner.launches.failures == []


def test_choices_for_real_nodes_are_filed_under_them(fake, journal):
    dealt, unlike = bench.RealNodes((0, 1, 0, 1), ("a", "b")), bench.RealNodes((0, 0, 0, 1), ("a", "b"))
    target = Target("allreduce", 4, on=dealt)
    (outcome,) = fake.tuner(2000, journal()).tune([target], SIZES)
    places = {(c["ranks"], c["nodes"], c["ranks_per_node"], "emulated" in c) for c in outcome.choices}
    assert places == {(4, 2, 2, False)}
    assert "hierarchical" in {case.algorithm for cases in fake.launched for case in cases}, "it needs several nodes"
    assert {case.nodes for cases in fake.launched for case in cases} == {dealt}
    assert Target("allreduce", 4, on=unlike).key["ranks_per_node"] == 0
    assert str(target) == "allreduce of 4 ranks on 2 nodes"
    launches = len(fake.launched)
    list(fake.tuner(2000, journal()).tune([replace(target, on=bench.RealNodes((0, 0, 1, 1)))], SIZES))
    assert len(fake.launched) > launches, "ranks that lie otherwise are measured anew"
    launches = len(fake.launched)
    list(fake.tuner(2000, journal()).tune([replace(target, on=bench.RealNodes((0, 1, 0, 1), ("c", "d")))], SIZES))
    assert len(fake.launched) == launches, "whatever the nodes' names"
