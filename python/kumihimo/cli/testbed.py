"""`kumihimo testbed`: a network of this machine's own, on which unmodified MPI programs run."""

from __future__ import annotations

import re
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Optional

import typer

from kumihimo import _machine
from kumihimo.cli import machines, options, output, testbed_counters
from kumihimo.cli.options import argument, option
from kumihimo.cli.testbed_counters import Name
from kumihimo.processes import signals
from kumihimo.run import preload
from kumihimo.testbed import costs, faults, launchers, machine_file, testbeds
from kumihimo.testbed.testbeds import TestbedPlan
from kumihimo.testbed.wiring import MOST_VERTICES, Wiring
from kumihimo.text import files
from kumihimo.text.errors import BadInput, failed, not_applicable, wrong_value
from kumihimo.text.quantities import counted, seconds_text

app = typer.Typer(help="Make a network of Linux namespaces on this machine and run MPI programs on it.")
LARGEST_FILE = 64 << 20
LEAST_RATE, MOST_RATE = 10**5, 10**11  # bits a second
RATE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) *([kmgKMG]?)([bB]it|b|B)(?:/s|ps)?")
BIT_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
MOST_SLOTS = 1024
MOST_LATENCY = 1.0  # seconds
SIGNAL_SECONDS = 5.0  # for a launcher to answer a signal while links are cut, behind which its daemons may be
KEEPER_SECONDS = 2.0  # for a keeper to be gone after the processes of its testbed


@app.command()
def up(
    network: argument("SHAPE|MACHINE", "Shape of a torus (3x3x3; 4mx4m: a mesh), or a machine's name or file."),
    shape: option("--shape -s SHAPE", "Part of a machine: 4x3x2, or a number of nodes on switches.") = None,
    rate: option("--rate RATE", "Rate of each link in each direction: 50Mbit/s, 1Gbit/s.") = "100Mbit/s",
    latency: options.duration("--latency TIME", "Time that a packet is late on each link.", may_be_zero=True) = "0",
    slots: option("--slots N", "Ranks that launchers put on each node.", int) = 1,
    name: Name = testbeds.USUAL_NAME,
    as_json: options.Json = False,
) -> None:
    """Make a testbed. Each node and each switch is a network namespace with its own host name and address; each link
    has a limited rate; routes are those of the topology. Nothing leads out of it. Without root it needs a system that
    allows user namespaces.

    \b
    Examples:
    kumihimo testbed up 3x3x3 --rate 50Mbit/s
    kumihimo testbed run -- mpirun -n 27 ./program
    kumihimo testbed down
    """
    begin = time.monotonic()
    bits = rate_of(rate)
    if not 1 <= slots <= MOST_SLOTS:
        raise wrong_value(f"--slots must be 1 to {MOST_SLOTS}", slots)
    if latency > MOST_LATENCY:
        raise wrong_value("--latency must be 0 to 1s", seconds_text(latency))
    machine, topology = network_of(network, shape)
    ports = len(Wiring(machine).leaving[0])
    text = machine_file.text_of(name, machine.network, topology, ports, slots, bits, latency)
    made = testbeds.up(TestbedPlan(name, text, slots, bits, latency))
    show([made], as_json, f"up after {time.monotonic() - begin:.2g} s")


def network_of(given: str, part: str | None) -> tuple[_machine.Machine, str]:
    """The machine, and the section [topology] of its file."""
    if re.fullmatch(r"\d+m?(x\d+m?)*", given):
        if part is not None:
            raise wrong_value("--shape is a part of a machine", part, "leave it out, or name a machine")
        return (machine := machine_file.of_shape(given)), machine_file.topology_of(machine, None)
    if given == machines.THIS_MACHINE:
        raise wrong_value("a testbed needs a network between nodes", given, "give a shape such as 3x3x3, or a machine")
    try:
        machine = machines.load(given)
    except BadInput as error:
        raise BadInput(error.problem, error.advice or "give a shape such as 3x3x3, or a machine") from None
    text = text_of_file(given, machine)
    if part is not None:
        return machine_file.part_of(machine, text, part)
    if machine.nodes + machine.switches > MOST_VERTICES and (example := machine_file.example_part(machine)):
        rule = f"a testbed has at most {MOST_VERTICES} nodes and switches"
        advice = f"give --shape for a part of the machine, such as --shape {example}"
        raise not_applicable(rule, machine.nodes + machine.switches, advice)
    return machine, machine_file.topology_of(machine, text)


