"""`kumihimo published`: published figures beside what is predicted of them."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from kumihimo.app.published_figures import figure as figures
from kumihimo.app.published_figures import registry
from kumihimo.app.published_figures.figure import FigureComparison, PublishedFigure
from kumihimo.app.published_figures.rates_here import RatesHere
from kumihimo.cli import options, output, progress, simulate_lu
from kumihimo.cli.options import option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.kernel import identity
from kumihimo.text import quantities
from kumihimo.text.errors import Failed, NotApplicable
from kumihimo.text.quantities import counted, share_text


def command(
    cases: option("--case NAME", "Figure to compare; may be repeated [default: all].", list[str]) = None,
    only_list: option("--list", "List the figures without computing anything.") = False,
    out: options.written("--write FILE", "Write the tables as a page of Markdown.", WrittenWhole) = None,
    as_json: options.Json = False,
) -> None:
    """Compare each published figure that has a ready case with its prediction, and list those that have none.

    Every prediction is computed now, with nothing fitted to its figure. All take half a minute, on a busy machine a
    few.

    \b
    Examples:
    kumihimo published
    kumihimo published --case k-hpl --case k-ring
    kumihimo published --list
    """
    asked = registry.named(cases or [])
    if only_list:
        options.refuse_beside("--list", "out")
        return list_all(asked, as_json)
    here = RatesHere()
    found, left_out = progress.run_interruptible(lambda: answers(asked, here))
    if out is not None:
        output.write(out, page(found, left_out, here))
    if as_json:
        return output.print_json(
            {
                "results": [as_object(*each) for each in found],
                "not_predicted": [unpredicted(each) for each in left_out],
                "median_log_ratio": finite(figures.median_error([each for each, _ in found])),
                "median_log_ratio_without_extrapolated": finite(
                    figures.median_error([each for each, _ in found if not each.figure.is_extrapolated])
                ),
                "measured": here.measured(),
                **output.own_cost(),
            }
        )
    show(found, left_out, here)
    if out is not None:
        output.print_line(f"written: {out}")
    return None


def answers(
    asked: Sequence[PublishedFigure], here: RatesHere
) -> tuple[list[tuple[FigureComparison, float]], list[LeftOut]]:
    """Comparisons, each with the seconds that it took, and why there are no others."""
    found, left_out = [], []
    with progress.bar("predicting", len(asked)) as advance:
        for each in asked:
            began = time.perf_counter()
            try:
                if each.is_compared:
                    found.append((figures.compared(each, here), time.perf_counter() - began))
                else:
                    figures.check(each)
                    remark = each.remark and each.remark(here)
                    left_out.append(LeftOut(each, " ".join(filter(None, (each.reason, remark)))))
            except (Failed, NotApplicable) as error:  # such as no BLAS library
                left_out.append(LeftOut(each, f"It could not be computed here: {error}."))
            advance(each.name)
    return found, left_out


@dataclass(frozen=True)
class LeftOut:
    """`why`: the reason, and what a model tells all the same."""

    figure: PublishedFigure
    why: str


def as_object(of: FigureComparison, seconds: float) -> dict:
    return {
        "name": of.figure.name,
        "what": of.figure.what,
        "unit": of.figure.unit,
        "published": of.figure.value,
        "predicted": of.predicted,
        "ratio": of.ratio,
        "log_ratio": finite(of.log_ratio),
        "is_counted": of.is_counted,
        "is_extrapolated": of.figure.is_extrapolated,
        "is_off": of.is_off,
        "source": of.figure.source,
        "assumed": of.figure.assumed,
        **({"reason": of.figure.reason} if of.is_off else {}),
        "took_seconds": seconds,
    }


def finite(value: float | None) -> float | None:
    """JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def unpredicted(of: LeftOut) -> dict:
    return {"name": of.figure.name, "what": of.figure.what, "source": of.figure.source, "reason": of.why}


def value_text(value: float, unit: str) -> str:
    if unit == "bytes/s":
        return quantities.rate_text(value)
    if unit == "flop/s":
        return f"{value * 1e-12:.4g} TFLOPS"
    if unit == "s":
        return quantities.seconds_text(value)
    return share_text(value) if unit == "share" else f"{value:.2f}x"


def published_text(of: PublishedFigure) -> str:
    return "" if of.value is None else value_text(of.value, of.unit)


COLUMNS = ("figure", "published>", "predicted>", "ratio>", "", "what")


def row(of: FigureComparison) -> tuple[str, ...]:
    unit = of.figure.unit
    marks = "input" if of.figure.is_input else "off" if of.is_off else ""
    values = (value_text(each, unit) for each in (of.figure.value, of.predicted))
    return (of.figure.name, *values, f"{of.ratio:.2f}", marks, of.figure.what)


def show(found: Sequence[tuple[FigureComparison, float]], left_out: Sequence[LeftOut], here: RatesHere) -> None:
    compared = [each for each, _ in found]
    if compared:
        output.print_table("", COLUMNS, map(row, compared))
        print()
        output.print_line(summary(compared))
        output.print_list(
            "Off by more than 30 %:", [f"{each.figure.name}: {reason(each)}" for each in compared if off(each)]
        )
        assumed = [f"{each.figure.name}: {each.figure.assumed}" for each in compared if each.figure.assumed]
        output.print_list("Assumed, beside the machine files:", assumed)
        if text := measured_text(here):
            print()
            output.print_line(text)
    output.print_list("Not predicted:", [f"{', '.join(names)}: {why}" for why, names in by_reason(left_out).items()])


