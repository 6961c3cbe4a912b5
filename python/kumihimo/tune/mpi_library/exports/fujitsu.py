"""Fujitsu MPI's decision file (fjmpi-dectree.conf): an indented tree, ranges with both ends, `_` for the rest.

Only sections of the collectives that were measured are written, to be put into the site's file in place of its own;
`default` is the library's choice. Source: the file as it is installed on Fugaku. Not run here: there is no such
library.
"""

from __future__ import annotations

from kumihimo.tune.mpi_library.exports.equivalents import FUJITSU
from kumihimo.tune.mpi_library.exports.rules import LIBRARY, ONE_NODE, Export, Rule, Rules

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
