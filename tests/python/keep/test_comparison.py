"""Results side by side: which rows match, and what is found slower on a noisy machine."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from kumihimo.keep import comparison, observed
from kumihimo.keep.comparison import FASTER, SAME, SLOWER, UNKNOWN
from kumihimo.text.errors import BadInput

TRIALS = 200


def results(seconds: float, source: random.Random | None = None, runs: int = 10, noise: float = 0.02) -> dict:
    times = [seconds * math.exp(source.gauss(0, noise)) if source else seconds for _ in range(runs)]
    row = {"variant": "simd", "parameters": {}, "ranks": 2, "threads": 1, "seconds": times[0], "seconds_of_runs": times}
    return {"application": "himeno", "size": "S", "results": [row]}


def verdict(first: dict, other: dict) -> str:
    (found,) = comparison.compared(observed.rows_of(first), observed.rows_of(other)).figures
    return found.verdict


def rate(wanted: str, factor: float) -> float:
    source = random.Random(1)
    found = [verdict(results(1.0, source), results(factor, source)) for _ in range(TRIALS)]
    return found.count(wanted) / TRIALS


def test_a_regression_is_found_and_equal_results_raise_no_alarm() -> None:
    assert rate(SLOWER, 1.1) >= 0.95
    assert rate(FASTER, 1 / 1.1) >= 0.95
    assert rate(SLOWER, 1.0) <= 0.01 and rate(FASTER, 1.0) <= 0.01


def test_without_noise_and_without_runs() -> None:
    assert verdict(results(1.0), results(1.0)) == SAME
    assert verdict(results(1.0), results(1.03)) == SLOWER
    assert verdict(results(1.0, runs=1), results(1.5, runs=1)) == UNKNOWN
    assert verdict(results(1.0, runs=1), results(3.0, runs=1)) == SLOWER


def test_more_of_a_rate_is_faster() -> None:
    def stream(rate: float) -> dict:
        figure = {"median": rate, "low": 0.999 * rate, "high": 1.001 * rate}
        return {"stream": {"results": [{"threads": 2, "kernel": "triad", "bytes_per_second": figure}]}}

    assert verdict(stream(1e10), stream(2e10)) == FASTER
    assert verdict(stream(1e10), stream(0.8e10)) == SLOWER


@pytest.mark.parametrize("seed", range(20))
def test_turned_around_slower_is_faster(seed: int) -> None:
    source = random.Random(seed)
    first, other = (results(source.uniform(0.9, 1.1), source) for _ in range(2))
    opposite = {SLOWER: FASTER, FASTER: SLOWER, SAME: SAME, UNKNOWN: UNKNOWN}
    assert verdict(other, first) == opposite[verdict(first, other)]


def test_rows_match_by_their_keys() -> None:
    def simulated(machine: str, *sizes: int) -> dict:
        rows = [
            {"collective": "allreduce", "algorithm": "ring", "machine": machine, "bytes": n, "seconds": 1e-6 * n}
            for n in sizes
        ]
        return {"results": rows, "not_applicable": [], "wall_seconds": 1.0}

    k, fugaku = simulated("k", 8, 16), simulated("fugaku", 16, 32)
    with pytest.raises(BadInput, match="--without machine"):
        comparison.compared(observed.rows_of(k), observed.rows_of(fugaku))
    found = comparison.compared(observed.rows_of(k, ["machine"]), observed.rows_of(fugaku, ["machine"]))
    assert [each.key for each in found.figures] == ["allreduce ring 16 B"]
    assert (found.only_first, found.only_other) == (["allreduce ring 8 B"], ["allreduce ring 32 B"])


@pytest.mark.parametrize(
    ("text", "word"),
    [("", "no JSON"), ("[]", "no object"), ("{}", "a time or a rate"), ('{"results": [{"a": 1}]}', "a time or a rate")],
)
def test_other_files_are_one_sentence(tmp_path: Path, text: str, word: str) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=word):
        observed.rows_in(tmp_path / "file")


def test_whatever_a_file_has_it_is_one_sentence(tmp_path: Path) -> None:
    """Each value of good results changed in turn."""
    path = tmp_path / "file"
    good = results(1.0)
    for other in (None, [], {}, "x", -1, [None], [{}], [{"seconds": {}}]):
        for key in ("application", "results"):
            path.write_text(json.dumps({**good, key: other}), encoding="utf-8")
            refused(path)
        for key in good["results"][0]:
            path.write_text(json.dumps({**good, "results": [{**good["results"][0], key: other}]}), encoding="utf-8")
            refused(path)


def refused(path: Path) -> None:
    try:
        rows = observed.rows_in(path)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        assert all(figure.estimate().value is not None for row in rows for figure in row.figures.values())


def test_predictions_have_no_noise() -> None:
    def predicted(seconds: float) -> dict:
        told = {"largest_loss": f"latency {seconds}", "accuracy": f"at most {seconds} too long"}
        return {"results": [{"model": "flow", "programs": "a", **told, "seconds": seconds}]}

    assert verdict(predicted(1.0), predicted(1.0)) == SAME
    assert verdict(predicted(1.0), predicted(1.05)) == SLOWER
    assert verdict(predicted(1.05), predicted(1.0)) == FASTER
    assert verdict(predicted(1.0), predicted(1.01)) == SAME
