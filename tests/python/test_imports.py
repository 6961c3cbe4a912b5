"""Machine files from Slurm's, SimGrid's and hwloc's files."""

from __future__ import annotations

import json

import pytest

from kumihimo.imports import slurm


@pytest.fixture
def imported(kumihimo, tmp_path):
    """What `machine show` says of a file's machine, or the sentence that refuses it."""

    def run(name: str, text: str, like: str = "reedbush-u"):
        path, made = tmp_path / name, tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        ended = kumihimo("machine", "import", str(path), "--like", like, "--out", str(made))
        if ended.code:
            assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
            return ended.err
        lines = made.read_text(encoding="utf-8").splitlines()
        assumed = sum("{" in line and "assumed" in line for line in lines)
        assert (ended.out, ended.err) == (f"wrote {made}; assumed numbers to check: {assumed}\n", "")
        return json.loads(kumihimo("machine", "show", str(made), "--json").out)

    return run


TREE = """
# two racks
SwitchName=s0 Nodes=dev[0-5] LinkSpeed=100
SwitchName=s1 Nodes=dev[6-8,9,10-11]
SwitchName=s2 Switches=s[0-1]
"""


def test_a_tree_of_slurm(imported):
    machine = imported("topology.conf", TREE)
    assert machine["name"] == "mine"
    topology = machine["topology"]
    assert (topology["family"], topology["nodes"], topology["switches"]) == ("graph", 12, 3)
    assert topology["levels"] == [{"name": "switch", "nodes": 6}]
    assert topology["links"] == 2 * (12 + 12)
    assert topology["diameter_hops"] == 4
    assert machine["network"]["link_bandwidth_bytes_per_second"]["value"] == 11.557e9


def test_one_switch_is_one(imported):
    machine = imported("topology.conf", "SwitchName=s0 Nodes=dev[0-5]\n")
    assert machine["summary"] == "Slurm cluster of 6 nodes, a tree of 1 switch"


def test_the_same_tree_as_yaml(imported):
    text = """
- topology: other
  flat: true
- topology: mine
  cluster_default: true
  tree:
    switches:
      - switch: root
        children: s[1-2]
      - switch: s1
        nodes: node[01-06]
      - switch: s2
        nodes: node[07-12]
"""
    yaml, conf = imported("topology.yaml", text), imported("topology.conf", TREE)
    assert {**yaml, "wall_seconds": 0, "peak_rss_bytes": 0, "summary": ""} == {
        **conf,
        "wall_seconds": 0,
        "peak_rss_bytes": 0,
        "summary": "",
    }


def test_blocks_of_slurm(imported):
    conf = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,8\n"
    yaml = "- topology: t\n  block:\n    block_sizes: [4]\n    blocks:\n    - {block: b1, nodes: 'n[1-4]'}\n"
    assert imported("topology.conf", conf)["topology"]["levels"] == [{"name": "switch", "nodes": 4}]
    assert imported("topology.yaml", yaml)["topology"]["nodes"] == 4


