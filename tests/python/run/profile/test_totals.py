"""Profiles summed up: by hand for two ranks, and against a plain sum for many."""

import json
import random
from pathlib import Path

import pytest

from kumihimo.run.profile import mpip, reading, summary, totals
from kumihimo.text.errors import BadInput

HEADER = {"kumihimo_profile": 1, "version": "0", "mpi": "an MPI", "ranks": 2, "sync": False, "counters_reason": None}


def call(name="MPI_Allreduce", site=0, communicator=0, calls=1, size=8, seconds=1.0, **more):
    row = {"call": name, "site": site, "communicator": communicator, "calls": calls, "bytes": size, "seconds": seconds}
    return row | {"min_seconds": seconds / calls, "max_seconds": seconds / calls} | more


def rank(number, calls, **more):
    return {
        "rank": number,
        "host": "here",
        "finalized": True,
        "seconds": 10.0,
        "mpi_seconds": sum(c["seconds"] for c in calls),
        "calls": calls,
        "communicators": [
            {"name": "MPI_COMM_WORLD", "site": None, "size": 2, "inter": False, "leader": 0},
            {"name": "MPI_Comm_split", "site": 1, "size": 1, "inter": False, "leader": number},
        ],
        "sites": [
            {"file": "/a/solver.py", "line": 3, "function": "solve"},
            {"file": "m.py", "line": 9, "function": "m"},
        ],
        "sizes": {},
        "partners": [],
        "regions": [],
    } | more


def written(folder: Path, *ranks: dict, header: dict = HEADER) -> Path:
    path = folder / "profile"
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *ranks)), encoding="utf-8")
    return path


def test_the_time_of_completion_is_told_with_waiting_if_it_is_known(tmp_path: Path) -> None:
    begun = {"completion_seconds": 2.0, "overlap_seconds": 3.0}
    known = call("MPI_Ibcast", seconds=0.1, completion_waiting_seconds=0.5, **begun)
    found = totals.of(written(tmp_path, rank(0, [known, call("MPI_Iscan", seconds=0.2, **begun), call(seconds=1.0)])))
    assert [calls.call for calls in found.by_time()][:2] == ["MPI_Iscan", "MPI_Ibcast"], "the most time first"
    text = "\n".join(summary.lines(found))
    assert "; completed in 2 s, 25 % waiting" in text
    assert "; completed in 2 s\n" in text
    unknown, divided, plain = summary.as_object(found)["calls"]
    assert (divided["completion_waiting_seconds"], unknown["completion_waiting_seconds"]) == (0.5, None)
    assert divided["overlap_seconds"] == 3.0 and "completion_seconds" not in plain


def test_adds_up_the_errors_of_estimated_times(tmp_path: Path) -> None:
    sampled = {"timed_calls": 70, "seconds_error": 0.3}
    path = written(
        tmp_path,
        rank(0, [call("MPI_Put", calls=1000, seconds=6.0, **sampled)]),
        rank(1, [call("MPI_Put", calls=1000, seconds=4.0, timed_calls=80, seconds_error=0.4)]),
        rank(2, [call("MPI_Get", calls=5, seconds=1.0)]),
    )
    found = totals.of(path)
    put, get = found.by_time()
    assert (put.timed_calls, put.seconds_error) == (150, pytest.approx(0.5))
    assert (get.timed_calls, get.seconds_error) == (5, 0.0)
    text = "\n".join(summary.lines(found))
    assert "10 s of 2 ranks (33 %), estimated ± 5.0 %" in text
    assert text.count("estimated") == 1
    assert summary.as_object(found)["calls"][0]["seconds_error"] == pytest.approx(0.5)


