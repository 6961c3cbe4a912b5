"""The page of a run of an application: convergence, time per kernel, roofline and scaling, in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kumihimo.app import figures, stepping
from kumihimo.app.catalogue import RELATIVE, ApplicationRow
from kumihimo.pages import one_file
from kumihimo.text import files
from kumihimo.text.quantities import rate_text, seconds_text, share_text

MOST_POINTS = 400  # of a curve
COLOURS = 16
OF_RECURRENCE = "The residual of the recurrence, divided by the norm of the right-hand side."
ROOF = {"colour": "bound", "marker": 0, "bare": True, "dash": "2 4"}


def write(path: Path, found: dict, application: ApplicationRow) -> None:
    files.write_whole(path, render(found, application))


def render(found: dict, application: ApplicationRow) -> str:
    rows = [row for row in found["results"] if "seconds" in row]
    looks = looks_of(rows)
    solves = [row for row in rows if row["history"]]
    groups = {
        name: charts
        for name, charts in (
            ("convergence", [convergence(solves, looks, application.residual)] if solves else []),
            ("answer", [answer_chart(chart) for chart in found.get("charts", [])]),
            ("kernels", kernels(rows, found.get("rates"), application)),
            (
                "roofline",
                [roofline(row, row["rates"]) for row in shown(rows, application) if has_work(row)]
                if found.get("rates")
                else [],
            ),
            ("scaling", scaling(rows, looks)),
        )
        if charts
    }
    legends = {"convergence": looks, "scaling": looks}
    pictures = stepping.pictures(rows)
    data = {
        "groups": {name: {"charts": charts, "legend": legend_of(legends.get(name))} for name, charts in groups.items()},
        "pictures": pictures,
    }
    return one_file.page(
        Path(__file__).parent,
        data,
        ("charts.js",),
        found=found,
        application=application,
        best=figures.best(rows),
        groups=groups,
        table=figures.without_empty(COLUMNS, [cells_of(row) for row in found["results"]]),
        steps=figures.without_empty(stepping.PAGE_COLUMNS, stepping.table(rows)),
        speed=stepping.speed_text,
        pictures=pictures,
        seconds=seconds_text,
        rate=rate_text,
        share=share_text,
    )


def label_of(row: dict) -> str:
    """ "br_1 colours=40, 2 ranks, 1 thread"."""
    words = " ".join([row["variant"], *(f"{name}={value}" for name, value in row["parameters"].items())])
    threads = "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
    ranks = "" if row["ranks"] == 1 else f"{row['ranks']} ranks, "
    return f"{words}, {ranks}{threads}"


def looks_of(rows: Sequence[dict]) -> dict[str, dict]:
    best = label_of(figures.best(rows))
    names = dict.fromkeys(label_of(row) for row in rows)
    return {
        name: {"name": name, "label": name, "colour": f"s{i % COLOURS}", "marker": i % 5, "strong": name == best}
        for i, name in enumerate(names)
    }


def legend_of(looks: dict[str, dict] | None) -> list[dict]:
    return list(looks.values()) if looks else []


def answer_chart(chart: dict) -> dict:
    """What the application draws of its answer, in the form of docs/applications.md."""
    lone = len(chart["series"]) == 1
    return {
        "kind": "lines",
        "id": f"answer-{chart['name']}-chart",
        "title": chart["title"],
        "unit": chart["unit"],
        "x": {"quantity": "number", "scale": chart.get("x_scale", "linear")},
        "y": {"quantity": "number", "scale": chart.get("scale", "linear")},
        "series": [
            {
                "name": series["name"],
                "label": "" if lone else series["name"],
                "colour": f"s{i % COLOURS}",
                "marker": i % 5,
                "strong": True,
                "points": series["points"],
            }
            for i, series in enumerate(chart["series"])
            if series["points"]
        ],
        "caption": chart.get("caption", ""),
    }


def convergence(rows: Sequence[dict], looks: dict[str, dict], residual: str) -> dict:
    series = []
    for row in rows:
        history = row["history"]
        step = max(1, -(-len(history) // MOST_POINTS))
        places = sorted({*range(0, len(history), step), len(history) - 1})
        points = [{"x": i, "y": history[i]} for i in places if history[i] > 0]
        series.append({**looks[label_of(row)], "bare": True, "points": points})
    return {
        "kind": "lines",
        "id": "convergence-chart",
        "title": "Convergence",
        "unit": f"{residual} by iteration",
        "x": {"quantity": "number", "scale": "linear"},
        "y": {"quantity": "number", "scale": "log"},
        "series": series,
        "caption": OF_RECURRENCE if residual == RELATIVE else "",
    }


def shown(rows: Sequence[dict], application: ApplicationRow) -> list[dict]:
    """The fastest, and the golden copy on the same ranks and threads."""
    best = figures.best(rows)
    golden = [
        row
        for row in rows
        if figures.is_golden(row, application) and (row["ranks"], row["threads"]) == (best["ranks"], best["threads"])
    ]
    return [best, *(row for row in golden if row is not best)]


def kernels(rows: Sequence[dict], rates: dict | None, application: ApplicationRow) -> list[dict]:
    found = []
    for number, row in enumerate(shown(rows, application)):
        of_solve = [kernel for kernel in row["kernels"] if kernel["calls"] > 0 and not kernel.get("setup")]
        left = row["seconds"] - sum(kernel["seconds"] for kernel in of_solve)
        parts = [*of_solve, *([{"name": "the rest", "seconds": left}] if left > 0 else [])]
        bars = [
            {"label": part["name"], "name": part["name"], "colour": f"s{1 + i % 15}", "parts": [part["seconds"]]}
            for i, part in enumerate(parts)
        ]
        found.append(
            bar_chart(f"time-{number}", f"Time per kernel: {label_of(row)}", "seconds of a solve", bars, "seconds")
        )
        if not rates:
            continue
        bars = [
            {
                "label": kernel["name"],
                "name": kernel["name"],
                "colour": f"s{1 + i % 15}",
                "parts": [kernel["share_of_bound"]],
                "note": f"{share_text(kernel['share_of_bound'])}, {rate_text(kernel['bytes_per_second'])}",
            }
            for i, kernel in enumerate(row["kernels"])
            if kernel.get("share_of_bound")
        ]
        if bars:
            chart = bar_chart(
                f"bound-{number}",
                f"Share of the bound: {label_of(row)}",
                "time that memory and processor need / time",
                bars,
                "share",
            )
            chart["marks"] = [{"x": 1, "label": "bound"}]
            if any(bar["parts"][0] > 1 for bar in bars):
                chart["caption"] = "Above 100 %: the data are in a cache, which the triad of long vectors does not use."
            found.append(chart)
    return found


def bar_chart(name: str, title: str, unit: str, rows: list[dict], quantity: str) -> dict:
    return {
        "kind": "bars",
        "id": f"{name}-chart",
        "title": title,
        "unit": unit,
        "x": {"quantity": quantity, "scale": "linear"},
        "caption": "",
        "rows": rows,
    }


def has_work(row: dict) -> bool:
    """Whether the traffic and the operations of a kernel are known."""
    return any(kernel["bytes"] > 0 and kernel["flops"] > 0 for kernel in row["kernels"])


def roofline(row: dict, rates: dict) -> dict:
    """Rate of operations against operations per byte, below memory's slope and the processor's level."""
    triad, peak = rates["triad_bytes_per_second"], rates["peak_flops"]
    points = {
        kernel["name"]: (kernel["flops"] / kernel["bytes"], kernel["flops_per_second"])
        for kernel in row["kernels"]
        if kernel["bytes"] > 0 and kernel["flops"] > 0 and kernel["seconds"] > 0
    }
    ridge = peak / triad
    low, high = min([0.03, *(x for x, _ in points.values())]) / 2, max([ridge, *(x for x, _ in points.values())]) * 2
    roof = [{"x": low, "y": low * triad}, {"x": ridge, "y": peak}, {"x": high, "y": peak}]
    series = [{"name": "roof", "label": "roof", **ROOF, "points": roof}]
    for i, (name, (x, y)) in enumerate(points.items()):
        look = {"name": name, "label": name, "colour": f"s{1 + i % 15}", "marker": i % 5, "strong": True}
        series.append({**look, "points": [{"x": x, "y": y}]})
    return {
        "kind": "lines",
        "id": f"roofline-chart-{abs(hash(label_of(row))) % 10**8}",
        "title": f"Roofline: {label_of(row)}",
        "unit": "operations per second by operations per byte of memory traffic",
        "x": {"quantity": "intensity", "scale": "log"},
        "y": {"quantity": "flops", "scale": "log"},
        "series": series,
        "caption": f"Measured roofs: triad {rate_text(triad)}, multiply-adds {peak / 1e9:.3g} GFLOPS.",
    }


def scaling(rows: Sequence[dict], looks: dict[str, dict]) -> list[dict]:
    """Time by processors, one curve a variant; none where all rows have the same number."""
    if len({row["ranks"] * row["threads"] for row in rows}) < 2:
        return []
    curves: dict[str, dict[int, float]] = {}
    for row in rows:
        name = " ".join([row["variant"], *(f"{n}={v}" for n, v in row["parameters"].items())])
        curve = curves.setdefault(name, {})
        workers = row["ranks"] * row["threads"]
        curve[workers] = min(row["seconds"], curve.get(workers, row["seconds"]))
    series = []
    for i, (name, curve) in enumerate(curves.items()):
        points = [{"x": x, "y": y} for x, y in sorted(curve.items())]
        series.append(
            {
                "name": name,
                "label": name,
                "colour": f"s{i % COLOURS}",
                "marker": i % 5,
                "strong": i == 0,
                "points": points,
            }
        )
        first, seconds = min(curve.items())
        ideal = [{"x": x, "y": seconds * first / x} for x in sorted(curve)]
        series.append({"name": f"ideal of {name}", "label": "ideal", **ROOF, "points": ideal})
    return [
        {
            "kind": "lines",
            "id": "scaling-chart",
            "title": "Scaling",
            "unit": "time of a solve by ranks × threads; dashed: ideal",
            "x": {"quantity": "number", "scale": "log"},
            "y": {"quantity": "seconds", "scale": "log"},
            "series": series,
            "caption": "The fastest run where several have the same number.",
        }
    ]


COLUMNS = ("variant", "ranks", "threads", "iterations", "time", "setup", "residual", "of bound", "of golden", "checked")


def cells_of(row: dict) -> list[str]:
    name = " ".join([row["variant"], *(f"{n}={v}" for n, v in row["parameters"].items())])
    if "not_applicable" in row:
        return [name, str(row["ranks"]), str(row["threads"]), *[""] * 6, row["not_applicable"]]
    share = row.get("share_of_bound")
    ratio = row.get("times_golden")
    return [
        name,
        str(row["ranks"]),
        str(row["threads"]),
        str(row["iterations"]),
        seconds_text(row["seconds"]),
        seconds_text(row["setup_seconds"]),
        "" if row["residual"] is None else f"{row['residual']:.1e}",
        share_text(share) if share else "",
        f"{ratio:.2f}×" if ratio else "",
        {True: "right", False: "WRONG", None: "no"}[row["right"]],
    ]
