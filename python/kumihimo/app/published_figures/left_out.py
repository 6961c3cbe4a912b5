"""Published figures of measurements that have no prediction: one-sided communication, file systems, memory."""

from __future__ import annotations

from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.predict.memory import designs
from kumihimo.text import quantities
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.one_sided import published as one_sided
from kumihimo.tune.file_bench import published as files

NO_RUNTIME = "What these runtimes send in an operation is not published, and no model here has their one-sided calls."
NO_FILES = "No model here has a file system: `bench files` measures one."
NO_PATTERN = (
    "Arithmetic of buffers, which `simulate memory` repeats; the peers of the measured program are not published."
)


def of_one_sided(row: one_sided.PublishedTime) -> PublishedFigure:
    size = f" of {row.bytes} B" if row.bytes else ""
    where = f"{row.ranks} ranks" if row.place == "all" else row.place
    name = f"pgas-{row.language.lower()}-{row.measure.replace('_', '-')}-{row.place}-{row.bytes}"
    what = f"{row.language} {row.measure}{size}, {where}"
    return PublishedFigure(name, what, "s", one_sided.SOURCE, row.seconds, reason=NO_RUNTIME)


def of_metadata(row: JsonObject) -> PublishedFigure:
    where = f"{row['ranks']}, {row['folder']}".rstrip(", ")
    rates = ", ".join(f"{word} {row[word]} /s" for word in ("create", "stat", "remove"))
    name = f"mdtest-{where}".replace(", ", "-").replace(" ", "-")
    return PublishedFigure(name, f"{row['machine']}, {where}: {rates}", "ratio", files.SOURCE, reason=NO_FILES)


def of_bandwidth(row: JsonObject) -> PublishedFigure:
    rate = row["bytes_per_second"]
    name = f"ior-{row['machine'].split(', ')[1].lower().replace(' ', '-')}"
    what = f"{row['machine']}, {row['nodes']} nodes: {quantities.rate_text(rate)}"
    return PublishedFigure(name, what, "bytes/s", files.SOURCE, rate, reason=NO_FILES)


def of_memory(number: int, row: tuple[str, str]) -> PublishedFigure:
    what, value = row
    source = "MPICH on Aurora" if "MPICH" in what else "K computer, 2012"
    return PublishedFigure(f"memory-{number}", f"{what}: {value}", "ratio", source, reason=NO_PATTERN)


FIGURES = (
    *map(of_one_sided, one_sided.ROWS),
    *map(of_metadata, files.METADATA),
    *map(of_bandwidth, files.BANDWIDTH),
    *(of_memory(*each) for each in enumerate(designs.PUBLISHED, 1)),
)