def test_adds_up_ranks_and_tells_imbalance(tmp_path: Path) -> None:
    split = {"split_calls": 2, "split_seconds": 4.0, "waiting_seconds": 3.0, "transferring_seconds": 1.0}
    path = written(
        tmp_path,
        rank(1, [call(calls=2, seconds=4.0, **split)], sizes={"MPI_Allreduce": [[8, 2]]}, partners=[[0, 3, 30, 0, 0]]),
        rank(0, [call(seconds=1.0)], sizes={"MPI_Allreduce": [[8, 1]]}, partners=[[1, 1, 99, 2, 7]]),
    )
    found = totals.of(path)
    (calls,) = found.calls.values()
    assert (calls.calls, calls.bytes, calls.ranks, calls.seconds) == (3, 16, 2, 5.0)
    assert (calls.most_rank, calls.mean_seconds, calls.imbalance_seconds) == (1, 2.5, 1.5)
    assert calls.imbalance_share == pytest.approx(1.5 / 4 * 2)
    assert (calls.waiting_seconds, calls.transferring_seconds, calls.split_calls) == (3.0, 1.0, 2)
    assert str(calls.place) == "solver.py:3 (solve)"
    assert found.sizes == {"MPI_Allreduce": {8: 3}}
    assert found.largest_pairs(9) == [(99, 1, 0, 1, 0), (30, 3, 1, 0, 0), (7, 2, 0, 1, 1)]
    assert [task[0] for task in found.tasks] == [0, 1]


def test_one_rank_with_all_of_the_time_is_the_whole_imbalance(tmp_path: Path) -> None:
    path = written(tmp_path, rank(0, [call(seconds=6.0)]), rank(1, [call(seconds=0.0)]))
    (calls,) = totals.of(path).calls.values()
    assert calls.imbalance_share == pytest.approx(1.0)


def test_threads_of_a_rank_are_one_rank(tmp_path: Path) -> None:
    path = written(tmp_path, rank(0, [call(seconds=2.0), call(seconds=2.0)]), rank(1, [call(seconds=4.0)]))
    (calls,) = totals.of(path).calls.values()
    assert (calls.ranks, calls.calls, calls.imbalance_share) == (2, 3, 0.0)


def test_like_communicators_are_one_and_others_are_not(tmp_path: Path) -> None:
    rows = [call(communicator=0), call(communicator=1), call(communicator=None, name="MPI_Wait")]
    found = totals.of(written(tmp_path, rank(0, rows), rank(1, rows)))
    assert {(c.call, c.communicator, c.calls) for c in found.calls.values()} == {
        ("MPI_Allreduce", "MPI_COMM_WORLD", 2),
        ("MPI_Allreduce", "MPI_Comm_split at m.py:9 (m), 1 rank", 2),
        ("MPI_Wait", "", 2),
    }


def test_sums_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    rng = random.Random(3)
    ranks, plain = [], {}
    for number in range(40):
        rows = []
        for name in rng.sample(["MPI_Send", "MPI_Recv", "MPI_Bcast"], 2):
            rows.append(call(name, calls=rng.randint(1, 9), size=rng.randint(0, 999), seconds=rng.random()))
            known = plain.setdefault(name, [0, 0, []])
            known[0] += rows[-1]["calls"]
            known[1] += rows[-1]["bytes"]
            known[2].append(rows[-1]["seconds"])
        ranks.append(rank(number, rows))
    found = totals.of(written(tmp_path, *ranks))
    for calls in found.calls.values():
        number, size, seconds = plain[calls.call]
        assert (calls.calls, calls.bytes, calls.ranks) == (number, size, len(seconds))
        mean = sum(seconds) / len(seconds)
        assert calls.mean_seconds == pytest.approx(mean)
        assert calls.most_seconds == max(seconds)
        assert calls.variation == pytest.approx((sum((s - mean) ** 2 for s in seconds) / len(seconds)) ** 0.5 / mean)