def test_a_torus_of_slurm_runs_along_x_first(imported):
    text = "- topology: t\n  torus3d:\n    toruses:\n    - {name: p, dims: {x: 4, y: 3, z: 2}, nodes: 'n[1-24]'}\n"
    assert imported("t.yaml", text)["topology"]["shape"] == "2x3x4"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.conf", "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "nothing above a and b that joins them"),
        ("t.conf", "SwitchName=a Switches=b\n", "'b'"),
        ("t.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "a cycle: 'a' below 'b' below 'a'"),
        ("t.conf", "SwitchName=a Switches=a\n", "a cycle: 'a' below 'a'"),
        ("t.conf", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "(got 'a' twice"),
        (
            "t.conf",
            "SwitchName=a Switches=c\nSwitchName=b Switches=c\nSwitchName=c Nodes=n1\n",
            "'c' below 'a' and 'b'",
        ),
        ("t.conf", "SwitchName=a Switches=b,b\nSwitchName=b Nodes=n1\n", "'b' twice below 'a'"),
        ("t.conf", "SwitchName=a Nodes=n1,n1\n", "'n1' twice on 'a'); name it once"),
        ("t.conf", "SwitchName=a Nodes=n1 Switches=b\nSwitchName=b Nodes=n1\n", "'n1' on 'a' and 'b'); describe"),
        ("t.conf", "SwitchName=a Nodes=n[3-1]\n", "t.conf:1: a host list is written like n[01-03,7]"),
        (
            "t.conf",
            "SwitchName=a \\\n Nodes=n1\n\nSwitchName=b Nodes=n[1-]\n",
            "t.conf:4: a host list",
        ),
        (
            "t.conf",
            "SwitchName=a Nodes=n[0-99999999]\n",
            "t.conf:1: a host list has at most 1048576 names (got 100000000 in",
        ),
        (
            "t.yaml",
            "- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: 'n[3-1]'}\n",
            "t.yaml: a host list",
        ),
        ("t.conf", "SwitchName=a Nodes=n[0-3\n", "n[0-3"),
        ("t.conf", "SwitchName=a Nodes=n0-3]\n", "n0-3]"),
        (
            "t.yaml",
            "- topology: t\n  torus3d:\n    toruses:\n    - {name: p, dims: {x: 4, y: 3, z: 2}, nodes: 'n[1-20]'}\n",
            "24 nodes",
        ),
        ("t.conf", "NodeName=x\n", "t.conf:1"),
        ("t.conf", "", "neither"),
        ("t.yaml", "a: [", "t.yaml:1: the file must be YAML"),
        ("t.yaml", "- topology: t\n  tree:\n    switches: }\n", "t.yaml:3: the file must be YAML"),
        ("t.yaml", "- topology: t\n  tree: 5\n", "must have Slurm's format"),
        ("t.yaml", "- topology: t\n  flat: true\n", "topology, flat"),
        ("t.yaml", "5", "a list of topologies"),
        ("t.txt", "x", "name the file .conf, .yaml or .xml"),
        ("t.xml", "", "no element in"),
        ("t.xml", "<machine/>", "the element <machine> in"),
        ("t.xml", "<topology></topology>", "lstopo --of xml"),
        ("t.xml", "<platform><cluster", "the file must be XML"),
        ("t.xml", "<platform/>", "the platform must be a cluster, or hosts"),
    ],
)
def test_what_cannot_be_imported_is_one_sentence(imported, name, text, words):
    assert words in imported(name, text)


def test_a_file_that_is_no_utf_8(kumihimo, tmp_path):
    path = tmp_path / "t.conf"
    path.write_bytes("# Köln\nSwitchName=a Nodes=n1\n".encode("latin-1"))
    ended = kumihimo("machine", "import", str(path), "--like", "reedbush-u")
    assert ended.code == 2
    assert f"must be UTF-8 text (got other bytes in {path}); save it as UTF-8" in ended.err


def test_host_lists():
    assert slurm.hosts("a,b[01-03,7]c[0-1],d") == [
        "a",
        "b01c0",
        "b01c1",
        "b02c0",
        "b02c1",
        "b03c0",
        "b03c1",
        "b7c0",
        "b7c1",
        "d",
    ]
    assert slurm.hosts("") == []


def cluster(topology: str, radical: str, attributes: str = "") -> str:
    return (
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        f'<zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" radical="{radical}" speed="1Gf" bw="10Gbps" '
        f'lat="50ns" {topology} {attributes}/></zone></platform>'
    )


@pytest.mark.parametrize(
    ("topology", "radical", "expected"),
    [
        ('topology="TORUS" topo_parameters="4,3,2"', "0-23", ("torus", 24, "2x3x4", 4)),
        ('topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"', "0-15", ("fat_tree", 16, "", 4)),
        ('topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2"', "0-119", ("graph", 120, "", 7)),
        ("", "0-7", ("graph", 8, "", 2)),
    ],
)
def test_clusters_of_simgrid(imported, topology, radical, expected):
    machine = imported("platform.xml", cluster(topology, radical, 'core="8"'))
    found = machine["topology"]
    assert (found["family"], found["nodes"], found["shape"], found["diameter_hops"]) == expected
    assert machine["network"]["link_bandwidth_bytes_per_second"]["value"] == 1.25e9
    assert machine["network"]["hop_latency_seconds"] == {
        "value": pytest.approx(50e-9),
        "provenance": "assumed",
        "source": "platform.xml",
    }
    assert machine["node"]["cores"]["value"] == 8


def test_hosts_and_links_of_simgrid(imported):
    text = """<platform version="4.1"><zone id="z" routing="Floyd">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/><router id="r"/>
<link id="1" bandwidth="1GBps" latency="1us"/><link id="2" bandwidth="1GBps" latency="1us"/>
<link id="3" bandwidth="500MBps" latency="2ms"/>
<route src="a" dst="r"><link_ctn id="1"/></route><route src="r" dst="b"><link_ctn id="2"/></route>
<route src="c" dst="r"><link_ctn id="3"/></route></zone></platform>"""
    machine = imported("p.xml", text)
    assert (machine["topology"]["family"], machine["topology"]["nodes"], machine["topology"]["links"]) == (
        "routes",
        3,
        3,
    )
    assert machine["network"]["link_bandwidth_class2_bytes_per_second"]["value"] == 5e8
    assert machine["network"]["hop_latency_class1_seconds"]["value"] == pytest.approx(1e-6)
    assert machine["network"]["hop_latency_class2_seconds"]["value"] == pytest.approx(2e-3)
    apart = text.replace('<route src="c" dst="r"><link_ctn id="3"/></route>', "")
    assert "(got none from 'a' to 'c'" in imported("p.xml", apart)


