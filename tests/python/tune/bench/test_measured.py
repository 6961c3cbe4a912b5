"""The machine file of measured numbers, without measuring."""

from __future__ import annotations

import json
import re

import pytest

from kumihimo import _machine
from kumihimo.text.errors import KumihimoError
from kumihimo.tune.bench import measured

ABOUT = {"mpi": "Open MPI v4.1.4, package: x", "ranks": 2, "processors": 2, "node_of_rank": [0, 0]}
CALIBRATION = {
    "memory_bandwidth": 10.004e9,
    "copy_bandwidth": 5e9,
    "message_latency": 2e-7,
    "reduction_rate": 8e9,
    "reduction_rate_scalar": 4e9,
    "message_cost": 1e-7,
    "relay_latency": 5e-8,
}
FIT = {
    **{"L": 3e-7, "o": 1.23456e-7, "g": 2e-7, "G": 1.5e-10, "O": 0.0, "S": 4096, "R": 2.1e-6},
    "reduction_rate": 12e9,
}
COPIES = {
    **{"send_cost": 6e-8, "message_latency": 1.5e-7, "slot": 65536, "streamed_bytes": 1024, "streamed_latency": 4e-7},
    "copy_short": 3e9,
    **{f"{name}_{cache}": 8e9 for name in ("copy", "stream", "sum") for cache in ("core", "last_level", "memory")},
}
NETWORK = {
    "message_latency": 2e-6,
    "message_cost": 4e-7,
    "relay_latency": 5e-8,
    "message_bandwidth": 9e9,
    "pairs": 4,
    "pairs_bandwidth": 20e9,
}


def found(**changes) -> measured.Measured:
    about = {**ABOUT, **changes.pop("about", {})}
    given = {"calibration": CALIBRATION, "point_to_point": FIT, "launch": "mpirun -n 2", "host": "h", "load": 0.1}
    return measured.Measured(about=about, date="2026-11-27", **{**given, **changes})


def read(one: measured.Measured) -> dict:
    return json.loads(_machine.parse(measured.machine_file(one, "mine"), "mine.toml").to_json())


def test_every_number_says_when_where_and_how_it_was_measured():
    machine = read(found(copies=COPIES, round_of_turns=1e-6))
    assert (machine["name"], machine["topology"]["family"]) == ("mine", "single_node")
    sources = {key: n for section in ("node", "software", "loggops", "copies") for key, n in machine[section].items()}
    for key, number in sources.items():
        if number["provenance"] == "measured" and number["source"] != "hwloc":
            assert number["source"].endswith("; 2026-11-27, h, Open MPI v4.1.4, mpirun -n 2"), key
            assert not number["source"].startswith("2026"), f"{key} must say how"
    assert sources["ranks_per_node"]["value"] == 2
    assert sources["memory_bandwidth_bytes_per_second"]["value"] == 10.0e9, "four digits"
    assert sources["message_cost_seconds"]["value"] == 1e-7


def test_parameters_of_loggops_that_were_not_seen_are_left_out():
    machine = read(found())["loggops"]
    assert machine["o_seconds"]["value"] == pytest.approx(1.235e-7)
    assert machine["G_seconds"]["value"] == pytest.approx(1.5e-10)
    assert machine["S_bytes"]["value"] == 4096
    assert "O_seconds" not in machine
    assert "S_bytes" not in read(found(point_to_point={**FIT, "S": None}))["loggops"]
    assert read(found(point_to_point={**FIT, "L": 0.0}))["loggops"]["L_seconds"]["value"] == pytest.approx(1e-9)


def test_a_rendezvous_that_takes_no_time_is_left_out():
    machine = read(found())["loggops"]
    assert machine["R_seconds"]["value"] == pytest.approx(2.1e-6)
    assert machine["reduction_rate_bytes_per_second"]["source"].startswith("MPI_Reduce_local of 8192 doubles")
    assert "R_seconds" not in read(found(point_to_point={**FIT, "R": 0.0}))["loggops"]


def test_a_rate_that_a_nearer_cache_limits_says_so(monkeypatch):
    """As where another program had the processor while the nearer cache was measured."""
    host = type("Host", (), {"core_cache_bytes": 1 << 20, "levels": []})
    monkeypatch.setattr(measured._machine, "discover_host", lambda: host)
    lines = measured.copies(found(copies={**COPIES, "sum_core": 1.5e8, "copy_memory": 4e9}, round_of_turns=1.21e-6))
    line = {each.partition(" = ")[0]: each for each in lines}
    assert "limited" not in line["sum_core"] and "limited" not in line["copy_memory"]
    for name, nearer in (("sum_last_level", "sum_core"), ("sum_memory", "sum_last_level")):
        assert '"0.15 GB/s"' in line[name] and f"; limited to {nearer}, as 8 GB/s was faster; 2026" in line[name]


