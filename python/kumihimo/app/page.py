"""The page of a run of an application: convergence, time per kernel, roofline and scaling, in one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kumihimo import pages
from kumihimo.app import figures, stepping, task_timeline
from kumihimo.app.catalogue import RELATIVE, ApplicationRow
from kumihimo.text import files
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import rate_text, seconds_text, share_text

MOST_POINTS = 400  # of a curve
OF_RECURRENCE = "The residual of the recurrence, divided by the norm of the right-hand side."
OF_STEPS = """Lines changed: lines of the variant's source that the golden copy has not. Of one pass: time that memory
needs to move all arrays once a step, by the measured triad. Of hand-written: speed against cuda, or without a GPU the
fastest variant written by hand on the same ranks and threads."""
COLUMNS = (
    *("variant", "ranks>", "threads>", "iterations>", "time>", "setup>", "residual>", "of bound>", "of golden>"),
    "checked~",
)


def write(path: Path, found: JsonObject, application: ApplicationRow) -> None:
    files.write_whole(path, render(found, application))


def render(found: JsonObject, application: ApplicationRow) -> str:
    rows = [row for row in found["results"] if "seconds" in row]
    how = [pages.Prose(pages.markup("<code>{}</code>", found["command"])), pages.FactList(found["facts"].items())]
    parts = [
        pages.KeyFacts(list(facts_of(found, application, rows))),
        *tables(found, rows),
        *charts(found, application, rows),
        pages.PageSection("How it was run", how),
    ]
    title, about = f"{application.name}, {found['size']}", f"{application.summary} ({application.paper})."
    return pages.page(f"kumihimo app {application.name}", parts, title, about)


def facts_of(found: JsonObject, application: ApplicationRow, rows: list[JsonObject]) -> Iterator[tuple[str, ...]]:
    best, steps = figures.best(rows), any(map(stepping.makes_steps, rows))
    where = f"{best['variant']}, {best['ranks']} × {best['threads']} processors"
    yield seconds_text(best["seconds"]), f"time of the {'run' if steps else 'solve'}", where
    if steps:
        yield (
            stepping.speed_text(best),
            "rate",
            f"{best['iterations']} steps of {seconds_text(best['seconds_per_step'])}",
        )
    else:
        method = f"{found['method']}, " if found["method"] else ""
        yield (
            str(best["iterations"]),
            "iterations",
            method + (f"tolerance {found['tolerance']}" if best["history"] else "a fixed number"),
        )
    if best["residual"] is not None:
        checked = {True: "checked by the golden copy", False: "WRONG by the golden copy", None: "not checked"}
        yield f"{best['residual']:.1e}", application.residual, checked[best["right"]]
    if share := best.get("share_of_bound"):
        yield share_text(share), "of the bound", "time that the kernels need by memory and processor / time"
    if rates := found["rates"]:
        flops = f"{rates['peak_flops'] / 1e9:.3g} GFLOPS of multiply-adds"
        yield rate_text(rates["triad_bytes_per_second"]), "measured triad", flops


def tables(found: JsonObject, rows: Sequence[JsonObject]) -> Iterator[pages.PagePart]:
    columns, cells = figures.without_empty(COLUMNS, [cells_of(row) for row in found["results"]])
    lead = "Times are medians of the runs, which take turns."
    if "of golden>" in columns:
        lead += " Of golden: how many times as fast as the golden copy on the same ranks and threads."
    yield pages.PageSection("Results", [pages.PageTable(columns, cells), pages.Prose(lead)])
    steps = pages.PageTable(*figures.without_empty(stepping.PAGE_COLUMNS, stepping.table(rows)))
    yield pages.PageSection("Directives and hand-written code", [steps, pages.Prose(OF_STEPS)], "Directives")
    if pictures := stepping.pictures(rows):
        largest = f"{pictures['largest']:.3g}"
        lead = f"Ez: blue below 0, red above, white 0; brightness by the square root of |Ez| / {largest}."
        animation = {name: pictures[name] for name in ("width", "height", "steps", "frames")}
        yield pages.PageSection("Field", [pages.FieldAnimation("Ez on the grid", **animation), pages.Prose(lead)])
    if found.get("answer"):
        warnings = (pages.Prose(f"Warning: {text}.", "warning") for text in found.get("warnings", ()))
        yield pages.PageSection("Answer", [*warnings, pages.FactList(found["answer"])])
    for each in found.get("tables", ()):
        of = "" if each.get("of_all") else f": {figures.best(found['results'])['variant']}"
        first, *others = each["columns"]
        table = pages.PageTable([first, *(f"{name}>" for name in others)], each["rows"], name=f"table-{each['name']}")
        yield pages.PageSection(each["title"] + of, [table, pages.Prose(each.get("caption", ""))], each["title"])


def charts(found: JsonObject, application: ApplicationRow, rows: list[JsonObject]) -> Iterator[pages.PagePart]:
    looks = looks_of(rows)
    solves = [row for row in rows if row["history"]]
    rooflines = [row for row in shown(rows, application) if has_work(row)] if found.get("rates") else []
    groups: dict[str, Sequence[pages.PageChart]] = {
        "Convergence": [convergence(solves, looks, application.residual)] if solves else [],
        "Charts of the answer": [answer_chart(chart) for chart in found.get("charts", [])],
        "Kernels": kernels(rows, found.get("rates"), application),
        "Roofline": [roofline(number, row, row["rates"]) for number, row in enumerate(rooflines)],
        "Scaling": scaling(rows),
    }
    timed = [(label_of(row), row["timeline"]) for row in rows if row.get("timeline")]
    yield pages.PageSection("Tasks over time", list(task_timeline.parts(timed)) if timed else [], "Tasks")
    for title, group in groups.items():
        drawn = pages.ChartGroup(group, legend=title == "Convergence", name=title.split()[-1].lower())
        yield pages.PageSection(title, [drawn])


def label_of(row: JsonObject) -> str:
    """ "br_1 colours=40, 2 ranks, 1 thread"."""
    threads = "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
    ranks = "" if row["ranks"] == 1 else f"{row['ranks']} ranks, "
    return f"{name_of(row)}, {ranks}{threads}"


def name_of(row: JsonObject) -> str:
    """ "br_1 colours=40"."""
    return " ".join([row["variant"], *(f"{name}={value}" for name, value in row["parameters"].items())])


def looks_of(rows: Sequence[JsonObject]) -> dict[str, pages.LineSeries]:
    best = label_of(figures.best(rows))
    names = dict.fromkeys(label_of(row) for row in rows)
    return {name: pages.LineSeries(name, **pages.look(i), strong=name == best) for i, name in enumerate(names)}


def answer_chart(chart: JsonObject) -> pages.LineChart:
    """Chart that the application draws of its answer, in the form of docs/applications.md."""
    lone = len(chart["series"]) == 1
    series = [
        pages.LineSeries(of["name"], of["points"], "" if lone else of["name"], **pages.look(i), strong=True)
        for i, of in enumerate(chart["series"])
        if of["points"]
    ]
    x, y = (pages.ChartAxis(scale=chart.get(name, "linear")) for name in ("x_scale", "scale"))
    name = f"answer-{chart['name']}-chart"
    return pages.LineChart(chart["title"], chart["unit"], series, x, y, chart.get("caption", ""), name)


def convergence(rows: Sequence[JsonObject], looks: dict[str, pages.LineSeries], residual: str) -> pages.LineChart:
    series = []
    for row in rows:
        history = row["history"]
        step = max(1, -(-len(history) // MOST_POINTS))
        places = sorted({*range(0, len(history), step), len(history) - 1})
        points = pages.points_of((i, history[i]) for i in places if history[i] > 0)
        series.append(replace(looks[label_of(row)], bare=True, points=points))
    caption, axes = OF_RECURRENCE if residual == RELATIVE else "", (pages.ChartAxis(), pages.ChartAxis(scale="log"))
    return pages.LineChart("Convergence", f"{residual} by iteration", series, *axes, caption, "convergence-chart")


def shown(rows: Sequence[JsonObject], application: ApplicationRow) -> list[JsonObject]:
    """The fastest, and the golden copy on the same ranks and threads."""
    best = figures.best(rows)
    golden = [
        row
        for row in rows
        if figures.is_golden(row, application) and (row["ranks"], row["threads"]) == (best["ranks"], best["threads"])
    ]
    return [best, *(row for row in golden if row is not best)]


def kernels(rows: Sequence[JsonObject], rates: JsonObject | None, application: ApplicationRow) -> list[pages.BarChart]:
    found = []
    for number, row in enumerate(shown(rows, application)):
        of_solve = [kernel for kernel in row["kernels"] if kernel["calls"] > 0 and not kernel.get("setup")]
        left = row["seconds"] - sum(kernel["seconds"] for kernel in of_solve)
        parts = [*of_solve, *([{"name": "the rest", "seconds": left}] if left > 0 else [])]
        bars = [pages.ChartBar(part["name"], [part["seconds"]], colour(i)) for i, part in enumerate(parts)]
        title, name = f"Time per kernel: {label_of(row)}", f"time-{number}-chart"
        found.append(pages.BarChart(title, "seconds of a solve", bars, "seconds", name=name))
        if not rates:
            continue
        bars = [
            pages.ChartBar(
                kernel["name"],
                [kernel["share_of_bound"]],
                colour(i),
                f"{share_text(kernel['share_of_bound'])}, {rate_of(kernel)}",
            )
            for i, kernel in enumerate(row["kernels"])
            if kernel.get("share_of_bound")
        ]
        cached = any(bar.parts[0] > 1 for bar in bars)
        caption = (
            "Above 100 %: the data are in a cache, which the triad of long vectors does not use." if cached else ""
        )
        title, unit = f"Share of the bound: {label_of(row)}", "time that memory and processor need / time"
        marks, name = [{"x": 1, "label": "bound"}], f"bound-{number}-chart"
        found += [pages.BarChart(title, unit, bars, "share", marks, caption, name)] if bars else []
    return found


def rate_of(kernel: JsonObject) -> str:
    """Rate of memory traffic, or of operations for a kernel whose traffic is not known."""
    if kernel["bytes"] > 0:
        return rate_text(kernel["bytes_per_second"])
    return f"{kernel['flops_per_second'] * 1e-9:.3g} GFLOPS"


def colour(kernel: int) -> str:
    """Colour of a kernel, beside that of the best variant."""
    return f"s{1 + kernel % (pages.COLOURS - 1)}"


def has_work(row: JsonObject) -> bool:
    """Whether the traffic and the operations of a kernel are known."""
    return any(kernel["bytes"] > 0 and kernel["flops"] > 0 for kernel in row["kernels"])


def roofline(number: int, row: JsonObject, rates: JsonObject) -> pages.LineChart:
    """Rate of operations against operations per byte, below memory's slope and the processor's level."""
    triad, peak = rates["triad_bytes_per_second"], rates["peak_flops"]
    points = {
        kernel["name"]: (kernel["flops"] / kernel["bytes"], kernel["flops_per_second"])
        for kernel in row["kernels"]
        if kernel["bytes"] > 0 and kernel["flops"] > 0 and kernel["seconds"] > 0
    }
    ridge = peak / triad
    low, high = min([0.03, *(x for x, _ in points.values())]) / 2, max([ridge, *(x for x, _ in points.values())]) * 2
    roof = pages.points_of([(low, low * triad), (ridge, peak), (high, peak)])
    series = [pages.bound("roof", roof)]
    for i, (name, at) in enumerate(points.items()):
        series.append(pages.LineSeries(name, pages.points_of([at]), colour=colour(i), marker=i % 5, strong=True))
    title, unit = f"Roofline: {label_of(row)}", "operations per second by operations per byte of memory traffic"
    axes = pages.ChartAxis("intensity", "log"), pages.ChartAxis("flops", "log")
    caption = f"Measured roofs: triad {rate_text(triad)}, multiply-adds {peak / 1e9:.3g} GFLOPS."
    return pages.LineChart(title, unit, series, *axes, caption, f"roofline-{number}-chart")


def scaling(rows: Sequence[JsonObject]) -> list[pages.LineChart]:
    """Time by processors, one curve a variant; none where all rows have the same number."""
    if len({row["ranks"] * row["threads"] for row in rows}) < 2:
        return []
    curves: dict[str, dict[int, float]] = {}
    for row in rows:
        curve = curves.setdefault(name_of(row), {})
        workers = row["ranks"] * row["threads"]
        curve[workers] = min(row["seconds"], curve.get(workers, row["seconds"]))
    series = []
    for i, (name, curve) in enumerate(curves.items()):
        points = pages.points_of(sorted(curve.items()))
        series.append(pages.LineSeries(name, points, **pages.look(i), strong=i == 0))
        first, seconds = min(curve.items())
        ideal = pages.points_of((x, seconds * first / x) for x in sorted(curve))
        series.append(pages.bound(f"ideal of {name}", ideal, "ideal"))
    unit, caption = (
        "time of a solve by ranks × threads; dashed: ideal",
        "The fastest run where several have the same number.",
    )
    axes = pages.ChartAxis(scale="log"), pages.ChartAxis("seconds", "log")
    return [pages.LineChart("Scaling", unit, series, *axes, caption, "scaling-chart")]


def cells_of(row: JsonObject) -> list[str]:
    first = [name_of(row), str(row["ranks"]), str(row["threads"])]
    if "not_applicable" in row:
        return [*first, *[""] * 6, row["not_applicable"]]
    checked = {True: '<span class="ok">right</span>', False: '<span class="wrong">WRONG</span>', None: "no"}
    return [
        *first,
        str(row["iterations"]),
        seconds_text(row["seconds"]),
        seconds_text(row["setup_seconds"]),
        "" if row["residual"] is None else f"{row['residual']:.1e}",
        share_text(row["share_of_bound"]) if row.get("share_of_bound") else "",
        f"{row['times_golden']:.2f}×" if row.get("times_golden") else "",
        pages.markup(checked[row["right"]]),
    ]
