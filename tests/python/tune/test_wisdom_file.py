"""The file: what is written is what the interposer reads, and it joins what is there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo import _plan
from kumihimo.run import wisdom_reading
from kumihimo.text.errors import BadInput
from kumihimo.text.ranges import FARTHEST
from kumihimo.tune import wisdom
from kumihimo.tune.final_comparison import Judged
from kumihimo.tune.targets import FIXED_ORDER, Target

MPI = "Open MPI v4.1.4"
PAIR = Target("allreduce", 2)
sizes = st.lists(st.integers(1, 2**21).map(lambda n: 8 * n), min_size=1, max_size=10, unique=True)


def judged(size: int, ratio: float, choice=("ring", ())) -> Judged:
    return Judged(size, choice, [ratio * 1e-3] * 8, [1e-3] * 8)


def file_of(choices: list[dict]) -> dict:
    return wisdom.document(choices, {"launches": 6}, machine=wisdom.machine_object(), mpi=MPI)


@given(sizes, st.lists(st.floats(0.1, 3.0), min_size=10, max_size=10))
def test_the_interposer_reads_what_is_written(at, ratios):
    parameters = (("segment_bytes", 65536), ("window", 2))
    given_ = [judged(size, ratio, ("ring", parameters)) for size, ratio in zip(at, ratios)]
    choices = wisdom.choices_of(PAIR, given_)
    text = wisdom.as_text(file_of(choices))
    assert json.loads(text)["mpi"] == MPI
    assert _plan.read_wisdom(text, _plan.this_machine(), MPI) == len(choices)
    for choice in choices:
        if choice["algorithm"] != "library":
            assert choice["parameters"] == dict(parameters)
            assert choice["ratio_high"] == max(m["ratio_high"] for m in choice["measured"]) < 1


def test_only_our_own_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    wisdom.check_writable(wisdom.kernel_path())
    with pytest.raises(BadInput, match=r"--output must name a file .*got .*No such file"):
        wisdom.check_writable(tmp_path / "missing" / "wisdom.json")
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


def test_figures_are_of_the_size_that_does_worst():
    (choice,) = wisdom.choices_of(PAIR, [judged(8, 0.5), judged(16, 0.9), judged(32, 0.7)])
    assert (choice["figures_of_bytes"], choice["ratio"]) == (16, pytest.approx(0.9))
    assert [m["bytes"] for m in choice["measured"]] == [8, 16, 32]


def test_what_was_tried_in_vain_is_kept_beside_the_library():
    (choice,) = wisdom.choices_of(PAIR, [judged(8, 1.5)])
    assert choice["algorithm"] == "library"
    assert "ratio" not in choice
    assert choice["measured"][0]["algorithm"] == "ring"


def test_new_choices_replace_those_for_the_same_ranks_and_leave_others():
    four = Target("allreduce", 4)
    fixed = Target("allreduce", 2, determinism=FIXED_ORDER)
    old = file_of([c for t in (PAIR, four, fixed) for c in wisdom.choices_of(t, [judged(8, 0.5)])])
    new = file_of(wisdom.choices_of(PAIR, [judged(8, 0.25)]))
    joined = wisdom.joined(old, new)["choices"]
    assert [(c["ranks"], c["determinism"], c["ratio"]) for c in joined] == [
        (2, "any", pytest.approx(0.25)),
        (4, "any", pytest.approx(0.5)),
        (2, "fixed_order", pytest.approx(0.5)),
    ]


def test_a_narrower_tuning_leaves_what_a_wider_one_found():
    wide = file_of(wisdom.choices_of(PAIR, [judged(8 << n, 0.5 + n / 100) for n in range(22)]))
    narrow = file_of(wisdom.choices_of(PAIR, [judged(65536, 0.25, ("chain", ()))]))
    found = wisdom.joined(wide, narrow)["choices"]
    assert [(c["from_bytes"], c["to_bytes"], c["algorithm"], c["figures_of_bytes"]) for c in found] == [
        (65536, 65536, "chain", 65536),
        (1, 65535, "ring", 32768),
        (65537, 2**24, "ring", 2**24),
    ]


@pytest.mark.parametrize("figures", [{}, {"measured": 3}, {"measured": [{"bytes": 8}]}])
def test_what_people_wrote_without_lengths_or_figures_is_cut_too(figures):
    hand = {"collective": "allreduce", "algorithm": "ring", **PAIR.key}
    new = file_of(wisdom.choices_of(PAIR, [judged(64, 0.25)]))
    found = wisdom.joined(file_of([{**hand, **figures}]), new)["choices"][1:]
    assert all(not choice.pop("measured", None) for choice in found)
    assert found == [{**hand, "from_bytes": 0, "to_bytes": 63}, {**hand, "from_bytes": 65}]


@pytest.mark.parametrize(
    "kind",
    [
        {"kernel": "copy", "reader": "same core", "variant": "b"},
        {"collective": "allreduce", "algorithm": "ring", "simulated": True},
        {"collective": "allreduce", "algorithm": "library"},
    ],
)
def test_what_was_not_compared_with_the_library_keeps_its_measurements(kind):
    old = {**kind, "from_bytes": 8, "to_bytes": 512, "measured": [{"bytes": 8 << n, "seconds": 1.0} for n in range(7)]}
    new = {**kind, "from_bytes": 64, "to_bytes": 64, "measured": [{"bytes": 64, "seconds": 0.5}]}
    found = wisdom.joined(file_of([old]), file_of([new]))["choices"]
    assert [[each["bytes"] for each in choice["measured"]] for choice in found] == [[64], [8, 16, 32], [128, 256, 512]]


def choice_for(choices: list[dict], key: tuple, length: int) -> tuple | None:
    """The first that fits."""
    for choice in choices:
        if wisdom.key_of(choice) == key and choice["from_bytes"] <= length <= choice["to_bytes"]:
            return choice["algorithm"], tuple(choice["parameters"].items())
    return None


points = st.lists(
    st.tuples(st.integers(1, 400).map(lambda n: 8 * n), st.floats(0.1, 3.0), st.sampled_from(["ring", "chain"])),
    min_size=1,
    max_size=8,
    unique_by=lambda point: point[0],
)
tunings = st.lists(st.tuples(st.sampled_from([2, 4]), points), min_size=1, max_size=4)


def test_a_sparse_tuning_leaves_what_it_did_not_measure():
    wide = file_of(wisdom.choices_of(PAIR, [judged(8 << n, 0.5 + n / 100) for n in range(22)]))
    refused = Judged(2**24, ("chain", ()), refused="differs between ranks")
    sparse = file_of(wisdom.choices_of(PAIR, [judged(8, 0.25), refused]))
    found = wisdom.joined(wide, sparse)["choices"]
    assert [(c["from_bytes"], c["to_bytes"], c["algorithm"]) for c in found] == [
        (1, 8, "ring"),
        (2**24, 2**24, "library"),
        (9, 2**24 - 1, "ring"),
    ]
    assert len(found[2]["measured"]) == 20


@given(tunings)
def test_each_tuning_decides_its_own_lengths_and_no_others(history):
    file = None
    for ranks, tuning in history:
        target = Target("allreduce", ranks)
        new = file_of(wisdom.choices_of(target, [judged(size, x, (name, ())) for size, x, name in tuning]))
        joined = wisdom.joined(file, new)
        assert wisdom.joined(joined, new) == joined
        before, after = (file or {"choices": []})["choices"], joined["choices"]
        edges = {c[end] + d for c in before + after for end in ("from_bytes", "to_bytes") for d in (-1, 0, 1)}
        for key in {wisdom.key_of(c) for c in before + after}:
            for length in edges:
                own = choice_for(new["choices"], key, length)
                assert choice_for(after, key, length) == (own or choice_for(before, key, length))
        at = sorted(size for size, _, _ in tuning)
        for low, high in zip(at, at[1:]):  # what lies far from all that was measured stays as it was
            if high > FARTHEST * low:
                key, length = wisdom.key_of(new["choices"][0]), (low + high) // 2
                assert choice_for(after, key, length) == choice_for(before, key, length)
            rows = sorted((c["from_bytes"], c["to_bytes"]) for c in after if wisdom.key_of(c) == key)
            assert all(low <= high for low, high in rows)
            assert all(high < low for (_, high), (low, _) in zip(rows, rows[1:])), "they overlap"
        for choice in after:
            assert all(choice["from_bytes"] <= m["bytes"] <= choice["to_bytes"] for m in choice["measured"])
            if "ratio_high" in choice:
                assert choice["ratio_high"] == max(m["ratio_high"] for m in choice["measured"])
        measured = [m for c in before if wisdom.key_of(c) != wisdom.key_of(new["choices"][0]) for m in c["measured"]]
        assert all(any(m in c["measured"] for c in after) for m in measured)
        text = wisdom.as_text(joined)
        assert _plan.read_wisdom(text, _plan.this_machine(), MPI) == len(after)
        file = json.loads(text)


def test_it_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "wisdom.json"
    wisdom.write(path, file_of([]))
    before = path.read_text()
    with pytest.raises(TypeError):
        wisdom.write(path, {"choices": [], "machine": object()})
    assert path.read_text() == before


def test_only_wisdom_of_this_machine_and_library_is_written_over(tmp_path):
    path = tmp_path / "wisdom.json"
    assert wisdom.existing(path, MPI) is None
    wisdom.write(path, file_of([]))
    assert wisdom.existing(path, MPI)["choices"] == []
    with pytest.raises(BadInput, match="this MPI library"):
        wisdom.existing(path, "MPICH Version: 4.0.2")
    path.write_text("a letter to a friend")
    with pytest.raises(BadInput, match="name another, or remove it"):
        wisdom.existing(path, MPI)
    with pytest.raises(BadInput, match=r"must be a file \(got .*, a folder\)"):
        wisdom.existing(tmp_path, MPI)


def test_measured_and_simulated_figures_do_not_stand_in_one_file(tmp_path):
    path, place = tmp_path / "wisdom.json", {"machine": "k-computer", "shape": "4x3x2"}
    simulated = [{"collective": "bcast", "algorithm": "binomial", "simulated": True}]
    wisdom.write(path, wisdom.document(simulated, {"simulated": place}))
    assert wisdom.existing(path, "", simulated=place)["choices"] == simulated
    with pytest.raises(BadInput, match=r"must be measured \(got simulated choices\)"):
        wisdom.existing(path, MPI)
    with pytest.raises(BadInput, match=r"shape 4x3 \(got machine k-computer, shape 4x3x2"):
        wisdom.existing(path, "", simulated={**place, "shape": "4x3"})
    for made in ({}, {"launches": 3}):
        wisdom.write(path, wisdom.document([{"collective": "bcast", "algorithm": "binomial"}], made))
        with pytest.raises(BadInput, match=r"\(got measured choices\)"):
            wisdom.existing(path, "", simulated=place)


def test_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert wisdom.usual_path(MPI).parent == tmp_path / "kumihimo" / "wisdom" == wisdom_reading.folder()
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wisdom_reading.folder() == tmp_path / ".local" / "share" / "kumihimo" / "wisdom"


CALLS = {"collective": "allreduce", "algorithm": "ring", "bytes_from": 4096, "bytes_to": 8191, "calls": 3}


def test_run_tells_what_was_measured_at_such_lengths():
    choices = wisdom.choices_of(PAIR, [judged(64, 0.1), judged(512, 0.2), judged(4096, 0.5), judged(8184, 0.8)])
    assert wisdom_reading.speedup(CALLS, 2, choices) == (pytest.approx(1.25), pytest.approx(2.0))


def test_run_tells_the_worst_of_the_range_where_nothing_was_measured_nearer():
    choices = wisdom.choices_of(PAIR, [judged(2048, 0.2), judged(16384, 0.5)])
    assert wisdom_reading.speedup(CALLS, 2, choices) == (pytest.approx(2.0), pytest.approx(2.0))


@pytest.mark.parametrize(
    "other", [{"algorithm": "library"}, {"algorithm": "chain"}, {"collective": "bcast"}, {"bytes_from": 2**20}]
)
def test_run_tells_nothing_of_what_was_not_measured(other):
    choices = wisdom.choices_of(PAIR, [judged(2048, 0.2), judged(16384, 0.5)])
    calls = {**CALLS, **other}
    calls["bytes_to"] = max(calls["bytes_to"], 2 * calls["bytes_from"] - 1)
    assert wisdom_reading.speedup(calls, 2, choices) is None


def test_run_tells_nothing_of_files_without_figures():
    assert wisdom_reading.speedup(CALLS, 2, [{"collective": "allreduce", "algorithm": "ring"}]) is None


def test_run_prefers_what_was_measured_on_as_many_ranks():
    choices = [
        c for r, x in ((2, 0.5), (4, 0.25)) for c in wisdom.choices_of(Target("allreduce", r), [judged(4096, x)])
    ]
    assert wisdom_reading.speedup(CALLS, 4, choices) == (pytest.approx(4.0), pytest.approx(4.0))
    assert wisdom_reading.speedup(CALLS, 3, choices) == (pytest.approx(2.0), pytest.approx(4.0)), "of sub-communicators"


def shaped(shape: str | None, ratio: float) -> dict:
    (choice,) = wisdom.choices_of(Target("allreduce", 27), [judged(4096, ratio)])
    return {**choice, "shape": shape} if shape else choice


def test_a_choice_for_a_shape_covers_only_those_for_the_same_shape():
    cube, plane, any_shape = (shaped(shape, 0.5) for shape in ("3x3x3", "9x3m", None))
    assert wisdom_reading.covers(any_shape, cube) and wisdom_reading.covers(cube, cube)
    assert not wisdom_reading.covers(cube, any_shape) and not wisdom_reading.covers(cube, plane)


@pytest.mark.parametrize(
    ("communicator", "times"),
    [("torus 3x3x3", 4), ("torus 9x3m, 2 ranks a node", 5), ("mesh 27m", 2), ("row of 27 ranks", 2)],
)
def test_run_tells_of_choices_for_a_shape_only_where_communicators_have_it(communicator, times):
    choices = [shaped("3x3x3", 0.25), shaped("9x3m", 0.2), shaped(None, 0.5)]
    choices = [{**choice, "from_bytes": 4096, "to_bytes": 4096} for choice in choices]
    exactly = {**CALLS, "bytes_from": 4096, "bytes_to": 4096}
    shapes = wisdom_reading.shapes_of_communicators({"communicators": {communicator: 1}})
    found = wisdom_reading.speedup(exactly, 27, choices, shapes=shapes)
    assert found == (pytest.approx(2), pytest.approx(times)), "the choice for any shape is for its sub-communicators"
    assert wisdom_reading.speedup(exactly, 27, choices[:2]) is None


def test_run_tells_apart_whether_an_order_was_kept():
    fixed = wisdom.choices_of(Target("allreduce", 2, determinism=FIXED_ORDER), [judged(4096, 2.5)])
    choices = [*wisdom.choices_of(PAIR, [judged(4096, 0.5)]), *fixed]
    assert wisdom_reading.speedup(CALLS, 2, choices) == (pytest.approx(2.0), pytest.approx(2.0))
    assert wisdom_reading.speedup(CALLS, 2, choices, order=True) == (pytest.approx(0.4), pytest.approx(0.4))
    assert wisdom_reading.speedup(CALLS, 2, fixed) is None


def test_run_tells_of_the_first_choice_that_fits_not_of_those_behind_it():
    """Both of one algorithm, with other parameters."""
    first = wisdom.choices_of(PAIR, [judged(4096, 0.5, ("ring", (("window", 2),)))])
    behind = wisdom.choices_of(PAIR, [judged(n, 0.1, ("ring", (("window", 8),))) for n in (2048, 4096, 6144)])
    assert wisdom_reading.speedup(CALLS, 2, [*first, *behind]) == (pytest.approx(2.0), pytest.approx(10.0))
    exactly = {**CALLS, "bytes_from": 4096, "bytes_to": 4096}
    assert wisdom_reading.speedup(exactly, 2, [*first, *behind]) == (pytest.approx(2.0), pytest.approx(2.0))


def test_of_a_file_that_was_found_only_measured_choices_are_read(tmp_path):
    path = tmp_path / "wisdom.json"
    emulated = wisdom.choices_of(Target("allreduce", 2, 1), [judged(4096, 0.5)])
    path.write_text(json.dumps(file_of([*wisdom.choices_of(PAIR, [judged(4096, 0.5)]), *emulated])))
    assert [c.get("emulated", False) for c in wisdom_reading.choices_in(str(path))] == [False, True]
    assert [c.get("emulated", False) for c in wisdom_reading.choices_in(str(path), named=False)] == [False]


def test_choices_of_nodes_that_are_not_alike_stand_behind_those_of_nodes_that_are():
    (choice,) = wisdom.choices_of(PAIR, [judged(4096, 0.5)])
    unlike, alike = ({**choice, "ranks": 4, "nodes": 2, "ranks_per_node": each} for each in (0, 2))
    found = wisdom.joined(file_of([alike]), file_of([unlike]))["choices"]
    assert [choice["ranks_per_node"] for choice in found] == [2, 0], "the latter are for any number"


def test_choices_of_emulated_nodes_stand_behind_real_ones_and_replace_none():
    real = wisdom.choices_of(PAIR, [judged(4096, 0.5)])
    real[0] |= {"nodes": 2, "ranks_per_node": 1}
    emulated = wisdom.choices_of(Target("allreduce", 2, 1), [judged(4096, 0.25)])
    found = wisdom.joined(file_of(real), file_of(emulated))["choices"]
    assert [(c["nodes"], c.get("emulated", False)) for c in found] == [(2, False), (2, True)]


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"choices": 3}', "{}"])
def test_run_tells_nothing_where_the_file_is_gone(tmp_path, text):
    path = tmp_path / "wisdom.json"
    if text is not None:
        path.write_text(text)
    assert wisdom_reading.choices_in(str(path)) == []
    assert wisdom_reading.choices_in(None) == []


def test_a_speedup_is_of_calls_that_start_alike():
    ring = {"collective": "allreduce", "algorithm": "ring", "ranks": 2, "ratio": 0.8}
    begun = {**ring, "ratio": 0.2, "start": "non-blocking"}
    assert wisdom_reading.speedup(CALLS, 2, [begun, ring]) == (pytest.approx(1.25), pytest.approx(1.25))
    calls = {**CALLS, "collective": "iallreduce"}
    assert wisdom_reading.speedup(calls, 2, [ring, begun]) == (pytest.approx(5.0), pytest.approx(5.0))
    assert wisdom_reading.speedup(calls, 2, [ring]) is None


@pytest.mark.parametrize("measured", [3, None, [3], [{"bytes": "8", "ratio": 0.5}], [{"bytes": 8, "ratio": [1]}], {}])
def test_figures_of_another_type_are_not_told_of_a_run(tmp_path, measured):
    calls = {"collective": "allreduce", "algorithm": "ring", "bytes_from": 8, "bytes_to": 8}
    choice = {"collective": "allreduce", "algorithm": "ring", **PAIR.key, "measured": measured, "ratio": "fast"}
    (tmp_path / "wisdom.json").write_text(json.dumps({"kumihimo_wisdom": 1, "choices": [choice]}))
    (found,) = wisdom_reading.choices_in(str(tmp_path / "wisdom.json"))
    assert wisdom_reading.speedup(calls, 2, [found]) is None
    sound = {**choice, "measured": [{"bytes": 8, "ratio": 0.5}]}
    assert wisdom_reading.speedup(calls, 2, [wisdom_reading.whole(sound)]) == (2, 2)
