"""Machine files from Slurm's topologies, and its lists of hosts."""

from __future__ import annotations

import contextlib
import time

import pytest

from kumihimo.network.imports import slurm
from kumihimo.text.errors import BadInput

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
        ("t.conf", "SwitchName=a Switches=b\n", "'b'"),
        ("t.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "a cycle: 'a' below 'b' below 'a'"),
        ("t.conf", "SwitchName=a Switches=a\n", "a cycle: 'a' below 'a'"),
        (
            "t.conf",
            "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
            "t.conf:2: each switch must be described once (got 'a' as in t.conf:1)",
        ),
        ("t.conf", "SwitchName=a Switches=b,b\nSwitchName=b Nodes=n1\n", "'b' twice below 'a'"),
        (
            "t.conf",
            "SwitchName=a Nodes=n1,n1\n",
            "t.conf:1: a node must be named once on a switch (got 'n1' twice on 'a')",
        ),
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
            "t.yaml:4: a host list",
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
        ("t.yaml", "a: [", ": the file must be YAML, as Slurm's topology.yaml is"),
        ("t.yaml", "- topology: t\n  tree:\n    switches: }\n", "t.yaml:3: the file must be YAML"),
        ("t.yaml", "- topology: t\n  tree: 5\n", "t.yaml:2: tree must be an object with the keys switches (got '5')"),
        (
            "t.yaml",
            "- topology: t\n  flat: true\n",
            "t.yaml:1: a flat topology does not say how nodes are joined (got 't')",
        ),
        ("t.yaml", "5", "the file, which lists topologies, must be a list (got '5')"),
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


TOP = "SwitchName=s2 Switches=s[0-1]\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName = s0 Nodes = dev[0-5]\nSwitchName =s1 Nodes= dev[6-11]\nSwitchName=s2 Switches=s[0-1]\n",
        'switchname="s0" NODES="dev[0-5]"\nSwitchName=s1 nodes="dev[6-8] dev9, dev[10-11]"\n' + TOP,
        "SwitchName=s0 \\\r\n  Nodes=dev[0-5]\r\nSwitchName=s1 Nodes=dev[6-\\ \n11]\r\n" + TOP,
        "# all # of\nSwitchName=s0 Nodes=dev[0-5] # it\n\tSwitchName=s1 Nodes=dev[6-11]\nSwitchName=s2 Switches=s[0-1]",
        "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=dev[0-11] Switches=s[0-1]\nSwitchName=s0 Level=0 LinkSpeed=1 "
        "Nodes=dev[0-5]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=dev[6-11]\n",
    ],
)
def test_slurms_own_grammar(imported, tmp_path, text):
    topology = imported("topology.conf", text)["topology"]
    assert (topology["nodes"], topology["switches"], topology["links"]) == (12, 3, 48)
    assert topology["levels"] == [{"name": "switch", "nodes": 6}]
    assert 'node_names = "dev[0-9],dev[10-11]"\n' in (tmp_path / "mine.toml").read_text(encoding="utf-8")


def test_a_file_includes_another(imported, tmp_path):
    (tmp_path / "leaves.conf").write_text("SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\n")
    main = "SwitchName=top Switches=s[0-1]\nInclude leaves.conf\n"
    assert imported("topology.conf", main)["topology"]["switches"] == 3
    (tmp_path / "leaves.conf").write_text("include topology.conf\n")
    assert "leaves.conf:1: files must not include each other (got 'topology.conf')" in imported("topology.conf", main)
    (tmp_path / "leaves.conf").write_text("SwitchName=s0 Nodes=n[0-3\n")
    assert "leaves.conf:1: a host list" in imported("topology.conf", main)
    assert "topology.conf:1: the included file must be readable" in imported("topology.conf", "include nowhere\n")


def test_names_may_have_any_character(imported, tmp_path, made):
    text = 'SwitchName=s Nodes=a\\\\b,"c\n'
    assert imported("topology.conf", text)["topology"]["nodes"] == 2
    assert 'node_names = "a\\\\b,\\"c"\n' in made()


def test_parts_that_nothing_joins(imported, tmp_path, made):
    leaves = "".join(f"SwitchName=s{i} Nodes=n[{4 * i}-{4 * i + 3}]\n" for i in range(4))
    apart = leaves + "SwitchName=a Switches=s[0-1]\nSwitchName=b Switches=s[2-3]\n"
    topology = imported("topology.conf", apart)["topology"]
    assert (topology["nodes"], topology["switches"], topology["diameter_hops"]) == (16, 7, 6)
    assert "# Assumed: one switch joins the 2 parts of the file that nothing joins.\n" in made()
    joined = imported("topology.conf", apart + "SwitchName=c Switches=a,b\n")["topology"]
    assert joined["links"] == topology["links"]
    assert "one switch joins" not in made()


