"""`kumihimo machine calibrate`: the numbers of a machine file, fitted to measured times."""

from __future__ import annotations

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
    model: option("--model MODEL", "Model: flow or exact.") = "flow",
    out: options.written("--out -o OUT", "New machine file.") = None,
    as_json: options.Json = False,
) -> None:
    """Fit a machine's numbers to measured times of collectives, and validate them on other cases.

    One set of numbers serves all algorithms, sizes and jobs.

    \b
    Example:
    kumihimo machine calibrate fugaku measured.csv --validate-on 'nodes > 100' -o my-fugaku.toml
    """
    from kumihimo.predict.calibrate import cases, fitting, report

    if model not in MODELS:
        raise wrong_value(f"--model must be one of {', '.join(MODELS)}", f"'{model}'")
    path = path_of(name)
    text = files.read_text(path, "the machine file")
    predictor = cases.Predictor(cases.read(measured), _machine.parse(text, str(path)), model)
    if not predictor.cases:
        raise wrong_value("a measured case must fit the machine", f"none of {measured}: {predictor.left_out[0][1]}")
    to_fit, kept, condition = fitting.split(predictor.cases, validate_on)
    wanted = None if fit is None else [word.strip() for word in fit.split(",")]
    with progress.bar("fitting, round", fitting.MOST_ROUNDS) as advance:
        found = progress.run_interruptible(
            lambda: fitting.calibrate(path, text, predictor, to_fit, wanted, lambda: advance(""))
        )
    told = report.CalibrationReport(found, predictor.cases, kept, condition)
    if out is not None:
        source = f"kumihimo machine calibrate: {counted(len(to_fit), 'time')} of {measured.name}, {report.span(to_fit)}"
        output.write(out, fitting.machine_file(found, source, remarks(told, measured)))
    if as_json:
        left = [{"at": case.at, "reason": reason} for case, reason in predictor.left_out]
        output.print_json({**told.to_json(), "left_out": left, **output.own_cost()})
        return
    show(told, predictor)
    if out is not None:
        print()
        output.print_line(f"wrote {odd_bytes.printable(str(out))}")


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
    """What the machine file says of its validation."""
    from kumihimo.predict.calibrate import report

    lines = [f"Fitted to {odd_bytes.printable(measured.name)}, and validated where {told.condition}."]
    for cells in told.rows()[:2]:
        facts = [f"{name.rstrip('>')} {cell}" for name, cell in zip(report.COLUMNS[1:], cells[1:])]
        lines.append(f"  {cells[0]}: {', '.join(facts)}")
    return lines


def show(told: CalibrationReport, predictor: Predictor) -> None:
    from kumihimo.predict.calibrate import report

    fit, kept = told.parts["fit"][0], told.parts["validation"][0]
    output.print_line(f"fitted to {counted(len(fit), 'time')}: {report.span(fit)}")
    output.print_line(f"validated on {counted(len(kept), 'time')}, where {told.condition}: {report.span(kept)}")
    print()
    output.print_table("", ("number", "was>", "by", "fitted>", "95 % within"), told.numbers())
    print()
    output.print_table("Errors of predictions", report.COLUMNS, told.rows())
    for title, key in (("Validation by algorithm", report.algorithm_of), ("Validation by size", report.size_of)):
        print()
        output.print_table(title, report.COLUMNS, told.rows_by(key))
    output.print_list("Farthest off in validation, predicted / measured:", told.worst(MOST_WORST))
    output.print_list("Beware:", told.found.warnings)
    reasons = dict.fromkeys(f"{report.algorithm_of(case)}: {reason}" for case, reason in predictor.left_out)
    output.print_list(f"Left out, {counted(len(predictor.left_out), 'time')}:", list(reasons))
