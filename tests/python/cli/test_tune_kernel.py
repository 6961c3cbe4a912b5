"""`kumihimo tune kernel` as a user runs it: what it chooses is kept, explained and taken over by other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumihimo import _plan
from kumihimo.text.errors import NotApplicable
from kumihimo.tune import kernels, wisdom

SHORT = ("--bytes", "4KiB,16KiB", "--budget", "30s")


@pytest.fixture
def home(tmp_path) -> Path:
    """Of the user's wisdom."""
    return tmp_path / "data" / "kumihimo" / "wisdom"


def test_choices_are_kept_for_this_machine(kumihimo, home):
    ended = kumihimo("tune", "kernel", "reduce", "--op", "min", "--type", "uint32", *SHORT, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    path = Path(found["wisdom"])
    assert path == home / _plan.wisdom_file_name(_plan.this_machine(), "kernels")
    text = path.read_text(encoding="utf-8")
    file = json.loads(text)
    assert _plan.read_kernel_wisdom(text, _plan.this_machine()) == len(file["choices"]) == len(found["choices"])
    assert "mpi" not in file and not found["wrong"] and not found["left_untuned"]
    assert [(row["operation"], row["type"], row["bytes"]) for row in found["results"]] == [
        ("minmax", "int32", 4096),
        ("minmax", "int32", 16384),
    ]
    for row in found["results"]:
        assert row["tried"][0]["variant"] == "plain"
        assert all(row.get("bound_seconds", 0) <= each.get("seconds", 1) for each in row["tried"])
        untuned = kernels.row_of(row, row["untuned"])
        assert untuned["ratio"] == 1
        chosen = kernels.row_of(row, row["chosen"])
        assert chosen is untuned or chosen["ratio_high"] < 1
    choices = file["choices"]
    assert choices[0]["from_bytes"] == 4096 // 8 and choices[-1]["to_bytes"] == 16384 * 2
    assert all(before["to_bytes"] + 1 == after["from_bytes"] for before, after in zip(choices, choices[1:]))


def test_a_second_tuning_joins_the_first(kumihimo, home):
    assert kumihimo("tune", "kernel", "reduce", "--type", "float64", "--op", "sum", *SHORT).code == 0
    assert kumihimo("tune", "kernel", "copy", *SHORT).code == 0
    (path,) = home.glob("*.json")
    choices = json.loads(path.read_text(encoding="utf-8"))["choices"]
    assert {"reduce", "copy"} == {choice["kernel"] for choice in choices}
    assert _plan.read_kernel_wisdom(path.read_text(encoding="utf-8"), _plan.this_machine()) == len(choices)


def test_the_table_says_why(kumihimo):
    ended = kumihimo("tune", "kernel", "reduce", "--type", "int8", "--op", "bor", "--bytes", "4KiB", "--explain")
    assert ended.code == 0, ended.err
    assert "All variants; * was chosen" in ended.out
    for word in ("reduce bitwise int8", "plain", "baseline", "of plain", "of bound", "why", "untuned"):
        assert word in ended.out, word
    assert "kernels" in ended.out.split("The choices are in ")[1]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("sort",), "a kernel is copy or reduce (got 'sort')"),
        (("copy", "--op", "sum"), "--op and --type belong to the kernel reduce; leave them out"),
        (
            ("--op", "average"),
            "no reduction kernel has this operation (got --op average); use sum, prod, max, land or band",
        ),
        (("--op", "bor", "--type", "float64"), "the operation must apply to the type (got bor of float64)"),
        (("--bytes", "12"), "--bytes must be a multiple of 8 (got 12)"),
        (("--bytes", "8GiB"), "--bytes must be at most 4GiB (got 8GiB)"),
        (("--budget", "soon"), "--budget"),
    ],
)
def test_wrong_arguments_are_named(kumihimo, arguments, sentence):
    ended = kumihimo("tune", "kernel", *arguments)
    assert ended.code == 2
    assert sentence in ended.err


