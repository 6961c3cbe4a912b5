"""`kumihimo bench checkpoint`: what it costs to save an application's state durably, and to load it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kumihimo.cli import asserts, bench_files, options, output, progress
from kumihimo.cli.options import argument, option
from kumihimo.processes import launcher_environment, mpi
from kumihimo.text import quantities
from kumihimo.text.errors import wrong_value
from kumihimo.text.sizes import parse_sizes, text_of
from kumihimo.tune.bench.job import Launcher
from kumihimo.tune.file_bench import cost_law, job, space, state_cost

CACHES = ("evict", "keep")


def command(
    folder: argument("FOLDER", "Folder of the file system to measure; the run makes a folder of its own in it.", Path),
    sizes: option("--bytes -b SIZES", "Bytes of the state of a rank.") = "1MiB,16MiB,64MiB,256MiB",
    ranks: option("--ranks -p LIST", "Numbers of MPI processes: 1,2,4 [default: 1 and one per processor].") = None,
    iterations: option("--iterations -i N", "Number of iterations.", int) = 6,
    cache: option("--cache USE", "Page cache before loads: evict or keep.") = "evict",
    library: options.Library = None,
    seed: option("--seed N", "Seed of the bytes of states.", int) = 1,
    out: options.written("--output -o FILE", "Write the result as JSON, for checkpoint --measured.") = None,
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Measure what it costs to save the state of a parallel program durably, and to load it, by size and by ranks.

    Each rank writes a file, waits for the disk, renames it into its place and waits again; a load verifies checksums.
    Beside it stand copies in the memory of a partner rank, and the return to them after the loss of one rank.

    \b
    Examples:
    kumihimo bench checkpoint /scratch/user --ranks 1,2,4 --output cost.json
    kumihimo checkpoint 24h --nodes 64 --node-mtbf 5y --checkpoint-bytes 16GiB --measured cost.json
    """
    if cache not in CACHES:
        raise wrong_value("--cache must be evict or keep", f"'{cache}'")
    bench_files.common(cache, None, None, iterations, seed)
    keeps = asserts.AssertCheck.of(asserts_file, junit)
    place = launcher_environment.place()
    installation = mpi.choose(library or (place.family if place else None))
    wanted, each = parse_sizes(sizes), numbers_of_ranks(ranks, place)
    space.check_folder(folder)
    of_one, of_several = (state_cost.steps(wanted, iterations, cache, seed, partner) for partner in (False, True))
    most = max(each)
    space.check_room(folder, of_one.bytes(most), of_one.names(most), "give smaller --bytes or fewer --ranks")
    rows, about, notes = [], {}, []
    count = sum(len((of_one if number == 1 else of_several).steps) for number in each)
    with progress.bar("measuring", count, lines=True) as advance:
        for number in each:
            asked = of_one if number == 1 else of_several
            name = quantities.counted(number, "rank")
            launcher = Launcher(number, installation, bench_files.SECONDS)
            run = job.run(
                folder, asked, launcher, lambda found, name=name: advance(f"{name}: {found['do']}"), say=output.message
            )
            rows.append(state_cost.row(wanted, asked, run))
            about, notes = run.about, [*notes, *run.notes]
    result = {
        "form": cost_law.FORM,
        "folder": str(folder),
        "mpi": about["mpi"],
        "results": rows,
        "notes": list(dict.fromkeys(notes)),
    }
    if out is not None and launcher_environment.is_first():
        output.write_json(out, result)
    code = keeps.judge_results(result)
    if as_json:
        output.print_json({**result, **output.own_cost()})
    else:
        show(result)
    return code


def numbers_of_ranks(text: str | None, place: launcher_environment.LaunchPlace | None) -> list[int]:
    words = [word.strip() for word in text.split(",")] if text else []
    for word in words:
        if not re.fullmatch(r"[0-9]{1,7}", word) or int(word) < 1:
            raise wrong_value("--ranks must be numbers from 1 on, such as 1,2,4", f"'{text}'")
    asked = sorted(set(map(int, words)))
    if place is not None and asked not in ([], [place.ranks]):
        raise wrong_value(f"mpirun has started {place.ranks} ranks", f"--ranks {text}", "leave --ranks out")
    if place is not None:
        return [place.ranks]
    return asked or sorted({1, bench_files.ranks_of(None, None)})


def show(result: dict) -> None:
    rows: list[Sequence[str]] = []
    for row in result["results"]:
        for place, point in enumerate(row["points"]):
            cells = [str(row["ranks"]) if place == 0 else "", text_of(point["bytes_per_rank"])]
            for word in ("save", "load"):
                law = cost_law.law_of(row[word]).seconds(point["bytes"])
                cells += [
                    quantities.seconds_text(point[word]["median"]),
                    bench_files.interval_text(point[word], quantities.seconds_text),
                    quantities.seconds_text(law),
                    quantities.rate_text(point["bytes"] / point[word]["median"]),
                ]
            rows.append(cells)
    columns = ["ranks>", "a rank>"]
    for word in ("save", "load"):
        columns += [f"{word}>", "interval", "law>", "rate>"]
    output.print_table("Time of saving and loading a state", columns, rows)
    print()
    for row in result["results"]:
        for word in ("save", "load"):
            output.print_line(law_text(row, word))
    show_partners(result)
    for note in result["notes"]:
        output.print_line(note)
    output.print_line("Medians with their 95 % intervals, which need 6 iterations.")


def show_partners(result: dict) -> None:
    rows: list[Sequence[str]] = []
    elsewhere = []
    for row in result["results"]:
        measured = [point for point in row["points"] if "partner" in point]
        for place, point in enumerate(measured):
            found = point["partner"]
            cells = [str(row["ranks"]) if place == 0 else "", text_of(point["bytes_per_rank"])]
            for word, of_file in (("copy", "save"), ("restore", "load")):
                cells += [
                    quantities.seconds_text(found[word]["median"]),
                    bench_files.interval_text(found[word], quantities.seconds_text),
                    f"{point[of_file]['median'] / found[word]['median']:.3g}×",
                ]
            rows.append(cells)
        if measured:
            elsewhere.append(f"{measured[0]['partner']['on_other_nodes']} of {row['ranks']}")
    if not rows:
        return
    print()
    columns = ["ranks>", "a rank>", "copy>", "interval", "save / copy>", "return>", "interval", "load / return>"]
    output.print_table("Copies in the memory of a partner", columns, rows)
    output.print_line(f"ranks with the partner on another node: {', '.join(elsewhere)}")
    if all(text.startswith("0 ") for text in elsewhere):
        output.print_line("Copies within a node do not outlive it; their cost between nodes is another one.")


def law_text(row: dict, word: str) -> str:
    law = cost_law.law_of(row[word])
    rate = f" + bytes / {quantities.rate_text(law.bytes_per_second)}" if law.bytes_per_second else ""
    is_checked = len(row["points"]) > 2  # a line through two points is exact
    off = f" (off by {quantities.share_text(law.largest_deviation)} at most)" if is_checked else ""
    whose = "" if row[word]["source"] == cost_law.STORAGE else "; of the memory, not of the file system"
    return (
        f"{quantities.counted(row['ranks'], 'rank')}, {word}: {quantities.seconds_text(law.fixed_seconds)}{rate} "
        f"of all ranks{off}{whose}"
    )
