"""`kumihimo machine calibrate`: the numbers of a machine file, fitted to measured times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo import _machine
from kumihimo.cli import options, output, progress
from kumihimo.cli.options import argument, option
from kumihimo.processes.package_files import folder
from kumihimo.text import files, odd_bytes
from kumihimo.text.errors import did_you_mean, wrong_value
from kumihimo.text.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from kumihimo.predict.calibrate.cases import Predictor
    from kumihimo.predict.calibrate.report import CalibrationReport

MODELS = ("flow", "exact")
MOST_WORST = 10


def command(
    name: argument("MACHINE", "Name from `machine list`, or path of a machine file."),
    measured: argument("MEASURED", "Measured times: a CSV file, or a TOML file that explains one.", Path),
    fit: option("--fit KEYS", "Numbers to fit: message_cost,hop_latency [default: assumed and fitted ones].") = None,
    validate_on: option(
        "--validate-on EXPRESSION", "Cases kept for validation: 'nodes > 100' [default: the largest job]."
    ) = None,
    scales: option(
        "--scales PAIRS",
        "Cross-validation: nodes fitted and nodes judged, 8:64,64:512; none: leave it out [default: each number of "
        "nodes by all smaller jobs].",
    ) = None,
    software: option(
        "--software NAME", "State of the software that was measured; a new one is added [default: the file's]."
    ) = None,
    model: option("--model MODEL", "Model: flow or exact.") = "flow",
    out: options.written("--out -o OUT", "New machine file.") = None,
    as_json: options.Json = False,
) -> None:
    """Fit a machine's numbers to measured times of collectives, and validate them on other cases.

    One set of numbers serves all algorithms, sizes and jobs. Numbers are also fitted to small jobs and judged on larger
    ones; of several forms of a cost the one is taken that predicts the larger jobs best.

    \b
    Example:
    kumihimo machine calibrate fugaku measured.csv --validate-on 'nodes > 100' -o my-fugaku.toml
    """
    from kumihimo.predict.calibrate import by_scale, cases, days, fitting, report

    if model not in MODELS:
        raise wrong_value(f"--model must be one of {', '.join(MODELS)}", f"'{model}'")
    path = path_of(name)
    text, state = in_state(files.read_text(path, "the machine file"), path, software)
    machine = _machine.parse(text, str(path), state or fitting.NO_STATE)
    read = cases.of_state(cases.read(measured), state or fitting.NO_STATE, machine.software_states)
    predictor = cases.Predictor(read, machine, model)
    if not predictor.cases:
        raise wrong_value("a measured case must fit the machine", f"none of {measured}: {predictor.left_out[0][1]}")
    to_fit, kept, condition = fitting.split(predictor.cases, validate_on)
    wanted = None if fit is None else [word.strip() for word in fit.split(",")]
    splits = [] if scales == "none" else by_scale.splits_of(predictor.cases, scales)

    def work(advance: Callable[[str], None]) -> tuple[by_scale.ScaleValidation, fitting.FittedMachine]:
        held = set() if validate_on is None else {id(case) for case in kept}
        judged = by_scale.validate(path, text, predictor, splits, held, wanted, lambda: advance("judging"), state)
        found = fitting.calibrate(path, judged.text, predictor, to_fit, wanted, lambda: advance("fitting"), state, text)
        return judged, found

    with progress.bar("fitting, round", fitting.MOST_ROUNDS * (1 + len(splits))) as advance:
        judged, found = progress.run_interruptible(lambda: work(advance))
    daily, repeated = days.spread(predictor.cases)
    told = report.CalibrationReport(found, predictor.cases, kept, condition, judged, daily, repeated)
    if out is not None:
        source = f"kumihimo machine calibrate: {counted(len(to_fit), 'time')} of {measured.name}, {report.span(to_fit)}"
        source += "" if wanted is None else ", all other numbers as in the file"
        of = told.errors_source(measured.name, wanted)
        errors = fitting.errors_section(told.error_rows, of, told.nodes, daily, told.correlations)
        output.write(out, fitting.machine_file(found, source, remarks(told, measured), state, errors))
    if as_json:
        left = [{"at": case.at, "reason": reason} for case, reason in predictor.left_out]
        output.print_json({**told.to_json(), "left_out": left, **output.own_cost()})
        return
    show(told, predictor)
    if out is not None:
        print()
        output.print_line(f"wrote {odd_bytes.printable(str(out))}")


def in_state(text: str, path: Path, software: str | None) -> tuple[str, str]:
    """The machine file with this state of its software, which may be new, and the state's name; empty: none."""
    from kumihimo.predict.calibrate.fitting import NO_STATE

    known = _machine.parse(text, str(path), NO_STATE).software_states
    if software is None:
        return text, _machine.parse(text, str(path)).software_state
    if software == NO_STATE:
        return text, ""
    if software not in known:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", software):
            raise wrong_value("--software must be a name of letters, digits, _ and -", f"'{software}'")
        text = f"{text.rstrip()}\n\n[software.{software}]\n"
    return text, software


