"""Folders that are missing, empty, broken or not to be written: one sentence, exit code 2."""

from __future__ import annotations

import json

import pytest

from kumihimo import report
from kumihimo.errors import BadInput
from kumihimo.report import folder


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "to hold JSON"),
        ("[]", "'results'"),
        ('{"results": 3}', "'results'"),
        ('{"results": [{"algorithm": "ring"}]}', "'results'"),
    ],
)
def test_a_broken_part_is_named(tmp_path, content, says):
    (tmp_path / "measured.json").write_text(content)

    with pytest.raises(BadInput, match=says) as failure:
        report.read(tmp_path)

    assert "measured.json" in str(failure.value)


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

    with pytest.raises(BadInput, match="can be written"):
        folder.prepare(tmp_path / "file" / "report")


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    page = tmp_path / "index.html"
    page.write_text("old")
    (tmp_path / "index.html.new").mkdir()

    with pytest.raises(BadInput, match="to be writable"):
        report.write(page, "new")

    assert page.read_text() == "old"


def test_report_writes_the_page_and_tells_of_it(tmp_path, simulated, kumihimo):
    folder.save(tmp_path, "simulated.json", simulated)

    plain, as_json = kumihimo("report", "."), kumihimo("report", ".", "--json")

    assert plain.code == as_json.code == 0
    told = json.loads(as_json.out)
    assert told["missing"] == ["measured"]
    assert told["page"] == str(tmp_path / "index.html")
    assert "measured.json is not there" in plain.out
    assert all(number["value"] in plain.out for number in told["numbers"])
