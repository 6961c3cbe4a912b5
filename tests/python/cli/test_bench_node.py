"""`kumihimo bench node`: what it measures, what it compares with, and what it refuses."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kumihimo import _node
from kumihimo.cli import bench_node
from kumihimo.network.node import measurements, statistics, theory
from kumihimo.text.errors import BadInput, Failed

TINY = (
    "--threads",
    "1,2",
    "--rounds",
    "3",
    "--array",
    "64KiB",
    "--dgemm-size",
    "64",
    "--hpl-size",
    "300",
    "--size",
    "16",
)


def test_all_parts(kumihimo):
    ended = kumihimo("bench", "node", *TINY, "--seconds", "0.1", "--json", timeout_seconds=300)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    stream = found["stream"]["results"]
    assert [row["threads"] for row in stream if row["kernel"] == "triad" and row["stores"] == "usual"] == [1, 2]
    assert {row["kernel"] for row in stream} == {"copy", "scale", "add", "triad"}
    for row in stream:
        rate = row["bytes_per_second"]
        assert rate["samples"] == 3 and 0 < rate["median"] <= row["best"] * 1.000001
        assert rate["low"] is None and rate["high"] is None, "3 samples have no interval of 95 %"
    assert [row["threads"] for row in found["dgemm"]["results"]] == [1, 2]
    assert all(row["fma_gflops"]["median"] > 0 for row in found["dgemm"]["results"])
    assert [row["threads"] for row in found["hpl"]["results"]] == ([] if found["hpl"]["missing"] else [1, 2])
    for row in found["hpl"]["results"]:
        assert row["passed"] and 0 < row["residual"] < 16 and row["gflops"]["samples"] == 3
        assert row["long_enough"] == (row["seconds"]["median"] >= 0.1)
        work = 2 / 3 * 300**3 + 1.5 * 300**2
        assert row["gflops"]["median"] == pytest.approx(1e-9 * work / row["seconds"]["median"], rel=1e-6)
    assert (found["hpl"]["rows"], found["hpl"]["block"]) == (300, None if found["hpl"]["missing"] else 96)
    hpcg = found["hpcg"]
    assert hpcg["validation"]["passed"] and hpcg["validation"]["same_bits"] and not hpcg["long_enough"]
    assert "official" not in hpcg and hpcg["bytes"] == _node.hpcg_bytes(16, 16, 16)
    assert (
        hpcg["iterations"] >= 50 and hpcg["ordering"] in hpcg["tried"] and set(hpcg["tried"]) == {"levels", "colours"}
    )
    for row in hpcg["results"]:
        assert row["sets"] >= 6 and 0 < row["rating_gflops"] < row["raw_gflops"]["high"]


@pytest.mark.parametrize("count", [1, 5, 6, 11])
def test_an_interval_needs_six_samples(count):
    found = statistics([float(i) for i in range(count)])
    assert (found["low"] is not None) == (found["high"] is not None) == (count >= 6)
    coverage = 1 - 2 / 2**count  # from the least to the most: the chance that not all lie on one side of the median
    assert (coverage >= 0.95) == (count >= 6)
    assert (bench_node.interval(found, str) == "") == (count < 6)


def test_tables_say_what_is_not_known(kumihimo):
    asked = (*TINY, "--threads", "1", "--seconds", "0.1", "--ordering", "colours")
    ended = kumihimo("bench", "node", *asked, timeout_seconds=300)
    assert ended.code == 0, ended.err
    for word in (
        "STREAM, arrays of 64 KiB",
        "non-temporal",
        "theoretical",
        "HPL: GFLOPS by HPL's rules, N = 300",
        "HPCG, grid of 16x16x16",
        "validation: passed",
    ):
        assert word in ended.out, word
    assert "ordering: colours (8 groups)" in ended.out


def test_a_given_bandwidth_gives_shares(kumihimo):
    ended = kumihimo("bench", "node", "stream", *TINY[:6], "--peak-bandwidth", "100GB", "--json")
    found = json.loads(ended.out)["stream"]
    assert found["peak_bytes_per_second"] == 1e11 and found["peak_source"] == "given"
    for row in found["results"]:
        assert row["share"] == pytest.approx(row["bytes_per_second"]["median"] / 1e11)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("strem",), "a part must be one of stream, dgemm, hpl, hpcg (got 'strem'); did you mean stream?"),
        (("--threads", "0"), "--threads must be numbers from 1 to 4096, such as 1,2 (got '0')"),
        (("--threads", "1,,2"), "--threads must be numbers from 1 to 4096"),
        (("--rounds", "0"), "--rounds must be from 1 to 10000 (got 0)"),
        (("stream", "--array", "63"), "a size must be at least 64 bytes (got '63')"),
        (("stream", "--array", "1PiB"), "the three arrays of STREAM must fit the "),
        (("--peak-bandwidth", "fast"), "a size must be"),
        (("--peak-gflops", "-3"), "--peak-gflops must be a positive number (got '-3')"),
        (("hpcg", "--size", "100"), "each side of the grid must be a multiple of 8 from 16 to 1024 (got 100)"),
        (("hpcg", "--size", "16x16"), "--size must be a side, or three: 104 or 104x104x96 (got '16x16')"),
        (("hpcg", "--size", "1024"), "the run of HPCG must fit the "),
        (("hpcg", "--ordering", "natural"), "--ordering must be levels, colours or auto (got 'natural')"),
        (("dgemm", "--blas", "/no/such.so"), "--blas must name a library that can be loaded (got /no/such.so"),
        (
            ("dgemm", "--blas", "libm.so.6"),
            "the BLAS library must have dgemm_ (got libm.so.6); name another with --blas",
        ),
        (("dgemm", "--dgemm-size", "0"), "--dgemm-size must be from 1 to 46340 (got 0)"),
        (("hpl", "--hpl-size", "0"), "--hpl-size must be from 1 to 1000000 (got 0)"),
        (("hpl", "--hpl-size", "1000000"), "the matrix of HPL must fit the "),
        (("hpcg", "--seconds", "soon"), "--seconds"),
    ],
)
def test_wrong_arguments_are_named(kumihimo, arguments, sentence):
    ended = kumihimo("bench", "node", *arguments)
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert sentence in ended.err


def measured(*_):
    raise AssertionError("something was measured")


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"size": "100"}, "each side of the grid must be a multiple of 8"),
        ({"size": "1024"}, "the run of HPCG must fit the"),
        ({"dgemm_size": 46340}, "the three matrices of DGEMM must fit the"),
        ({"hpl_size": 46340}, "the matrix of HPL must fit the"),
        ({"library": "/no/such.so"}, "--blas must name a library that can be loaded"),
    ],
)
def test_all_parts_are_checked_before_any_runs(monkeypatch, wrong, sentence):
    for name in ("measure_stream", "measure_peak"):
        monkeypatch.setattr(_node, name, measured)
    monkeypatch.setattr(measurements.host_memory, "free_memory", lambda: 10**10)
    if "dgemm_size" in wrong:
        monkeypatch.setattr(_node, "Gemm", SimpleNamespace(open=lambda path: object()))
    with pytest.raises(BadInput, match=sentence):
        bench_node.command(array="64KiB", seconds=0.1, **wrong)


def test_a_part_that_fails_leaves_the_results_of_the_others(monkeypatch, capsys):
    def fail(*_):
        raise Failed("wrong product")

    monkeypatch.setattr(measurements, "measured_dgemm", fail)
    with pytest.raises(Failed, match="wrong product"):
        bench_node.command(["stream", "dgemm"], threads="1", rounds=1, array="64KiB", as_json=True)
    assert set(json.loads(capsys.readouterr().out)) >= {"stream"}


def hpl_of(*runs: measurements.HplRun, numbers: tuple[int, ...] = (2,)) -> dict:
    asked = measurements.NodeMeasurement([1, 2], len(runs))
    return measurements.measured_hpl(asked, 300, "", list(numbers), lambda threads, times: list(runs))


PASSED = measurements.HplRun(10.0, 2.0, 0.01, True, 96)


def test_a_block_is_no_larger_than_the_matrix():
    assert hpl_of(replace(PASSED, block=512))["block"] == 300


def test_hpl_shows_the_largest_residual(capsys):
    found = hpl_of(PASSED, replace(PASSED, residual=0.5), replace(PASSED, residual=0.2))
    assert found["results"][0]["residual"] == 0.5 and found["block"] == 96
    bench_node.check_validity({"hpl": found})
    bench_node.show_hpl({"hpl": found})
    assert "N = 300, NB = 96" in (shown := capsys.readouterr().out) and "too short" not in shown


@pytest.mark.parametrize("residual, shown", [(25.3, "25.3"), (None, "no number")])
def test_a_rating_with_a_wrong_solution_is_an_error(capsys, residual, shown):
    found = {"hpl": hpl_of(PASSED, replace(PASSED, residual=residual, passed=False))}
    with pytest.raises(Failed, match=rf"the residual of HPL on 2 threads must be below 16 \(got {shown}\)"):
        bench_node.check_validity(found)
    bench_node.show_hpl(found)
    assert "FAILED" in capsys.readouterr().out


def test_a_failed_validation_of_hpcg_is_an_error():
    with pytest.raises(Failed, match="the validation of HPCG failed"):
        bench_node.check_validity({"hpcg": {"validation": {"passed": False}}})


def test_short_runs_of_hpl_are_told(capsys):
    found = hpl_of(replace(PASSED, seconds=0.05), numbers=(1, 2))
    assert [row["long_enough"] for row in found["results"]] == [False, False]
    bench_node.show_hpl({"hpl": found})
    assert "runs of less than 100 ms are too short for a rating" in capsys.readouterr().out


@pytest.mark.parametrize("figures", [{"gflops": None, "seconds": 0.0}, {"gflops": 0.0, "seconds": 1.0}])
def test_a_run_of_hpl_without_a_rating_is_an_error(figures):
    row = {"parameters": {"block": 96}, "residual": 0.1, "checked": {"right": True}, **figures}
    with pytest.raises(Failed, match="took no time that the clock shows; give a larger --hpl-size"):
        bench_node.hpl_run(row)


def test_a_library_that_sets_no_threads_has_one_rating(monkeypatch):
    for sets_threads, numbers in ((True, [1, 2]), (False, [2])):
        library = SimpleNamespace(open=lambda path, sets=sets_threads: SimpleNamespace(sets_threads=sets))
        monkeypatch.setattr(_node, "Gemm", library)
        asked = measurements.NodeMeasurement([1, 2], 1)
        found = measurements.hpl(asked, 300, "", lambda threads, times: [PASSED])()
        assert [row["threads"] for row in found["results"]] == numbers


def test_long_enough_needs_time_and_memory(monkeypatch):
    monkeypatch.setattr(measurements.host_memory, "memory", lambda: 4000)
    for seconds, size, enough in ((1800, 1000, True), (1799, 1000, False), (1800, 999, False)):
        assert measurements.is_long_enough(seconds, size) == enough


def module(bank: bytes, rate: int, size: int = 16384, configured: int = 0) -> bytes:
    """An entry of a memory device, by the specification of SMBIOS."""
    body = bytearray(0x28)
    body[0], body[1] = 17, len(body)
    struct.pack_into("<HHH", body, 0x08, 72, 64, size)
    body[0x11] = 1
    struct.pack_into("<H", body, 0x15, rate)
    struct.pack_into("<H", body, 0x20, configured)
    return bytes(body) + bank + b"\0\0"


OTHER = bytes([1, 4, 0, 0]) + b"text\0\0"


def test_channels_of_the_firmware_give_the_bandwidth():
    table = OTHER + b"".join(module(b"CHANNEL %d" % i, 3200, configured=2933) for i in (0, 0, 1, 2)) + OTHER
    table += module(b"CHANNEL 3", 3200, size=0)  # an empty slot
    found = theory.memory_peak_of(table)
    assert found.value == 3 * 2933e6 * 8
    assert "3 channels of 64 bits at 2933 MT/s" in found.source


@pytest.mark.parametrize(
    "table, why",
    [
        (b"", "lists no memory"),
        (OTHER, "lists no memory"),
        (module(b"BANK", 0), "lists no memory"),
        (module(b"BANK 0", 3200) * 2, "does not name the channels"),
        (module(b"BANK 0", 3200) + module(b"BANK 1", 3200), "does not name the channels"),
        (module(b"", 3200), "does not name the channels"),
        (b"\x11\x02\0\0", "lists no memory"),
        (bytes([17, 200, 0, 0]), "lists no memory"),
    ],
)
def test_firmware_that_says_too_little_is_told(table, why):
    found = theory.memory_peak_of(table)
    assert found.value is None and why in found.source and "--peak-bandwidth" in found.source


def test_a_table_that_cannot_be_read_is_told(tmp_path):
    assert "cannot be read" in theory.memory_peak(tmp_path / "none").source


ZEN3 = "vendor_id: AuthenticAMD\ncpu family: 25\nmodel: 1\ncpu MHz: 2450.0\nflags: fma avx2\n\nprocessor: 1\n"


def test_the_peak_of_a_core(tmp_path):
    found = theory.core_peak(ZEN3, tmp_path)
    assert found.value == pytest.approx(39.2) and "2.45 GHz" in found.source
    (tmp_path / "cpuinfo_max_freq").write_text("3500000\n")
    assert theory.core_peak(ZEN3, tmp_path).value == pytest.approx(56.0)
    unknown = theory.core_peak("vendor_id\t: Other\n", tmp_path)
    assert unknown.value is None and "--peak-gflops" in unknown.source


def test_numbers_of_threads():
    assert measurements.usual_threads(1) == [1]
    assert measurements.usual_threads(2) == [1, 2]
    assert measurements.usual_threads(12) == [1, 2, 4, 8, 12]


def test_memory_is_checked_before(monkeypatch):
    monkeypatch.setattr(measurements.host_memory, "free_memory", lambda: 10**6)
    with pytest.raises(BadInput, match=r"the run of HPCG must fit the 977 KiB of free memory \(got [\d.]+ [MG]iB\)"):
        measurements.hpcg(measurements.NodeMeasurement([1], 1), (16, 16, 16), "levels", 1)


def test_the_memory_of_a_run_covers_what_it_takes():
    """The estimate for 104^3 is that of its arrays: 12 bytes an entry, stored twice, and a level of an eighth each."""
    entries = 310**3
    assert 2 * 12 * entries * 8 / 7 < _node.hpcg_bytes(104, 104, 104) < 3 * 12 * entries * 8 / 7


def test_orderings_need_their_iterations():
    run = _node.Hpcg.make(16, 16, 16, 1)
    reference = run.run_reference()
    for ordering in measurements.ORDERINGS:
        found = measurements.converged(lambda work: work(), run, ordering, 1)
        assert found.reduction <= reference.reduction * 1.000001
    with pytest.raises(BadInput, match="levels or colours"):
        run.optimise("natural", 1)


def test_hpcg_says_which_phase_was_left_out():
    run = _node.Hpcg.make(16, 16, 16, 1)
    for early in (lambda: run.validate(1), lambda: run.converge(1), lambda: run.run_set(1), lambda: run.groups):
        with pytest.raises(Failed, match=r"no optimised system; call optimise\(\) first"):
            early()