def path_of(name: str) -> Path:
    path, shipped = Path(name), folder("machines") / f"{name}.toml"
    if "/" not in name and shipped.exists():
        return shipped
    if not path.exists():
        known = _machine.names([folder("machines")])
        advice = did_you_mean(name, known, f"use one of {', '.join(known)}, or the path of a machine file")
        raise wrong_value("the machine must be described by a file", odd_bytes.printable(name), advice)
    return path


def remarks(told: CalibrationReport, measured: Path) -> list[str]:
    """Remarks in the machine file about its validation."""
    from kumihimo.predict.calibrate import report

    lines = [f"Fitted to {odd_bytes.printable(measured.name)}, and validated where {told.condition}."]
    for cells in told.rows()[:2]:
        facts = [f"{name.rstrip('>')} {cell}" for name, cell in zip(report.COLUMNS[1:], cells[1:])]
        lines.append(f"  {cells[0]}: {', '.join(facts)}")
    return lines


def show_scales(told: CalibrationReport) -> None:
    """How numbers of small jobs predict larger ones, and the intervals that follow."""
    from kumihimo.predict.calibrate import report

    if not told.by_scale.judged:
        return
    print()
    output.print_table("Fitted to small jobs, judged on larger ones", report.SCALE_COLUMNS, told.rows_by_scale())
    for line in told.scale_remarks():
        output.print_line(line)
    print()
    output.print_table("The same by class of algorithm and of length", report.CLASS_COLUMNS, told.rows_by_class())
    for line in told.coverage_remarks():
        output.print_line(line)


def show(told: CalibrationReport, predictor: Predictor) -> None:
    from kumihimo.predict.calibrate import report

    fit, kept = told.parts["fit"][0], told.parts["validation"][0]
    output.print_line(f"fitted to {counted(len(fit), 'time')}: {report.span(fit)}")
    output.print_line(f"validated on {counted(len(kept), 'time')}, where {told.condition}: {report.span(kept)}")
    print()
    output.print_table("", ("number", "was>", "by", "fitted>", "95 % within"), told.numbers())
    print()
    output.print_table("Errors of predictions", report.COLUMNS, told.rows())
    show_scales(told)
    for title, key in (("Validation by algorithm", report.algorithm_of), ("Validation by size", report.size_of)):
        print()
        output.print_table(title, report.COLUMNS, told.rows_by(key))
    output.print_list("Farthest off in validation, predicted / measured:", told.worst(MOST_WORST))
    output.print_list("Beware:", told.found.warnings)
    reasons = dict.fromkeys(f"{report.algorithm_of(case)}: {reason}" for case, reason in predictor.left_out)
    output.print_list(f"Left out, {counted(len(predictor.left_out), 'time')}:", list(reasons))
