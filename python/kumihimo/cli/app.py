"""`kumihimo app`: solvers, stencils and others with a golden copy and variants, run and checked on this machine."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import log10
from pathlib import Path
from typing import Optional

import click
import typer

from kumihimo.app import (
    brief_choice,
    catalogue,
    checkpoints,
    choice,
    figures,
    launches,
    libraries,
    page,
    parts,
    stepping,
    wisdom,
)
from kumihimo.app.catalogue import AUTO, AppCandidate
from kumihimo.app.checkpoints import CheckpointRequest
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.cli import app_libraries, app_tables, asserts, options, output, terminal
from kumihimo.cli.options import argument, option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.processes import launcher_environment
from kumihimo.text import files
from kumihimo.text.errors import BadInput, KumihimoError, NotApplicable, not_applicable, wrong_value
from kumihimo.text.quantities import seconds_text

MOST_RANKS = 1 << 20
TOLERANCE = 1e-8
BRIEF, FRESH, TUNE, NO_TUNE = "brief", "--fresh", "--tune", "--no-tune"  # searches of --variant auto

app = typer.Typer()


class ApplicationCommand(typer.core.TyperCommand):
    """`kumihimo app NAME --help` lists the variants and options of this application, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ApplicationCommand.__qualname__] = list(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        words = ctx.meta.get(ApplicationCommand.__qualname__, [])
        named = [each for each in catalogue.applications() if each.name in words] if words != ["--help"] else []
        for each in named:
            for title, rows in app_tables.described(each):
                if rows:
                    with formatter.section(title):
                        formatter.write_dl(rows)


@app.command(cls=ApplicationCommand)
def command(
    name: argument("[NAME]", "Application; without one the command lists them.", Optional[str]) = None,
    size: option("--size -s SIZE", "Size of the problem: 128 or 128x96x64 [default: the application's].") = None,
    variant: option("--variant -v NAME", "Variants: a name, names with commas, all, or auto.") = AUTO,
    settings: option(
        "--set NAME=VALUE", "Parameter of the variant or option of the application; may be repeated.", list[str]
    ) = None,
    reproducible: option(
        "--reproducible", "The same bits with any number of threads and ranks, where that is an option."
    ) = False,
    method: option("--method NAME", "Method of the solver [default: the application's first].") = None,
    tolerance: option(
        "--tolerance R", "Residual at which a solver stops, relative for linear systems [default: 1e-8]."
    ) = None,
    most_iterations: option("--max-iterations N", "Limit of iterations [default: the application's].", int) = None,
    threads: option("--threads -t LIST", "Threads of a rank: 2, or 1,2 [default: a share of the processors].") = None,
    ranks: option("--ranks -p LIST", "Number of ranks: 2, or 1,2,4.") = "1",
    launcher: option(
        "--launcher WORDS", "Launcher of the ranks, with options: mpirun, mpiexec, srun, flux [default: the library's]."
    ) = None,
    library: option(
        "--mpi MPI", "MPI library: openmpi, mpich, or its prefix [default: the first found]; several with commas."
    ) = None,
    grid: option("--grid SHAPE", "Grid of ranks: 2x1x1 [default: the one with the smallest faces].") = None,
    sums: option("--sums NAME", "Allreduce algorithm of the sums, or library (MPI_Iallreduce).") = None,
    runs: option("--runs N", "Runs of each variant, by turns [default: 1; of several MPI libraries 8].", int) = None,
    check: option("--no-check", "Do not check the solution.") = False,
    fresh: option("--fresh", "Choose again with --variant auto, for a quarter of the run's time.") = False,
    tune: option("--tune", "Choose again with --variant auto, by a whole search, however long it takes.") = False,
    no_tune: option(
        "--no-tune", "Measure nothing for --variant auto: take the stored choice, or the usual variant."
    ) = False,
    triad: option("--triad RATE", "Memory bandwidth in GB/s for the bound [default: measured].") = None,
    peak: option("--peak RATE", "Peak in GFLOPS for the bound [default: measured].") = None,
    out: options.written(
        "--page FILE", "Write a page with convergence, kernels, roofline and scaling.", WrittenWhole
    ) = None,
    checkpoint: option(
        "--checkpoint WORDS", "Save the state: every=N (iterations) or every=TIME[,folder=DIR][,partner=N][,spare=N]."
    ) = None,
    restart: option("--restart DIR", "Go on from the newest state that is whole in this folder.", Path) = None,
    timeout: options.duration("--timeout TIME", "Time limit of a launch.") = "1h",
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Run an application, check its solution, and show what limits it. Without a name: list the applications.

    \b
    Examples:
    kumihimo app poisson3d --size 64 --variant all --threads 1,2
    kumihimo app poisson3d --size 64 --ranks 2 --page page.html
    kumihimo app fem-cube --size 32 --variant type_a --ranks 2 --mpi openmpi,mpich --runs 8
    kumihimo app himeno --size M --variant all --threads 1,2
    kumihimo app fdtd2d --size 512 --variant simd,wavefront --page page.html
    kumihimo app himeno --size M --checkpoint every=100,folder=state
    kumihimo app himeno --size M --checkpoint every=100 --restart state
    """
    if name is None:
        return app_tables.list_all(as_json)
    application = catalogue.find(name)
    expected = asserts.AssertCheck.of(asserts_file, junit)
    given = catalogue.settings_of(settings or [])
    if reproducible:
        given["reproducible"] = catalogue.reproducible(application, given)
    asked = AppCommand(
        AppProblem(
            application,
            size or application.default_size,
            catalogue.options_in(application, given),
            method_of(application, method),
            tolerance_of(application, tolerance),
            limit_of(application, most_iterations),
        ),
        variant,
        catalogue.candidates(application, variant, given),
        given,
        at_least_1("--runs", runs, 1),
        not check,
        search_of(variant, {FRESH: fresh, TUNE: tune, NO_TUNE: no_tune}),
        rates_of(triad, peak),
        out is not None,
        checkpoints.parse(checkpoint, restart),
    )
    if grid is not None and not application.has_grid:
        raise not_applicable(f"{application.name} has no grid of ranks and takes no --grid", None, "leave it out")
    if grid is not None and asked.problem.file:
        raise wrong_value("--grid has no effect beside a file", grid, "leave one of them out")
    if asked.problem.file and size is not None:
        raise wrong_value("--size has no effect beside a file", size, "leave one of them out")
    if libraries.are_several(library):
        if asked.checkpoints:
            raise wrong_value("checkpoints are of one run", f"--mpi {library}", "name one library")
        each = {
            one: resources_of(threads, ranks, launcher, one, grid, sums, timeout) for one in libraries.names_of(library)
        }
        app_libraries.refuse_what_needs_one(library, out, next(iter(each.values())))
        refuse_asserts(library, {"--asserts": asserts_file, "--junit": junit})
        return compare_libraries(asked, {one: on[0] for one, on in each.items()}, runs, most_iterations, as_json)
    on = resources_of(threads, ranks, launcher, library, grid, sums, timeout)
    if asked.checkpoints:
        prepare(asked, asked.checkpoints, on)
    found = run(asked, on)
    code = expected.judge_results(found)
    if as_json:
        output.print_json({**app_tables.without_histories(found), **output.own_cost()})
    else:
        app_tables.show(found)
    if out is not None:
        page.write(out, found, application)
        if not as_json:
            output.print_line(f"page: {out}")
    return 1 if any(row.get("right") is False or row.get("failed") for row in found["results"]) else code


def refuse_asserts(library: str, given: dict[str, Path | None]) -> None:
    for name, path in given.items():
        if path is not None:
            raise wrong_value(f"{name} checks the results of one MPI library", f"--mpi {library}", "name one library")


@dataclass
class AppCommand:
    """The command line, understood."""

    problem: AppProblem
    variant: str
    candidates: list[AppCandidate]
    settings: dict[str, str]
    runs: int
    checks: bool
    search: str
    rates: dict | None  # the user's
    page: bool
    checkpoints: CheckpointRequest | None = None


def prepare(asked: AppCommand, wanted: CheckpointRequest, on: list[Resources]) -> None:
    """Checks them against the rest of the command line, and makes the folder."""
    application = asked.problem.application
    named = [] if asked.variant == AUTO else [each.variant for each in asked.candidates]
    checkpoints.check(wanted, application, asked.runs, named, len(on))
    if wanted.spares:
        checkpoints.check_spares(on[0].installation, launcher_environment.place())
    asked.candidates = [each for each in asked.candidates if each.variant not in application.stateless_variants]
    if wanted.restart and not wanted.restart.is_dir():
        raise wrong_value("--restart must name a folder", str(wanted.restart), "leave it out to begin anew")
    if wanted.saves and launcher_environment.is_first():
        files.check_folder(wanted.folder, "--checkpoint needs a folder that can be written")


def search_of(variant: str, given: dict[str, bool]) -> str:
    asked = [name for name, is_given in given.items() if is_given]
    if len(asked) > 1:
        raise wrong_value(f"{asked[0]} excludes {asked[1]}", None, "leave one of them out")
    if asked and variant != AUTO:
        raise wrong_value(f"{asked[0]} has no effect beside --variant {variant}", None, "leave it out")
    return asked[0] if asked else BRIEF


def method_of(application: catalogue.ApplicationRow, name: str | None) -> str:
    if name is None:
        return application.methods[0] if application.methods else ""
    if not application.methods:
        raise not_applicable(f"{application.name} takes no --method", None, "leave it out")
    if name not in application.methods:
        raise wrong_value(f"--method must be one of {', '.join(application.methods)}", f"'{name}'")
    return name


def tolerance_of(application: catalogue.ApplicationRow, text: str | None) -> float:
    if text is None:
        return TOLERANCE
    if not application.has_tolerance:
        raise not_applicable(f"{application.name} stops at no residual and takes no --tolerance", None, "leave it out")
    return positive(text, "--tolerance", below=1.0)


def limit_of(application: catalogue.ApplicationRow, given: int | None) -> int:
    if given is not None and application.most_iterations == 1:
        raise not_applicable(f"{application.name} does not iterate and takes no --max-iterations", None, "leave it out")
    return at_least_1("--max-iterations", given, application.most_iterations)


def at_least_1(name: str, given: int | None, default: int) -> int:
    if given is not None and given < 1:
        raise wrong_value(f"{name} must be at least 1", given)
    return default if given is None else given


def positive(text: str, name: str, below: float = float("inf")) -> float:
    try:
        value = float(text)
    except ValueError:
        raise wrong_value(f"{name} must be a number", f"'{text}'") from None
    if not 0 < value < below:
        limit = f" and below {below:g}" if below < float("inf") else ""
        raise wrong_value(f"{name} must be above 0{limit}", text)
    return value


def rates_of(triad: str | None, peak: str | None) -> dict | None:
    if (triad is None) != (peak is None):
        rule = "--triad and --peak belong together"
        raise wrong_value(rule, f"--triad {triad}" if triad else f"--peak {peak}", "give both, or leave both out")
    if triad is None or peak is None:
        return None
    return {
        "triad_bytes_per_second": positive(triad, "--triad") * 1e9,
        "peak_flops": positive(peak, "--peak") * 1e9,
    }


def numbers_of(text: str, name: str, most: int) -> list[int]:
    found = []
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,9}", word.strip()) or not 1 <= int(word) <= most:
            raise wrong_value(f"{name} must be numbers from 1 to {most}, with commas", f"'{text}'", f"write {name} 1,2")
        found.append(int(word))
    return list(dict.fromkeys(found))


def resources_of(
    threads: str | None,
    ranks: str,
    launcher: str | None,
    library: str | None,
    grid: str | None,
    sums: str | None,
    seconds: float,
) -> list[Resources]:
    """All combinations of ranks and threads."""
    on_ranks = numbers_of(ranks, "--ranks", MOST_RANKS)
    on_threads = numbers_of(threads, "--threads", 1 << 16) if threads else [0]
    place = launcher_environment.place()
    if place is not None and place.ranks > 1:
        if len(on_ranks) > 1 or on_ranks[0] not in (1, place.ranks) or len(on_threads) > 1:
            raise wrong_value("under a launcher there is one launch on its ranks", f"--ranks {ranks}", "leave it out")
        on_ranks = [place.ranks]
    installation = launches.installation_of(launcher, library, on_ranks)
    every = [(p, t) for p in on_ranks for t in on_threads]
    return [
        Resources(p, t, installation if p > 1 or launcher or library else None, grid, sums, seconds) for p, t in every
    ]


def run(asked: AppCommand, on: list[Resources]) -> dict:
    """Every combination of ranks and threads, one launch each."""
    rows: list[dict] = []
    abouts: list[dict] = []
    searches: list[dict] = []
    for resources in on:
        candidates = asked.candidates
        if asked.variant == AUTO:
            chosen, searched = saved_choice(asked) or chosen_for(asked, resources)
            candidates = [chosen]
            searches.append(searched)
        turns = asked.runs
        with display(asked.problem, len(candidates) * turns) as on_object:
            ran = launches.run(
                stepping.with_pictures(asked.problem) if asked.page else asked.problem,
                candidates,
                resources,
                turns=turns,
                check=asked.checks,
                rates=asked.rates is None,
                checkpoints=asked.checkpoints,
                on_object=on_object,
            )
        if asked.rates:
            ran.about["rates"] = asked.rates
        abouts.append(ran.about)
        if asked.variant == AUTO:
            searches[-1]["run_seconds"] = ran.seconds
        rows += figures.summary(ran.results, ran.about)
    rows = stepping.with_shares(figures.with_ratios(rows, asked.problem.application))
    best = figures.best(rows)
    of_parts = parts.comparison(rows)
    return {
        "application": asked.problem.application.name,
        "size": asked.problem.subject,
        "options": asked.problem.options,
        "method": asked.problem.method,
        "tolerance": asked.problem.tolerance,
        "command": shlex.join(["kumihimo", *sys.argv[1:]]),
        **{name: best[name] for name in ("variant", "parameters", "ranks", "threads", "seconds", "iterations")},
        "residual": residual_of(best, asked.problem.application),
        **{name: best[name] for name in ("answer", "charts", "checkpoints") if name in best},
        "tables": best.get("tables", []) + ([of_parts] if of_parts else []),
        "right": best["right"],
        "warnings": list(dict.fromkeys(text for row in rows for text in row.get("warnings", []))),
        "rates": best.get("rates"),
        "facts": facts_of(abouts[-1]),
        "results": rows,
        **({"choices": searches} if searches else {}),
    }


def residual_of(row: dict, application: catalogue.ApplicationRow) -> float | None:
    """Residual by the golden copy, for a linear solver whose result was checked."""
    if "checked" in row and row["history"] and application.residual == catalogue.RELATIVE:
        return row["checked"]["error"]
    return row["residual"]


def facts_of(about: dict) -> dict:
    """Facts that the page states about the last launch."""
    names = {
        "ranks": "ranks",
        "nodes": "nodes",
        "threads": "threads of a rank",
        "pinning": "threads",
        "sums": "sums by",
    }
    return {text: about[name] for name, text in names.items() if about.get(name) is not None}


def saved_choice(asked: AppCommand) -> tuple[AppCandidate, dict] | None:
    """The variant of the state that the run goes on from."""
    restart = asked.checkpoints.restart if asked.checkpoints else None
    saved = checkpoints.saved_candidate(restart, asked.problem.application) if restart else None
    return (saved, {**saved.as_task(), "from": str(restart)}) if saved else None


def chosen_for(asked: AppCommand, resources: Resources) -> tuple[AppCandidate, dict]:
    """From wisdom, or by a search that is kept there; with --no-tune the first one that fits, unmeasured."""
    problem = asked.problem
    of_variants = {k: v for k, v in asked.settings.items() if k not in problem.options}
    is_limited = bool(of_variants or (asked.checkpoints and problem.application.stateless_variants))
    known = None if asked.search in (FRESH, TUNE) or is_limited else wisdom.choice_for(problem, resources)
    if known is not None:
        found = wisdom.candidate_of(known)
        return found, {"variant": found.variant, "parameters": dict(found.parameters), "from": str(wisdom.path())}
    every = catalogue.every_candidate(problem.application, asked.candidates, of_variants, resources.ranks)
    if len(every) == 1:
        return every[0], {**every[0].as_task(), "from": "the only variant"}
    every = brief_choice.in_order(every, problem.application, wisdom.known_candidates(problem, resources))
    if asked.search == NO_TUNE:
        return first_that_fits(problem, every, resources)
    place = launcher_environment.place()
    if place is not None and place.ranks > 1:
        rule = "--variant auto takes several launches, and under a launcher there is one"
        raise not_applicable(rule, None, "add --no-tune, name a variant, or run the command once without a launcher")
    if not is_limited:
        wisdom.check_writable()
    searched = whole_search if asked.search == TUNE else brief_search
    chosen, made = searched(problem, every, resources)
    made = {**chosen.as_task(), **made}
    if not is_limited:
        kept = {**wisdom.key_of(problem, resources), "golden_hash": problem.application.golden_hash, **made}
        try:
            made["from"] = str(wisdom.keep(kept))
        except KumihimoError as error:  # the folder was writable before the search; its result is shown all the same
            made["not_kept"] = str(error)
    return chosen, made


def first_that_fits(
    problem: AppProblem, every: Sequence[AppCandidate], resources: Resources
) -> tuple[AppCandidate, dict]:
    """Candidate that finishes an iteration of the smallest share, as some need instructions or devices that others
    lack. Without a share the first one: those of files and of small problems fit everywhere.
    """
    place = launcher_environment.place()
    shares = [] if place is not None and place.ranks > 1 else shares_of(problem)  # under a launcher there is one launch
    for share in shares[:1]:
        for each in every:
            try:
                launches.run(replace(problem, size=share.size), [each], resources, sample=1, check=False)
            except NotApplicable:
                continue
            except BadInput:  # the share is too small for the ranks or the options
                break
            return each, {**each.as_task(), "from": "--no-tune: not measured"}
    return every[0], {**every[0].as_task(), "from": "--no-tune: not measured"}


def shares_of(problem: AppProblem) -> list[catalogue.Share]:
    return [] if problem.file else catalogue.shares(problem.application, problem.size)


def brief_search(problem: AppProblem, every: Sequence[AppCandidate], resources: Resources) -> tuple[AppCandidate, dict]:
    def say(budget: float, spent: float) -> None:
        if budget > spent:
            cost = f"about {seconds_text(budget)}, a quarter of the run's time"
            output.message(f"the choice among {len(every)} candidates takes {cost} (--no-tune: nothing)")
        else:
            output.message("the run is too short for more launches: the first candidate that fits runs")

    with display(problem, len(every)) as on_object:
        search = brief_choice.BriefSearch(problem, every, resources, shares_of(problem), on_object, say)
        found = search.choose()
    return found.chosen, {
        "search_seconds": found.seconds,
        "predicted_run_seconds": found.run_seconds,
        "candidates": found.candidates,
        "tried": [{k: v for k, v in row.items() if k != "candidate"} for row in found.rows],
    }


def whole_search(problem: AppProblem, every: Sequence[AppCandidate], resources: Resources) -> tuple[AppCandidate, dict]:
    smaller = next((share.size for share in shares_of(problem)), None)
    output.message(
        f"--tune: {len(every)} candidates run a few iterations, the fastest ones solve the problem; about "
        f"{choice.SAMPLE * len(every)} iterations, {len(every)} set-ups and {choice.WHOLE_SOLVES} solves"
    )
    with display(problem, (choice.TURNS_OF_SMALLER + 2) * len(every)) as on_object:
        search = choice.search(problem, every, resources, smaller, on_object)
    return search.chosen, {
        "search_seconds": search.seconds,
        "exhaustive_seconds": search.exhaustive_seconds,
        "tried": [{k: v for k, v in row.items() if k != "candidate"} for row in search.rows],
    }


def compare_libraries(
    asked: AppCommand, on: dict[str, Resources], runs: int | None, sample: int | None, as_json: bool
) -> int:
    """A variant that must be chosen is chosen with the first library. `sample`: the user's limit of iterations."""
    candidates = asked.candidates
    if asked.variant == AUTO:
        candidates = [chosen_for(asked, next(iter(on.values())))[0]]
    return app_libraries.run(
        asked.problem,
        candidates,
        on,
        runs=at_least_1("--runs", runs, libraries.RUNS),
        sample=sample,
        check=asked.checks,
        as_json=as_json,
    )


@contextmanager
def display(problem: AppProblem, runs: int) -> Iterator[Callable[[dict], None]]:
    """A bar on stderr, if that is a terminal: how far the residual of the present run has come, and which run it is."""
    if not sys.stderr.isatty():
        yield lambda found: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    decades = -log10(problem.tolerance)
    done = 0
    with Progress(*columns, console=terminal.console(), transient=True) as shown:
        task = shown.add_task(problem.application.name, total=runs)

        def take(found: dict) -> None:
            nonlocal done
            if "result" in found:
                done += 1
                shown.update(task, completed=done)
            elif "progress" in found:
                at = found["progress"]
                share = -log10(max(at["residual"], problem.tolerance)) / decades
                text = f"{at['label']}: iteration {at['iteration']}, residual {at['residual']:.1e}"
                shown.update(task, completed=done + min(1.0, max(0.0, share)), description=text)

        yield take
