"""Files are written whole or not at all (files.py)."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kumihimo.text import files
from kumihimo.text.errors import BadInput, Failed


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_is_read_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with files.replacement(path) as file:
        file.write(b"new" * 100_000)
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new" * 100_000
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(Failed if isinstance(error, OSError) else type(error)), files.replacement(path) as file:
        file.write(b"new")
        raise error
    assert (path.read_text(), names(tmp_path)) == ("old", ["a"])


def test_permissions_and_links_stay(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "to-none").symlink_to("b")
    files.write_whole(tmp_path / "link", "new")
    files.write_whole(tmp_path / "to-none", "first")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "to-none").is_symlink()
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("new", "first")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path):
    old = os.umask(0o027)
    try:
        files.write_whole(tmp_path / "a", "new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_file_of_another_user_stays_theirs(tmp_path):
    (tmp_path / "a").write_text("old")
    os.chown(tmp_path / "a", 1234, 1235)
    files.write_whole(tmp_path / "a", "new")
    found = (tmp_path / "a").stat()
    assert (found.st_uid, found.st_gid, (tmp_path / "a").read_text()) == (1234, 1235, "new")


def test_writers_at_the_same_time_do_not_mix(tmp_path):
    path = tmp_path / "a"
    texts = [letter * 300_000 for letter in "abcdefgh"]
    threads = [threading.Thread(target=files.write_whole, args=(path, text)) for text in texts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert path.read_text() in texts
    assert names(tmp_path) == ["a"]


def test_names_of_any_length(tmp_path):
    files.write_whole(tmp_path / ("n" * 255), "new")
    with pytest.raises(Failed, match="was not written: File name too long; name a shorter one"):
        files.write_whole(tmp_path / ("n" * 256), "new")


def test_what_another_process_left_behind_is_in_nobodys_way(tmp_path):
    """Killed between the last byte and the new name."""
    path = tmp_path / "a"
    path.write_text("old")
    program = f"""
import os, signal
from pathlib import Path
from kumihimo import files
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
files.write_whole(Path({str(path)!r}), "new")
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == -9
    assert path.read_text() == "old"
    files.check_writable(path, "--page")
    files.write_whole(path, "newer")
    assert path.read_text() == "newer"


def test_a_pipe_is_written_as_it_comes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()))
    reader.start()
    files.check_writable(tmp_path / "pipe", "--page")
    files.write_whole(tmp_path / "pipe", "new")
    reader.join()
    assert found == ["new"] and (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_where_it_stands(kumihimo, tmp_path, name):
    """Also where the shell has made it a file: another name for that would lose what is printed."""
    line = ("show", "allreduce", "-s", "4", "-a", "ring", "--save-placement", name)
    plain = kumihimo(*line).out
    assert plain.startswith("# rank node slot\n0 0 0\n") and "on 4 ranks" in plain
    with (tmp_path / "file").open("w") as file:
        file.write("before\n")
        file.flush()
        command = Path(sys.executable).parent / "kumihimo"
        subprocess.run([command, *line], stdout=file, check=True, timeout=60)
    assert (tmp_path / "file").read_text() == "before\n" + plain


def test_what_cannot_be_written_is_found_before_the_work(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    (tmp_path / "loop").symlink_to("loop")
    for name, words in (
        ("none/a", "No such file or directory); make its folder first"),
        ("folder", "Is a directory"),
        ("file/a", "Not a directory"),
        ("n" * 256, "File name too long"),
        ("loop", "Too many levels of symbolic links"),
    ):
        with pytest.raises(BadInput, match="--page must name a file that can be written") as found:
            files.check_writable(tmp_path / name, "--page")
        assert words in str(found.value)
    files.check_writable(tmp_path / "new", "--page")
    files.check_writable(tmp_path / "file", "--page")
    assert names(tmp_path) == ["file", "folder", "loop"] and (tmp_path / "file").read_text() == "old"


def test_a_full_disk_is_no_wrong_name(tmp_path, monkeypatch):
    def full(path, *arguments, **options):
        if path.parent == tmp_path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, *arguments, **options)

    opened = Path.open
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(Failed, match="cannot be written: No space left on device; make space"):
        files.check_writable(tmp_path / "a", "--page")


def test_two_options_do_not_write_the_same_file(kumihimo, tmp_path):
    (tmp_path / "link").symlink_to("a")
    ended = kumihimo("record", "--json", "a", "--mpip", "link", "--", "true")
    assert (ended.code, ended.out) == (2, "")
    assert "--mpip needs a file of its own (got link, as for --json); name another file" in ended.err
    ended = kumihimo("record", "--json", "kumihimo-profile.jsonl", "--", "true")
    assert ended.code == 2, "the default of --output"
    assert kumihimo("record", "--json", "/dev/null", "--mpip", "/dev/null", "--", "true").code == 0


def test_a_folder_has_its_name_when_all_in_it_is_written(tmp_path):
    with files.replacement_folder(tmp_path / "archive") as new:
        new.mkdir()
        (new / "part").write_text("new")
        assert not (tmp_path / "archive").exists()
    assert (tmp_path / "archive" / "part").read_text() == "new"
    with pytest.raises(ValueError, match="no"), files.replacement_folder(tmp_path / "other") as new:
        new.mkdir()
        raise ValueError("no")
    assert names(tmp_path) == ["archive"]