def test_two_switches_above_the_same_leaves_share_their_uplinks(imported, tmp_path, made):
    leaves = "".join(f"SwitchName=s{i} Nodes=n[{4 * i}-{4 * i + 3}]\n" for i in range(2))
    one = imported("topology.conf", leaves + "SwitchName=core Switches=s[0-1]\n")["topology"]
    two = imported("topology.conf", leaves + "".join(f"SwitchName={core} Switches=s[0-1]\n" for core in "ab"))[
        "topology"
    ]
    assert (two["switches"], two["links"], two["diameter_hops"]) == (4, one["links"], 4)
    assert "shares its uplinks evenly among them" in made()
    assert "one switch joins" not in made()


def test_a_node_on_two_switches_has_a_cable_to_each(imported, tmp_path, made):
    topology = imported("topology.conf", "SwitchName=a Nodes=n[0-5]\nSwitchName=b Nodes=n[4-9]\n")["topology"]
    assert (topology["nodes"], topology["switches"], topology["links"]) == (10, 3, 2 * (12 + 12))
    assert "Nodes on several switches have a cable to each." in made()


def test_switches_and_blocks_in_one_file(imported, tmp_path, made):
    text = TREE + "BlockName=b1 Nodes=dev[0-5]\nAggregatedBlock=b[1-2] BlockIndex=0 Nodes=dev[0-11] BlockSize=12\n"
    assert imported("topology.conf", text)["topology"]["switches"] == 3
    assert "the blocks are left out" in made()


def test_a_ring_of_slurm(imported, tmp_path, made):
    for name, text in [
        ("t.conf", "RingName=r Nodes=n[0-7]\n"),
        ("t.yaml", "- topology: t\n  ring:\n    rings:\n    - {ring: r, nodes: 'n[0-7]'}\n"),
    ]:
        assert imported(name, text)["topology"]["shape"] == "8"
        assert 'node_names = "n[0-7]"' in made()


TORUS = """
- topology: t
  torus3d:
    toruses:
      - name: pod
        dims: {x: 4, y: 2, z: 1}
        regions:
          - {anchor: {x: 2, y: 0, z: 0}, dims: {x: 2, y: 2, z: 1}, nodes: "b[0-3]"}
          - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 2, z: 1}, nodes: "a[0-3]"}
        placements:
          - {dims: {x: 2, y: 1, z: 1}, anchor_seed: {x: 0, y: 1, z: 0}}
"""


def test_regions_of_a_torus_place_its_nodes(imported, tmp_path, made):
    assert imported("t.yaml", TORUS)["topology"]["shape"] == "1x2x4"
    assert 'node_names = "a[0-1],b[0-1],a[2-3],b[2-3]"\n' in made()


