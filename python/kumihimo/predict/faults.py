"""Nodes that die while a program runs, and parts of a machine that are slow, as the user names them (ADR 45)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.text.durations import parse_duration
from kumihimo.text.errors import wrong_value

DIES = "--dies must be NODE@TIME, as in 5@20us, or NODE@SHARE of the time without faults, as in 5@50%"
LATEST = 1e6  # seconds
SLOW = "--slow must be NODE=FACTOR, as in 5=0.5, or a link, FROM-TO=FACTOR, as in 5-6=0.1"
WORD = r"[0-9]{1,9}(?:,[0-9]{1,9})*"  # a node: its number, or its coordinates


@dataclass(frozen=True)
class NamedDeath:
    """At a time in seconds, or at a share of the time that the program takes without faults."""

    node: int
    seconds: float | None
    share: float | None = None


def deaths(texts: Sequence[str] | None, machine: _machine.Machine | None) -> tuple[NamedDeath, ...]:
    """Deaths that --dies names."""
    found = tuple(_death(text, machine) for text in texts or [])
    if len({death.node for death in found}) < len(found):
        raise wrong_value("--dies must name a node once", ", ".join(texts or []), "leave one of them out")
    return found


def _death(text: str, machine: _machine.Machine | None) -> NamedDeath:
    match = re.fullmatch(rf"({WORD})@(.+)", text)
    if match is None:
        raise wrong_value(DIES, f"'{text}'")
    node, when = node_of(match[1], machine, "--dies"), match[2].strip()
    share = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?) *%", when)
    if share is not None:
        return NamedDeath(node, None, float(share[1]) / 100)
    seconds = parse_duration(when, "the time of --dies", may_be_zero=True)
    if seconds > LATEST:
        raise wrong_value(f"the time of --dies must be at most {LATEST:.0f} s", f"'{when}'")
    return NamedDeath(node, seconds)


def node_of(word: str, machine: _machine.Machine | None, option: str) -> int:
    """The number of a node, which may be given by its coordinates in the shape of the job, `1,0,1`."""
    numbers = [int(each) for each in word.split(",")]
    if len(numbers) == 1:
        return numbers[0]
    lengths = [] if machine is None or machine.on_switches else [axis.length for axis in machine.shape.axes]
    if len(numbers) != len(lengths) or any(at >= length for at, length in zip(numbers, lengths)):
        shape = "x".join(map(str, lengths)) or "no axes"
        raise wrong_value(f"a node of {option} must be a number, or a place in the shape of nodes ({shape})", word)
    node = 0
    for at, length in zip(numbers, lengths):
        node = node * length + at
    return node


def with_slow(machine: _machine.Machine, texts: Sequence[str]) -> _machine.Machine:
    """The machine (as the job sees it) with the parts that --slow names."""
    nodes: list[tuple[int, float]] = []
    links: list[tuple[int, int, float]] = []
    for text in texts:
        match = re.fullmatch(rf"({WORD})(?:-({WORD}))?=([0-9]{{1,6}}(?:\.[0-9]{{1,12}})?)", text)
        if match is None:
            raise wrong_value(SLOW, f"'{text}'")
        factor = float(match[3])
        if not 0 < factor <= 1:
            raise wrong_value("the factor of --slow must be more than 0 and at most 1", match[3])
        ends = [node_of(word, machine, "--slow") for word in match.groups()[:2] if word is not None]
        if len(ends) == 1:
            nodes.append((ends[0], factor))
        else:
            links.append((ends[0], ends[1], factor))
    return machine.with_slow(nodes, links) if nodes or links else machine
