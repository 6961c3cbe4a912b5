"""How the verdicts of outside suites are read, and what of two of them is a difference (tests/suites)."""

from __future__ import annotations

import json
from pathlib import Path

import table
import verdicts
from verdicts import Verdicts

REPORT = """
Begin of PTRANS section.
WALL   500   500  40  40   1   2     0.01 PASSED    0.225  0.00
CPU    500   500  40  40   1   2     0.01 PASSED    0.125  0.00
End of PTRANS section.
Begin of MPIFFT section.
Inverse FFT:     0.007
max(|x-x0|): 1.511e-15
End of MPIFFT section.
Begin of HPL section.
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0062406 ...... PASSED
End of HPL section.
Begin of MPIRandomAccess section.
Found 0 errors in 524288 locations (passed).
Time spent: 4.2 s
End of MPIRandomAccess section.
"""


def test_reads_residuals_and_counts_of_errors_but_no_times() -> None:
    read = verdicts.of_hpcc(REPORT)
    assert len(read) == 4
    assert read["PTRANS, verdict 1"] == "500 500 40 40 1 2: PASSED, 0.00"
    assert read["MPIFFT, verdict 1"] == "error 1.511e-15"
    assert read["HPL, verdict 1"] == "PASSED, 0.0062406"
    assert read == verdicts.of_hpcc(REPORT.replace("0.01", "0.02").replace("0.225", "0.112").replace("4.2 s", "5 s"))


def test_another_residual_verdict_is_a_difference() -> None:
    for ours in (
        REPORT.replace("...... PASSED", "...... FAILED"),
        REPORT.replace("0.01 PASSED", "0.01 FAILED"),
        REPORT.replace("1.511e-15", "1.511e-3"),
        REPORT.replace("Found 0 errors", "Found 7 errors").replace("(passed)", "(failed)"),
        REPORT.partition("Begin of MPIRandomAccess")[0],
        "",
    ):
        alone, interposed = (Verdicts("0", verdicts.of_hpcc(text)) for text in (REPORT, ours))
        assert verdicts.differences(alone, interposed)
    assert verdicts.differences(alone, alone) == []


def test_the_last_word_on_a_test_counts(tmp_path: Path) -> None:
    lines = (["a", "unfinished", ""], ["a", "passed", ""], ["b", "unfinished", ""])
    (tmp_path / "rank1.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert verdicts.of_ranks(tmp_path) == {"a on rank 1": "passed", "b on rank 1": "unfinished"}


def row(*tried: tuple[Verdicts, Verdicts]) -> dict:
    tries = [{"alone": alone.written(), "interposed": ours.written()} for alone, ours in tried]
    about = {
        "suite": "mpi4py",
        "library": "openmpi 4.1.4",
        "ranks": 2,
        "part": "test_op",
        "date": "2026-01-01",
        "ours": "abc",
    }
    return {**about, "tries": tries}


def test_a_difference_that_does_not_come_back_is_told_apart() -> None:
    right, wrong = Verdicts("0", {"t on rank 0": "passed"}, 3, 4), Verdicts("0", {"t on rank 0": "failed"}, 3, 4)
    unlike, like = (right, wrong), (right, right)
    assert table.stays(row(unlike, unlike)) and not table.went(row(unlike, unlike))
    assert table.went(row(unlike, like)) and not table.stays(row(unlike, like))
    text = table.markdown([row(unlike, unlike)], [], "a machine", "all=ring")
    assert "- t on rank 0: passed without us, failed with us (openmpi 4.1.4 on 2)" in text
    assert "| mpi4py | openmpi 4.1.4 | 2 | 2026-01-01 | abc | 1 | 1 | 1 | 1 | 3 of 4 |" in text


def test_what_never_ends_with_us_alone_is_a_difference() -> None:
    ended, endless = Verdicts("0"), Verdicts(verdicts.NEVER_ENDED)
    assert verdicts.differences(ended, endless) == ["ended by 0 without us, by time limit with us"]
    assert list(table.late(row((endless, ended)))) == ["test_op without us"]


def test_what_the_time_limit_kept_from_being_said_is_not_compared() -> None:
    of = {"a on rank 0": "passed", "b on rank 0": "unfinished"}
    late, whole = Verdicts(verdicts.NEVER_ENDED, of), Verdicts("0", {**of, "b on rank 0": "passed"})
    assert verdicts.differences(late, whole) == []
    assert len(verdicts.differences(whole, late)) == 1
    assert verdicts.differences(late, Verdicts("0", {**whole.of, "a on rank 0": "failed"}))
    assert verdicts.differences(Verdicts("1", of), whole), "a process that ended before its tests did"
    assert list(table.late(row((late, late)))) == ["test_op without us, in b", "test_op with us, in b"]
    assert list(table.wrong_in_both(row((late, late)))) == []


def test_a_program_that_wrote_no_summary_had_no_calls_of_ours(tmp_path: Path) -> None:
    summary = tmp_path / "ran.json"
    assert verdicts.taken_over(summary) == (0, 0)
    calls = [{"algorithm": "ring", "calls": 3}, {"algorithm": "library", "calls": 2}]
    summary.write_text(json.dumps({"calls": calls, "forwarded": [{"calls": 5}]}), encoding="utf-8")
    assert verdicts.taken_over(summary) == (3, 8)
