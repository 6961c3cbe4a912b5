"""`kumihimo optimise -- mpirun ...`: record a program, tune what it calls, and prove the choices in whole runs."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from kumihimo import __version__
from kumihimo.cli import options, output, progress, tuned_tables
from kumihimo.cli.options import argument, option
from kumihimo.cli.paths import WrittenFolder
from kumihimo.predict import chances
from kumihimo.processes import allocation, launch_lines, launcher_environment
from kumihimo.run import preload, preload_obstacles
from kumihimo.run.profile import collectives, trace_folder
from kumihimo.run.profile.collectives import Collectives
from kumihimo.run.program_keys import key_of, name_of
from kumihimo.testbed import counters, faults, testbeds
from kumihimo.testbed.counters import LinkCount
from kumihimo.testbed.testbeds import Testbed
from kumihimo.text import files
from kumihimo.text.errors import BadInput, Failed, OutOfTime, failed, wrong_value
from kumihimo.text.quantities import counted, seconds_text, share_text
from kumihimo.text.sizes import with_unit
from kumihimo.tune import program as tuning_of
from kumihimo.tune import wisdom
from kumihimo.tune.journal import FAULTS, Journal
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.optimise import advice, page, predicted_loads
from kumihimo.tune.optimise.program_runs import JudgedRun, OptimisedProgram, check_repeats, difference, run, state_of
from kumihimo.tune.optimise.turns import (
    FAR_PAIRS,
    LOOKS,
    TUNING_SHARE,
    Choices,
    Search,
    Turns,
    in_order,
    tuning_time,
)
from kumihimo.tune.targets import UNEQUAL

LEAST_TUNING = 10.0  # seconds
TOO_SHORT = "the budget was too short to tune all that the program calls; give a larger --budget"
PATIENCE = 2.0  # seconds without standard input
app = typer.Typer()


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def command(
    words: argument("-- COMMAND ...", "Launch command: mpirun -n 4 ./program.", list[str]),
    budget: options.Budget = "5m",
    metric: option("--metric REGEX", "The program's own figure in what it prints [default: its run time].") = None,
    more_is_better: option("--more-is-better", "A larger figure of --metric is better.") = False,
    check: option(
        "--check FILE", "File that the program writes and that must stay equal; may be repeated.", list[Path]
    ) = None,
    tolerance: option("--tolerance R", "Relative difference allowed between numbers in these files.") = "0",
    out: options.written("--output -o DIR", "Folder for the profile, the runs and the page.", WrittenFolder) = Path(
        "kumihimo-optimise"
    ),
    library: options.Library = None,
    fresh: option("--fresh", "Start again.") = False,
    as_json: options.Json = False,
) -> int:
    """Make one program faster, and prove it by whole runs. It is recorded, what it calls is tuned, and whole runs with
    the choices and without are compared. Only choices that make the program certainly faster are kept, for this program
    alone.

    Ctrl-C keeps the results so far; run the same command again to continue. Exit codes: 0 done, also if there is
    nothing to gain; 1 if the program fails, its results differ or the budget is too short, and after Ctrl-C; 143 after
    SIGTERM.

    \b
    Example:
    kumihimo optimise --budget 10m -- mpirun -n 4 ./program
    """
    if launcher_environment.place():
        raise wrong_value("kumihimo optimise starts the program itself", "mpirun kumihimo optimise", "leave mpirun out")
    if found := preload_obstacles.obstacles(words):
        raise failed("the preload library cannot be loaded", "; ".join(found), "start another program")
    preload.found(words)
    if launch_lines.read(words).is_srun and "SLURM_JOB_ID" not in os.environ:
        output.message(
            "srun asks for nodes in every run; to wait for them once, start this command in salloc or sbatch"
        )
    files.check_folder(out, "--output must name a folder that can be written")
    out = files.real(out)  # the program may change the folder
    work = OptimiseWork(
        OptimisedProgram(
            tuple(words),
            out,
            kept_input(out),
            pattern_of(metric),
            more_is_better,
            tuple(check or ()),
            tolerance_of(tolerance),
        ),
        BudgetClock(budget),
        library,
        fresh,
        testbed=testbeds.here(),
    )
    head = {"command": words, "metric": metric, "kumihimo": __version__, "check": [str(path) for path in check or ()]}
    head["links"] = os.environ.get(allocation.LINKS, "")  # of a testbed: another one shows other gains
    head[FAULTS] = faults.in_force()
    head["program"] = state_of(Path(name_of(words)))  # one that was compiled again is recorded again
    if fresh:  # the trace goes when the program is recorded
        for name in ("runs.jsonl", "wisdom.json", "wisdom.json.state", "profile.jsonl"):
            (out / name).unlink(missing_ok=True)
    work.journal = Journal(out / "runs.jsonl", head)
    if work.journal.replaced:
        output.message(work.journal.replaced)
    interruption = progress.Interruption()
    with interruption, contextlib.closing(work.journal):
        work.whole()
    found = work.found()
    page.write(out / "page.html", found, work.profile, work.links())
    if as_json:
        output.print_json({**found, **output.own_cost()})
    else:
        show(found, out)
    if interruption.code:
        output.message("interrupted; run the same command again to continue")
    return interruption.code


def pattern_of(text: str | None) -> re.Pattern | None:
    try:
        return None if text is None else re.compile(text, re.MULTILINE)
    except re.error as error:
        raise wrong_value("--metric must be a regular expression", f"'{text}': {error}") from None


def tolerance_of(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1:
        raise wrong_value("--tolerance must be a number from 0 to under 1", f"'{text}'")
    return found


def kept_input(folder: Path) -> Path | None:
    """Keeps standard input from a file or a pipe, since every run reads it again."""
    path = folder / "input"
    try:
        kind = os.fstat(0).st_mode
    except OSError:  # it is closed
        return None
    if stat.S_ISCHR(kind):  # a terminal, /dev/null
        return None
    if not select.select([0], [], [], PATIENCE)[0]:
        output.message("reading standard input to its end; add < /dev/null if the program reads none")
    with files.replacement(path) as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path if path.stat().st_size else None


def text_of(choices: Sequence[dict]) -> str:
    names = [f"{start_of(c)}{c['collective']} {span_of(c)} by {c['algorithm']}" for c in choices]
    return names[0] if len(names) == 1 else f"with {len(names)} choices"


def start_of(choice: dict) -> str:
    return f"{choice['start']} " if choice.get("start") else ""


def span_of(choice: dict) -> str:
    if choice.get("blocks") == UNEQUAL:
        return "with blocks of different sizes"
    least, most = with_unit(choice["from_bytes"]), with_unit(choice["to_bytes"])
    return f"of {least}" if least == most else f"from {least} to {most}"


def without_figures(choice: dict) -> dict:
    """The choice without its times: another tuning measures other times."""
    figures = ("measured", "also", "figures_of_bytes", *wisdom.FIGURES)
    return {name: value for name, value in choice.items() if name not in figures}


@dataclass
class OptimiseWork:
    """One program, from its recording to the choices that are kept."""

    program: OptimisedProgram
    clock: BudgetClock
    library: str | None = None
    fresh: bool = False
    journal: Journal | None = None
    profile: Collectives | None = None
    told: dict | None = None  # of the tuning: tuned_tables.profile_object
    candidates: list[dict] | None = None
    search: Search | None = None
    kept: Turns | None = None
    wisdom_path: Path | None = None  # where the kept choices are
    why_nothing: str = ""
    plain: JudgedRun | None = None  # the first plain run, which the others must agree with
    pair_seconds: float = 0.0
    testbed: Testbed | None = None  # in which the program runs
    link_bytes: dict[str, list[float]] = field(default_factory=dict)  # of each link in the last pair of runs
    link_choices: list[dict] = field(default_factory=list)  # of that pair
    step: Callable[[str], None] = lambda what: None

    def whole(self) -> None:
        self.profile = self.recorded()
        self.candidates = self.tuned()
        if not self.candidates:
            return
        self.search = Search(self.pair, 1.0 if self.program.metric else self.most_gain())
        with progress.bar("comparing runs", LOOKS[-1], lines=True) as self.step:
            self.kept = self.search.kept(tuple(range(len(self.candidates))))
        if self.kept is None:
            self.why_nothing = self.why_none_kept()
            return
        self.wisdom_path = self.own_wisdom()
        wisdom.check_writable(self.wisdom_path)
        wisdom.write(self.wisdom_path, self.document(self.kept.choices))

    @property
    def trace(self) -> Path:
        return self.program.logs / "trace"

    def recorded(self) -> Collectives:
        path = self.program.logs / "profile.jsonl"
        if self.journal.recall("record", {}) is not None and path.is_file():
            output.message(f"going on from what is in {self.program.logs}; --fresh records the program again")
        else:
            output.message("recording the program")
            path.unlink(missing_ok=True)
            began = time.monotonic()
            if self.testbed:  # whose links' bytes a trace predicts
                events = predicted_loads.begin(self.trace)
                run(self.program, "recorded", profile=path.resolve(), events=events)
                trace_folder.finish(self.trace, path)
            else:
                run(self.program, "recorded", profile=path.resolve())
            self.journal.keep("record", [({}, {"seconds": time.monotonic() - began})])
        self.pair_seconds = 2 * self.journal.recall("record", {})["seconds"]
        return collectives.of(path)

    def tuned(self) -> list[dict]:
        """The candidates, the most predicted gain first. The same command again has the same, and goes on with their
        runs."""
        case = {"budget": self.clock.seconds}
        known = self.journal.recall("tuned", case)
        if known is None:
            candidates, is_short = self.tuned_now()
            known = {"profile": self.told, "candidates": candidates, "why_nothing": self.why_nothing}
            if candidates or not is_short:
                self.journal.keep("tuned", [(case, known)])
        self.told, self.why_nothing = known["profile"], known["why_nothing"]
        # A run with the choices takes less time, at least as much as the low end of the prediction says.
        self.pair_seconds -= max(0.0, self.told["predicted_gain"]["low"]) * self.told["seconds"]
        return known["candidates"]

    def tuned_now(self) -> tuple[list[dict], bool]:
        """The candidates, and whether more time may find others."""
        plan = tuning_of.plan(self.profile)
        if plan.targets:
            self.check_budget()
        from kumihimo.cli import tune  # takes as long to import as all else

        savable = self.profile.share(plan.savable_seconds)
        time_of_tuning = tuning_time(self.clock.seconds, self.clock.left, self.pair_seconds, savable)
        asked = tune.TuneCommand(list(tune.COLLECTIVES), [], BudgetClock(time_of_tuning.seconds), runs_follow=True)
        asked.known = [] if self.fresh else self.earlier_choices()
        asked.beyond = time_of_tuning.beyond
        path = self.program.logs / "profile.jsonl"
        places = launch_lines.places(launch_lines.read(self.program.command))
        found = tune.of_program(asked, path, None, self.library, self.program.logs / "wisdom.json", places)
        self.told = found["profile"]
        if found["interrupted"]:  # a launch may have taken Ctrl-C for itself
            code = asked.interruption.code or 1
            raise KeyboardInterrupt if code == 1 else SystemExit(code)
        choices = [choice for choice in found["results"] if choice["algorithm"] != "library"]
        gain = self.told["predicted_gain"]
        if not choices:
            self.why_nothing = self.why_no_candidates(plan, found)
        elif gain["high"] < tuning_of.LEFT_SHARE and not self.program.metric:  # which may be of a part of the run
            text = tuned_tables.gain_text(gain)
            self.why_nothing = f"the predicted gain, {text}, is less than whole runs can show"
            if found["left_to_the_library"]:
                self.why_nothing += f", and {TOO_SHORT}"
            choices = []
        gains = [tuning_of.predicted_gain(self.profile, [choice]).share for choice in choices]
        if asked.known and (again := found["measured_before"]):
            output.message(f"choices of an earlier tuning are tried (--fresh measures again): {', '.join(again)}")
        return in_order(choices, gains), bool(found["left_to_the_library"])

    def check_budget(self) -> None:
        """Raises Failed where not even the fewest pairs of runs fit in."""
        least = FAR_PAIRS * self.pair_seconds
        if least + LEAST_TUNING <= self.clock.left:
            return
        left = f"{seconds_text(self.clock.left)} are left" if self.clock.left > 0 else "no time is left"
        needed = LOOKS[0] * self.pair_seconds + LEAST_TUNING + self.clock.spent
        raise failed(
            "the budget is too short",
            f"{counted(FAR_PAIRS, 'pair')} of runs take {seconds_text(least)}, tuning takes "
            f"{seconds_text(LEAST_TUNING)} at least, {left}",
            f"give --budget {int(needed / (1 - TUNING_SHARE) / 60) + 1}m",
        )

    def earlier_choices(self) -> list[dict]:
        """The choices that `kumihimo run` uses for this program now, the program's own first."""
        found: list[dict] = []
        for path in dict.fromkeys((self.own_wisdom(), wisdom.usual_path(self.profile.mpi))):
            with contextlib.suppress(BadInput):  # what cannot be read is measured anew
                found += (wisdom.existing(path, self.profile.mpi) or {"choices": []})["choices"]
        return found

    def own_wisdom(self) -> Path:
        return wisdom.usual_path(self.profile.mpi, key_of(self.program.command))

    def why_no_candidates(self, plan: tuning_of.TuningPlan, found: dict) -> str:
        if not plan.targets:
            return "; ".join(self.told["not_tuned"]) or "the program calls no collectives"
        if found["left_to_the_library"]:
            return TOO_SHORT
        return "tuning found nothing certainly faster than the MPI library for what the program calls"

    def most_gain(self) -> float:
        """Predictions may be too low by half; no algorithm saves more than all that transfers."""
        return min(self.told["savable_share"], 2 * self.told["predicted_gain"]["high"])

    def why_none_kept(self) -> str:
        if self.search.out_of_time:
            return "the budget ended before the runs showed a gain; run the same command again to continue"
        if not self.search.hopeless:
            return "no choice made the whole program certainly faster"
        figures = self.search.all_turns[-1].figures
        width = share_text((figures["ratio_high"] - figures["ratio_low"]) / 2)
        gain = tuned_tables.gain_text(self.told["predicted_gain"])
        return f"runs of the program differ too much (interval of ± {width}) to show the predicted gain, {gain}"

    def document(self, choices: Choices) -> dict:
        made = {**wisdom.made_by(self.clock), "command": shlex.join(["kumihimo", *sys.argv[1:]])}
        of_these = [self.candidates[number] for number in choices]
        return wisdom.document(of_these, made, machine=wisdom.machine_object(), mpi=self.profile.mpi)

    def pair(self, choices: Choices, number: int) -> tuple[float, float]:
        """Which of the two runs comes first changes from pair to pair."""
        of_these = [self.candidates[n] for n in choices]
        case = {"choices": [without_figures(choice) for choice in of_these]}
        known = self.journal.recall(f"pair {number}", case)
        if known is not None:
            self.link_bytes, self.link_choices = known.get("link_bytes", {}), of_these
            return known["tuned"], known["plain"]
        if self.pair_seconds > self.clock.left:
            raise OutOfTime("no time for another pair of runs")
        self.step(f"{text_of(of_these)}: pair {number + 1}")
        trial = self.program.logs / "trial.json"
        wisdom.write(trial, self.document(choices))
        began = time.monotonic()
        runs: dict[bool, JudgedRun] = {}
        link_bytes: dict[str, list[float]] = {}  # of both runs or, if one is interrupted, of none
        for tuned in (number % 2 == 0, number % 2 == 1):
            name = "run with choices" if tuned else "run without"
            before = self.testbed and counters.now(self.testbed).links
            runs[tuned] = run(self.program, name.replace(" ", "-"), trial.resolve() if tuned else None)
            if self.testbed:
                carried = counters.now(self.testbed).since(before).links
                # A testbed of a part of a machine lacks switches that no route has, and their links.
                of_links = [carried.get(row[0], LinkCount()).data for row in self.testbed.plan.described.links]
                link_bytes[page.WITH if tuned else page.WITHOUT] = of_links
        self.check(plain=runs[False], tuned=runs[True])
        self.pair_seconds, self.link_bytes, self.link_choices = time.monotonic() - began, link_bytes, of_these
        found = {"tuned": runs[True].cost, "plain": runs[False].cost, "link_bytes": link_bytes}
        self.journal.keep(f"pair {number}", [(case, found)])
        return found["tuned"], found["plain"]

    def links(self) -> page.RunLinks | None:
        """Bytes of each link in the last pair of runs in a testbed."""
        if not (self.testbed and self.link_bytes):
            return None
        predicted = predicted_loads.both(self.trace, self.testbed.plan, self.link_choices)
        by_name = predicted if isinstance(predicted, str) else dict(zip((page.WITHOUT, page.WITH), predicted))
        return page.RunLinks(self.testbed.plan.described, self.link_bytes, by_name)

    def check(self, plain: JudgedRun, tuned: JudgedRun) -> None:
        """Results with choices agree with those without; those without among themselves."""
        self.plain = self.plain or replace(plain, name="the first run without choices")
        check_repeats(self.program, [self.plain, plain])
        if different := difference(self.program, plain, tuned):
            raise Failed(f"the results differ with the choices: {different}", "give --tolerance if rounding may differ")

    def earlier_wisdom(self) -> str | None:
        """The file of this program's choices that an earlier command made and `run` takes, where none were kept now."""
        if self.wisdom_path or not self.profile:
            return None
        path = self.own_wisdom()
        return str(path) if path.is_file() else None

    def found(self) -> dict:
        """The object of --json."""
        turns = [
            {"choices": list(t.choices), "pairs": len(t.pairs), **(t.figures if len(t.pairs) >= FAR_PAIRS else {})}
            for t in (self.search.all_turns if self.search else ())
        ]
        kept = self.kept.choices if self.kept else ()
        return {
            "program": shlex.join(self.program.command),
            "profile": self.told,
            "candidates": self.candidates or [],
            "comparisons": turns,
            "kept": list(kept),
            "gain": self.kept.figures if self.kept else None,
            "pairs": [list(pair) for pair in self.kept.pairs] if self.kept else [],
            "wisdom": str(self.wisdom_path) if self.wisdom_path else None,
            "earlier_wisdom": self.earlier_wisdom(),
            "nothing_to_gain": self.why_nothing or None,
            "advice": advice.of(self.profile, self.program.logs / "profile.jsonl") if self.profile else [],
        }


