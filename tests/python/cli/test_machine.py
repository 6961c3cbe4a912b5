"""`kumihimo machine`: what is described, and where the numbers come from."""

from __future__ import annotations

import json
import os

import pytest

from kumihimo import cli
from kumihimo.processes import mpi


def test_list(kumihimo):
    ended = kumihimo("machine", "list")
    assert (ended.code, ended.err) == (0, "")
    assert ["k-computer", "48x54x32", "82944"] in [line.split()[:3] for line in ended.out.splitlines()]


def test_list_as_json(kumihimo):
    listed = json.loads(kumihimo("machine", "list", "--json").out)
    machines = {m["machine"]: m for m in listed["results"]}
    assert machines["k-computer"]["nodes"] == 82_944
    assert machines["fugaku"]["nodes"] == 158_976
    assert (machines["this-machine"]["family"], machines["this-machine"]["nodes"]) == ("single_node", 1)
    assert "measured when you ask for it" in machines["this-machine"]["summary"]
    assert 0 < listed["wall_seconds"] < 60
    assert listed["peak_rss_bytes"] > 1_000_000


def test_show(kumihimo):
    ended = kumihimo("machine", "show", "k-computer")
    assert (ended.code, ended.err) == (0, "")
    for text in ("link_bandwidth", "4.75 GB/s", "published", "assumed"):
        assert text in ended.out


def test_show_as_json_has_a_source_for_every_number(kumihimo):
    machine = json.loads(kumihimo("machine", "show", "k-computer", "--json").out)
    assert machine["network"]["link_bandwidth_bytes_per_second"]["value"] == 4.75e9
    for section in ("network", "node", "software"):
        for name, number in machine[section].items():
            assert number["source"] and number["provenance"] in ("published", "measured", "assumed"), name


@pytest.fixture
def machine_file(repository, tmp_path):
    """A copy of K's file with one text replaced."""

    def write(old: str = "", new: str = "") -> str:
        text = (repository / "machines" / "k-computer.toml").read_text(encoding="utf-8")
        assert old in text
        path = tmp_path / "mine.toml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return str(path)

    return write


def test_a_file_of_ones_own(kumihimo, machine_file):
    ended = kumihimo("machine", "show", machine_file("4.75 GB/s", "2 GB/s"), "--json")
    assert json.loads(ended.out)["network"]["link_bandwidth_bytes_per_second"]["value"] == 2e9


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4.75 GB/s", "4.75 apples"),
        ("[network]", "[netwerk]"),
        ("hop_latency", "hop_lateness"),
        ('"24x18mx17x2mx3x2m"', "48"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(kumihimo, machine_file, old, new):
    path = machine_file(old, new)
    ended = kumihimo("machine", "show", path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"kumihimo: {path}:") and ended.err.count("\n") == 1
    assert ended.err.removeprefix(f"kumihimo: {path}:").split(":")[0].isdecimal()


@pytest.mark.parametrize("name", ["k-komputer", "./none.toml", "/", ""])
def test_an_unknown_machine(kumihimo, name):
    ended = kumihimo("machine", "show", name)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1


def test_what_is_no_file_is_called_what_it_is(kumihimo, tmp_path):
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo.toml")
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    for name, words in (
        ("folder.toml", "got the folder 'folder.toml'"),
        ("fifo.toml", "got the FIFO 'fifo.toml'"),
        ("folder", "got the folder 'folder'"),
        ("loop", "Too many levels of symbolic links"),
        ("loop.toml", "got 'loop.toml': Too many levels of symbolic links"),
        ("/dev/zero", "got the device '/dev/zero'"),
        ("nothing.toml", "got no file 'nothing.toml'"),
    ):
        ended = kumihimo("machine", "show", name, timeout_seconds=20)
        assert (ended.code, ended.out) == (2, "")
        assert words in ended.err


def test_more_ranks_than_a_node_can_be_predicted_for_are_refused_at_once(kumihimo):
    for line in (
        (*THIS_MACHINE[:4], "--ranks", "1000000", "--bytes", "64KiB"),
        ("simulate", "allreduce", "-m", "k-computer", "-s", "2x1x1", "--ranks-per-node", "100000", "-b", "64KiB"),
    ):
        ended = kumihimo(*line, timeout_seconds=60)
        assert (ended.code, ended.out) == (2, "")
        assert "takes at most 4096 ranks" in ended.err


THIS_MACHINE = ("simulate", "allreduce", "--machine", "this-machine", "--ranks", "4", "--bytes", "64KiB", "-a", "ring")


@pytest.mark.mpi
@pytest.mark.skipif(not mpi.discover(), reason="no MPI library on this machine")
def test_this_machine_is_measured_and_predicts(kumihimo):
    ended = kumihimo(*THIS_MACHINE, "--json")
    assert (ended.code, ended.err) == (0, "")
    (result,) = json.loads(ended.out)["results"]
    assert (result["ranks"], result["algorithm"]) == (4, "ring")
    assert result["seconds"] > 0


def test_this_machine_without_mpi_is_one_sentence(monkeypatch, capfd):
    monkeypatch.setattr(mpi, "discover", lambda: iter([]))
    for line in (THIS_MACHINE, ("machine", "show", "this-machine")):
        assert cli.carry_out([*line]) == 1
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert "no MPI library (Open MPI or MPICH) on this machine" in err


def test_the_help_of_show_offers_the_shapes_that_it_takes(kumihimo):
    ended = kumihimo("machine", "show", "--help")
    line = next(line for line in ended.out.splitlines() if "--shape SHAPE" in line)
    assert "4x3x2" in line
    assert "none" not in line and "node:" not in line
