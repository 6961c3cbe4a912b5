"""Workloads: their messages match, their groups agree, and replays and placements take them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumihimo.predict.workloads import catalogue, grids, steps
from kumihimo.predict.workloads.catalogue import WORKLOADS, Workload
from kumihimo.predict.workloads.steps import CollectiveStep, ComputingStep, ExchangeStep
from kumihimo.text.errors import BadInput

EVERY = pytest.mark.parametrize("workload", WORKLOADS, ids=lambda each: each.name)


def some_ranks(workload: Workload) -> tuple[int, ...]:
    return (2, 8, 16) if workload.power_of_two else (2, 7, 12, 27)


def called(workload: Workload, ranks: int) -> catalogue.WorkloadCall:
    return catalogue.WorkloadCall(workload, ranks, workload.values({}))


@EVERY
def test_what_a_rank_sends_its_partner_receives(workload: Workload) -> None:
    for ranks in some_ranks(workload):
        sent, received = defaultdict(list), defaultdict(list)
        for rank in range(ranks):
            for step in called(workload, ranks).steps(rank):
                if isinstance(step, ExchangeStep):
                    assert len(step.partners) == len(step.sent) == len(step.received)
                    assert all(0 <= partner < ranks for partner in step.partners)
                    for partner, out, back in zip(step.partners, step.sent, step.received):
                        sent[rank, partner].append(out)
                        received[partner, rank].append(back)
        assert sent == received, f"on {ranks} ranks"


@EVERY
def test_all_members_of_a_group_take_part_in_the_same_collectives(workload: Workload) -> None:
    for ranks in some_ranks(workload):
        calls: dict[tuple[int, ...], Counter] = defaultdict(Counter)
        orders = defaultdict(set)
        for rank in range(ranks):
            own = defaultdict(list)
            for step in called(workload, ranks).steps(rank):
                if isinstance(step, CollectiveStep):
                    members = step.members or tuple(range(ranks))
                    assert rank in members and len(set(members)) == len(members)
                    assert step.root == -1 or 0 <= step.root < len(members)
                    own[members].append((step.collective, step.bytes, step.root))
            for members, found in own.items():
                orders[members].add(tuple(found))
                calls[members][rank] += 1
        for members, found in orders.items():
            assert len(found) == 1, f"{members} on {ranks} ranks"
            assert set(calls[members]) == set(members)


@EVERY
def test_a_workload_is_a_whole_recording(workload: Workload) -> None:
    for ranks in some_ranks(workload):
        trace = called(workload, ranks).trace()
        assert trace.recording.ranks == ranks and trace.generated and trace.events > 0
        assert len(trace.computing) == ranks and trace.seconds == max(trace.computing) > 0


@EVERY
def test_every_number_has_a_meaning_a_source_and_an_effect_or_a_name(workload: Workload) -> None:
    ranks = 16
    for name, number in workload.numbers.items():
        assert number.meaning and number.source and number.default > 0
        changed = workload.values({name: str(number.default * 2)})
        usual, other = (
            [[repr(step) for step in workload.steps(rank, ranks, values)] for rank in range(ranks)]
            for values in (workload.values({}), changed)
        )
        assert usual != other, name


def test_twice_the_rate_takes_half_the_computing() -> None:
    for workload in WORKLOADS:
        twice = workload.values({"rate": str(2 * workload.numbers["rate"].default)})
        usual = called(workload, 16).trace().computing
        fast = catalogue.WorkloadCall(workload, 16, twice).trace().computing
        assert fast == pytest.approx([each / 2 for each in usual], rel=1e-3)


def test_transpositions_send_all_points_of_a_rank() -> None:
    workload = catalogue.find("npb-ft")
    found = called(workload, 64).traffic()
    assert len(found.bytes) == 64 * 63
    assert sum(found.bytes.values()) == pytest.approx(2 * 16 * 512**3 * 63 / 64)


def test_ft_with_more_ranks_than_planes_exchanges_in_rows_and_columns() -> None:
    values = catalogue.find("npb-ft").values({"nx": "16", "ny": "16", "nz": "4", "steps": "1"})
    call = catalogue.WorkloadCall(catalogue.find("npb-ft"), 16, values)
    groups = [step.members for step in call.steps(5) if isinstance(step, CollectiveStep)]
    assert groups == [(4, 5, 6, 7), (1, 5, 9, 13)]


def test_nicam_has_at_most_19_partners_and_a_lattice_six() -> None:
    for name, most in (("nicam", 19), ("lattice-qcd", 6), ("lans", 6)):
        found = called(catalogue.find(name), 64).traffic()
        partners = Counter(source for source, _ in found.bytes)
        assert max(partners.values()) == most and len(partners) == 64
        assert name != "lattice-qcd" or set(partners.values()) == {6}


@given(st.integers(1, 400), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_grids_hold_all_ranks_and_places_are_theirs(ranks: int, axes: int) -> None:
    grid = grids.balanced(ranks, axes)
    assert prod(grid) == ranks and len(grid) == axes
    places = {grids.place_of(rank, grid) for rank in range(ranks)}
    assert len(places) == ranks and all(grids.rank_at(place, grid) in range(ranks) for place in places)


def test_balanced_grids() -> None:
    assert grids.balanced(64, 3) == (4, 4, 4) and grids.balanced(12, 2) == (4, 3) and grids.balanced(7, 2) == (7, 1)


def test_faces_of_a_line_of_two_ranks_are_two_messages() -> None:
    (step,) = grids.faces(0, (2, 1), (4, 5), 2, 8, "faces")
    assert step.partners == [1, 1] and step.sent == [2 * 5 * 8] * 2
    assert grids.faces(0, (1,), (4,), 1, 8, "faces") == []
    (step,) = grids.faces(0, (2,), (4,), 1, 8, "faces", periodic=False)
    assert step.partners == [1]


def test_a_wrong_group_is_found() -> None:
    """Sabotage: a rank that leaves out a collective."""

    def wrong(rank: int):
        yield ComputingStep(1e-3, "work")
        if rank != 1:
            yield CollectiveStep("allreduce", 8, "sum")

    with pytest.raises(BadInput):
        steps.traced(3, wrong)


@pytest.mark.parametrize(
    ("text", "ranks", "sentence"),
    (
        ("workload:rsdf", None, "did you mean rsdft"),
        ("workload:rsdft,orbital=3", None, "rsdft has no number 'orbital'"),
        ("workload:rsdft,orbitals", None, "must be written name=value"),
        ("workload:rsdft,orbitals=many", None, "--set orbitals must be a number"),
        ("workload:rsdft,orbitals=0", None, "--set orbitals must be above 0"),
        ("workload:npb-ft", 12, "npb-ft runs on a power of two of ranks"),
        ("workload:lans", 1, "a workload has from 2 to 1048576 ranks"),
    ),
)
def test_mistakes_are_one_sentence(text: str, ranks: int | None, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        catalogue.asked(text, ranks)
    assert sentence in str(caught.value)


def test_the_command(kumihimo, tmp_path: Path) -> None:
    assert "rsdft" in kumihimo("workload").out == kumihimo("workload", "list").out
    assert kumihimo("workload", "show", "lans").out == kumihimo("workload", "lans").out
    for words, sentence in (
        (("workload", "lst"), "did you mean list?"),
        (("workload", "show"), "the workload is missing"),
        (("workload", "show", "lans", "hpl"), "takes one workload"),
        (("simulate", "wrokload:lans", "-m", "k-computer"), "did you mean workload:lans?"),
        (("bench", "worklod:lans"), "did you mean workload:lans?"),
        (("replay", "worklod:lans", "-m", "k-computer"), "did you mean workload:lans?"),
    ):
        refused = kumihimo(*words)
        assert refused.code == 2 and sentence in refused.err and refused.err.count("\n") == 1, refused.err
    names = [each["name"] for each in json.loads(kumihimo("workload", "--json").out)["workloads"]]
    assert names == [each.name for each in WORKLOADS]
    shown = kumihimo("workload", "lattice-qcd", "--ranks", "8", "--traffic", "t.txt")
    assert shown.code == 0 and "faces" in shown.out, shown.err
    assert len((tmp_path / "t.txt").read_text().splitlines()) == 8 * 3
    refused = kumihimo("workload", "lans", "--set", "steps=1e9")
    assert refused.code == 2 and "a rank of lans takes at most 1000000 steps" in refused.err
    refused = kumihimo("workload", "lans", "--rank", "64")
    assert refused.code == 2 and "--rank must be from 0 to 63" in refused.err


def test_replay_and_place_take_workloads(kumihimo) -> None:
    ended = kumihimo("replay", "workload:castep,bands=4", "--ranks", "8", "--machine", "k-computer", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)["results"][0]
    assert found["ranks"] == 8 and found["seconds"] > 0 and "recorded_seconds" not in found
    refused = kumihimo("replay", "workload:lans", "--machine", "k-computer", "--grid", "4x4x4")
    assert refused.code == 2 and "a workload takes no --grid" in refused.err
    placed = kumihimo("place", "--traffic", "workload:lattice-qcd", "--shape", "4x4", "--budget", "2s", "--json")
    assert placed.code == 0, placed.err
    refused = kumihimo("place", "--traffic", "workload:hpl", "--shape", "4x4")
    assert refused.code == 2 and "workload:hpl must send messages to be placed" in refused.err
    projected = kumihimo("project", "--year", "2030", "--replay", "workload:lans", "--ranks", "27", "--json")
    assert json.loads(projected.out)["results"][0]["replay"]["ranks"] == 27


def test_simulate_takes_workloads(kumihimo) -> None:
    """As replay, on as many ranks as the nodes have."""
    on = ("--machine", "k-computer", "--json")
    by_shape = kumihimo("simulate", "workload:rsdft", "--shape", "4x2x4", "-a", "allreduce=trinaryx3", *on)
    assert by_shape.code == 0, by_shape.err
    found = json.loads(by_shape.out)["results"][0]
    assert found["ranks"] == 32 and found["programs"] == "workload:rsdft"
    assert {each["algorithm"] for each in found["collectives"]} == {"trinaryx3"}
    replayed = kumihimo(
        *("replay", "workload:rsdft", "--ranks", "32", "--shape", "4x2x4", "--model", "flow"),
        *("-a", "allreduce=trinaryx3", *on),
    )
    assert json.loads(replayed.out)["results"][0]["seconds"] == found["seconds"]
    usual = kumihimo("simulate", "workload:lans", *on)
    assert json.loads(usual.out)["results"][0]["ranks"] == 64


@pytest.mark.parametrize(
    ("words", "sentence"),
    (
        (("workload:rsdf",), "did you mean rsdft"),
        (("workload:lans", "--bytes", "8"), "a workload takes no --bytes"),
        (("workload:lans", "--segment-bytes", "8"), "a workload takes no --segment-bytes"),
        (("workload:lans", "--links"), "takes no --links"),
        (("workload:lans", "--model", "bound"), "must be flow, exact, packet or loggp"),
        (("workload:lans", "--algorithm", "ring"), "--algorithm of a workload must be COLLECTIVE=NAME"),
        (("workload:lans", "--algorithm", "allreduce=rin"), "did you mean ring"),
        (("workload:npb-ft", "--shape", "6x1x1"), "npb-ft runs on a power of two of ranks"),
        (("workload:lans", "--shape", "4x2x4", "--ranks", "8"), "as many ranks as the program"),
        (("workload:lans,steps=1e9",), "a rank of lans takes at most 1000000 steps"),
    ),
)
def test_wrong_input_of_simulate_is_one_sentence(kumihimo, words: tuple[str, ...], sentence: str) -> None:
    ended = kumihimo("simulate", *words, "--machine", "k-computer")
    assert ended.code == 2 and sentence in ended.err and len(ended.err.splitlines()) == 1, ended.err


def test_campaigns_take_workloads(kumihimo, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(
        'summary = "two"\n[parameters]\ncollective = ["workload:lans", "workload:npb-cg"]\n'
        'machine = "k-computer"\nranks = [8, 16]\n'
    )
    ended = kumihimo("campaign", "w.toml", "--workers", "1")
    assert ended.code == 0 and "4 points; 4 computed now" in ended.out, ended.err
    shown = json.loads(kumihimo("campaign", "show", "w.sqlite", "--json").out)["results"]
    assert [each["status"] for each in shown] == ["ok"] * 4
    (alone,) = json.loads(kumihimo("simulate", "workload:lans", "-m", "k-computer", "-p", "16", "--json").out)[
        "results"
    ]
    assert shown[1]["seconds"] == alone["seconds"]
