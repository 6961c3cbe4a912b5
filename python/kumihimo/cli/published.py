"""`kumihimo published`: published figures beside what is predicted of them."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kumihimo.app.published_figures import figure as figures
from kumihimo.app.published_figures import registry
from kumihimo.app.published_figures.figure import FigureComparison, PublishedFigure
from kumihimo.app.published_figures.kernel_rates import KernelRates
from kumihimo.cli import options, output, progress
from kumihimo.cli.options import option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.text import quantities
from kumihimo.text.errors import Failed, NotApplicable
from kumihimo.text.quantities import share_text


def command(
    cases: option("--case NAME", "Figure to compare; may be repeated [default: all].", list[str]) = None,
    only_list: option("--list", "List the figures without computing anything.") = False,
    out: options.written("--write FILE", "Write the tables as a page of Markdown.", WrittenWhole) = None,
    measure: option(
        "--measure", "Measure the rates of kernels on this machine [default: as measured once, see the text]."
    ) = False,
    as_json: options.Json = False,
) -> None:
    """Compare each published figure that has a ready case with its prediction, and list those that have none.

    Every prediction is computed now, with nothing fitted to its figure. Rates of kernels are those of a processor that
    the output names. All take a minute, on a busy machine a few.

    \b
    Examples:
    kumihimo published
    kumihimo published --case k-hpl --case k-ring
    kumihimo published --list
    """
    asked = registry.named(cases or [])
    if only_list:
        options.refuse_beside("--list", "out", "measure")
        return list_all(asked, as_json)
    rates = KernelRates(here=measure)
    found, left_out = progress.run_interruptible(lambda: answers(asked, rates))
    if out is not None:
        output.write(out, page(found, left_out, rates))
    if as_json:
        return output.print_json(
            {
                "results": [as_object(*each) for each in found],
                "not_predicted": [unpredicted(each) for each in left_out],
                "medians": [
                    {
                        "figures": words,
                        "count": len(of),
                        "log_ratio": finite(figures.median_error(of)),
                        "log_effect": finite(figures.median_error(of, by_effect=True)),
                        "within_30_percent": sum(not each.is_off for each in of),
                    }
                    for words, of in groups([each for each, _ in found])
                ],
                "rates": rates.used(),
                **output.own_cost(),
            }
        )
    show(found, left_out, rates)
    if out is not None:
        output.print_line(f"written: {out}")
    return None


def answers(
    asked: Sequence[PublishedFigure], rates: KernelRates
) -> tuple[list[tuple[FigureComparison, float]], list[LeftOut]]:
    """Comparisons, each with the seconds that it took, and why there are no others."""
    found, left_out = [], []
    with progress.bar("predicting", len(asked)) as advance:
        for each in asked:
            began = time.perf_counter()
            try:
                if each.is_compared:
                    found.append((figures.compared(each, rates), time.perf_counter() - began))
                else:
                    figures.check(each)
                    remark = each.remark and each.remark(rates)
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
        "effect": of.effect,
        "is_counted": of.is_counted,
        "fitted": of.figure.fitted,
        "campaign": of.figure.campaign,
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


COLUMNS = ("figure", "published>", "predicted>", "ratio>", "effect>", "", "what")


def row(of: FigureComparison) -> tuple[str, ...]:
    unit = of.figure.unit
    marks = "input" if of.figure.is_input else "off" if of.is_off else ""
    values = (value_text(each, unit) for each in (of.figure.value, of.predicted))
    effect = "" if of.effect is None else f"{of.effect:.2f}"
    return (of.figure.name, *values, f"{of.ratio:.2f}", effect, marks, of.figure.what)


INDEPENDENT, FITTED, INPUTS = (
    "nothing was fitted to their study",
    "numbers were fitted to other figures of their study",
    "numbers were made from them",
)


def parts(compared: Sequence[FigureComparison]) -> dict[str, list[FigureComparison]]:
    """Comparisons by what they prove, the strongest proof first."""
    found: dict[str, list[FigureComparison]] = {INDEPENDENT: [], FITTED: [], INPUTS: []}
    for each in compared:
        kind = INPUTS if each.figure.is_input else FITTED if each.figure.fitted else INDEPENDENT
        found[kind].append(each)
    return {kind: each for kind, each in found.items() if each}


def groups(compared: Sequence[FigureComparison]) -> list[tuple[str, list[FigureComparison]]]:
    """For each that has figures that count, and all of them together, a median is told."""
    found = [(kind, each) for kind, each in parts(compared).items() if kind != INPUTS]
    return [*found, ("all", [each for each in compared if each.is_counted])] if len(found) > 1 else found


def show(found: Sequence[tuple[FigureComparison, float]], left_out: Sequence[LeftOut], rates: KernelRates) -> None:
    compared = [each for each, _ in found]
    for kind, each in parts(compared).items():
        output.print_table(f"Figures: {kind}", COLUMNS, map(row, each))
        print()
    if compared:
        if rows := summary(compared):
            output.print_table("Median of |ln(predicted / published)|", SUMMARY, rows)
        else:
            output.print_line("No figure counts: numbers were made from them.")
        output.print_list(
            "Off by more than 30 %:", [f"{', '.join(of)}: {why}" for why, of in by_reason_off(compared).items()]
        )
        assumed = [f"{each.figure.name}: {each.figure.assumed}" for each in compared if each.figure.assumed]
        output.print_list("Assumed, beside the machine files:", assumed)
        if text := rates_text(rates):
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


SUMMARY = ("figures", "number>", "by ratio>", "by effect>", "within 30 %>")


def summary(compared: Sequence[FigureComparison]) -> list[tuple[str, ...]]:
    return [
        (
            words,
            str(len(of)),
            error_text(figures.median_error(of)),
            error_text(figures.median_error(of, by_effect=True)),
            str(sum(not each.is_off for each in of)),
        )
        for words, of in groups(compared)
    ]


def error_text(error: float) -> str:
    return "infinite" if math.isinf(error) else f"{100 * error:.1f} %"


def rates_text(rates: KernelRates) -> str:
    used = rates.used()
    if not used:
        return ""
    peak, words = rates.peak, []
    if "lu" in used:
        words.append(f"updates {used['lu']['updates'] * 1e-9:.3g} GFLOPS ({share_text(used['lu']['updates'] / peak)})")
        words.append(f"panels {used['lu']['panels'] * 1e-9:.3g} GFLOPS ({share_text(used['lu']['panels'] / peak)})")
        words.append(used["lu"]["blas"])
    if "lines" in used:
        words.append(f"lines of FFT {used['lines']['flops'] * 1e-9:.3g} GFLOPS by {used['lines']['library']}")
    if "long_lines" in used:
        words.append(f"those that outgrow the cache {used['long_lines']['flops'] * 1e-9:.3g} GFLOPS")
    about = f"Rates of kernels on one thread of {used['processor']}, {used['date']}"
    return f"{about}, and their shares of its peak of {peak * 1e-9:.3g} GFLOPS: {'; '.join(words)}."


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

Each figure that was published of a machine and has a ready case, beside its prediction. Made by
`kumihimo published --write docs/published.md`. To change it, edit the rows in
`python/kumihimo/app/published_figures` and run the command again.

No number is fitted to a figure itself. Predictions use machine files, the stated parameters of
workloads, and rates of kernels. Those were measured once (`kernel_rates.json`), so that this page
does not depend on the machine that makes it. `--measure` takes the rates of yours.

- *Ratio*: predicted over published.
- *Effect*, of figures that are ratios: predicted over published distance from 1. A gain of 1.09x is
  near to one of 1.14x by its ratio, but has 0.64 of its effect.
- *Off*: by more than 30 %, by ratio or effect; the reason is below.
- *Input*: a number of a machine file was made from the figure. It does not count.

Most figures are of studies to other figures of which numbers were fitted. What to expect of a
machine that was not measured is the first row below.
"""
PARTS = {
    INDEPENDENT: "Nothing was fitted to their study",
    FITTED: "Numbers were fitted to other figures of their study",
    INPUTS: "Numbers were made from them",
}


