"""`kumihimo bench pgas`: one-sided communication of MPI windows, OpenSHMEM, coarrays and our own remote memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from kumihimo.cli import asserts, options, output, progress
from kumihimo.cli.bench import ranks_of
from kumihimo.cli.options import argument, duration, option
from kumihimo.processes import allocation, host_memory, launcher_environment, mpi
from kumihimo.text import quantities
from kumihimo.text.errors import did_you_mean, failed, wrong_value
from kumihimo.text.sizes import parse_sizes, text_of, with_unit
from kumihimo.tune.bench import one_sided
from kumihimo.tune.bench.one_sided import formats, launches, libraries, published
from kumihimo.tune.bench.one_sided.launches import Contestant, Measurements

USUAL_SIZES = "4..4MiB"
LARGEST_SIZE = 1 << 30
WINDOW_SPAN = 64 << 20  # bytes of memory that a window of messages covers at most, as a cache holds no more
MOST_LAUNCHES, MOST_WINDOW = 1000, 1 << 20
LAUNCH_SECONDS = 900.0
MOST_COLUMNS = 3  # of contestants beside each other
COPIES = 3  # of a window's memory that a rank has


def command(
    names: argument(
        "[LIBRARY...]", "Libraries: mpi, shmem, coarrays, own, fabric [default: all here].", Optional[list[str]]
    ) = None,
    measures: option(
        "--measures LIST",
        "Measures (put, get, barrier ...) or groups of them: latency, bandwidth, rate, overlap, atomics, collectives.",
    ) = "all",
    sizes: option("--bytes -b SIZES", "Message sizes, multiples of 4: 64KiB or 8,64KiB..1MiB.") = USUAL_SIZES,
    ranks: option("--ranks -p P", "Number of processes [default: 2, or one for each slot in a testbed].", int) = None,
    mpi_libraries: option(
        "--mpi MPI[,MPI..]", "MPI libraries, by turns: openmpi,mpich or their prefixes [default: the first found]."
    ) = None,
    windows: option("--windows LIST", "Windows of MPI: allocate, create, dynamic, shared, or all.") = "allocate",
    sync: option(
        "--sync LIST", "Synchronisations of MPI: flush, lock_flush, request, lock, lock_all, fence, pscw, or all."
    ) = "flush",
    window: option("--window N", "Messages under way where bandwidths and rates are measured.", int) = 64,
    launches_: option("--launches N", "Number of launches of each library; an interval needs 6.", int) = 1,
    seconds: duration("--seconds TIME", "Time of each measure and size in a launch.") = "20ms",
    shmem: option("--shmem PATH", "OpenSHMEM library [default: the one beside the MPI library].") = None,
    caf: option("--caf COMMAND", "Fortran compiler for coarrays [default: caf of the MPI library].") = None,
    fabric: option("--fabric OPTIONS", "Options of the library of fabric, such as provider=shm.") = "",
    pinning: option("--pinning HOW", "Pinning of ranks: auto (one rank per processor) or none.") = "auto",
    with_published: option("--published", "Show what was published of Blue Waters beside.") = False,
    format_: option("--format FORMAT", "Output format: table, csv, json or osu.") = "table",
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Measure one-sided communication: puts, gets, atomics and collectives of MPI windows, OpenSHMEM, Fortran coarrays
    and the project's own remote memory.

    That is `own`, of its network, or `fabric`, of its library for programs. What arrives is compared with a golden
    copy. The exit code is 1 if something is wrong, or if processes crash.

    \b
    Examples:
    kumihimo bench pgas --bytes 8,64KiB --measures latency
    kumihimo bench pgas mpi --windows all --sync all --bytes 8 --measures put_quiet
    kumihimo bench pgas mpi shmem --mpi openmpi,mpich --launches 7
    kumihimo bench pgas fabric --fabric provider=shm --measures latency,atomics
    """
    if format_ not in formats.FORMATS:
        raise wrong_value(f"--format must be one of {', '.join(formats.FORMATS)}", f"'{format_}'")
    if as_json and format_ not in ("table", "json"):
        raise wrong_value("--json excludes other formats", f"--format {format_}", "leave one of them out")
    if pinning not in ("auto", "none"):
        raise wrong_value("--pinning must be auto or none", f"'{pinning}'")
    keeps = asserts.AssertCheck.of(asserts_file, junit)
    within("--launches", launches_, MOST_LAUNCHES)
    within("--window", window, MOST_WINDOW)
    wanted = checked_libraries(names or [])
    place = launcher_environment.place()
    if place and launches_ > 1:
        raise wrong_value("under mpirun there is one launch", f"--launches {launches_}", "run without mpirun")
    count = checked_ranks(ranks, place)
    found_sizes = checked_sizes(sizes)
    task = {
        "measured": checked_measures(measures),
        "sizes": found_sizes,
        "window": window,
        "span": span_of(found_sizes, window, count),
        "windows": checked_words("--windows", windows, one_sided.WINDOWS),
        "synchronisations": checked_words("--sync", sync, one_sided.SYNCHRONISATIONS),
        "case_seconds": seconds,
        "pinning": pinning,
    }
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        asked = libraries.Asked(Path(folder), shmem, caf, fabric)
        contestants, left_out = contestants_of(wanted, bool(names), mpi_libraries, asked, task["span"])
        found = measured(contestants, task, count, launches_)
    found.left_out[:0] = left_out
    if not any(is_shown(row) or "crashed" in row for row in found.results):
        reasons = [each["reason"] for each in found.left_out]
        reasons += [row["not_applicable"] for row in found.results if "not_applicable" in row]
        raise failed("nothing could be measured", "; ".join(dict.fromkeys(reasons)))
    shown = {"about": found.about, "results": found.results, "left_out": found.left_out, "notes": found.notes}
    code = keeps.judge_results(shown)
    more = {"published": published.beside(found.results)} if with_published else {}
    if as_json or format_ == "json":
        output.print_json({**shown, "launches": launches_, "window": task["window"], **more, **output.own_cost()})
    else:
        show(found, launches_, format_, with_published)
    return 1 if any(row.get("right") is False or "crashed" in row for row in found.results) else code