@pytest.mark.parametrize(
    ("topology", "radical", "words"),
    [
        ('topology="TORUS" topo_parameters="4,3"', "0-10", "must have 12 nodes, as TORUS 4,3 has (got 11)"),
        ('topology="TORUS" topo_parameters="4,x"', "0-11", "a count must be at least 1 (got 'x')"),
        ('topology="FAT_TREE" topo_parameters="2;4;1,2;1,2"', "0-15", "three lists"),
        ('topology="DRAGONFLY" topo_parameters="9,1;1,1;2,1;1"', "0-17", "at most as many groups"),
        ('topology="VIVALDI"', "0-3", "VIVALDI"),
        ('topology="TORUS" topo_parameters="2,2" bb_bw="1GBps"', "0-3", "must have no bb_bw (got '1GBps'"),
        ('topology="TORUS" topo_parameters="2,2" sharing_policy="SHARED"', "0-3", "must have SPLITDUPLEX cables"),
        ("", "x", "radical"),
        ("", "0-99999999", "radical= must have at most 1048576 numbers (got 100000000 in '0-99999999'"),
    ],
)
def test_clusters_that_cannot_be_imported(imported, topology, radical, words):
    assert words in imported("platform.xml", cluster(topology, radical))


def test_one_node_from_hwloc(imported, repository):
    text = (repository / "tests" / "machine" / "hwloc" / "two-packages.xml").read_text(encoding="utf-8")
    machine = imported("host.xml", text)
    assert machine["topology"]["family"] == "single_node"
    assert machine["topology"]["levels"] == [{"name": "package", "cores": 6}, {"name": "numa", "cores": 3}]
    assert machine["node"]["cores"]["value"] == machine["node"]["ranks_per_node"]["value"] == 12
    assert "network" not in machine


def test_levels_that_do_not_nest_are_left_out(imported, repository, tmp_path):
    text = (repository / "tests" / "machine" / "hwloc" / "cache-for-some-cores.xml").read_text(encoding="utf-8")
    machine = imported("host.xml", text)
    assert machine["topology"]["levels"] == [{"name": "package", "cores": 6}, {"name": "l2", "cores": 2}]
    made = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert "# Left out, because they do not divide the level around them evenly: l3 of 4 cores.\n" in made


def test_dies_and_groups_are_left_out(imported, repository, tmp_path):
    text = (repository / "tests" / "machine" / "hwloc" / "dies-and-groups.xml").read_text(encoding="utf-8")
    assert imported("host.xml", text)["topology"]["levels"] == [{"name": "package", "cores": 8}]
    made = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    words = "because only packages, NUMA nodes and shared caches are levels: die of 4 cores, group of 2 cores.\n"
    assert f"# Left out, {words}" in made


def test_levels_take_their_numbers_from_a_node_with_the_same(imported, repository, tmp_path):
    text = (repository / "tests" / "machine" / "hwloc" / "two-packages.xml").read_text(encoding="utf-8")
    imported("host.xml", text)
    like = tmp_path / "like.toml"
    made = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert "hwloc does not know the speed of levels" in made
    lines = "".join(
        f'{key} = {{ value = "{value}", measured = "a test" }}\n'
        for key, value in [
            ("shared_memory_latency_package", "90 ns"),
            ("link_bandwidth_package", "30 GB/s"),
            ("shared_memory_bandwidth_l2", "20 GB/s"),
        ]
    )
    numbers = made.replace("[node]\n", f"[node]\n{lines}").replace('"numa 3"', '"l2 3"')
    like.write_text(numbers, encoding="utf-8")
    node = imported("host.xml", text, str(like))["node"]
    assert node["shared_memory_latency_package_seconds"]["value"] == pytest.approx(90e-9)
    assert node["link_bandwidth_package_bytes_per_second"]["source"] == "as mine: a test"
    assert "shared_memory_bandwidth_l2_bytes_per_second" not in node


def test_a_network_needs_the_numbers_of_one(imported, repository, tmp_path):
    text = (repository / "tests" / "machine" / "hwloc" / "two-packages.xml").read_text(encoding="utf-8")
    imported("host.xml", text)
    assert "use another --like" in imported("topology.conf", TREE, str(tmp_path / "mine.toml"))
