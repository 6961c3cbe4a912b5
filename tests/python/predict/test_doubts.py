"""What packet and loggp leave out: where they are more than a fifth off the exact time, they say so, with a range."""

from __future__ import annotations

import json
import random
import re

import pytest

from kumihimo import cli

EAGER = "allgather -a ring -b 8 -s 3x2x2 --ranks-per-node 4"
RANGE = re.compile(r"up to (?:(\d+) times the exact time|(\d+) % too long), up to (\d+) % too short")
ALGORITHMS = {
    "allgather": ("ring", "bruck"),
    "allreduce": ("ring", "recursive_doubling", "binomial", "double_binary"),
    "alltoall": ("pairwise", "linear"),
    "bcast": ("binomial", "binomial_in_turn", "chain", "linear"),
    "gather": ("linear", "binomial"),
    "reduce": ("binomial", "linear"),
    "scatter": ("linear", "binomial"),
}
SCATTER = "scatter -a linear -b 1KiB -m hector-2a -s 4x4x4"
HALO = "halo:64x64x64 -m k-computer -s 4x4x3"
MACHINES = ("k-computer -s 3x2x2", "fugaku -s 3x2x2", "fugaku -s 3x2x2 --ranks-per-node 4", "fugaku -s 4x2x1")


@pytest.fixture
def simulate(capfd):
    def run(words: str) -> dict:
        code = cli.carry_out(["simulate", *words.split(), "--json"])
        out, error = capfd.readouterr()
        assert code == 0, error
        return json.loads(out)["results"][0]

    return run


def in_range(result: dict, exact: float) -> bool:
    """Whether the exact time is within a fifth, or where `accuracy` says."""
    error = result["seconds"] / exact - 1
    if not result["accuracy"]:
        return abs(error) <= 0.2
    times, too_long, too_short = RANGE.search(result["accuracy"]).groups()
    longest = int(times) - 1 if times else int(too_long) / 100
    return -int(too_short) / 100 - 0.01 <= error <= longest + 0.01


def test_packet_knows_eager_messages(simulate, repository, tmp_path):
    exact, packet = (simulate(f"{EAGER} -m fugaku --model {model}") for model in ("exact", "packet"))
    assert packet["seconds"] == pytest.approx(exact["seconds"], rel=0.1)
    text = (repository / "machines" / "fugaku.toml").read_text(encoding="utf-8")
    alike = re.sub(r"(?m)^(eager_|rendezvous).*\n", "", text)
    (tmp_path / "alike.toml").write_text(alike, encoding="utf-8")
    slower = [
        simulate(f"{EAGER} -m {tmp_path / 'alike.toml'} --model {model}")["seconds"] for model in ("exact", "packet")
    ]
    assert slower[1] == pytest.approx(slower[0], rel=0.1) and slower[0] > 1.5 * exact["seconds"]


def drawn(number: int) -> list[str]:
    draw = random.Random(5)
    cases = []
    for _ in range(number):
        collective = draw.choice(sorted(ALGORITHMS))
        algorithm = draw.choice(ALGORITHMS[collective])
        cases.append(f"{collective} -a {algorithm} -b {8 << draw.randrange(14)} -m {draw.choice(MACHINES)}")
    return cases


@pytest.mark.parametrize("case", [*drawn(30), SCATTER])
def test_random_cases_are_within_a_fifth_or_in_their_range(simulate, case):
    exact = simulate(f"{case} --model exact")["seconds"]
    for model in ("packet", "loggp"):
        result = simulate(f"{case} --model {model}")
        assert in_range(result, exact), (model, exact, result["seconds"], result["accuracy"])


def test_programs_have_doubts_as_collectives_have(simulate):
    exact = simulate(f"{HALO} --model exact")["seconds"]
    results = [simulate(f"{HALO} --model {model}") for model in ("packet", "loggp")]
    assert all(in_range(result, exact) for result in results)
    assert any(result["accuracy"] for result in results)


def test_parameters_of_the_user_are_not_doubted(simulate):
    line = f"{SCATTER} --model loggp"
    assert "flow says" in simulate(line)["accuracy"]
    assert "flow says" not in simulate(f"{line} --loggops g=5000")["accuracy"]


def test_a_doubt_is_in_the_text(capfd):
    for subject in (SCATTER, HALO):
        assert cli.carry_out(f"simulate {subject} --model loggp".split()) == 0
        out = capfd.readouterr().out
        assert "May be more than 20 % off:" in out and RANGE.search(" ".join(out.split()))


@pytest.mark.parametrize("model", ["loggp", "packet"])
def test_programs_that_only_flow_refuses_are_predicted(simulate, tmp_path, model):
    """Both send first, which deadlocks where a send waits for its receive."""
    file = tmp_path / "head-to-head.txt"
    file.write_text("ranks 2\nbuffer 4\nrank 0\nsend 1 0 1\nreceive 1 1 1\nrank 1\nsend 0 0 1\nreceive 0 1 1\n")
    assert simulate(f"file:{file} -m fugaku -s 2 --model {model}")["seconds"] > 0
