"""`kumihimo machine`: the machines that are described, and what is known of each."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from kumihimo import _machine
from kumihimo.cli import machine_calibrate, machine_measure, options, output
from kumihimo.cli.machines import THIS_MACHINE, load, search
from kumihimo.cli.options import argument, option
from kumihimo.text.errors import wrong_value

app = typer.Typer(help="List, show, measure, import and calibrate machine descriptions.")


@app.command("list")
def list_(as_json: options.Json = False) -> None:
    """List the described machines and this machine."""
    machines = [*map(described, _machine.names(search())), here()]
    if as_json:
        output.print_json({"results": machines, **output.own_cost()})
        return
    rows = [(m["machine"], m["shape"] or m["family"], m["nodes"], m["summary"]) for m in machines]
    output.print_table("", ("machine", "shape", "nodes>", "summary"), rows)


def described(name: str) -> dict:
    m = load(name)
    return {"machine": name, "summary": m.summary, "family": m.family, "shape": str(m.shape), "nodes": m.nodes}


def here() -> dict:
    """This one, as far as it is known without measuring."""
    host = _machine.discover_host()
    summary = f"{host.processor}, {host.cores} core{'s' if host.cores != 1 else ''}, measured when you ask for it"
    return {"machine": THIS_MACHINE, "summary": summary, "family": "single_node", "shape": "", "nodes": 1}


@app.command()
def show(
    name: argument("NAME", "Name from `machine list`, path of a machine file, or this-machine."),
    shape: options.ShapeOfJob = None,
    box: options.Box = None,
    dead: options.Dead = None,
    routing: options.Routing = None,
    software: options.Software = None,
    as_json: options.Json = False,
) -> None:
    """Show the numbers of a machine with their sources; with --shape or --box, those of a job on that part."""
    machine = load(name, software)
    if shape is not None or box is not None or dead or routing is not None:
        from kumihimo.collectives import arguments
        from kumihimo.predict import simulation

        part = simulation.PartOfMachine(box, dead or [], routing)
        machine = simulation.on(machine, arguments.Ranks(shape, None, None), part).machine
    if as_json:
        output.print_json({**json.loads(machine.to_json()), **output.own_cost()})
    else:
        print(machine.to_text(), end="")


app.command("measure")(machine_measure.command)


@app.command("import")
def import_(
    file: argument("FILE", "Slurm topology (.conf, .yaml), SimGrid platform or hwloc topology (.xml).", Path),
    like: option("--like M", "Machine that supplies the numbers missing in FILE."),
    software: options.Software = None,
    name: option("--name NAME", "Name of the new machine [default: the one in FILE].") = None,
    out: options.written("--out -o OUT", "Machine file to write [default: standard output].") = None,
) -> None:
    """Make a machine file from Slurm's topology files, a platform of SimGrid or hwloc's XML.

    \b
    Example:
    kumihimo machine import /etc/slurm/topology.conf --like reedbush-u -o my-cluster.toml
    """
    from kumihimo.network import imports

    called = name if name is not None else (out or file).stem
    if not called or not all(c.isalnum() or c in "-_." for c in called):
        raise wrong_value(
            "the name of a machine must have only letters, digits, -, _ and .", f"'{called}'", "give one with --name"
        )
    text = imports.machine_file(imports.read(file), load(like, software), called, file.name)
    if out is None:
        print(text, end="")
    else:
        output.write(out, text)
        print(f"wrote {out}; assumed numbers to check: {text.count(', assumed = ')}")


app.command("calibrate")(machine_calibrate.command)