def test_copies_within_a_node_are_a_section(monkeypatch):
    host = type("Host", (), {"core_cache_bytes": 1 << 20, "levels": []})
    monkeypatch.setattr(measured._machine, "discover_host", lambda: host)
    lines = measured.copies(found(copies=COPIES, round_of_turns=1.21e-6))
    text = "\n".join(lines)
    assert lines[1] == "[copies]"
    assert 'processor_switch = { value = "500 ns", ' in text, "(1.21 us - 150 ns - 60 ns) / 2 ranks a processor"
    assert 'core_cache = { value = "1048576 B", measured = "hwloc" }' in text
    assert 'copy_last_level = { value = "8 GB/s", ' in text and "limited" not in text
    assert measured.copies(found(copies=COPIES)) == [], "nobody knows what a switch takes"
    assert measured.copies(found(round_of_turns=1e-6)) == []
    assert measured.notes(found(copies=COPIES, round_of_turns=1e-6)) == []
    host.core_cache_bytes = 0
    without = found(copies=COPIES, round_of_turns=1e-6)
    assert measured.copies(without) == []
    assert measured.notes(without) == ["hwloc knows no cache of a core: the machine file has no section [copies]"]


def test_the_latency_within_a_node_is_that_of_exchanges():
    number = read(found(copies=COPIES, round_of_turns=1e-6))["node"]["shared_memory_latency_seconds"]
    assert number["value"] == pytest.approx(1.5e-7)


def test_stream_replaces_the_copies():
    machine = read(found(stream={"threads": 2, "bytes_per_second": 12e9}))
    number = machine["node"]["memory_bandwidth_bytes_per_second"]
    assert number["value"] == 12e9
    assert number["source"].startswith("STREAM triad, 2 threads; ")


def test_several_nodes_are_a_network():
    about = {"nodes": ["a", "b"], "node_of_rank": [0, 0, 1, 1], "ranks": 4}
    machine = read(found(about=about, network=NETWORK))
    assert (machine["topology"]["family"], machine["topology"]["nodes"]) == ("fat_tree", 2)
    network = machine["network"]
    assert network["hop_latency_seconds"]["value"] == pytest.approx(1e-6)
    assert network["engine_bandwidth_bytes_per_second"]["value"] == 9e9
    assert network["link_bandwidth_bytes_per_second"]["value"] == 20e9
    assert network["engines"]["value"] == 3, "20 / 9, rounded up"
    assert network["link_peak_bytes_per_second"]["provenance"] == "assumed"
    assert machine["software"]["message_cost_seconds"]["value"] == pytest.approx(4e-7)
    assert "between two nodes" in machine["software"]["message_cost_seconds"]["source"]


def test_the_librarys_own_collectives_are_rows():
    rows = [
        {"collective": "allreduce", "ranks": 2, "nodes": 1, "bytes": 8, "seconds": 1.25e-6},
        {"collective": "barrier", "ranks": 2, "nodes": 1, "bytes": 0, "seconds": 0.0},
    ]
    told = read(found(collectives=rows))["library_collectives"]
    assert told["source"].endswith("; 2026-11-27, h, Open MPI v4.1.4, mpirun -n 2")
    assert told["rows"][0] == pytest.approx(rows[0])
    assert told["rows"][1]["seconds"] == pytest.approx(1e-9), "the clock tells no less"
    assert "library_collectives" not in read(found())


def test_what_disturbs_is_told():
    assert measured.notes(found()) == []
    (note,) = measured.notes(found(about={"ranks": 3, "node_of_rank": [0, 0, 0]}))
    assert note.startswith("3 ranks share 2 processors of a node: ")
    (note,) = measured.notes(found(load=1.5))
    assert "load average 1.50" in note
    assert "# other programs were running" in measured.machine_file(found(load=1.5), "mine")


def test_a_number_that_is_none_is_refused():
    with pytest.raises(KumihimoError, match="not positive"):
        measured.machine_file(found(calibration={**CALIBRATION, "copy_bandwidth": 0.0}), "mine")


@pytest.mark.parametrize("number", [1e-12, 2.5e-9, 0.123456, 3.0])
def test_times_are_decimals_of_four_digits(number):
    text = measured.time(number)
    assert re.fullmatch(r'"[0-9.]+ ns"', text)
    assert float(text[1:-4]) == pytest.approx(number * 1e9, rel=1e-3)