def test_a_torus_with_places_without_nodes(imported, tmp_path, made):
    lines = TORUS.splitlines()
    text = "\n".join(line for line in lines if '"a[0-3]"' not in line)
    topology = imported("t.yaml", text)["topology"]
    assert (topology["family"], topology["nodes"], topology["switches"]) == ("graph", 4, 8)
    assert topology["links"] == 2 * (4 + 4 * 2 + 4), "a node's own, two rings of four, and four between the rings"
    assert "Approximated: 4 of the 8 places of the torus have no node." in made()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("dims: {x: 4", "dims: {x: 2.7"), "t.yaml:6: x of dims must be a whole number from 1 on (got '2.7')"),
        (("dims: {x: 4", "dims: {x: [4]"), "t.yaml:6: x of dims must be a text (got a list)"),
        (("dims: {x: 4,", "dims: {"), "t.yaml:6: 'x' of dims is missing"),
        (("dims: {x: 4", "dims: {w: 1, x: 4"), "t.yaml:6: dims has no key 'w'"),
        (("dims: {x: 4", "dims: {x: 70000"), "t.yaml:6: dims must be at most 65535"),
        (("regions:", "region:"), "t.yaml:7: a torus has no key 'region'; did you mean regions?"),
        (("{x: 2, y: 0, z: 0}", "{x: 3, y: 0, z: 0}"), "t.yaml:8: a region must be within the torus of 4x2x1"),
        (("{x: 2, y: 0, z: 0}", "{x: 1, y: 0, z: 0}"), "t.yaml:9: regions must not overlap (got 'b0' and 'a1'"),
        (('"b[0-3]"', '"b[0-2]"'), "t.yaml:8: nodes must name 4 nodes, as a region of 2x2x1 has (got 3)"),
        (('"b[0-3]"', '"a[0-3]"'), "each node must be at one place of the torus (got 'a0' twice)"),
        (('"b[0-3]"', "[b0, b1, b2, b3]"), "t.yaml:8: nodes must be a text (got a list)"),
        (("anchor_seed", "seed"), "t.yaml:11: a placement has no key 'seed'"),
        (("name: pod", "name: pod\n        nodes: n[0-7]"), "a torus must have nodes or regions (got both)"),
        (("- topology: t\n", "- topology: t\n  tree: {switches: []}\n"), "(got tree and torus3d in 't')"),
        (("- topology: t\n", "- topology: t\n  cluster_default: maybe\n"), "must be true or false (got 'maybe')"),
        (("- topology: t\n", "- topology: t\n  mesh: {}\n"), "t.yaml:3: a topology has no key 'mesh'"),
        (("- topology: t\n", "- topology: &t t\n  x: *t\n"), "t.yaml:3: aliases are not read (got *t)"),
        (
            ("name: pod", "name: pod\n        name: pod"),
            "t.yaml:6: an object must have each key once (got 'name' twice)",
        ),
        (("name: pod", "name: " + "[" * 100), "t.yaml:5: values must be nested at most 64 deep"),
        (("name: pod", "? [a]\n        : b"), "t.yaml:5: a key must be a text"),
        (("- topology: t\n", "a: 1\n---\n"), "t.yaml:3: the file must be one document"),
    ],
)
def test_known_objects_have_known_keys_of_known_types(refused, change, words):
    assert words in refused("t.yaml", TORUS.replace(*change, 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SwitchName=a Node=n1\n", "t.conf:1: Slurm's topology.conf has no such key (got 'Node'); did you mean nodes?"),
        ("SwitchName=a Nodes=n1 LinkSpeed=fast\n", "t.conf:1: LinkSpeed must be a whole number (got 'fast')"),
        ("SwitchName=a Nodes=n1 Nodes=n2\n", "t.conf:1: a line must have each key once (got Nodes twice)"),
        ("SwitchName=a Nodes=n1 Switches=b\nSwitchName=b\n", "t.conf:1: a switch must have nodes or switches below it"),
        ("BlockName=a Nodes=n1\nBlockSizes=big\n", "t.conf:2: a size of blocks must be a whole number (got 'big')"),
        ("BlockName=a Switches=b\n", "t.conf:1: a line with BlockName has no key 'Switches'"),
        ("Nodes=n1\n", "t.conf:1: a line must be SwitchName="),
        ("SwitchName\n", "t.conf:1: a line must be SwitchName="),
        ('SwitchName=s0 Nodes="n[0-3]\n', "t.conf:1: a line must be SwitchName="),
        (
            "RingName=a Nodes=n1\nRingName=b Nodes=n2\n",
            "t.conf:2: the file must have one ring, as a machine does (got 2)",
        ),
        (
            "RingName=a Nodes=n1\nSwitchName=b Nodes=n2\n",
            "t.conf:1: the file must describe rings, or switches and blocks",
        ),
        ("SwitchName=s[0-4999]\n", "fewer than 4096 switches (got 5000)"),
        (
            "SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n",
            "t.conf:2: no switch may be below",
        ),
        ("include %c.conf\n", "t.conf:1: Include must name a file (got '%c.conf')"),
    ],
)
def test_wrong_lines_of_slurm_are_named(refused, text, words):
    assert words in refused("t.conf", text)


def test_a_ring_is_needed(refused):
    words = "t.yaml: the file must have one ring, as a machine does (got none); add it"
    assert words in refused("t.yaml", "- topology: t\n  ring: {rings: []}\n")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("t.conf", "".join(f"SwitchName=s{i} Nodes=n[0-39]\n" for i in range(3)), 3),
        ("t.conf", "SwitchName=a Nodes=n1\nSwitchName=s[0-39] Nodes=n[0-1]\n", 2),
        ("t.conf", "SwitchName=top Switches=s[0-99]\nSwitchName=s[0-99] Nodes=n1\n", 2),
        ("t.conf", "BlockName=a Nodes=n[0-98]\nBlockName=b Nodes=m[0-1]\n", 2),
        ("t.yaml", "- topology: t\n  tree:\n    switches:\n" + "    - {switch: a, nodes: 'n[0-39]'}\n" * 3, 6),
        ("t.yaml", "- topology: t\n  block:\n    blocks:\n" + "    - {block: a, nodes: 'n[0-39]'}\n" * 3, 6),
    ],
)
def test_the_names_of_a_file_are_limited(refused, monkeypatch, name, text, line):
    """Each list alone is short enough; a hundred lines of a million names would take gigabytes."""
    monkeypatch.setattr(slurm, "MOST_NAMES", 100)
    assert f"{name}:{line}: the host lists of a file must have at most 100 names" in refused(name, text)


def test_too_many_switches_are_refused_at_their_line(refused):
    text = "SwitchName=a Nodes=n1\nSwitchName=s[0-4094] Nodes=n[0-1]\nNoSuchKey=1\n"
    assert refused("t.conf", text) == "t.conf:2: the file must have fewer than 4096 switches (got 4096)"


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
    assert slurm.hosts(" a b[1, 3]\tc\n d ") == slurm.hosts("a,b[1, 3],c,d") == ["a", "b1", "b3", "c", "d"]


@pytest.mark.parametrize("piece", ["a ", "a[ ", "[", " a[1 2"])
def test_long_host_lists_are_read_at_once(piece):
    begun = time.process_time()
    with contextlib.suppress(BadInput):
        slurm.hosts(piece * 150_000)
    assert time.process_time() - begun < 5
