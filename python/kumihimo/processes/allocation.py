"""The hosts that a scheduler gave a job, and the ranks of each. Read from the variables of Slurm, PBS and LSF, from
`flux hostlist local`, from hostfiles of Open MPI and Hydra, and from host lists."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _machine, _placement, _topology
from kumihimo.processes import child_output
from kumihimo.text import files
from kumihimo.text.errors import failed, missing, wrong_value

ENVIRONMENT = "env"
SHAPE, HOSTS = "KUMIHIMO_SHAPE", "KUMIHIMO_HOSTS"  # src/network/topology/place_in_shape.hpp
MACHINE = "KUMIHIMO_MACHINE"  # its file: for `place`, `simulate` and `replay` where --machine names no other
LINKS = "KUMIHIMO_TESTBED_LINKS"  # what the links of a testbed are: measurements are for one kind
FLUX = "FLUX_URI"  # of the Flux instance that a job runs in
VARIABLES = (FLUX, "SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", HOSTS)
KNOWN = f"{', '.join(VARIABLES[:-1])} or {VARIABLES[-1]}"
MOST_RANKS_OF_A_HOST = 2**20
LARGEST_FILE = 64 << 20
SECONDS_OF_FLUX = 60  # that a broker may take to answer


@dataclass(frozen=True)
class Allocation:
    """Hosts in the order in which block order takes them, with the ranks of each."""

    hosts: tuple[str, ...]
    ranks: tuple[int, ...]


def read(text: str, environment: Mapping[str, str]) -> Allocation:
    """As --allocation takes it: `env`, the path of a hostfile, or a host list with the ranks of each host of an item,
    or 1: node[001-004]:8,login."""
    if text == ENVIRONMENT:
        return of_environment(environment)
    if re.search(r"[\[,]", text) is None and ("/" in text or Path(text).exists()):
        return of_hostfile(_file(text), text)
    hosts: list[str] = []
    ranks: list[int] = []
    for item in re.split(r",(?![^\[]*\])", text):  # at commas outside brackets
        names, colon, each = item.partition(":")
        found = _machine.parse_host_list(names)
        if (colon and not found) or ":" in each:
            raise wrong_value("a host list must be written like node[001-004]:8,login:1", f"'{item.strip()}'")
        hosts += found
        ranks += [_count(each if colon else "1", f"'{text}'")] * len(found)
    return _made(hosts, ranks, f"'{text}'")


def of_environment(environment: Mapping[str, str]) -> Allocation:
    """The allocation of the testbed that this runs in, or of the scheduler whose job this is."""
    if environment.get(HOSTS):
        return of_hostfile(_file(environment[HOSTS]), f"{HOSTS}={environment[HOSTS]}")
    if environment.get(FLUX):  # also in a job of Slurm, of whose nodes this instance may have a part
        return of_flux(_flux_hostlist(environment))
    nodes = environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST")
    if nodes:
        return of_slurm(nodes, environment.get("SLURM_TASKS_PER_NODE") or environment.get("SLURM_STEP_TASKS_PER_NODE"))
    for name in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE"):
        if environment.get(name):
            return of_node_file(_file(environment[name]), f"{name}={environment[name]}")
    if environment.get("LSB_MCPU_HOSTS"):
        return of_lsf(environment["LSB_MCPU_HOSTS"])
    raise missing(f"the environment of a scheduler's job ({KNOWN})", "give a hostfile or a host list")


def slots_of_hosts(environment: Mapping[str, str]) -> int:
    """Ranks that the hosts of KUMIHIMO_HOSTS have room for; 0 without it."""
    return sum(of_environment(environment).ranks) if environment.get(HOSTS) else 0


def of_slurm(nodes: str, tasks: str | None) -> Allocation:
    """SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE: `2(x3),1` is 2,2,2,1. Without tasks: one on each node."""
    hosts = _machine.parse_host_list(nodes)
    if tasks is None:
        return _made(hosts, [1] * len(hosts), f"SLURM_JOB_NODELIST={nodes}")
    where = f"SLURM_TASKS_PER_NODE={tasks}"
    ranks: list[int] = []
    for word in tasks.split(","):
        match = re.fullmatch(r"([0-9]+)(?:\(x([0-9]+)\))?", word.strip())
        times = int(match[2] or 1) if match else 0
        if match is None or not 0 < times <= len(hosts):
            raise wrong_value("tasks per node are written like 2(x3),1", where)
        ranks += [_count(match[1], where)] * times
    if len(ranks) != len(hosts):
        raise wrong_value(
            f"SLURM_TASKS_PER_NODE must count the tasks of {len(hosts)} nodes", f"{tasks}, {len(ranks)} nodes"
        )
    return _made(hosts, ranks, where)


def of_flux(text: str) -> Allocation:
    """Hosts that `flux hostlist local` prints: `node[1-4,7]`. A host named twice has two ranks."""
    found = Counter(_machine.parse_host_list(text.strip()))
    return _made(found, found.values(), f"the output of flux hostlist local, '{text.strip()}',")


def _flux_hostlist(environment: Mapping[str, str]) -> str:
    """Hosts of the job, or of the instance outside jobs: `local`. Without a source Flux reads a list from stdin."""
    flux = shutil.which("flux", path=environment.get("PATH"))
    if flux is None:
        raise failed(f"flux is not in PATH, but {FLUX} is set", "", "add its folder to PATH, or give a host list")
    try:
        done = child_output.run([flux, "hostlist", "local"], seconds=SECONDS_OF_FLUX, env=dict(environment))
    except child_output.TimedOut:
        reason = f"no answer after {SECONDS_OF_FLUX} s"
    else:
        if done.returncode == 0:
            return done.stdout
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    raise failed("flux hostlist local failed", reason, "give the hosts as a list: node[1-4,7]:8")


def of_node_file(text: str, where: str) -> Allocation:
    """A host a line, once for each of its ranks: PBS_NODEFILE, LSB_DJOB_HOSTFILE."""
    found = Counter(line.strip() for line in text.splitlines() if line.strip())
    return _made(found, found.values(), where)


def of_lsf(text: str) -> Allocation:
    """LSB_MCPU_HOSTS: `hostA 4 hostB 8`."""
    words, where = text.split(), f"LSB_MCPU_HOSTS={text}"
    if len(words) % 2:
        raise wrong_value("hosts and slots must come in pairs", where)
    return _made(words[::2], [_count(word, where) for word in words[1::2]], where)


def of_hostfile(text: str, name: str) -> Allocation:
    """Open MPI's `host slots=4` and Hydra's `host:4`; a host alone has one rank, again one more. `#` begins a comment.
    A file of hosts alone is PBS's and LSF's too."""
    found: Counter[str] = Counter()
    for host, ranks in _placement.read_hostfile(text, name):
        found[host] += ranks
    return _made(found, found.values(), name)


def job_on(machine: _machine.Machine, given: Allocation) -> _machine.Job:
    """The job on these hosts: on the nodes of their names, where the machine file names its nodes, and else on as many
    nodes as there are hosts."""
    if machine.node_names:
        sizes = [0] * machine.nodes
        for node, ranks in zip(_named_nodes(machine, given), given.ranks):
            sizes[node] += ranks
        return _machine.Job.with_node_sizes(machine, sizes)
    if machine.on_switches and len(given.hosts) < machine.nodes:
        machine = machine.with_shape(_topology.Shape.parse(str(len(given.hosts))))
    if len(given.hosts) != machine.nodes:
        raise wrong_value(
            f"there must be as many hosts as the job has nodes of {machine.name}, {machine.nodes}",
            len(given.hosts),
            "give a --shape of as many nodes, or name the nodes in the machine file (node_names)",
        )
    return _machine.Job.with_node_sizes(machine, list(given.ranks))


def placement_on(job: _machine.Job, given: Allocation) -> _placement.Placement | None:
    """The ranks of the first host, then those of the next one; None: that is the block order of the nodes."""
    nodes = _named_nodes(job.machine, given) if job.machine.node_names else []
    if nodes == sorted(nodes):
        return None
    taken: Counter[int] = Counter()
    lines: list[str] = []
    for node, ranks in zip(nodes, given.ranks):
        lines += [f"{len(lines) + slot} {node} {taken[node] + slot}" for slot in range(ranks)]
        taken[node] += ranks
    return _placement.Placement.parse("\n".join(lines), "--allocation", job.slots, [])


def _named_nodes(machine: _machine.Machine, given: Allocation) -> list[int]:
    """The node of each host, by the names in the machine file."""
    at = {name: node for node, name in enumerate(machine.node_names)}
    short = Counter(name.partition(".")[0] for name in machine.node_names)
    for name, node in list(at.items()):
        if short[name.partition(".")[0]] == 1:
            at.setdefault(name.partition(".")[0], node)
    nodes: list[int] = []
    for host in given.hosts:
        found = at.get(host, at.get(host.partition(".")[0]))
        if found is None:
            rule = f"the machine file of {machine.name} does not name this host"
            raise wrong_value(rule, f"'{host}'", "add it to node_names")
        nodes.append(found)
    return nodes


def _made(hosts: Iterable[str], ranks: Iterable[int], where: str) -> Allocation:
    made = Allocation(tuple(hosts), tuple(ranks))
    if not made.hosts:
        raise missing(f"a host in {where}", "name at least one")
    if len(set(made.hosts)) != len(made.hosts):
        twice = next(host for host, n in Counter(made.hosts).items() if n > 1)
        raise wrong_value(f"{where} must name each host once", f"'{twice}' twice")
    for host, each in zip(made.hosts, made.ranks):
        if each > MOST_RANKS_OF_A_HOST:  # of several lines together
            raise wrong_value(f"{where}: a host has 1 to {MOST_RANKS_OF_A_HOST} ranks", f"{each} of '{host}'")
    return made


def _count(text: str, where: str) -> int:
    if re.fullmatch(r"[0-9]{1,9}", text) is None or not 1 <= int(text) <= MOST_RANKS_OF_A_HOST:
        raise wrong_value(f"{where}: a host has 1 to {MOST_RANKS_OF_A_HOST} ranks", f"'{text}'")
    return int(text)


def _file(name: str) -> str:
    return files.read_text(Path(name), "the hostfile", LARGEST_FILE)