@pytest.mark.parametrize("text, found", [("[]", "a JSON list"), ("", "an empty file"), ('{"a": ', "text that is not")])
def test_other_files_are_not_written_over(kumihimo, tmp_path, text, found):
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    ended = kumihimo("tune", "kernel", "copy", *SHORT, "--output", str(path))
    assert ended.code == 2
    assert f"(got {found}" in ended.err
    assert path.read_text(encoding="utf-8") == text


def decided(variant: str, untuned: str = "b") -> dict:
    row = {"seconds": 1.0, "ratio": 0.5, "ratio_low": 0.4, "ratio_high": 0.6, "parameters": {}, "dropped": False}
    tried = [{**row, "variant": name} for name in ("a", "b")]
    candidates = {"chosen": {"variant": variant, "parameters": {}}, "untuned": {"variant": untuned, "parameters": {}}}
    return {**candidates, "bound_seconds": 0.5, "tried": tried}


def test_ranges_end_half_way_between_sizes_that_differ():
    key = (("kernel", "copy"), ("reader", "same core"))
    rows = kernels.choices_of(key, [(4096, decided("b")), (1024, decided("a")), (16384, decided("b"))])
    assert [(row["variant"], row["from_bytes"], row["to_bytes"]) for row in rows] == [
        ("a", 128, 2048),
        ("b", 2049, 32768),
    ]
    assert [[each["bytes"] for each in row["measured"]] for row in rows] == [[1024], [4096, 16384]]
    assert wisdom.joined({"choices": rows}, {"choices": rows})["choices"] == rows


def test_values_of_a_parameter_are_choices_of_their_own():
    def chosen(block: int) -> dict:
        decision = decided("b")
        decision["tried"] = [{**row, "parameters": {"block": n}} for row in decision["tried"] for n in (0, 64)]
        decision["chosen"] = {"variant": "b", "parameters": {"block": block}}
        decision["untuned"] = {"variant": "b", "parameters": {"block": 0}}
        return decision

    rows = kernels.choices_of((("kernel", "copy"), ("reader", "same core")), [(1024, chosen(0)), (4096, chosen(64))])
    assert [(row["variant"], row["parameters"], row["to_bytes"]) for row in rows] == [
        ("b", {"block": 0}, 2048),
        ("b", {"block": 64}, 8192),
    ]
    assert rows[1]["measured"][0]["untuned"] == "b"
    assert kernels.reason(chosen(64)).startswith("0.50 of b's time")
    assert kernels.reason(chosen(0)).startswith("a takes ") or "block=64" in kernels.reason(chosen(0))


def test_a_bound_that_a_variant_beats_is_left_out():
    assert kernels.with_bound_that_holds(decided("a"))["bound_seconds"] == 0.5
    beaten = kernels.with_bound_that_holds({**decided("a"), "bound_seconds": 1.5})
    assert "bound_seconds" not in beaten
    (row,) = kernels.choices_of((("kernel", "copy"), ("reader", "same core")), [(1024, beaten)])
    assert "bound_seconds" not in row["measured"][0]


def test_choices_elsewhere_are_used_when_they_are_named(kumihimo, tmp_path):
    path = tmp_path / "mine.json"
    ended = kumihimo("tune", "kernel", "copy", *SHORT, "--output", str(path))
    assert f"kumihimo run --wisdom {path} uses them" in ended.out and "every run" not in ended.out


def test_a_key_that_cannot_be_measured_is_asked_once():
    asked = []

    class Clock:
        left = 10.0

    def decide(key, size, seconds):
        asked.append((key, size))
        if key[-1][1] == "other core":
            raise NotApplicable("the kernel needs 2 processors")
        return json.dumps(decided("a"))

    wanted = kernels.keys(["copy"])
    found = list(kernels.decisions(wanted, [1024, 2048], Clock(), decide))
    assert len(asked) == 3 and len(found) == 3
    assert [d["not_applicable"] for _, _, d in found if "not_applicable" in d] == ["the kernel needs 2 processors"]


def test_wrong_variants_are_told_once():
    decision = decided("a")
    decision["tried"].append({"variant": "c", "parameters": {}, "refused": "sum of 9: wrong"})
    key = kernels.keys(["copy"])[0]
    measured = [(key, 1024, decision), (key, 2048, decision)]
    assert kernels.refused(measured) == ["copy same core: c: sum of 9: wrong"]