def text_of_file(given: str, machine: _machine.Machine) -> str | None:
    """Text of a machine's file; None: there is none, and the machine is a torus."""
    path = Path(given)
    if not path.is_file():
        path = next((each for folder in machines.search() if (each := folder / f"{given}.toml").is_file()), path)
    if not path.is_file() and machine.family == "torus":
        return None
    return files.read_text(path, "the machine file", LARGEST_FILE)


def rate_of(text: str, name: str = "--rate") -> int:
    """Bits a second."""
    match = RATE.fullmatch(text.strip())
    bits = round(float(match[1]) * BIT_UNITS[match[2].lower()]) * (8 if match[3] == "B" else 1) if match else 0
    if not LEAST_RATE <= bits <= MOST_RATE:
        raise wrong_value(f"{name} must be 100kbit/s to 100Gbit/s, such as 50Mbit/s", f"'{text}'")
    return bits


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    command: argument("-- COMMAND ...", "Command with a launcher: mpirun -n 27 ./program.", list[str]),
    name: Name = None,
    node: option("--node NODE", "Node on which the command itself runs.") = "0",
) -> None:
    """Run a command in a testbed. Launchers of Open MPI and MPICH put its ranks on the nodes by themselves; `kumihimo
    record`, `run` and others work in it as anywhere."""
    testbed = testbeds.find(name)
    vertex = faults.vertex_of(testbed.wiring, node)
    preload.found(command)
    # The mounts of a node have a working directory of their own.
    words = testbed.within(vertex, ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd()), *command])
    if at_first := faults.sentence(testbed, faults.recorded(testbed)):
        output.message(at_first)
    testbed.enter()
    this = uuid.uuid4().hex
    code, came = signals.run(
        words,
        given_up=lambda came: bool(set(came) - set(signals.NOTICES) and faults.recorded(testbed).cut),
        late_seconds=SIGNAL_SECONDS,
        env={**testbed.environment, launchers.RUN: this},
    )
    if isinstance(code, signals.LateStatus):
        output.message(f"the command did not end within {SIGNAL_SECONDS:g} s after {came[0]}, and was ended")
    if left := launchers.end_daemons(testbed.keeper, this):
        names = ", ".join(dict.fromkeys(left))
        output.message(f"the launcher left {counted(len(left), 'daemon')} on the nodes ({names}), which were ended")
    if ended_with(testbed, code):
        raise failed(f"the command ended with testbed {testbed.name}, which was removed")
    raise SystemExit(judged(testbed, this, code, at_first))  # as it is: the border has meanings of its own


def judged(testbed: testbeds.Testbed, run: str, code: int, at_first: str) -> int:
    """The exit status of a command, with a message about the faults that it met. Open MPI 5 ends with 0 when a node has
    died with ranks."""
    recorded = faults.settled(testbed)
    lost = recorded.lost.get(run, {})
    if lost:
        output.message(faults.lost_ranks(testbed, lost))
    elif code and (now := faults.sentence(testbed, recorded)) != at_first and now:
        output.message(now)
    return code or int(any(lost.values()) and run not in recorded.outlived)


def ended_with(testbed: testbeds.Testbed, code: int) -> bool:
    """Whether the command was killed by the end of the testbed, whose processes end before its keeper."""
    deadline = time.monotonic() + (KEEPER_SECONDS if code == 128 + signal.SIGKILL else 0)
    while testbed.runs:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


@app.command()
def status(name: Name = None, as_json: options.Json = False) -> None:
    """Show the testbeds that there are."""
    show([testbeds.find(name)] if name else testbeds.all_of_them(), as_json)


def show(those: list[testbeds.Testbed], as_json: bool, more: str = "") -> None:
    rows = [
        {
            "testbed": testbed.name,
            "network": testbed.plan.described.network,
            "nodes": testbed.wiring.nodes,
            "switches": testbed.wiring.switches,
            "links": len(testbed.wiring.ends),
            "bits_per_second": testbed.plan.rate,
            "latency_seconds": testbed.plan.latency,
            "ranks_per_node": testbed.plan.slots,
            **fault_fields(testbed),
        }
        for testbed in those
    ]
    if as_json:
        output.print_json({"results": rows, **output.own_cost()})
    elif rows:
        columns = ("testbed", "network", "nodes>", "switches>", "links>", "Mbit/s>", "ranks per node>")
        cells = [(*list(row.values())[:5], f"{row['bits_per_second'] / 1e6:g}", row["ranks_per_node"]) for row in rows]
        output.print_table("", columns, cells)
        for testbed in those:
            output.print_list(f"Faults of {testbed.name}:", faults.lines(testbed, faults.recorded(testbed)))
        if more:
            output.print_line(more)
    else:
        output.print_line("there is no testbed; make one: kumihimo testbed up 3x3x3")


