"""Files of launchers name nodes: by the machine file's names, or by those of --allocation."""

from __future__ import annotations

import pytest

TOPOLOGY = "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=top Switches=a,b\n"
RANKFILE = "".join(f"rank {rank}=n{3 - rank} slot=0\n" for rank in range(4))


@pytest.fixture
def named(kumihimo, tmp_path):
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "ranks.txt").write_text(RANKFILE)
    (tmp_path / "hosts").write_text("".join(f"n{node}\n" for node in range(4)))
    ended = kumihimo("machine", "import", "topology.conf", "--like", "leonardo", "-o", "named.toml")
    assert ended.code == 0, ended.err
    return lambda *words: kumihimo("simulate", "bcast", "-b", "8", "-a", "chain", "--placement", "ranks.txt", *words)


@pytest.mark.parametrize("job", [(), ("-p", "4", "--ranks-per-node", "1"), ("-s", "4", "--ranks-per-node", "1")])
def test_the_whole_machine_keeps_its_names(named, job):
    ended = named("-m", "./named.toml", *job)
    assert ended.code == 0, ended.err


def test_the_names_of_a_part_are_not_known(named):
    ended = named("-m", "./named.toml", "-s", "3", "--ranks-per-node", "1")
    assert ended.code == 2
    assert "the node must be +n0 to +n2" in ended.err


def test_an_allocation_names_the_nodes(named):
    ended = named("-m", "marenostrum-5", "--allocation", "hosts")
    assert ended.code == 0, ended.err
