"""What a killed run left is removed, and nothing else ever."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from kumihimo.tune.file_bench import leftovers

DEAD = 2**22 + 1  # larger than any process's number


def own_start(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[19])


def marker(pid: int, start: int, **other: object) -> dict:
    return {
        "kumihimo": "files",
        "pid": pid,
        "start": start,
        "boot": Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        "pid_namespace": str(Path("/proc/self/ns/pid").readlink()),
        "uid": os.geteuid(),
        **other,
    }


@pytest.fixture
def made(tmp_path: Path):
    """made(pid, start, ...): the folder of a run with files in it."""

    def make(pid: int = DEAD, start: int = 7, **other: object) -> Path:
        folder = tmp_path / f"kumihimo-files-{pid}-{start}"
        (folder / "items-files-one" / "rank-0" / "dir.0.1").mkdir(parents=True)
        for name in ("data-a.0", "data-b", "state-0.1", "state-0.new", ".kumihimo-0123456789abcdef.new"):
            (folder / name).write_text("x", encoding="utf-8")
        (folder / "items-files-one" / "rank-0" / "renamed.0.12").touch()
        (folder / leftovers.MARKER).write_text(json.dumps(marker(pid, start, **other)), encoding="utf-8")
        return folder

    return make


def test_what_a_dead_process_left_is_removed(tmp_path, made):
    folder = made()
    assert leftovers.remove_left(tmp_path) == []
    assert not folder.exists() and list(tmp_path.iterdir()) == []


def test_a_removal_that_takes_longer_goes_on_without_the_caller(tmp_path, made):
    folder = made()
    items = folder / "items-files-one" / "rank-0"
    for number in range(20_000):
        (items / f"file.0.{number}").touch()
    begin = time.monotonic()
    assert not leftovers.removed_within(0.0, tmp_path), "20,000 files take longer"
    assert time.monotonic() - begin < 1
    until = time.monotonic() + 60
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []
    made()
    assert leftovers.removed_within(60.0, tmp_path) and list(tmp_path.iterdir()) == []


def test_a_run_that_lives_keeps_its_folder(tmp_path, made):
    folder = made(os.getpid(), own_start(os.getpid()))
    assert leftovers.remove_left(tmp_path) == [] and (folder / "data-b").exists()


def test_a_number_that_another_process_has_by_now_protects_nothing(tmp_path, made):
    folder = made(os.getpid(), own_start(os.getpid()) - 1)
    leftovers.remove_left(tmp_path)
    assert not folder.exists()


def test_a_process_that_nobody_has_collected_is_dead(tmp_path, made):
    process = subprocess.Popen(["true"])
    while Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z":
        pass
    folder = made(process.pid, own_start(process.pid))
    leftovers.remove_left(tmp_path)
    assert not folder.exists()
    process.wait()


@pytest.mark.parametrize(
    "other", [{"boot": "another"}, {"pid_namespace": "pid:[1]"}], ids=["other boot", "other processes"]
)
def test_a_run_on_another_machine_may_live(tmp_path, made, other):
    folder = made(**other)
    (note,) = leftovers.remove_left(tmp_path)
    assert "another machine" in note and (folder / "data-b").exists()


@pytest.mark.parametrize(
    "other", [{"kumihimo": "other"}, {"uid": os.geteuid() + 1}, {"pid": 3}, {"start": "x"}, {"uid": None}]
)
def test_without_a_marker_of_ours_nothing_is_touched(tmp_path, made, other):
    folder = made()
    (folder / leftovers.MARKER).write_text(json.dumps(marker(DEAD, 7) | other), encoding="utf-8")
    leftovers.remove_left(tmp_path)
    assert (folder / "data-b").exists()
    for text in ("", "[]", "{", "5"):
        (folder / leftovers.MARKER).write_text(text, encoding="utf-8")
        leftovers.remove_left(tmp_path)
        assert (folder / "data-b").exists()
    (folder / leftovers.MARKER).unlink()
    leftovers.remove_left(tmp_path)
    assert (folder / "data-b").exists()


def test_files_of_the_user_stay_and_their_folders(tmp_path, made):
    folder = made()
    mine = [folder / "results.txt", folder / "items-files-one" / "rank-0" / "mine.0.1", folder / "items-x"]
    for path in mine:
        path.write_text("precious", encoding="utf-8")
    (note,) = leftovers.remove_left(tmp_path)
    assert "no run of kumihimo made" in note
    assert all(path.read_text(encoding="utf-8") == "precious" for path in mine)
    assert not (folder / "data-b").exists() and (folder / leftovers.MARKER).exists()


def test_links_are_not_followed(tmp_path, made):
    outside = tmp_path / "outside"
    (outside / "rank-0").mkdir(parents=True)
    (outside / "rank-0" / "file.0.1").write_text("precious", encoding="utf-8")
    (outside / "data-b").write_text("precious", encoding="utf-8")
    folder = made()
    (folder / "items-link").symlink_to(outside)
    (folder / "data-link").symlink_to(outside / "data-b")
    (tmp_path / f"kumihimo-files-{DEAD}-8").symlink_to(outside)
    leftovers.remove_left(tmp_path)
    assert (outside / "rank-0" / "file.0.1").exists() and (outside / "data-b").exists()
    assert (folder / "items-link").is_symlink()


def test_other_names_are_not_looked_at(tmp_path, made):
    folder = made()
    for name in ("kumihimo-files-1", "kumihimo-files-a-7", f"my-{folder.name}", f"{folder.name}.bak"):
        folder.rename(tmp_path / name)
        leftovers.remove_left(tmp_path)
        folder = tmp_path / name
        assert (folder / "data-b").exists(), name


def test_a_run_that_was_killed_before_its_marker(tmp_path):
    dead, alive = tmp_path / f"kumihimo-files-{DEAD}-7", tmp_path / f"kumihimo-files-{os.getpid()}-"
    alive = Path(f"{alive}{own_start(os.getpid())}")
    dead.mkdir(), alive.mkdir()
    leftovers.remove_left(tmp_path)
    assert not dead.exists() and alive.exists()


def test_a_folder_that_is_not_there(tmp_path):
    assert leftovers.remove_left(tmp_path / "none") == []
