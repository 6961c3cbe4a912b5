"""Durations of the command line: one parser for all options."""

import click
import pytest

from kumihimo.cli import verbs
from kumihimo.cli.options import Duration
from kumihimo.text.durations import duration_text, parse_duration
from kumihimo.text.errors import BadInput


def test_units():
    texts = ("60", "60s", "1.5m", "2 min", "1h", " 0.5s ")
    assert [parse_duration(text, "--budget") for text in texts] == [60, 60, 90, 120, 3600, 0.5]
    short = [parse_duration(text, "--quantum") for text in ("10us", "2 ms", "500ns")]
    assert short == pytest.approx([1e-5, 2e-3, 5e-7])
    assert [parse_duration(text, "--node-mtbf") / 86400 for text in ("2d", "4y")] == [2, 1461]
    assert parse_duration("0", "--timeout", may_be_zero=True) == 0


def test_texts():
    texts = {1e-5: "10 us", 60: "60 s", 90: "90 s", 120: "2 min", 7199: "120 min", 7200: "2 h", 86400: "24 h"}
    texts |= {3 * 86400: "3 d", 5 * 365.25 * 86400: "5 y", 1e12: "31,688 y"}
    assert {seconds: duration_text(seconds) for seconds in texts} == texts


@pytest.mark.parametrize("text", ["", "s", "5x", "-1", "0", "0s", "nan", "inf", "1e3", "5m3s", "9" * 400])
def test_what_is_no_time(text):
    with pytest.raises(BadInput, match=r"^--budget must be a time such as 20us, 90s, 5m or 1h \(got '"):
        parse_duration(text, "--budget")


def test_every_time_of_the_command_line_is_read_by_it():
    times = [
        (verb, parameter)
        for verb in verbs.VERBS
        for parameter in verbs.load(verb).params
        if isinstance(parameter, click.Option) and parameter.metavar in ("TIME", "SECONDS")
    ]
    verbs_with_times = {
        "run",
        "binding",
        "tune",
        "tune kernel",
        "optimise",
        "app",
        "bench node",
        "bench pgas",
        "bench files",
        "place",
        "checkpoint",
        "simulate",
    }
    assert {verb for verb, _ in times} == verbs_with_times
    assert all(isinstance(parameter.type, Duration) for _, parameter in times)
