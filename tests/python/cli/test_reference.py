"""docs/command.md: its reference is made from the command, and its examples work."""

from __future__ import annotations

import re

import pytest

from kumihimo.cli import reference, verbs


@pytest.fixture
def page(repository) -> str:
    return (repository / "docs" / "command.md").read_text(encoding="utf-8")


def test_the_reference_is_up_to_date(page):
    assert page == reference.updated(page), "docs/command.md is out of date; run scripts/document"


def test_it_names_every_verb():
    names = [name for name, _ in reference.every_verb()]
    assert {name.split()[0] for name in names} == set(verbs.VERBS)
    for name, command in reference.every_verb():
        text = reference.section(name, command)
        assert f"### {name}\n" in text
        for parameter in command.params:
            assert all(f"`{option}" in text for option in parameter.opts if option.startswith("--")), parameter.name


QUICK = (
    "show",
    "machine",
    "verify allreduce --shape 4x3x2",
    "simulate allreduce --machine k-computer --shape 48x6x32 --bytes 1GiB",
)


def test_its_quick_examples_work(page, kumihimo):
    lines = [line.strip() for line in re.findall(r"^    kumihimo (.*)$", page, re.MULTILINE)]
    quick = [line.partition("#")[0] for line in lines if line.startswith(QUICK)]
    assert len(quick) >= 5
    for line in quick:
        ended = kumihimo(*line.split())
        assert (ended.code, ended.err) == (0, ""), line
