"""Fujitsu MPI's decision file (fjmpi-dectree.conf): an indented tree, ranges with both ends, `_` for the rest.

Only sections of the collectives that were measured are written, to be put into the site's file in place of its own;
`default` is the library's choice. Source: the file as it is installed on Fugaku. Not run here: there is no such
library.
"""

from __future__ import annotations

import re

from kumihimo.errors import wrong_value
from kumihimo.library.exports.equivalents import FUJITSU
from kumihimo.library.exports.rules import LIBRARY, ONE_NODE, Export, Rule, Rules

FILE_NAME = "fujitsu-dectree.conf"
DEFAULT = "default"
NOT_RUN = "not tried here: put these sections into the fjmpi-dectree.conf of the site in place of its own"
OPTIONS = "mpiexec --mca coll_select_show_decision_process 2 ...   # prints what was chosen"


def write(rules: Rules) -> Export | None:
    """None where nothing that was learnt has a name there."""
    sections, named = [], False
    for collective, found in rules.by_collective.items():
        ranges = merged([(rule.first, name_of(collective, rule)) for rule in found])
        named |= any(name != DEFAULT for _, name in ranges)
        sections += [*section(collective, ranges, rules.ranks), ""]
    if not named:
        return None
    head = [
        f"# Made by kumihimo, {ONE_NODE}",
        f"# {NOT_RUN}",
        f"# {OPTIONS}",
        "header:",
        "  version: 1.0",
        "  require: base",
        "",
    ]
    return Export("Fujitsu MPI", FILE_NAME, "\n".join([*head, *sections]), (), OPTIONS, NOT_RUN)


def name_of(collective: str, rule: Rule) -> str:
    return DEFAULT if rule.algorithm is LIBRARY else FUJITSU[collective].get(rule.algorithm.name, DEFAULT)


def merged(ranges: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Neighbours of one name as one."""
    return [r for place, r in enumerate(ranges) if place == 0 or ranges[place - 1][1] != r[1]]


def section(collective: str, ranges: list[tuple[int, str]], ranks: int) -> list[str]:
    lines = [f"{collective}:", "  case proc_count:", f"    match {ranks} .. {ranks}:", "      case msg_size:"]
    for (first, name), after in zip(ranges, [*ranges[1:], None]):
        span = "_" if after is None else f"{first} .. {after[0] - 1}"
        lines += [f"        match {span}:", f"          {name}"]
    return [*lines, "    match _:", f"      {DEFAULT}"]


def parse(text: str) -> dict[str, list[tuple[int, str]]]:
    """By collective: (first byte, name) for the ranks that it was written for."""
    found: dict[str, list[tuple[int, str]]] = {}
    collective, first, after = "", 0, 0
    for line in text.splitlines():
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        if not words or words.startswith("#"):
            continue
        if indent % 2:
            raise wrong_value("a step must be indented by two spaces", repr(line))
        if indent == 0:
            collective, after = words.rstrip(":"), 0
        elif indent == 8:
            span = re.fullmatch(r"match (?:(\d+) \.\. (\d+)|_):", words)
            if not span:
                raise wrong_value("a line must be 'match FIRST .. LAST:' or 'match _:'", repr(line))
            first, after = after, int(span[2]) + 1 if span[2] else 0
            if span[1] and int(span[1]) != first:
                raise wrong_value(f"the range must begin at {first}", repr(line))
        elif indent == 10:
            found.setdefault(collective, []).append((first, words))
    return found
