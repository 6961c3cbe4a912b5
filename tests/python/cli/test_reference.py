"""docs/reference/: the tables are made from the command, and the quick examples work."""

from __future__ import annotations

import platform
import re

import pytest

from kumihimo.cli import reference, verbs


@pytest.fixture(params=sorted(verbs.VERBS))
def verb(request) -> str:
    return request.param


@pytest.fixture
def page(repository, verb) -> str:
    return (repository / "docs" / "reference" / reference.page_of(verb)).read_text(encoding="utf-8")


def test_the_tables_are_up_to_date(page, verb):
    if verb == reference.KERNELS and platform.machine() != "x86_64":
        pytest.skip("other kernels are built for other processors")
    assert page == reference.updated(page, verb), f"docs/reference/{verb}.md is out of date; run scripts/document"


def test_every_option_has_a_row(verb):
    for name, command in reference.commands_of(verb):
        text = reference.section(name, command)
        for parameter in command.params:
            assert all(f"`{option}" in text for option in parameter.opts if option.startswith("--")), parameter.name


NEED_A_FILE = {
    "machine import topology.conf --like leonardo --name my-machine -o my-machine.toml",
    "machine import topology.conf --like reedbush-u -o my-cluster.toml",
    "machine import FILE --like NAME",
    "machine import /etc/slurm/topology.conf --like measured.toml -o my-cluster.toml",
    "machine import /etc/slurm/topology.conf --like leonardo -o cluster.toml",
    "machine measure --noise --out vm.toml --trace vm.noise",  # tested for themselves; they tell how far they are
    "machine measure --out node.toml",
    "machine calibrate fugaku measured.csv -o my-fugaku.toml",
    "machine calibrate fugaku bench/accuracy/fugaku.toml -o my-fugaku.toml",
}
QUICK = (
    "show",
    "machine",
    "verify allreduce --shape 4x3x2",
    "simulate allreduce --machine k-computer --shape 48x6x32 --bytes 1GiB",
)


def test_quick_examples_work(repository, kumihimo):
    pages = [path.read_text(encoding="utf-8") for path in sorted((repository / "docs").rglob("*.md"))]
    lines = [line.strip() for page in pages for line in re.findall(r"^    kumihimo (.*)$", page, re.MULTILINE)]
    quick = sorted({line.partition("#")[0].strip() for line in lines if line.startswith(QUICK)} - NEED_A_FILE)
    assert len(quick) >= 5
    for line in quick:
        ended = kumihimo(*line.split())
        assert (ended.code, ended.err) == (0, ""), line
