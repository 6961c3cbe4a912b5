"""What was measured is there again, whatever happened to the process that measured it."""

from __future__ import annotations

import errno
import fcntl
import json

import pytest

from kumihimo.text.errors import BadInput, Failed
from kumihimo.tune.journal import Journal

HEAD = {"machine": "this", "mpi": "one"}


def test_results_and_finished_targets_come_back(journal):
    first = journal(HEAD)
    first.keep("survey", [({"bytes": 8}, {"seconds": 1.5}), ({"bytes": 16}, {"seconds": 2.5})])
    first.finish({"ranks": 2}, {"choices": []})

    second = journal(HEAD)
    assert second.recall("survey", {"bytes": 16}) == {"seconds": 2.5}
    assert second.recall("finals", {"bytes": 16}) is None
    assert second.finished({"ranks": 2}) == {"choices": []}
    assert second.finished({"ranks": 3}) is None
    assert second.replaced == ""


def test_bytes_that_are_not_utf8_come_back_equal(journal, tmp_path):
    """A setting of the environment may have such bytes."""
    head, target = {**HEAD, "settings": {"UCX_LOG_FILE": "/a\udcfb"}}, {"file": "/a\udcfb"}
    journal(head).finish(target, {"choices": []})
    second = journal(head)
    assert (second.replaced, second.finished(target)) == ("", {"choices": []})
    assert r"/a\\xfb" in (tmp_path / "state").read_text(encoding="utf-8")


def test_every_truncated_state_is_read_as_far_as_it_is_whole(journal, tmp_path):
    path = tmp_path / "state"
    first = journal(HEAD)
    for size in (8, 16):
        first.keep("survey", [({"bytes": size}, {"seconds": 1.0})])
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for length in range(len(lines[0]), len(whole)):
        path.write_bytes(whole[:length])
        cut = journal(HEAD)
        assert cut.known == sum(length >= sum(map(len, lines[: n + 1])) - 1 for n in (1, 2))
        cut.keep("survey", [({"bytes": 32}, {"seconds": 3.0})])
        assert journal(HEAD).recall("survey", {"bytes": 32}) == {"seconds": 3.0}


def test_measurements_of_a_testbed_with_other_faults_do_not_count(journal):
    cut, sound = ({**HEAD, "faults": faults} for faults in (["node0-node1 is cut"], []))
    journal(cut).keep("survey", [({"bytes": 8}, {"seconds": 1.5})])
    assert journal(cut).known == 1
    healed = journal(sound)
    told = "earlier measurements are ignored: the testbed had other faults then (node0-node1 is cut) than now (none)"
    assert (healed.known, healed.replaced) == (0, told)
    assert "another machine" in journal({**cut, "mpi": "other"}).replaced


def test_a_journal_from_before_faults_were_kept_is_of_another_version(journal):
    journal(HEAD).keep("survey", [({"bytes": 8}, {"seconds": 1.5})])
    assert journal({**HEAD, "faults": []}).replaced.endswith("version of Kumihimo")


@pytest.mark.parametrize("text", ["", "not JSON\n", "[]\n", json.dumps({"kumihimo_tuning": 1, "machine": "other"})])
def test_of_something_else_it_begins_anew(journal, tmp_path, text):
    (tmp_path / "state").write_text(text)
    found = journal(HEAD)
    assert found.known == 0
    assert bool(found.replaced) == (text.startswith("{"))


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b'{"results": [{}]}',
        b'{"results": [3]}',
        b'{"results": 3}',
        b'{"launch": "survey", "results": [{"case": {"bytes": 16}, "result": 3}]}',
        b'{"target": {"ranks": 2}}',
        b'{"target": {"ranks": 2}, "outcome": "done"}',
    ],
)
def test_lines_of_another_form_are_left_out(journal, tmp_path, line):
    journal(HEAD).keep("survey", [({"bytes": 8}, {"seconds": 1.0})])
    with (tmp_path / "state").open("ab") as file:
        file.write(line + b"\n")
    found = journal(HEAD)
    assert found.recall("survey", {"bytes": 8}) == {"seconds": 1.0}
    assert found.known == 1
    assert found.finished({"ranks": 2}) is None


def test_where_files_cannot_be_locked_it_goes_on_and_says_so(journal, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    first = journal(HEAD)
    assert "cannot be locked (Function not implemented)" in first.unlocked
    first.keep("survey", [({"bytes": 8}, {"seconds": 1.0})])
    assert journal(HEAD).known == 1


def test_fresh_forgets(journal):
    journal(HEAD).keep("survey", [({"bytes": 8}, {"seconds": 1.0})])
    assert journal(HEAD, fresh=True).known == 0
    assert journal(HEAD).known == 0


def test_one_at_a_time(journal, tmp_path):
    first = journal(HEAD)
    with pytest.raises(Failed, match="another kumihimo command is writing"):
        Journal(tmp_path / "state", HEAD)
    first.close()
    assert journal(HEAD).known == 0


def test_a_folder_that_cannot_be_written_to_is_the_users_mistake(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="can be written to"):
        Journal(tmp_path / "file" / "state", HEAD)
