"""What ranks and worlds wrote beside the profile, and what is no file of ours."""

import json

from kumihimo.run.profile import reading

HEADER = json.dumps({"kumihimo_profile": 1}) + "\n"


def part(path, rank):
    path.write_text(HEADER + json.dumps({"rank": rank}) + "\n", encoding="utf-8")
    return path


def ranks_of(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert "kumihimo_profile" in lines[0]
    return [line["rank"] for line in lines[1:]]


def test_the_files_of_an_earlier_run_are_replaced_and_what_is_the_users_stays(tmp_path):
    output = tmp_path / "a[1]"
    users = [tmp_path / name for name in ("a[1].rank-notes", "a[1].rank1.old", "a1.rank0", "a[1].spawned-x", "b.rank0")]
    for path in users:
        path.write_text("mine", encoding="utf-8")
    for name in ("a[1]", "a[1].rank0", "a[1].spawned-12", "a[1].spawned-12.rank3"):
        part(tmp_path / name, 0)
    recording = reading.ProfileRecording(output)
    part(output, 7)
    assert recording.gather() and recording.spawned() == []
    assert ranks_of(output) == [7]
    assert all(path.read_text(encoding="utf-8") == "mine" for path in users)
    assert sorted(tmp_path.iterdir()) == sorted([*users, output])


def test_an_earlier_profile_stays_if_the_run_writes_none(tmp_path):
    ours = [part(tmp_path / name, 0) for name in ("p", "p.rank0", "p.spawned-12.rank3")]
    recording = reading.ProfileRecording(tmp_path / "p")
    assert not recording.gather() and recording.spawned() == []
    assert sorted(tmp_path.iterdir()) == sorted(ours)
    assert ranks_of(tmp_path / "p") == [0]


def test_parts_are_put_together_in_order(tmp_path):
    recording = reading.ProfileRecording(tmp_path / "p")
    output = part(tmp_path / "p", 0)
    for rank in (10, 2, 1):
        part(tmp_path / f"p.rank{rank}", rank)
    assert recording.gather()
    assert ranks_of(output) == [0, 1, 2, 10]
    assert list(tmp_path.iterdir()) == [output]


def test_worlds_that_were_started_keep_to_themselves(tmp_path):
    recording = reading.ProfileRecording(tmp_path / "p")
    output = part(tmp_path / "p", 0)
    one, other = part(tmp_path / "p.spawned-7", 0), tmp_path / "p.spawned-8"
    part(tmp_path / "p.spawned-7.rank1", 1)
    part(tmp_path / "p.spawned-8.rank0", 0)
    assert recording.gather()
    assert recording.spawned() == [one, other]
    assert ranks_of(output) == [0]
    assert ranks_of(one) == [0, 1]
    assert ranks_of(other) == [0]
    assert sorted(tmp_path.iterdir()) == [output, one, other]