def comparison_text(of: dict) -> str:
    ends = f"{of['ratio_low']:.3f} to {of['ratio_high']:.3f}"
    sure = chances.text(of["faster_probability"])
    by = f"{counted(of['pairs'], 'pair')} of runs"
    return (
        f"with all choices it takes {of['ratio']:.3f} of its time ({ends}) by {by}, faster with a probability of {sure}"
    )


def show(found: dict, folder: Path) -> None:
    if found["kept"]:
        choices = [found["candidates"][number] for number in found["kept"]]
        columns = ("collective", "ranks>", "from>", "to>", "choice", "ratio>", "interval>", "parameters")
        output.print_table("Kept for this program", columns, tuned_tables.rows_of(choices))
        ratio, low, high = (found["gain"][name] for name in ("ratio", "ratio_low", "ratio_high"))
        gain = found["profile"]["predicted_gain"]
        predicted = f"{share_text(gain['share'])} less ({share_text(gain['low'])} to {share_text(gain['high'])})"
        saved, least, most = (share_text(1 - each) for each in (ratio, high, low))
        few = " that are far apart" if len(found["pairs"]) < LOOKS[0] else ""
        by = f"by {counted(len(found['pairs']), 'pair')} of runs{few}; the prediction was {predicted}"
        print(f"\nthe program takes {saved} less time ({least} to {most}), {by}")
        print(f"it is faster with a probability of {chances.text(found['gain']['faster_probability'])}")
        print(f"wisdom: {found['wisdom']}; `kumihimo run -- ...` uses it")
    elif found["nothing_to_gain"]:
        print(f"nothing was kept: {found['nothing_to_gain']}")
        if compared := [each for each in found["comparisons"] if "ratio" in each]:
            print(comparison_text(compared[0]))
        if found["earlier_wisdom"]:
            print(f"choices of an earlier command stay in use until you delete {found['earlier_wisdom']}")
    output.print_list("What else would help:", found["advice"])
    print(f"page: {folder / 'page.html'}")
