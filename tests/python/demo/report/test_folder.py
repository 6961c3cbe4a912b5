"""Folders that are missing, empty, broken or not to be written: one sentence, exit code 2."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from random import Random

import pytest

from kumihimo.demo import report
from kumihimo.demo.report import completeness, folder
from kumihimo.text.errors import BadInput, Failed

FORM = '"form": "kumihimo-measured-2", "notes": []'
CASE = '"collective": "allreduce", "algorithm": "ring", "bytes": 8'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "must hold JSON"),
        ("[]", "the value is a list without members, not an object"),
        ('{"results": []}', "the value has no 'form'"),
        ('{"form": "kumihimo-measured-3", "results": []}', "form is 'kumihimo-measured-3', not 'kumihimo-measured-2'"),
        (f'{{{FORM}, "results": 3}}', "results is 3, not a list of at least 1"),
        (f'{{{FORM}, "results": []}}', "results is a list without members, not a list of at least 1"),
        (f'{{{FORM}, "results": [{{"algorithm": "ring"}}]}}', r"results\[0\] has no 'collective'"),
        (f'{{{FORM}, "results": [{{{CASE}, "seconds": NaN}}]}}', "NaN, which is not a finite number"),
        (f'{{{FORM}, "results": [{{{CASE}, "seconds": 1e999}}]}}', "1e999, which is not a finite number"),
        (f'{{{FORM}, "results": [{{{CASE}, "seconds": 0}}]}}', r"results\[0\].seconds is 0, not a number above 0"),
        (
            f'{{{FORM}, "results": [{{{CASE}, "seconds": "fast"}}]}}',
            "seconds is 'fast', not a number above 0",
        ),
    ],
)
def test_a_broken_part_is_named(tmp_path, content, says):
    (tmp_path / "measured.json").write_text(content)

    with pytest.raises(BadInput, match=says) as failure:
        report.read(tmp_path)

    assert "measured.json" in str(failure.value)


def test_a_broken_part_is_one_sentence_of_the_command(tmp_path, kumihimo):
    (tmp_path / "simulated.json").write_text('{"results": []}')

    ended = kumihimo("report", ".")

    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert "simulated.json, the value has no 'form'" in ended.err


def test_what_the_page_compares_must_be_there(simulated):
    subject, shape = simulated["subject"], simulated["paper_shape"]
    others = [r for r in simulated["results"] if r["algorithm"] != subject or r["shape"] != shape]
    alone = [r for r in simulated["results"] if r["algorithm"] == subject]
    parts = [r for r in simulated["parts"] if r["collective"] != "bcast"]
    segments = [r for r in simulated["segments"] if r["algorithm"] != subject]

    assert completeness.fault(simulated) == ""
    for key, left, says in (
        ("results", others, f"results lacks {subject} at the largest length on {shape}"),
        ("results", alone, f"results lacks an algorithm beside {subject}"),
        ("parts", parts, "parts lacks bcast with SIMD"),
        ("segments", segments, f"segments lacks {subject} with segments of"),
    ):
        assert completeness.fault({**simulated, key: left}).startswith(says)


@pytest.mark.parametrize("parents", [[0], [1, 0], [7]])
def test_a_tree_that_is_none_is_refused(simulated, parents):
    trees = [{**simulated["trees"][0], "parents": [parents]}]
    assert completeness.fault({**simulated, "trees": trees}).startswith("trees[0].parents[0] is no tree")


# Any one value of a part may be gone or other than it was: either the page can be made all the same, or one sentence
# says what is wrong and where.


def places(value: object, path: tuple = ()):
    """Where values stand; of a list the first and the last."""
    found = value.items() if isinstance(value, dict) else []
    if isinstance(value, list) and value:
        found = [(i, value[i]) for i in {0, len(value) - 1}]
    for key, inner in found:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(value: dict, path: tuple, new: object) -> dict:
    """A copy with another value in one place; GONE takes it away."""
    key, *rest = path
    copy = value.copy()
    if rest:
        copy[key] = changed(value[key], rest, new)
    elif new is GONE:
        del copy[key]
    else:
        copy[key] = new
    return copy


GONE = object()
NEW = (GONE, None, "x", -1, 1e23, {}, [])


def withstands(name: str, part: dict, folder_: Path, changes: int) -> None:
    random = Random(1)
    for path in random.sample(sorted(places(part), key=str), changes):
        new = random.choice(NEW)
        broken = changed(part, path, new)
        (folder_ / f"{name}.json").write_text(json.dumps(broken))
        try:
            report.render(report.read(folder_))
        except BadInput as told:
            assert f"{name}.json" in str(told)
        except Exception as error:
            raise AssertionError(f"{path} as {new!r}") from error


CHANGES = [10, pytest.param(40, marks=pytest.mark.long)]  # how many values, each in a page of its own


@pytest.mark.parametrize("changes", CHANGES)
def test_no_change_of_one_value_breaks_the_page_of_a_simulation(tmp_path, simulated, changes):
    largest = max(r["bytes"] for r in simulated["results"])
    few = {**simulated, "results": [r for r in simulated["results"] if r["bytes"] == largest]}
    withstands("simulated", few, tmp_path, changes)


@pytest.mark.mpi
@pytest.mark.parametrize("changes", CHANGES)
def test_no_change_of_one_value_breaks_the_page_of_real_runs(tmp_path, measured, changes):
    withstands("measured", {**measured, "checks": measured["checks"][::9]}, tmp_path, changes)


def test_no_folder_an_empty_one_and_a_file(tmp_path, kumihimo):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")

    for name in ("nowhere", "empty", "file"):
        ended = kumihimo("report", name)
        assert ended.code == 2
        assert ended.out == ""
        assert ended.err.count("\n") == 1
        assert name in ended.err


def test_an_unwritable_folder_is_found_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInput, match="must name a folder that can be written"):
        folder.prepare(tmp_path / "file" / "report")


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    page = tmp_path / "index.html"
    page.write_text("old")

    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(Failed, match=r"index.html was not written: No space left on device; make space"):
        report.write(page, "new")

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("index.html", "old")]


def test_report_writes_the_page_and_tells_of_it(tmp_path, simulated, kumihimo):
    folder.save(tmp_path, "simulated.json", simulated)

    plain, as_json = kumihimo("report", "."), kumihimo("report", ".", "--json")

    assert plain.code == as_json.code == 0
    told = json.loads(as_json.out)
    assert told["missing"] == ["measured", "unmodified"]
    assert told["page"] == str(tmp_path / "index.html")
    assert "measured.json is missing" in plain.out
    assert all(number["value"] in plain.out for number in told["numbers"])
