"""The manual pages: made from the help of the command, whole, and without warnings of groff."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

from kumihimo.cli import manual, verbs
from kumihimo.cli.reference import commands_of


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return manual.pages()


def test_the_pages_are_up_to_date(repository, pages):
    folder = repository / "docs" / "man" / "man1"
    written = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.1")}
    assert written == pages, "run scripts/document"


def test_every_verb_is_in_one_group_and_has_a_page(pages):
    assert len(set(verbs.VERBS)) == len(verbs.VERBS)
    assert pages.keys() == {"kumihimo.1", *(f"{manual.name_of(verb)}.1" for verb in verbs.VERBS)}
    for verb in verbs.VERBS:
        assert manual.escaped(verbs.summary(verb)) in pages["kumihimo.1"]


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_a_page_has_every_option(pages, verb):
    page = pages[f"{manual.name_of(verb)}.1"]
    for _, command in commands_of(verb):
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert all(manual.escaped(option) in page for option in parameter.opts), parameter.name


def test_no_line_is_a_request_by_chance():
    assert manual.escaped(".so x\n'y\na-b\\n") == "\\&.so x\n\\&'y\na\\-b\\en"


def test_groff_finds_nothing_wrong(pages):
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("no groff here")
    for name, text in pages.items():
        done = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww", "-z"], input=text.encode(), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), name


def test_a_page_is_read_as_the_help(pages):
    man = shutil.which("groff")
    if man is None:
        pytest.skip("no groff here")
    text = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-c"],
        input=pages["kumihimo-verify.1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    plain = " ".join(__import__("re").sub(r".\x08", "", text).split())
    assert "kumihimo verify allreduce" in plain
    assert "--algorithm" in plain