def test_only_the_largest_pairs_are_kept(tmp_path: Path) -> None:
    partners = [[other, 1, other, 0, 0] for other in range(2 * totals.MOST_PAIRS)]
    found = totals.of(written(tmp_path, rank(0, [], partners=partners)))
    assert len(found.pairs) == totals.MOST_PAIRS
    assert min(found.pairs)[0] == totals.MOST_PAIRS
    assert found.traffic["messages"] == 2 * totals.MOST_PAIRS


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("{}\n", "line 1 .* the value has no 'kumihimo_profile'"),
        ('{"kumihimo_profile": 2}\n', "kumihimo_profile is 2, not 1, the format that"),
        (json.dumps(HEADER) + '\n{"rank": 0', "line 2"),
        (json.dumps(HEADER) + "\n[]\n", "line 2 .* the value is a list without members, not an object"),
    ],
)
def test_what_is_no_profile_is_refused_in_a_sentence(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "profile"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=word):
        totals.of(path)


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        totals.of(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not UTF-8 text"):
        totals.of(tmp_path / "binary")


class TestParts:
    """Of ranks that did not end MPI."""

    def part(self, folder: Path, number: int, whole: bool = True) -> None:
        lines = [json.dumps(HEADER) + "\n", json.dumps(rank(number, [call()], finalized=False)) + "\n"]
        text = "".join(lines)
        (folder / f"profile.rank{number}").write_text(text if whole else text[:-9], encoding="utf-8")

    def test_make_a_profile_of_those_that_are_whole(self, tmp_path: Path) -> None:
        recording = reading.ProfileRecording(tmp_path / "profile")
        for number in (10, 2):
            self.part(tmp_path, number)
        self.part(tmp_path, 3, whole=False)
        assert recording.gather()
        found = totals.of(tmp_path / "profile")
        assert found.unfinished == [2, 10]
        assert [p.name for p in tmp_path.iterdir()] == ["profile"]

    def test_none_is_no_profile(self, tmp_path: Path) -> None:
        assert not reading.ProfileRecording(tmp_path / "profile").gather()

    def test_of_an_earlier_run_are_forgotten(self, tmp_path: Path) -> None:
        self.part(tmp_path, 1)
        recording = reading.ProfileRecording(tmp_path / "profile")
        self.part(tmp_path, 2)
        assert recording.gather()
        assert totals.of(tmp_path / "profile").unfinished == [2]
        assert [p.name for p in tmp_path.iterdir()] == ["profile"]


class TestSummary:
    def test_says_what_is_missing(self, tmp_path: Path) -> None:
        path = written(
            tmp_path, rank(0, [call()], finalized=False), header=HEADER | {"ranks": 4, "counters_reason": "no"}
        )
        lines = summary.lines(totals.of(path))
        assert any("1 of 4 ranks did not call MPI_Finalize" in line for line in lines)
        assert any("3 of 4 ranks wrote nothing" in line for line in lines)
        assert sum("no hardware counters" in line for line in lines) == 1
        assert any("not separated" in line for line in lines)

    def test_names_the_sizes_to_tune_for(self, tmp_path: Path) -> None:
        sizes = {"MPI_Bcast": [[0, 1], [4096, 7]], "MPI_Barrier": [[0, 90]], "MPI_Scan": [[1, 2]]}
        sizes["MPI_Alltoall"] = [[2**k, 1 + k] for k in range(9)]
        lines = summary.lines(totals.of(written(tmp_path, rank(0, [call()], sizes=sizes))))
        assert [line for line in lines if line.startswith("sizes of")] == [
            "sizes of MPI_Alltoall: 4 calls from 8 B to under 16 B, 5 calls from 16 B to under 32 B, 6 calls from 32 B "
            "to under 64 B, 7 calls from 64 B to under 128 B, 8 calls from 128 B to under 256 B, 9 calls "
            "from 256 B to under 512 B, 3 more size classes",
            "sizes of MPI_Bcast: 1 call of 0 bytes, 7 calls from 4KiB to under 8KiB",
        ]

    def test_states_the_share_of_calls_that_were_split(self, tmp_path: Path) -> None:
        split = {"split_calls": 5, "split_seconds": 4.0, "waiting_seconds": 3.0, "transferring_seconds": 1.0}
        (line,) = [
            line
            for line in summary.lines(totals.of(written(tmp_path, rank(0, [call(calls=20, **split)]))))
            if line.startswith("blocking")
        ]
        assert "75 % waiting" in line and "25 % transferring" in line and "25 % of the calls" in line

    def test_the_share_is_of_all_blocking_collectives(self, tmp_path: Path) -> None:
        """Those from places of which none was looked at, too; other calls have no part in it."""
        looked_at = {"split_calls": 256, "split_seconds": 1.0, "waiting_seconds": 0.9, "transferring_seconds": 0.1}
        rows = [
            call(calls=256, **looked_at),
            call("MPI_Bcast", site=1, calls=256 * 99, seconds=1000.0, split_calls=0),
            call("MPI_Send", site=1, calls=10**6),
        ]
        lines = summary.lines(totals.of(written(tmp_path, rank(0, rows))))
        (line,) = [line for line in lines if line.startswith("blocking")]
        assert line.endswith("from 1.0 % of the calls"), line

    def test_says_which_threads_were_left_out(self, tmp_path: Path) -> None:
        found = totals.of(written(tmp_path, rank(0, [call()], threads_left_out=2), rank(1, [call()])))
        assert any(line.startswith("2 threads are missing") for line in summary.notes(found))

    @pytest.mark.parametrize(
        ("size", "text"),
        [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**30, "1 GiB"), (1000 * 2**20, "1000 MiB")],
    )
    def test_bytes(self, size: int, text: str) -> None:
        assert summary.bytes_text(size) == text

    def test_the_object_has_what_the_lines_say(self, tmp_path: Path) -> None:
        found = summary.as_object(totals.of(written(tmp_path, rank(0, [call()]), rank(1, [call(seconds=3.0)]))))
        json.dumps(found, allow_nan=False)
        (row,) = found["calls"]
        assert (row["place"], row["imbalance_share"]) == ("solver.py:3 (solve)", pytest.approx(2 / 3))
        assert row["waiting_seconds"] is None