def measured(contestants: Sequence[Contestant], task: dict, ranks: int, times: int) -> Measurements:
    sized = [name for name in task["measured"] if name not in one_sided.WITHOUT_SIZE]
    cases = len(sized) * len(task["sizes"]) + len(task["measured"]) - len(sized)
    of_mpi = len(task["windows"]) * len(task["synchronisations"])
    steps = cases * times * sum(of_mpi if each.backend == "mpi" else 1 for each in contestants)
    with progress.bar("measuring", steps, lines=True) as advance:
        return launches.measure(contestants, task, ranks, times, LAUNCH_SECONDS, advance)


# --- the command line


def within(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise wrong_value(f"{name} must be from 1 to {most}", value)


def checked_libraries(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in libraries.ROWS:
            rule = f"a library must be one of {', '.join(libraries.ROWS)}"
            raise wrong_value(rule, f"'{name}'", did_you_mean(name, libraries.ROWS))
    return [name for name in libraries.ROWS if name in names or not names]


def checked_measures(text: str) -> list[str]:
    known = {**{name: (name,) for name in one_sided.MEASURES}, **one_sided.GROUPS, "all": tuple(one_sided.MEASURES)}
    chosen: list[str] = []
    for word in (each.strip() for each in text.split(",")):
        if word not in known:
            groups = ", ".join(one_sided.GROUPS)
            raise wrong_value(
                f"--measures must name measures or groups ({groups})", f"'{word}'", did_you_mean(word, known)
            )
        chosen += known[word]
    return [name for name in one_sided.MEASURES if name in chosen]


def checked_words(option_: str, text: str, known: Sequence[str]) -> list[str]:
    words = [each.strip() for each in text.split(",")]
    for word in words:
        if word not in (*known, "all"):
            raise wrong_value(
                f"{option_} must be all or some of {', '.join(known)}", f"'{word}'", did_you_mean(word, known)
            )
    return [each for each in known if each in words or "all" in words]


def checked_sizes(text: str) -> list[int]:
    found = parse_sizes(text, 4)
    for size in found:
        if size % 4 or size > LARGEST_SIZE:
            raise wrong_value("--bytes must be multiples of 4 up to 1GiB", with_unit(size))
    return found


def checked_ranks(asked: int | None, place: launcher_environment.LaunchPlace | None) -> int:
    count = 2 if asked is None and not place and allocation.slots_of_hosts(os.environ) < 2 else ranks_of(asked, place)
    if count < 2:
        raise wrong_value("one-sided communication needs at least 2 ranks", count)
    return count


def span_of(sizes: Sequence[int], window: int, ranks: int) -> int:
    """Bytes of the memory of a rank that others reach."""
    largest = max(sizes)
    span = max(largest, min(WINDOW_SPAN, largest * max(window, ranks)))
    need, free = COPIES * span * ranks, host_memory.free_memory()
    if need > free:
        raise wrong_value(
            f"--bytes must fit the memory: {ranks} ranks need {quantities.bytes_text(need)}",
            f"{with_unit(largest)}, with {quantities.bytes_text(free)} free",
            "give smaller sizes or fewer ranks",
        )
    return span


def contestants_of(
    wanted: Sequence[str], named: bool, mpi_libraries: str | None, asked: libraries.Asked, span: int
) -> tuple[list[Contestant], list[dict]]:
    """Contestants that are here, and why others are not. Error: none is here, or one that the user named is missing."""
    found, left_out = [], []
    for name, installation in installations_of(mpi_libraries).items():
        for backend in wanted:
            library = libraries.find(backend, installation, asked, span)
            if isinstance(library, libraries.FoundLibrary):
                found.append(Contestant(backend, name, installation, library))
            else:
                left_out.append({"library": backend, "mpi": name, "reason": library})
    if named and left_out and len(left_out) == len(wanted):
        raise failed(left_out[0]["reason"])
    return found, left_out


def installations_of(text: str | None) -> dict[str, mpi.Installation]:
    place = launcher_environment.place()
    names = [word.strip() for word in text.split(",")] if text else [place.family if place else None]
    if place and len(names) > 1:
        raise wrong_value("under mpirun there is one MPI library", f"--mpi {text}", "run without mpirun")
    if again := next((name for i, name in enumerate(names) if name in names[:i]), None):
        raise wrong_value("--mpi takes each library once", f"'{again}' again", "leave one of them out")
    chosen = [mpi.choose(name or None) for name in names]
    return {name or each.family: each for name, each in zip(names, chosen)}


# --- output


def show(found: Measurements, times: int, format_: str, with_published: bool) -> None:
    if format_ in formats.WRITERS:
        print(formats.WRITERS[format_](found.results), end="")
        return
    show_heading(found, times)
    for place in one_sided.PLACES:
        rows = [row for row in found.results if row["place"] == place and is_shown(row)]
        show_place(place, rows)
    if with_published:
        show_published(found.results)
    show_ends(found)


def is_shown(row: dict) -> bool:
    return "seconds" in row


def column_of(row: dict) -> str:
    kind = f" {row['window_kind']} {row['synchronisation']}" if "window_kind" in row else ""
    return f"{row['mpi']} {row['library']}{kind}"


def show_heading(found: Measurements, times: int) -> None:
    versions = dict.fromkeys(about.get("mpi", "").split(",")[0] for about in found.about.values())
    about = next(iter(found.about.values()), {})
    output.print_line(
        f"one-sided communication on {about.get('ranks', '?')} ranks: {', '.join(filter(None, versions))}"
    )
    if len(about.get("nodes", ())) > 1:
        output.print_line(f"nodes: {', '.join(about['nodes'])}")
    output.print_line(f"pinning: {about.get('pinning', 'none')}; medians of {quantities.counted(times, 'launch')}")


def show_place(place: str, rows: Sequence[dict]) -> None:
    for measure, title in one_sided.MEASURES.items():
        mine = [row for row in rows if row["measure"] == measure]
        if not mine or measure in one_sided.WITHOUT_SIZE:
            continue
        print()
        show_sized(f"{title} ({measure}): {where_of(place, mine)}", mine)
    unsized = [row for row in rows if row["measure"] in one_sided.WITHOUT_SIZE]
    if unsized:
        print()
        show_unsized(f"operations without a size: {where_of(place, unsized)}", unsized)


def where_of(place: str, rows: Sequence[dict]) -> str:
    where = one_sided.PLACES[place]
    return (
        f"{where}, {rows[0]['ranks']}" if place == "all" else f"{where} ({rows[0]['pair'][0]} and {rows[0]['pair'][1]})"
    )


def show_sized(title: str, rows: Sequence[dict]) -> None:
    show_cells(title, "bytes>", [(text_of(row["bytes"]), column_of(row), cell_of(row)) for row in rows])


def show_unsized(title: str, rows: Sequence[dict]) -> None:
    show_cells(title, "operation", [(row["measure"], column_of(row), cell_of(row)) for row in rows])


def show_cells(title: str, first: str, cells: Sequence[tuple[str, str, str]]) -> None:
    """(row, contestant, figure): a column for each contestant, or a row where there are many."""
    columns = list(dict.fromkeys(column for _, column, _ in cells))
    keys = dict.fromkeys(key for key, _, _ in cells)
    if len(columns) > MOST_COLUMNS:
        ordered = [cell for key in keys for cell in cells if cell[0] == key]
        output.print_table(title, (first, "library", "figure>"), ordered)
        return
    at = {(key, column): figure for key, column, figure in cells}
    table = [[key, *(at.get((key, column), "") for column in columns)] for key in keys]
    output.print_table(title, (first, *(f"{column}>" for column in columns)), table)


def cell_of(row: dict) -> str:
    """The figure of this measure, with its interval where there are several launches."""
    wrong = "" if row["right"] else " WRONG"
    if "overlap" in row:
        return quantities.share_text(row["overlap"]) + wrong
    times = [row["seconds"], row["low"], row["high"]]
    if "messages_per_second" in row:
        factor = row["messages_per_second"] * row["seconds"]
        text, low, high = (f"{factor / t / 1e6:.3g} M/s" if t else "" for t in times)
    elif "operations_per_second" in row:
        factor = row["operations_per_second"] * row["seconds"]
        text, low, high = (f"{factor / t / 1e6:.3g} M/s" if t else "" for t in times)
    elif "bytes_per_second" in row:
        factor = row["bytes_per_second"] * row["seconds"]
        text, low, high = (quantities.rate_text(factor / t) if t else "" for t in times)
    else:
        text, low, high = (quantities.seconds_text(t) if t is not None else "" for t in times)
    return f"{text} [{low}, {high}]{wrong}" if row["launches"] > 1 and low else text + wrong


def show_published(results: list[dict]) -> None:
    rows = []
    for each in published.beside(results):
        ours = ", ".join(f"{column_of(one)} {quantities.seconds_text(one['seconds'])}" for one in each["ours"])
        what = f"{each['measure']}{', ' + each['note'] if each['note'] else ''}"
        size = text_of(each["bytes"]) if each["bytes"] else ""
        time = quantities.seconds_text(each["seconds"])
        rows.append([each["language"], what, each["place"], size, each["ranks"], time, ours or "not measured"])
    print()
    columns = ("language", "measure", "place", "bytes>", "ranks>", "published>", "here")
    output.print_table(f"published: {published.SOURCE}", columns, rows)


def show_ends(found: Measurements) -> None:
    print()
    output.print_list("Left out:", [f"{each['mpi']} {each['library']}: {each['reason']}" for each in found.left_out])
    missing = dict.fromkeys(
        f"{column_of(row)}, {row['measure']}: {row['not_applicable']}"
        for row in found.results
        if "not_applicable" in row
    )
    output.print_list("Not measured:", list(missing))
    crashed = [f"{column_of(row)}, {row['measure']}: {row['crashed']}" for row in found.results if "crashed" in row]
    output.print_list("Crashed:", crashed)
    wrong = [
        f"{column_of(row)}, {row['measure']} of {row['bytes']} bytes: {row.get('found', '')}"
        for row in found.results
        if row.get("right") is False
    ]
    output.print_list("WRONG, not as the golden copy:", wrong)
    output.print_list("Notes:", found.notes)
