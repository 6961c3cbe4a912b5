"""Faults of a testbed: links that are cut, slowed and healed, nodes that die. A file in its folder keeps them, for the
commands that come after and for the agent of launchers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kumihimo.processes import launch_lines
from kumihimo.testbed import launchers, machine_file, testbeds
from kumihimo.testbed import wiring as wires
from kumihimo.testbed.testbeds import Testbed
from kumihimo.testbed.wiring import Wiring
from kumihimo.text import files
from kumihimo.text.errors import wrong_value
from kumihimo.text.quantities import counted

MOST_NAMED = 3  # links and nodes of a sentence
MEND = "run `kumihimo testbed heal`"


@dataclass
class FaultRecord:
    """`cut`: directed links. `slow`: bits a second of directed links that have another rate. `killed`: nodes that have
    not been healed. `lost`: of each run of a command, the ranks on each node that was killed meanwhile. `outlived`: the
    runs whose launchers go on when ranks die."""

    cut: set[int] = field(default_factory=set)
    slow: dict[int, int] = field(default_factory=dict)
    killed: set[int] = field(default_factory=set)
    lost: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    outlived: set[str] = field(default_factory=set)

    def rate(self, link: int, usual: int) -> int:
        """Bits a second of a directed link; 0: it is cut."""
        return 0 if link in self.cut else self.slow.get(link, usual)


def recorded(testbed: Testbed) -> FaultRecord:
    """The faults that a testbed has now."""
    file = record_file(testbed)
    if not file.is_file():
        return FaultRecord()
    found = json.loads(files.read_text(file, "the faults of the testbed"))
    return FaultRecord(
        set(found["cut"]),
        {int(link): rate for link, rate in found["slow"].items()},
        set(found["killed"]),
        {run: {int(node): ranks for node, ranks in of.items()} for run, of in found["lost"].items()},
        set(found["outlived"]),
    )


def in_force() -> list[str]:
    """A line for each fault of the testbed in which this process runs, by which measurements of two states of its
    network are told apart; none outside. Waits for a command that changes them."""
    testbed = testbeds.here()
    return lines(testbed, settled(testbed)) if testbed else []


def settled(testbed: Testbed) -> FaultRecord:
    """The faults, when no command changes them any more: `kill` records what it has killed at its end. None of a
    testbed that was removed meanwhile."""
    try:
        with locked(testbed, fcntl.LOCK_SH):
            return recorded(testbed)
    except FileNotFoundError:
        return FaultRecord()


def record_file(testbed: Testbed) -> Path:
    return testbed.folder / "faults.json"


@contextlib.contextmanager
def locked(testbed: Testbed, how: int) -> Iterator[None]:
    lock = os.open(testbed.folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, how)
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def changing(testbed: Testbed) -> Iterator[FaultRecord]:
    """The record, which is written when the links have changed, also if the command fails after that. One command at a
    time."""
    with locked(testbed, fcntl.LOCK_EX):
        faults = recorded(testbed)
        slow_before = dict(faults.slow)
        try:
            yield faults
        finally:
            keep(testbed, faults)
            if faults.slow != slow_before:
                text = testbed.machine_file.read_text(encoding="utf-8")
                files.write_whole(testbed.machine_file, with_slow_links(text, testbed, faults))


def keep(testbed: Testbed, faults: FaultRecord) -> None:
    """For commands, and for the agent of launchers."""
    files.write_whole(record_file(testbed), json.dumps(asdict(faults), default=sorted))  # sets as lists
    files.write_whole(testbed.folder / launchers.UNREACHABLE, "".join(unreachable_lines(testbed, faults)))


def with_slow_links(text: str, testbed: Testbed, faults: FaultRecord) -> str:
    """A machine file of the testbed with its slow links, as far as machine files have them."""
    factors = {}
    if has_slow_links(testbed):
        for link, rate in faults.slow.items():
            if link not in faults.cut and rate < testbed.plan.rate:
                factors[testbed.wiring.ends[link]] = rate / testbed.plan.rate
    return machine_file.with_slow_links(text, factors)


def has_slow_links(testbed: Testbed) -> bool:
    """Whether machine files of its family have slow links, between nodes (docs/machines.md)."""
    return testbed.plan.described.family in ("torus", "tofu") and not testbed.wiring.switches


def unpredicted(testbed: Testbed) -> Iterator[str]:
    """The faults that the machine file of the testbed lacks, a sentence each."""
    faults = recorded(testbed)
    if faults.cut:
        yield "the machine file has no cut links: it predicts the testbed as after `kumihimo testbed heal`"
    lacking = [link for link, rate in faults.slow.items() if rate > testbed.plan.rate or not has_slow_links(testbed)]
    if lacking:
        first = "-".join(map(testbed.wiring.name, testbed.wiring.ends[lacking[0]]))
        rule = "only links of tori and Tofu that are slower than --rate can be in it"
        yield f"the machine file has --rate for {first}, which `slow` changed: {rule}"


def vertex_of(wiring: Wiring, text: str) -> int:
    """A node by its number or name, a switch by its name."""
    name = f"node{int(text)}" if re.fullmatch(r"[0-9]{1,6}", text) else text
    if name not in wiring.by_name:
        switches = ""
        if wiring.switches:
            switches = f" or {wiring.name(wiring.nodes)} to {wiring.name(wiring.vertices - 1)}"
        raise wrong_value(f"a node is node0 to node{wiring.nodes - 1}{switches}", f"'{text}'")
    return wiring.by_name[name]


def links_between(wiring: Wiring, text: str) -> list[int]:
    """The links of both directions between two neighbours: `0-1`, `node0-switch3`."""
    first, dash, second = text.partition("-")
    if not dash:
        raise wrong_value("a link is written as its two ends, such as 0-1 or node0-switch3", f"'{text}'")
    at, to = vertex_of(wiring, first), vertex_of(wiring, second)
    found = [link for link in wiring.leaving[at] if wiring.ends[link][1] == to]
    if not found:
        near = dict.fromkeys(wiring.name(wiring.ends[link][1]) for link in wiring.leaving[at])
        raise wrong_value(f"{text} must name two neighbours", f"those of {wiring.name(at)} are {', '.join(near)}")
    return both_ways(wiring, found)


def both_ways(wiring: Wiring, links: Sequence[int]) -> list[int]:
    return [*links, *(wiring.back[link] for link in links)]


def cut(testbed: Testbed, links: Iterable[int]) -> None:
    with changing(testbed) as faults:
        cut_links(testbed, faults, set(links))


def cut_links(testbed: Testbed, faults: FaultRecord, links: set[int]) -> None:
    changed(testbed, {link: wires.broken(link) for link in links})
    faults.cut |= links
    faults.slow = {link: rate for link, rate in faults.slow.items() if link not in links}


def slow(testbed: Testbed, links: Iterable[int], rate: int) -> None:
    """To so many bits a second. A cut link is mended by it, and so is a killed node that has it."""
    links = set(links)
    with changing(testbed) as faults:
        changed(testbed, {link: wires.relimited(link, rate, testbed.plan.latency) for link in links})
        faults.cut -= links
        faults.slow = {link: rate for link, rate in faults.slow.items() if link not in links}
        faults.slow |= dict.fromkeys(links, rate) if rate != testbed.plan.rate else {}
        leaving = testbed.wiring.leaving
        faults.killed = {node for node in faults.killed if leaving[node] and faults.cut.issuperset(leaving[node])}


def heal(testbed: Testbed, links: Iterable[int]) -> None:
    """As they were first."""
    slow(testbed, links, testbed.plan.rate)


def changed(testbed: Testbed, lines: dict[int, Iterable[str]]) -> None:
    """Lines for `tc -batch` of each link, performed where it begins."""
    by_vertex: dict[int, list[str]] = {}
    for link, of_link in lines.items():
        by_vertex.setdefault(testbed.wiring.ends[link][0], []).extend(of_link)
    for vertex, of_vertex in by_vertex.items():
        testbed.at_it(vertex, ["tc", "-batch", "-"], "\n".join(of_vertex))


# Ends the processes of a node's network, but those that hold its namespaces, and itself and its parent, which are the
# command `kill` where that runs in the node. Looks again until none is left: a process may have started another one
# meanwhile. Prints the ranks of each run of a command that were among them, as far as their launchers have told them,
# and the runs whose launchers go on without them.
KILLER = r"""
import json, os, signal, sys, time
holder, run_variable, recovering = sys.argv[1], sys.argv[2].encode(), {each.encode() for each in sys.argv[3:]}
spared = {holder, str(os.getpid()), str(os.getppid())}
mine = os.stat(f"/proc/{holder}/ns/net").st_ino
lost, outlived = {}, set()
for look in range(100):
    found = False
    for pid in set(filter(str.isdigit, os.listdir("/proc"))) - spared:
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/cmdline", "rb") as command:
                variables = dict(each.partition(b"=")[::2] for each in environ.read().split(b"\0"))
                words = set(command.read().split(b"\0"))
            run = variables.get(run_variable, b"").decode(errors="replace")
            if run and words & recovering:
                outlived.add(run)
            if os.stat(f"/proc/{pid}/ns/net").st_ino != mine:
                continue
            os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue
        found = True
        ranks = lost.setdefault(run, set()) if run else set()
        told = [variables.get(name, b"") for name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK")]
        ranks.update(int(each) for each in told if each.isdigit())
    if not found:
        break
    time.sleep(0.01)
print(json.dumps({"lost": {run: sorted(ranks) for run, ranks in lost.items()}, "outlived": sorted(outlived)}))
"""


def kill(testbed: Testbed, node: int) -> None:
    """Its links first, so that its processes cannot say that they end."""
    with changing(testbed) as faults:
        cut_links(testbed, faults, set(both_ways(testbed.wiring, testbed.wiring.leaving[node])))
        faults.killed.add(node)
        keep(testbed, faults)  # launchers start nothing there from now on
        killer = [sys.executable, "-I", "-c", KILLER, str(testbed.processes[node]), launchers.RUN]
        found = json.loads(testbed.inside_it([*killer, *launch_lines.RECOVERING]))
        for run, ranks in found["lost"].items():
            of_run = faults.lost.setdefault(run, {})
            of_run[node] = sorted({*of_run.get(node, ()), *ranks})
        faults.outlived |= set(found["outlived"])


def unreachable(testbed: Testbed, faults: FaultRecord) -> dict[tuple[int, int], int]:
    """The pairs of nodes, in both orders, of which one cannot answer the other, and a cut link on their routes."""
    if not faults.cut:
        return {}
    found: dict[tuple[int, int], int] = {}
    for pair, link in testbed.wiring.crossing(faults.cut):
        found.setdefault(pair, link)
        found.setdefault(pair[::-1], link)
    return found


def unreachable_lines(testbed: Testbed, faults: FaultRecord) -> Iterator[str]:
    """For the agent of launchers: two names of nodes, and why no message passes between them."""
    name = testbed.wiring.name
    for (first, second), link in unreachable(testbed, faults).items():
        yield f"{name(first)} {name(second)} {cause(testbed, faults, link)}\n"


def cause(testbed: Testbed, faults: FaultRecord, link: int) -> str:
    ends = testbed.wiring.ends[link]
    if killed := [node for node in ends if node in faults.killed]:
        return f"{testbed.wiring.name(killed[0])} was killed"
    return f"the link {'-'.join(map(testbed.wiring.name, sorted(ends)))} is cut"


def sentence(testbed: Testbed, faults: FaultRecord) -> str:
    """The faults that stop messages, and between which nodes; empty if none does."""
    pairs = unreachable(testbed, faults)
    if not pairs:
        return ""
    causes = list(dict.fromkeys(cause(testbed, faults, link) for link in sorted(faults.cut)))
    more = [f"{counted(len(causes) - MOST_NAMED, 'other fault')}"] if len(causes) > MOST_NAMED else []
    first, second = min(pairs)
    number, such = len(pairs) // 2, f"{testbed.wiring.name(first)} and {testbed.wiring.name(second)}"
    between = such if number == 1 else f"{number} pairs of nodes, such as {such}"
    return f"{', '.join([*causes[:MOST_NAMED], *more])}: no messages pass between {between}; {MEND}"


def lines(testbed: Testbed, faults: FaultRecord) -> list[str]:
    """All faults, a line each; of a killed node not its links."""
    wiring = testbed.wiring

    def cables(links: Iterable[int]) -> dict[str, int]:
        """A link of each, by its ends."""
        return {"-".join(map(wiring.name, sorted(wiring.ends[link]))): link for link in sorted(links)}

    cut = {link for link in faults.cut if not faults.killed.intersection(wiring.ends[link])}
    return [
        *(f"{wiring.name(node)} is killed" for node in sorted(faults.killed)),
        *(f"{ends} is cut" for ends in cables(cut)),
        *(f"{ends} has {faults.slow[link] / 1e6:g} Mbit/s" for ends, link in cables(faults.slow).items()),
    ]


def lost_ranks(testbed: Testbed, lost: Mapping[int, Sequence[int]]) -> str:
    """Nodes that were killed while a command ran that has ended."""
    nodes = []
    for node, ranks in sorted(lost.items()):
        name = testbed.wiring.name(node)
        numbers = ", ".join(map(str, ranks[:MOST_NAMED])) + (" ..." if len(ranks) > MOST_NAMED else "")
        nodes.append(f"{name}, with rank{'s' if len(ranks) > 1 else ''} {numbers}," if ranks else name)
    return f"{' and '.join(nodes)} {'was' if len(nodes) == 1 else 'were'} killed while the command ran"
