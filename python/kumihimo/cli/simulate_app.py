"""`kumihimo simulate app`: how long an iteration of an application's solver, a step of a stencil, or a build of
Hartree-Fock takes on a described machine."""

from __future__ import annotations

from kumihimo.app import fft_prediction, lu_prediction, prediction, stencil_prediction
from kumihimo.cli import machines, options, output, progress, simulate_published
from kumihimo.cli.options import argument, option
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import models, simulation
from kumihimo.text import quantities
from kumihimo.text.errors import BadInput, missing, not_applicable, wrong_value


def command(
    application: argument(
        "APPLICATION", "Application: poisson3d, fem-cube, himeno, fdtd2d, hartree-fock, lu or fft3d."
    ),
    machine: option(
        "--machine -m M",
        "Name of a machine (see `machine list`), or a machine file [default: that of --case, or what KUMIHIMO_MACHINE "
        "says].",
    ) = None,
    software: options.Software = None,
    method: option("--method NAME", "Method: cg, chronopoulos_gear, gropp, pipelined, s_step, or all.") = arguments.ALL,
    cells: option("--cells BOX", "Cells (nodes of elements) of a rank: 64x64x64.") = None,
    size: option(
        "--size SIZE",
        "Cells of all ranks, instead of --cells; of hartree-fock the molecule, of lu the rows, of fft3d the points.",
    ) = None,
    shape: options.Shape = None,
    ranks: options.RanksOfMachine = None,
    ranks_per_node: options.RanksPerNodeOrMachine = None,
    grid: option("--grid GRID", "Grid of ranks: 14x10x6 [default: the ranks' nearest factors].") = None,
    preconditioner: option("--preconditioner NAME", "Preconditioner [default: the application's first].") = None,
    algorithm: option("--algorithm -a NAME", "Algorithm of the reductions.") = "recursive_doubling",
    variant: option("--variant -v NAME", "Variant of hartree-fock, lu or fft3d [default: shells, rows, fused].") = None,
    settings: option(
        "--set NAME=VALUE",
        "Option or parameter of hartree-fock (basis=6-31g), lu (block=192), fft3d (at_once=8) or a case; "
        "may be repeated.",
        list[str],
    ) = None,
    speed: option(
        "--speed X",
        "Speed of a core relative to one here, for hartree-fock, lu and fft3d; peak: by both peaks, of lu and fft3d "
        "[default: 1].",
    ) = None,
    case: option(
        "--case NAME",
        f"Published workload of lu or fft3d, with the published figure: {simulate_published.described()}.",
    ) = None,
    out: options.written(
        "--write FILE", "Write the messages of a case npb-ft-*: GOAL in a FILE.goal, otherwise lines of traffic."
    ) = None,
    steps: option("--s S", "Iterations of a step of s_step [default: 4].", int) = None,
    model: option(
        "--model MODEL",
        "Model: flow or exact; of hartree-fock and lu flow or loggp; of fft3d flow "
        "[default: flow; exact with --noise].",
    ) = None,
    noise: option(
        "--noise NOISE", "Noise, as `simulate` takes it: periodic:100us/1ms, or 1000:100e-6 (per second)."
    ) = None,
    seed: option("--seed N", "Seed of the noise [default: 1].", int) = None,
    iterations_of_noise: option("--iterations N", "Iterations in a row with noise [default: 50].", int) = None,
    crossover: option("--crossover", "Compare the methods on 1 node, 2, 4, ... up to the shape.") = False,
    as_json: options.Json = False,
) -> None:
    """Predict the time of a solver's iteration, by method, of a stencil's step, of Hartree-Fock's J and K, of an
    LU factorisation, or of a transform.

    \b
    Example:
    kumihimo simulate app fem-cube -m reedbush-u -s 420 --ranks-per-node 2 --grid 14x10x6 --cells 200x200x200
    kumihimo simulate app himeno -m fugaku -s 4x4x4 --cells 256x128x128
    kumihimo simulate app hartree-fock -m fugaku -s 4x1x1 --size w8 --set basis=6-31g
    kumihimo simulate app lu -m fugaku -s 4x4x2 --size 40000 --set block=192
    kumihimo simulate app fft3d -m fugaku -s 4x4x4 --size 512 --set at_once=8
    kumihimo simulate app fft3d -m fugaku -s 4x4x4 --size 96 --variant leader --set cutoff=sphere --set bands=32
    kumihimo simulate app lu --case k-hpl
    """
    if algorithm == arguments.ALL:
        raise wrong_value("--algorithm must name one algorithm", f"'{algorithm}'")
    machine = machine or (None if case else machines.of_job())
    if machine is None and case is None:
        raise missing("--machine", "add a name from `kumihimo machine list`, or a --case")
    options.check_software(software, machine or case)
    asked_ranks = Ranks(shape, ranks, arguments.ranks_per_node_named(ranks_per_node))
    of_solvers = {
        "--cells": cells,
        "--grid": grid,
        "--method": method != arguments.ALL,
        "--preconditioner": preconditioner,
        "--s": steps,
        "--noise": noise,
        "--seed": seed is not None,
        "--iterations": iterations_of_noise is not None,
        "--crossover": crossover,
    }
    if application.replace("_", "-") == prediction.HARTREE_FOCK:
        from kumihimo.cli import simulate_hartree_fock

        refuse(prediction.HARTREE_FOCK, {**of_solvers, "--case": case, "--write": out})
        of_units = simulate_hartree_fock.BuildRequest(
            machine, asked_ranks, size, variant, settings or [], speed, algorithm, model, software
        )
        return simulate_hartree_fock.run(of_units, as_json)
    if application in (lu_prediction.LU, fft_prediction.FFT):
        from kumihimo.cli import simulate_fft3d, simulate_lu
        from kumihimo.cli.simulate_measured import MeasuredRequest

        of_solvers["--algorithm"] = algorithm != "recursive_doubling"
        refuse(application, {**of_solvers, "--variant": None if case is None else variant})
        measured = MeasuredRequest(
            application, machine, asked_ranks, size, settings or [], speed, model, variant, software
        )
        if case is not None:
            return simulate_published.run(simulate_published.named(case, measured, out), as_json)
        refuse(application, {"--write": out})
        return (simulate_lu if application == lu_prediction.LU else simulate_fft3d).run(measured, as_json)
    refuse(application, {"--variant": variant, "--set": settings, "--speed": speed, "--case": case, "--write": out})
    if noise is None and (seed is not None or iterations_of_noise is not None):
        raise BadInput("--seed and --iterations need --noise", "leave them out, or add --noise 1000:100e-6")
    named = prediction.application_named(
        application, [*stencil_prediction.STENCILS, prediction.HARTREE_FOCK, lu_prediction.LU, fft_prediction.FFT]
    )
    is_stencil = named in stencil_prediction.STENCILS
    model = model or ("exact" if noise and not is_stencil else "flow")
    models.check(model, "stencil") if is_stencil else options.refuse_beside_model(model, "solver")
    asked_noise = None if noise is None else prediction.noise(noise, seed, iterations_of_noise)
    asked = prediction.IterationRequest(
        named,
        method,
        cells and prediction.box(cells, "--cells"),
        size and prediction.box(size, "--size"),
        grid and prediction.box(grid, "--grid"),
        preconditioner or "",
        algorithm,
        4 if steps is None else steps,
        model,
        asked_noise,
    )
    stencil_prediction.check(asked, crossover) if is_stencil else prediction.check(asked)
    if crossover and grid:
        raise wrong_value("--crossover excludes --grid", grid, "leave one of them out")
    if crossover and method != arguments.ALL:
        raise wrong_value("--crossover compares all methods", f"--method {method}", "leave --method out")
    if crossover and ranks is not None:
        raise wrong_value("--crossover excludes --ranks", ranks, "use --shape for the most nodes")
    loaded = machines.load(machine, software)
    if crossover:
        rows = progress.run_interruptible(
            lambda: list(prediction.crossovers(asked, prediction.smaller_jobs(loaded, asked_ranks)))
        )
        if not rows:
            raise wrong_value("--crossover needs a part of the machine", shape, "leave --shape out, or --crossover")
        return print_crossover(asked, loaded.name, rows, as_json)
    job = simulation.on(loaded, asked_ranks)
    results = progress.run_interruptible(
        lambda: (
            [stencil_prediction.predicted(asked, job)]
            if is_stencil
            else [prediction.predicted(asked, each, job) for each in prediction.methods(asked)]
        )
    )
    if as_json:
        return output.print_results_json(results)
    first = results[0]
    boxes = ["x".join(map(str, first[name])) for name in ("grid", "cells")]
    place = f"{first['machine']} {first['shape']}".strip()
    print(f"{application} on {place}, {first['ranks']} ranks ({boxes[0]}) of {boxes[1]} cells, model {asked.model}")
    if not is_stencil:
        print(f"reductions by {first['algorithm']}; {noise_text(first.get('noise'))}")
    print()
    output.print_table("", COLUMNS, [row(r) for r in results])
    if asked_noise:
        print()
        output.print_table("Mean of many iterations", NOISE_COLUMNS, [noise_row(r) for r in results])
    output.print_list("May be more than 20 % off:", sorted({r["accuracy"] for r in results if r["accuracy"]}))
    return None