def fault_fields(testbed: testbeds.Testbed) -> dict:
    """The faults of a testbed, for JSON: directed links by the names of their ends."""
    recorded, wiring = faults.recorded(testbed), testbed.wiring

    def ends(link: int) -> dict:
        first, second = wiring.ends[link]
        return {"link": link, "from": wiring.name(first), "to": wiring.name(second)}

    return {
        "cut_links": [ends(link) for link in sorted(recorded.cut)],
        "slow_links": [{**ends(link), "bits_per_second": rate} for link, rate in sorted(recorded.slow.items())],
        "killed_nodes": [wiring.name(node) for node in sorted(recorded.killed)],
    }


@app.command()
def machine(
    name: Name = None,
    measure: option("--measure", "Measure what a message costs while all ranks send.") = False,
    out: options.written("--out -o OUT", "Machine file to write [default: standard output].") = None,
) -> None:
    """Write the machine file of a testbed, which `simulate`, `replay` and `place` take by themselves inside. Costs of
    messages are assumed until they are measured: nodes share the processors of this machine, so these depend on how
    many there are."""
    testbed = testbeds.find(name)
    text = testbed.machine_file.read_text(encoding="utf-8")
    if measure:
        if found := faults.lines(testbed, faults.recorded(testbed)):
            raise not_applicable("--measure needs a testbed without faults", found[0], faults.MEND)
        text, notes = costs.measured(testbed, str(Path(sys.argv[0]).resolve()))
        with faults.changing(testbed) as recorded:
            text = faults.with_slow_links(text, testbed, recorded)
            files.write_whole(testbed.machine_file, text)
        for note in notes:
            output.message(note)
    for line in faults.unpredicted(testbed):
        output.message(line)
    if out is None:
        print(text, end="")
    else:
        output.write(out, text)


app.command("counters")(testbed_counters.command)


@app.command()
def cut(link: argument("LINK", "Its ends: 0-1, node0-switch2."), name: Name = None) -> None:
    """Cut the links between two neighbours, in both directions. Routes stay as they are."""
    testbed = testbeds.find(name)
    faults.cut(testbed, faults.links_between(testbed.wiring, link))


@app.command()
def heal(
    link: argument("[LINK]", "Its ends: 0-1, node0-switch2 [default: all].", Optional[str]) = None, name: Name = None
) -> None:
    """Mend links that were cut or slowed, and those of nodes that were killed."""
    testbed = testbeds.find(name)
    faults.heal(testbed, testbed.wiring.ends if link is None else faults.links_between(testbed.wiring, link))


@app.command()
def slow(
    link: argument("LINK", "Its ends: 0-1, node0-switch2."),
    rate: argument("RATE", "10Mbit/s."),
    name: Name = None,
) -> None:
    """Give the links between two neighbours another rate, which `status` and `machine` then tell."""
    testbed = testbeds.find(name)
    faults.slow(testbed, faults.links_between(testbed.wiring, link), rate_of(rate, "RATE"))


@app.command()
def kill(node: argument("NODE", "Its number or name."), name: Name = None) -> None:
    """Let a node die: its links are cut, its processes end."""
    testbed = testbeds.find(name)
    faults.kill(testbed, faults.vertex_of(testbed.wiring, node))


@app.command()
def down(name: Name = None, all_: option("--all", "All testbeds of this user.") = False) -> None:
    """Remove a testbed, and end all that runs in it."""
    if all_:
        options.refuse_beside("--all", "name")
    those = testbeds.all_of_them() if all_ else [testbeds.find(name)]
    for testbed in those:
        testbeds.down(testbed)
    names = ", ".join(testbed.name for testbed in those)
    output.print_line(f"removed {counted(len(those), 'testbed')}: {names}" if those else "there is no testbed")