def off(of: FigureComparison) -> bool:
    return of.is_off and of.is_counted


def reason(of: FigureComparison) -> str:
    return of.figure.reason or "no reason is known"


def by_reason(left_out: Sequence[LeftOut]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in left_out:
        found.setdefault(each.why, []).append(each.figure.name)
    return found


def summary(compared: Sequence[FigureComparison]) -> str:
    counted_ones = [each for each in compared if each.is_counted]
    inputs = len(compared) - len(counted_ones)
    error = figures.median_error(compared)
    within = sum(not each.is_off for each in counted_ones)
    apart = f"; {counted(inputs, 'figure')} that machine files were made from " if inputs else ""
    left = f"{apart}{'does' if inputs == 1 else 'do'} not count" if inputs else ""
    if error is None:
        return f"No figure counts{left}."
    own = [each for each in counted_ones if not each.figure.is_extrapolated]
    without = ""
    if own and len(own) < len(counted_ones):
        words = "without those of Fugaku, whose machine file was fitted to smaller jobs of the same study"
        without = f" Of {counted(len(own), 'figure')}, {words}: {error_text(figures.median_error(own))}."
    return (
        f"Median |ln(predicted / published)| of {counted(len(counted_ones), 'figure')}: {error_text(error)}; "
        f"{within} within 30 %{left}.{without}"
    )


def error_text(error: float) -> str:
    return "infinite" if math.isinf(error) else f"{100 * error:.1f} %"


def measured_text(here: RatesHere) -> str:
    """As `simulate app` has it."""
    measured = here.measured()
    lines = f"lines of FFT {measured['line_gflops']:.3g} GFLOPS" if "line_gflops" in measured else ""
    if "update_gflops" in measured:
        return f"{simulate_lu.measured_text(measured)}{'; ' if lines else ''}{lines}"
    return lines and f"Measured here on one thread of {identity.this_machine()['processor']}: {lines}"


def list_all(asked: Sequence[PublishedFigure], as_json: bool) -> None:
    if as_json:
        rows = [
            {"name": each.name, "what": each.what, "published": each.value, "unit": each.unit, "source": each.source}
            | {"is_predicted": each.is_compared}
            for each in asked
        ]
        return output.print_json({"figures": rows, **output.own_cost()})
    rows = [(each.name, published_text(each), "" if each.is_compared else "no", each.what) for each in asked]
    output.print_table("", ("figure", "published>", "predicted", "what"), rows)
    return None


# --- the page

HEAD = """# Published figures beside predictions

Each figure that was published of a machine and has a ready case here, beside its prediction. Made
by `kumihimo published --write docs/published.md`; to change it, edit the rows in
`python/kumihimo/app/published_figures` and run the command again on a quiet machine.

No number is fitted to a figure: predictions use machine files, the stated parameters of workloads,
and rates of kernels that are measured where the command runs. *Input*: a number of a machine file
was made from this figure, so that it does not count. *Off*: by more than 30 %, with the reason
below. The machine file of Fugaku was fitted to times on 8 and 64 nodes of the study whose times on
512 nodes are here, so that the median is given without them, too. Two costs of K were set so that a
bcast takes the 98 ms that follow from other figures of its study: its figures count all the same.
[Predict a machine](guides/predict-a-machine.md#how-far-to-trust-it) compares hundreds of times of
the study of Fugaku.
"""


def page(found: Sequence[tuple[FigureComparison, float]], left_out: Sequence[LeftOut], here: RatesHere) -> str:
    compared = [each for each, _ in found]
    lines = [HEAD]
    today = datetime.now(timezone.utc).date().isoformat()
    lines += [*wrapped(f"{today}. {measured_text(here)}".strip()), "", *wrapped(f"**{summary(compared)}**"), ""]
    lines += [
        "| Figure | Published | Predicted | Ratio | | What | Source | Assumed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [cells(*row_of_page(each)) for each in compared]
    lines += ["", "## Off by more than 30 %", ""]
    for each in compared:
        if off(each):
            lines += wrapped(f"`{each.figure.name}`: {reason(each)}", "- ")
    lines += ["", "## Not predicted", "", "| Figure | What | Source | Reason |", "|---|---|---|---|"]
    lines += [cells(f"`{each.figure.name}`", each.figure.what, each.figure.source, each.why) for each in left_out]
    return "\n".join(lines) + "\n"


def row_of_page(of: FigureComparison) -> tuple[str, ...]:
    name, published, predicted, ratio, mark, what = row(of)
    return (f"`{name}`", published, predicted, ratio, mark, what, of.figure.source, of.figure.assumed)


def cells(*words: str) -> str:
    return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


def wrapped(text: str, bullet: str = "") -> list[str]:
    return textwrap.wrap(text, 98, initial_indent=bullet, subsequent_indent=" " * len(bullet), break_long_words=False)