def refuse(application: str, given: dict[str, object]) -> None:
    """Options of other applications."""
    for name, value in given.items():
        if value:
            raise not_applicable(f"{application} takes no {name} here", None, "leave it out")


COLUMNS = ("method", "iteration>", "computing>", "halo>", "reductions>", "hidden>")
PARTS = ("seconds", "computing_seconds", "halo_seconds", "reductions_seconds", "hidden_seconds")


NOISE_COLUMNS = ("method", "without noise>", "with noise>", "of three seeds>", "slower>")


def noise_text(noise: dict | None) -> str:
    return f"noise {noise['text']}" if noise else "no noise"


def noise_row(result: dict) -> list[str]:
    quiet, noisy = result["quiet_seconds"], result["noisy_seconds"]
    lowest, highest = (quantities.seconds_text(each) for each in result["noisy_range_seconds"])
    times = [quantities.seconds_text(quiet), quantities.seconds_text(noisy), f"{lowest} to {highest}"]
    return [result["method"], *times, f"{noisy / quiet:.2f} x"]


def row(result: dict) -> list[str]:
    return [result["method"], *(quantities.seconds_text(result[name]) for name in PARTS)]


def print_crossover(asked: prediction.IterationRequest, machine: str, rows: list[dict], as_json: bool) -> None:
    kinds = {"seconds": "without noise", "noisy_seconds": "with noise"} if asked.noise else {"seconds": ""}
    first = {which: prediction.first_faster(rows, which) for which in kinds}
    if as_json:
        noisy = {"noisy_faster_than_cg_from_ranks": first["noisy_seconds"]} if asked.noise else {}
        return output.print_json(
            {"machine": machine, "rows": rows, "faster_than_cg_from_ranks": first["seconds"], **noisy}
        )
    methods = list(rows[0]["seconds"])
    for which, noise in kinds.items():
        table = [[str(r["ranks"]), *(quantities.seconds_text(r[which][m]) for m in methods)] for r in rows]
        title = f"Time of an iteration on {machine} {noise}".strip()
        output.print_table(title, ["ranks>", *(f"{m}>" for m in methods)], table)
        print()
        for method, ranks in first[which].items():
            when = f"faster than cg from {ranks} ranks on" if ranks else "not faster than cg on the most ranks"
            output.print_line(f"{method}{noise and ' '}{noise}: {when}")
        print()
    return None
