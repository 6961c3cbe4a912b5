"""Verdicts in the forms that people and other tools read: lines, JUnit XML, annotations of GitHub."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kumihimo.keep.checks import UNREADABLE, AssertVerdict
from kumihimo.keep.judge import CANNOT_TELL, MET, MISSED
from kumihimo.text import odd_bytes
from kumihimo.text.errors import one_line

SUITE = "kumihimo asserts"
LEVELS = {MISSED: "error", UNREADABLE: "error", CANNOT_TELL: "warning"}


def lines(found: Sequence[AssertVerdict]) -> list[str]:
    """One each, what is wrong last, where a reader of a log looks."""
    order = [MET, CANNOT_TELL, MISSED, UNREADABLE]
    return [
        one_line(f"{each.sentence}, at {each.place}" if each.place else each.sentence)
        for each in sorted(found, key=lambda each: order.index(each.verdict))
    ]


def github_annotations(found: Sequence[AssertVerdict], environment: Mapping[str, str] = os.environ) -> list[str]:
    """`::error file=solver.c,line=41::...`, where GitHub runs us: files are named from the top of the checkout."""
    if environment.get("GITHUB_ACTIONS") != "true":
        return []
    top = environment.get("GITHUB_WORKSPACE", "")
    made = []
    for each in found:
        if level := LEVELS.get(each.verdict):
            place = f" file={property_text(from_top(each.file, top))},line={each.line}," if each.file else " "
            made.append(f"::{level}{place}title={property_text(SUITE)}::{message_text(each.sentence)}")
    return made


def from_top(file: str, top: str) -> str:
    path = Path(file)
    if top and path.is_absolute() and path.is_relative_to(top):
        return str(path.relative_to(top))
    return file


def message_text(text: str) -> str:
    """As the runner of GitHub reads it."""
    return one_line(text).replace("%", "%25")


def property_text(text: str) -> str:
    return message_text(text).replace(":", "%3A").replace(",", "%2C")


def junit(found: Sequence[AssertVerdict], command: str, seconds: float = 0.0) -> str:
    """The file for CI servers and ReFrame: a missed assert is a failure, an unreadable one an error, one that cannot be
    told is skipped.
    """
    from xml.etree import ElementTree  # not at the start of each verb

    number = {verdict: sum(each.verdict == verdict for each in found) for verdict in (MISSED, UNREADABLE, CANNOT_TELL)}
    counts = {
        "tests": str(len(found)),
        "failures": str(number[MISSED]),
        "errors": str(number[UNREADABLE]),
        "skipped": str(number[CANNOT_TELL]),
        "time": f"{seconds:.6f}",
    }
    suites = ElementTree.Element("testsuites", {"name": SUITE, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": visible(command), **counts})
    for each in found:
        place = {"file": each.file, "line": str(each.line)} if each.file else {}
        named = {"name": f"{each.subject}: {each.asserted}", "classname": SUITE, "time": "0", **place}
        case = ElementTree.SubElement(suite, "testcase", {key: visible(value) for key, value in named.items()})
        tag = {MISSED: "failure", UNREADABLE: "error", CANNOT_TELL: "skipped"}.get(each.verdict)
        if tag:
            told = ElementTree.SubElement(case, tag, {"message": visible(each.sentence), "type": each.verdict})
            told.text = visible(each.place)
        else:
            ElementTree.SubElement(case, "system-out").text = visible(each.sentence)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def visible(text: str) -> str:
    """Without what XML cannot hold."""
    return odd_bytes.printable(one_line(text))
