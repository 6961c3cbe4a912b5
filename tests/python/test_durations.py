"""Durations of the command line: one parser for all options."""

import click
import pytest

from kumihimo.cli import verbs
from kumihimo.cli.options import Duration
from kumihimo.durations import parse_duration
from kumihimo.errors import BadInput


def test_units():
    texts = ("60", "60s", "1.5m", "2 min", "1h", " 0.5s ")
    assert [parse_duration(text, "--budget") for text in texts] == [60, 60, 90, 120, 3600, 0.5]
    short = [parse_duration(text, "--quantum") for text in ("10us", "2 ms", "500ns")]
    assert short == pytest.approx([1e-5, 2e-3, 5e-7])
    assert parse_duration("0", "--timeout", may_be_zero=True) == 0


@pytest.mark.parametrize("text", ["", "s", "5x", "-1", "0", "0s", "nan", "inf", "1e3", "5m3s", "9" * 400])
def test_what_is_no_time(text):
    with pytest.raises(BadInput, match=r"^--budget must be a time such as 60, 90s, 5m or 1h \(got '"):
        parse_duration(text, "--budget")


def test_every_time_of_the_command_line_is_read_by_it():
    times = [
        (verb, parameter)
        for verb in verbs.VERBS
        for parameter in verbs.load(verb).params
        if isinstance(parameter, click.Option) and parameter.metavar in ("TIME", "SECONDS")
    ]
    assert {verb for verb, _ in times} == {"run", "tune", "tune kernel", "optimise", "app", "bench node", "place"}
    assert all(isinstance(parameter.type, Duration) for _, parameter in times)
