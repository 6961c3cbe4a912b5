"""`kumihimo machine measure`: real runs, whose numbers are only looked at for sense, and wrong input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

from kumihimo.processes import mpi
from kumihimo.processes.visible import processes

needs_mpi = [pytest.mark.mpi, pytest.mark.skipif(not mpi.discover(), reason="no MPI library on this machine")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ranks", "1"], "messages need at least 2 ranks (got 1)"),
        (["--name", "a b"], "the name of a machine must have only letters"),
        (["--seconds", "1s"], "--seconds, --quantum and --trace are of --noise (got --seconds); add --noise"),
        (["--trace", "t"], "add --noise"),
        (["--noise", "--quantum", "100ns"], "--quantum must be from 1us to 1s (got 100 ns)"),
        (["--noise", "--seconds", "10us"], "--seconds must be from 1 ms to 671 s with this --quantum (got 10 us)"),
        (["--out", "no/such/folder/m.toml"], "--out must name a file that can be written"),
    ],
)
def test_wrong_input_is_found_before_anything_runs(kumihimo, words, said):
    ended = kumihimo("machine", "measure", *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


class TestMeasured:
    pytestmark = needs_mpi

    def test_two_ranks_with_noise(self, kumihimo, tmp_path):
        asked = ("--ranks", "2", "--out", "m.toml", "--noise", "--seconds", "200ms", "--trace", "m.noise", "--json")
        ended = kumihimo("machine", "measure", *asked)
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)
        fit = found["point_to_point"]
        assert [each["bytes"] for each in fit["sizes"]] == [2**i for i in range(23)]
        assert all(each["round_trip"] > 0 for each in fit["sizes"])
        assert fit["sizes"][0]["round_trip"] < fit["sizes"][-1]["round_trip"]
        assert fit["L"] >= 0 and fit["o"] >= 0 and fit["G"] > 0
        assert fit["S"] is None or 0 <= fit["S"] < 4 << 20
        assert all(0 <= each["share"] <= 1 for each in fit["overlap"])
        assert found["stream"]["bytes_per_second"] > 1e7
        noise = found["noise"]
        assert len(noise["ranks"]) == 2
        assert 0 <= noise["share_lost"] < 1
        assert noise["quantum_seconds"] > 1e-6
        assert found["file"] == "m.toml"
        shown = json.loads(kumihimo("machine", "show", "m.toml", "--json").out)
        assert shown["loggops"]["G_seconds"]["provenance"] == "measured"
        own = {(row["collective"], row["bytes"]): row for row in shown["library_collectives"]["rows"]}
        assert len(own) > 30 and all(row["seconds"] > 0 and row["ranks"] == 2 for row in own.values())
        assert own["allreduce", 2**21]["seconds"] > own["allreduce", 8]["seconds"]
        predicted = kumihimo("simulate", "allreduce", "-m", "m.toml", "-b", "8,1MiB", "-a", "ring", "--json")
        times = [each["seconds"] for each in json.loads(predicted.out)["results"]]
        assert 0 < times[0] < times[1]
        if found["trace"]:
            rows = [line.split() for line in (tmp_path / "m.noise").read_text().splitlines() if line[0] != "#"]
            assert len(rows) == noise["detours"]
            assert all(int(length) > 0 for _, length in rows)

    def test_oversubscribed_ranks_are_told(self, kumihimo):
        ranks = mpi.available_processors() + 1
        if ranks > 8:
            pytest.skip("too many processors to oversubscribe")
        ended = kumihimo("machine", "measure", "--ranks", str(ranks), "--out", "m.toml")
        assert ended.code == 0, ended.err
        assert f"{ranks} ranks share {ranks - 1} processors of a node" in ended.out
        assert "wrote m.toml; use it with --machine m.toml" in ended.out

    def test_the_processes_of_a_launcher_measure(self, tmp_path):
        """They start the bench driver once, so times of the library's collectives are left out."""
        installation = mpi.choose()
        command = [Path(sys.executable).parent / "kumihimo", "machine", "measure", "--out", "m.toml"]
        done = subprocess.run(
            [*installation.arguments(2), *command],
            env={**os.environ, **installation.environment(2)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "wrote m.toml" in done.stdout and "Collectives of" not in done.stdout
        text = (tmp_path / "m.toml").read_text(encoding="utf-8")
        assert "[loggops]" in text and "[library_collectives]" not in text

    def test_a_file_that_exists_is_kept(self, kumihimo, tmp_path):
        (tmp_path / "mine.toml").write_text("mine", encoding="utf-8")
        ended = kumihimo("machine", "measure", "--name", "mine")
        assert (ended.code, ended.out) == (2, "")
        assert "the file to write must not exist (got 'mine.toml'); give --out" in ended.err
        assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == "mine"

    def test_ctrl_c_leaves_nothing_running_and_no_file(self, tmp_path):
        command = [Path(sys.executable).parent / "kumihimo", "machine", "measure", "--noise", "--seconds", "60s"]
        words = [*command, "--ranks", "2", "--out", "m.toml"]
        options = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        with subprocess.Popen(words, cwd=tmp_path, **options) as started:
            for line in started.stderr:  # a line for each part
                if "noise" in line:
                    break
            os.kill(started.pid, signal.SIGINT)
            assert started.wait(timeout=60) != 0
        of_driver = "kumihimo-bench-driver"
        until(lambda: not [pid for pid in processes() if of_driver in command_line(pid, tmp_path)], "no driver is left")
        assert not (tmp_path / "m.toml").exists()


def command_line(process: int, folder: Path) -> str:
    """Of a process that began in this folder."""
    try:
        if Path(f"/proc/{process}/cwd").readlink() != folder:
            return ""
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
