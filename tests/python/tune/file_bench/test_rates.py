"""Whose rate it is, the forms of other tools, and room on the file system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kumihimo.text.errors import BadInput
from kumihimo.tune.file_bench import cases, forms, io500, rates, space
from kumihimo.tune.file_bench.cases import DataSet, FileSteps, ItemSet
from kumihimo.tune.file_bench.job import FileRun

READ = {"do": "read", "cached_share": 0.0}
WRITE = {"do": "write", "synced": True}


@pytest.mark.parametrize(
    "result, data, in_memory, source, why",
    [
        (READ, {}, False, "storage", "not in the page cache"),
        ({**READ, "cached_share": 0.009}, {}, False, "storage", "not in the page cache"),
        ({**READ, "cached_share": 0.01}, {}, False, "memory", "1 % in the page cache"),
        ({**READ, "cached_share": 1.0}, {"cache": "evict"}, False, "memory", "100 % in the page cache"),
        ({**READ, "cached_share": 1.0}, {"cache": "direct"}, False, "storage", "O_DIRECT"),
        (READ, {"cache": "direct"}, True, "memory", "the file system is in memory"),
        (WRITE, {}, False, "storage", "fsync in the time"),
        ({**WRITE, "synced": False}, {}, False, "memory", "no fsync in the time"),
        ({**WRITE, "synced": False}, {"cache": "direct"}, False, "storage", "O_DIRECT"),
        (WRITE, {}, True, "memory", "the file system is in memory"),
    ],
)
def test_whose_rate(result, data, in_memory, source, why):
    assert rates.source_of(result, DataSet("a", **data), in_memory) == (source, why)


def timed(word: str, seconds: float, **more: object) -> dict:
    parts = {"open_seconds": 0.001, "transfer_seconds": seconds - 0.002, "close_seconds": 0.001}
    return {
        "do": word,
        "bytes": 32 << 20,
        "transfers": 32,
        "seconds": seconds,
        "latency_seconds": 0.01,
        **parts,
        **more,
    }


def run_of(*results: dict, **more: object) -> FileRun:
    about = {"ranks": 2, "nodes": ["a"], "node_of_rank": [0, 0], "mpi": "an MPI"}
    return FileRun(about=about, results=list(results), **more)


DATA = DataSet("a", transfer=1 << 20, block=16 << 20)
STEPS = FileSteps((DATA,), (), tuple({"do": word, "data": "a"} for word in ("write", "read", "write", "read")))


def test_lines_of_ior():
    """The line of the tool itself, of a run with these times."""
    run = run_of(
        timed("write", 0.02, synced=True),
        timed("read", 0.5, cached_share=0.0, shift=1),
        timed("write", 0.04, synced=True),
        timed("read", 0.25, cached_share=0.0, shift=1),
    )
    text = forms.ior(STEPS, run)
    (line,) = [line for line in text.splitlines() if line.endswith(" 0   ") and line.startswith("write")]
    assert line == (
        "write     1600.00    1777.78    0.010000    16384      1024.00    "
        "0.001000   0.018000   0.001000   0.020000   0   "
    )
    head, first, second = text.splitlines()[-3:]
    assert head == forms.IOR_SUMMARY_HEAD
    assert " ".join(first.split()[:10]) == "write" + 2 * " 1600.00 800.00 1200.00 400.00" + " 0.03000"
    assert second.split()[0] == "read" and second.split()[-3:] == ["32.0", "POSIX", "0"]
    assert len(head.split()) == len(first.split()), "a column for each name"
    assert first.index("NA") > head.index("Mean(s)")


def test_a_cached_read_is_no_line_of_ior():
    run = run_of(
        timed("write", 0.02, synced=True),
        timed("read", 0.5, cached_share=0.0, shift=1),
        timed("write", 0.04, synced=True),
        timed("read", 0.001, cached_share=0.4, shift=1),
    )
    text = forms.ior(STEPS, run)
    assert "WARNING: read 1 at 32000.00 MiB/s is the memory's rate, not the file system's: 40 %" in text
    assert len(re.findall(r"^read ", text, re.MULTILINE)) == 1, "none in the summary either"
    assert rates.data_rows(STEPS, run)[1]["source"] == "memory", "one cached iteration is enough"


@pytest.mark.parametrize(
    "number, text", [(0.5, "0.500000  "), (35.064, "35.06     "), (3599.0, "3599.00   "), (34557.2, "34557     ")]
)
def test_numbers_of_ior(number, text):
    assert forms.padded(number) == text


def test_lines_of_mdtest():
    items = ItemSet("m", per_rank=200, one_folder=True)
    steps = tuple({"do": word, "items": "m"} for word in ("plant", *items.operations, "clear")) * 2
    results = [{"do": step["do"], "items": 400, "seconds": 0.1 if i < 7 else 0.2} for i, step in enumerate(steps)]
    text = forms.mdtest(FileSteps((), (items,), steps), run_of(*results))
    assert "SUMMARY rate (in ops/sec): (of 2 iterations)" in text
    (line,) = [line for line in text.splitlines() if "File creation" in line]
    assert line == "   File creation                4000.000       2000.000       3000.000       1414.214"
    names = [line.strip()[:20].strip() for line in text.splitlines() if re.match(r"   [A-Z].*\d$", line)]
    assert names == ["File creation", "File stat", "File read", "File removal", "Tree creation", "Tree removal"]
    assert "2 tasks, 400 files/directories" in text


def test_lines_of_io500():
    amounts = io500.amounts(space.FreeSpace(10**12, 10**6, 10**12, 10**6), 2)
    asked = io500.steps(amounts, 1.0, "evict", 1)
    results = []
    for step in asked.steps:
        more = {"synced": True} if step["do"] == "write" else {"cached_share": 0.0} if step["do"] == "read" else {}
        results.append({"bytes": 4 << 30, "items": 4000, "seconds": 2.0, "do": step["do"], **more})
    found = io500.scores(asked, run_of(*results))
    assert [each.name for each in found] == [name for name, *_ in io500.PHASES]
    text = io500.form(found)
    assert "[RESULT-invalid]       ior-easy-write        2.000000 GiB/s : time 2.000 seconds\n" in text
    assert "[RESULT]     mdtest-hard-read        2.000000 kIOPS : time 2.000 seconds\n" in text
    assert text.endswith("[SCORE ] Bandwidth 2.000000 GiB/s : IOPS 2.000000 kiops : TOTAL 2.000000 [INVALID]\n")
    assert "not a valid score" in text.splitlines()[0]


def test_a_cached_phase_of_io500_does_not_count():
    asked = io500.steps(io500.amounts(space.FreeSpace(10**12, 0, 10**12, 0), 1), 1.0, "keep", 1)
    results = [
        {"bytes": 1 << 30, "items": 1000, "seconds": 1.0, "do": s["do"], "synced": True, "cached_share": 1.0}
        for s in asked.steps
    ]
    found = io500.scores(asked, run_of(*results))
    assert {each.name for each in found if each.note} == {"ior-easy-read", "ior-hard-read"}
    assert "[      ]        ior-easy-read" in io500.form(found)


def test_amounts_leave_room():
    for ranks in (1, 7, 1000):
        free = space.FreeSpace(10**10, 10**5, 10**12, 10**6)
        amounts = io500.amounts(free, ranks)
        size = amounts.easy_block + amounts.hard_segments * io500.HARD_TRANSFER
        size += 4096 * (amounts.easy_items + amounts.hard_items)
        assert size * ranks < 0.7 * free.bytes
        assert (amounts.easy_items + amounts.hard_items) * ranks <= max(0.5 * free.names, 2 * ranks)


def test_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(space, "free_space", lambda folder: space.FreeSpace(1000, 100, 10_000, 1000))
    space.check_room(tmp_path, 900, 90, "")
    with pytest.raises(BadInput, match="must fit in 900 B, 90% of the free space"):
        space.check_room(tmp_path, 901, 1, "")
    with pytest.raises(BadInput, match=r"at most 90 files .* \(got 91\)"):
        space.check_room(tmp_path, 1, 91, "")
    monkeypatch.setattr(space, "free_space", lambda folder: space.FreeSpace(1000, 0, 10_000, 0))
    space.check_room(tmp_path, 1, 10**9, "")  # a file system that does not count files


def test_bytes_on_the_disk():
    assert DATA.bytes(3) == 48 << 20
    assert ItemSet("m", per_rank=10, bytes_each=1).bytes(2) == 20 * 4096
    asked = cases.measured_by_turns((DATA,), (ItemSet("m", per_rank=10),), 2, 4 << 20)
    assert asked.bytes(2) == 32 << 20 and asked.names(2) == 20 + 6
    assert [step["do"] for step in asked.steps].count("write") == 2
