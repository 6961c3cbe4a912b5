"""Machine files from hwloc's XML."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kumihimo.network import imports
from kumihimo.network.imports import hwloc
from kumihimo.text import documents


def test_one_node_from_hwloc(imported, repository):
    text = (repository / "tests" / "network" / "machine" / "hwloc" / "two-packages.xml").read_text(encoding="utf-8")
    machine = imported("host.xml", text)
    assert machine["topology"]["family"] == "single_node"
    assert machine["topology"]["levels"] == [{"name": "package", "cores": 6}, {"name": "numa", "cores": 3}]
    assert machine["node"]["cores"]["value"] == machine["node"]["ranks_per_node"]["value"] == 12
    assert "network" not in machine


def topology(body: str, version: str = "2.0", machine: str = "", after: str = "") -> str:
    return f'<topology version="{version}"><object type="Machine" {machine}>{body}</object>{after}</topology>'


def objects(kind: str, *parts: str, attributes: str = "") -> str:
    return f'<object type="{kind}" {attributes}>{"".join(parts)}</object>'


def units(first: int, last: int) -> str:
    return "".join(f'<object type="PU" os_index="{unit}"/>' for unit in range(first, last + 1))


def cores(first: int, last: int) -> str:
    return "".join(objects("Core", units(core, core)) for core in range(first, last + 1))


def test_a_processing_unit_stands_for_a_core_where_there_are_none(imported):
    machine = imported("host.xml", topology(objects("Package", units(0, 1)) + objects("Package", units(2, 3))))
    assert machine["node"]["cores"]["value"] == machine["node"]["ranks_per_node"]["value"] == 4
    assert machine["topology"]["levels"] == [{"name": "package", "cores": 2}]
    assert machine["summary"] == "one node, 4 cores"
    assert imported("host.xml", topology(units(0, 0)))["summary"] == "one node, 1 core"


def test_levels_with_different_numbers_of_cores_are_left_out(imported, tmp_path, made):
    text = topology(objects("Package", cores(0, 3)) + objects("Package", cores(4, 6)))
    assert "levels" not in imported("host.xml", text)["topology"]
    words = "because their parts have different numbers of cores: package of 3 cores, package of 4 cores.\n"
    assert f"# Left out, {words}" in made()


def test_units_that_are_offline_or_forbidden_are_left_out(imported, tmp_path, made):
    machine = 'complete_cpuset="0x000001ff" allowed_cpuset="0x0000000f"'
    text = topology(objects("Package", cores(0, 3)) + objects("Package", cores(4, 7)), machine=machine)
    assert imported("host.xml", text)["node"]["cores"]["value"] == 4
    assert "# Left out, because they are offline or forbidden: 5 processing units of 9.\n" in made()


def test_kinds_of_cores_are_told(imported, tmp_path, made):
    kinds = "".join(
        f'<cpukind cpuset="{units}"><info name="CoreType" value="{name}"/></cpukind>'
        for name, units in [("IntelAtom", "0xf"), ("IntelCore", "0x30")]
    )
    shared = objects("L2Cache", cores(0, 3)) + objects("L2Cache", cores(4, 4)) + objects("L2Cache", cores(5, 5))
    assert imported("host.xml", topology(shared, after=kinds))["node"]["cores"]["value"] == 6
    assert "several kinds of cores: IntelAtom (4 processing units), IntelCore (2 processing units)." in made()
    assert "different numbers of cores: l2 of 1 core, l2 of 4 cores.\n" in made()


@pytest.mark.parametrize("version", ["1", "2.0", "3.0"])
def test_every_version_of_hwloc_is_read(imported, version):
    package, memory = ("Socket", "Machine") if version == "1" else ("Package", "Package")
    numa = 'os_index="0" local_memory="1000000"'
    body = "".join(
        objects("NUMANode", objects(package, cores(2 * p, 2 * p + 1)), attributes=numa)
        if version == "1"
        else objects(package, objects("NUMANode", attributes=numa), cores(2 * p, 2 * p + 1))
        for p in range(2)
    )
    text = topology(body, version)
    if version == "1":
        text = text.replace(' version="1"', "")
        text = text.replace("<topology>", '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc.dtd"><topology>')
    machine = imported("host.xml", text)
    assert machine["topology"]["levels"] == [{"name": "package", "cores": 2}]
    assert machine["node"]["memory_bytes"]["value"] == 2_000_000
    assert memory


def test_xml_in_other_encodings(imported, tmp_path):
    package = objects("Package", '<info name="CPUModel" value="Prozessör"/>', units(0, 3))
    for encoding in ("ISO-8859-1", "UTF-16"):
        path, head = tmp_path / "host.xml", f'<?xml version="1.0" encoding="{encoding}"?>'
        path.write_bytes((head + topology(package)).encode(encoding))
        assert imports.read(path).summary == "Prozessör, 4 cores"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (topology(units(0, 1), "4.0"), "host.xml:1: the file must be XML of hwloc 1, 2 or 3 (got version 4.0)"),
        (topology(""), "must have objects of type PU that may be used (got none)"),
        (topology(objects("Core")), "an object of type Core must have objects of type PU (got none)"),
        (topology(units(0, 1) + units(1, 1)), "each PU must have its own os_index (got 1 twice)"),
        (topology('<object type="PU"/>'), "os_index= of an object of type PU is missing"),
        (topology('<object type="PU" os_index="-1"/>'), "os_index must be a whole number from 0 on (got '-1')"),
        (topology(objects("Pakage", units(0, 1))), "the type of an <object> must be one of hwloc's (got 'Pakage')"),
        (topology("<objekt/>"), "<object> of hwloc has no element <objekt>"),
        (topology(units(0, 1), machine='allowed_cpuset="x"'), "allowed_cpuset must be a bitmap of hwloc"),
        (topology(units(0, 1), machine='local_memory="lots"'), "local_memory must be a number of bytes (got 'lots')"),
        ("<topology/>", "a topology of hwloc must have one outer <object> (got 0); write one with lstopo --of xml"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><topology>&b;</topology>', "must be XML without entities (got the entity 'b')"),
        ("<topology><object", "host.xml:1: the file must be XML (got unclosed token)"),
    ],
)
def test_a_damaged_topology_of_hwloc_is_one_sentence(refused, text, words):
    assert words in refused("host.xml", text)


def test_depth_has_a_limit(refused):
    for begin, end in [("<object type='Group'>", "</object>"), ("<zone id='z' routing='Full'>", "</zone>")]:
        root = "topology" if "object" in begin else "platform"
        deep = f"<{root}>\n{begin * 20000}{end * 20000}</{root}>"
        assert "deep.xml:2: values must be nested at most 64 deep" in refused("deep.xml", deep)
    assert "deep.yaml:1: values must be nested at most 64 deep" in refused("deep.yaml", "[" * 20000)


def test_hwloc_finds_the_same_in_its_files(repository):
    """What the library says of the same files, where it can read them."""
    code = "from kumihimo import _machine; h = _machine.discover_host(); print([h.cores, h.hardware_threads, "
    code += "h.numa_nodes, h.memory_bytes, h.last_level_cache_bytes, h.core_cache_bytes, h.levels, h.not_nested, "
    code += "h.unnamed])"
    for path in sorted((repository / "tests" / "network" / "machine" / "hwloc").glob("*.xml")):
        environment = {**os.environ, "HWLOC_XMLFILE": str(path)}
        said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        h = hwloc.read_node(documents.read_xml(path.read_bytes(), path.name)).host
        mine = [h.cores, h.hardware_threads, h.numa_nodes, h.memory_bytes, h.last_level_cache_bytes, h.core_cache_bytes]
        assert said.stdout == f"{[*mine, h.levels, h.not_nested, h.unnamed]}\n", path.name


def test_levels_that_do_not_nest_are_left_out(imported, repository, tmp_path):
    folder = repository / "tests" / "network" / "machine" / "hwloc"
    text = (folder / "cache-for-some-cores.xml").read_text(encoding="utf-8")
    machine = imported("host.xml", text)
    assert machine["topology"]["levels"] == [{"name": "package", "cores": 6}, {"name": "l2", "cores": 2}]
    made = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert "# Left out, because they do not divide the level around them evenly: l3 of 4 cores.\n" in made


def test_dies_and_groups_are_left_out(imported, repository, tmp_path):
    text = (repository / "tests" / "network" / "machine" / "hwloc" / "dies-and-groups.xml").read_text(encoding="utf-8")
    assert imported("host.xml", text)["topology"]["levels"] == [{"name": "package", "cores": 8}]
    made = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    words = "because only packages, NUMA nodes and shared caches are levels: die of 4 cores, group of 2 cores.\n"
    assert f"# Left out, {words}" in made


def test_levels_take_their_numbers_from_a_node_with_the_same(imported, repository, tmp_path):
    text = (repository / "tests" / "network" / "machine" / "hwloc" / "two-packages.xml").read_text(encoding="utf-8")
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
    text = (repository / "tests" / "network" / "machine" / "hwloc" / "two-packages.xml").read_text(encoding="utf-8")
    imported("host.xml", text)
    assert "use another --like" in imported(
        "topology.conf", "SwitchName=s0 Nodes=n[0-3]\n", str(tmp_path / "mine.toml")
    )