def page(found: Sequence[tuple[FigureComparison, float]], left_out: Sequence[LeftOut], rates: KernelRates) -> str:
    compared = [each for each, _ in found]
    lines = [HEAD, *wrapped(rates_text(rates)), "", "Median of |ln(predicted / published)|:", ""]
    lines += table(("Figures", "Number", "By ratio", "By effect", "Within 30 %"), summary(compared))
    for kind, each in parts(compared).items():
        lines += ["", f"## {PARTS[kind]}", ""]
        columns = ("Figure", "Published", "Predicted", "Ratio", "Effect", "", "What", "Source", "Assumed")
        last = ("Fitted",) if kind == FITTED else ()
        lines += table((*columns, *last), [(*row_of_page(one), *([one.figure.fitted] if last else [])) for one in each])
    lines += ["", "## Off by more than 30 %", ""]
    for why, names in by_reason_off(compared).items():
        lines += wrapped(f"{', '.join(f'`{name}`' for name in names)}: {why}", "- ")
    lines += ["", "## Campaigns", "", "`kumihimo campaign NAME` computes the points around these figures.", ""]
    of_campaigns: dict[str, list[str]] = {}
    for figure in (*(each.figure for each in compared), *(each.figure for each in left_out)):
        if figure.campaign:
            of_campaigns.setdefault(figure.campaign, []).append(f"`{figure.name}`")
    lines += table(("Campaign", "Figures"), [(f"`{name}`", ", ".join(of)) for name, of in of_campaigns.items()])
    lines += ["", "## Not predicted", ""]
    rows = [(f"`{each.figure.name}`", each.figure.what, each.figure.source, each.why) for each in left_out]
    lines += table(("Figure", "What", "Source", "Reason"), rows)
    return "\n".join(lines) + "\n"


def by_reason_off(compared: Sequence[FigureComparison]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in compared:
        if off(each):
            found.setdefault(reason(each), []).append(each.figure.name)
    return found


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [cells(*columns), cells(*(["---"] * len(columns))), *(cells(*each) for each in rows)]


def row_of_page(of: FigureComparison) -> tuple[str, ...]:
    name, *others = row(of)
    return (f"`{name}`", *others, of.figure.source, of.figure.assumed)


def cells(*words: str) -> str:
    return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


def wrapped(text: str, bullet: str = "") -> list[str]:
    indent = " " * len(bullet)
    return textwrap.wrap(
        text, 98, initial_indent=bullet, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