def test_report_in_the_form_of_mpip(tmp_path: Path) -> None:
    rows = [call(communicator=0, size=100), call(communicator=1, size=20), call("MPI_Recv", size=50, seconds=0.5)]
    text = mpip.text(totals.of(written(tmp_path, rank(0, rows), rank(1, rows))), "mpirun -n 2 ./a")
    assert text.startswith("@ mpiP\n@ Command : mpirun -n 2 ./a\n")
    assert "@--- Callsites: 2 ---" in text
    sent = text.split("Aggregate Sent Message Size")[1]
    assert [line.split()[:4] for line in sent.splitlines()[3:4]] == [["Allreduce", "1", "4", "240"]]
    times = [line.split() for line in text.splitlines() if line.startswith(("   0 ", "   * "))]
    table = [line.split() for line in text.split("Aggregate Time")[1].splitlines()[2:5]]
    assert table[0] == ["Call", "Site", "Time", "App%", "MPI%", "Count", "COV"]
    assert table[1:] == [
        ["Allreduce", "1", "4e+03", "20.00", "80.00", "4", "0.00"],
        ["Recv", "2", "1e+03", "5.00", "20.00", "2", "0.00"],
    ]
    assert times == [["0", "10", "2.5", "25.00"], ["*", "20", "5", "25.00"]]


def test_more_time_in_mpi_than_there_was_is_that_of_threads(tmp_path: Path) -> None:
    one, many = rank(0, [call(seconds=5.0)]), rank(1, [call(seconds=32.0)], threads=4)
    first = summary.lines(totals.of(written(tmp_path, one, many)))[0]
    assert first.endswith("of it in MPI, summed over 4 threads of a rank")
    assert summary.lines(totals.of(written(tmp_path, one)))[0].endswith("of it in MPI")


def test_report_in_the_form_of_mpip_sums_all_ranks_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many call sites there are."""
    asked = 0

    def sum_of_ranks(self: totals.Totals) -> float:
        nonlocal asked
        asked += 1
        return 1.0

    monkeypatch.setattr(totals.Totals, "seconds", property(sum_of_ranks))
    monkeypatch.setattr(totals.Totals, "mpi_seconds", property(sum_of_ranks))
    many = totals.Totals(HEADER)
    for line in range(300):
        known = totals.Calls(
            "MPI_Send", totals.call_sites.CallPlace("f.c", line, "f"), "", calls=1, seconds=1.0, ranks=1
        )
        many.calls[line] = known
    text = mpip.text(many, "./a")
    assert text.split("Aggregate Time")[1].split("@---")[0].count("Send") == mpip.TOP
    assert asked <= 6
