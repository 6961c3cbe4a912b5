"""Machine files from clusters of SimGrid, and from its hosts and links."""

from __future__ import annotations

import pytest


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
        ('topology="TORUS" topo_parameters="4,x"', "0-11", "a count in topo_parameters= must be at least 1 (got 'x')"),
        ('topology="FAT_TREE" topo_parameters="2;4;1,2;1,2"', "0-15", "three lists"),
        ('topology="FAT_TREE" topo_parameters="1,2;4;1;1"', "0-3", "must be its levels and three lists"),
        ('topology="DRAGONFLY" topo_parameters="9,1;1,1;2,1;1"', "0-17", "at most as many groups"),
        (
            'topology="DRAGONFLY" topo_parameters="1,1;1,1;4096,1;1"',
            "0-4095",
            "a dragonfly must have at most 1048576 pairs of joined routers (got 8386560)",
        ),
        ('topology="VIVALDI"', "0-3", "VIVALDI"),
        ('topology="TORUS" topo_parameters="2,2" bb_bw="1GBps"', "0-3", "must have no bb_bw (got '1GBps'"),
        ('topology="TORUS" topo_parameters="2,2" sharing_policy="SHARED"', "0-3", "must have SPLITDUPLEX cables"),
        ("", "x", "radical"),
        ("", "0-99999999", "radical= must have at most 1048576 numbers (got 100000000 in '0-99999999'"),
    ],
)
def test_clusters_that_cannot_be_imported(imported, topology, radical, words):
    assert words in imported("platform.xml", cluster(topology, radical))
