"""`kumihimo bench files`: metadata rates and bandwidth of a file system, by the ranks of a job."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from kumihimo.cli import asserts, options, output, progress
from kumihimo.cli.options import argument, duration, option
from kumihimo.processes import allocation, launcher_environment, mpi
from kumihimo.text import quantities
from kumihimo.text.errors import did_you_mean, wrong_value
from kumihimo.text.sizes import parse_size, parse_sizes, text_of
from kumihimo.tune.bench.job import Launcher
from kumihimo.tune.file_bench import cases, forms, io500, job, published, rates, space
from kumihimo.tune.file_bench.cases import DataSet, FileSteps, ItemSet
from kumihimo.tune.file_bench.job import FileRun

PARTS = ("metadata", "bandwidth")
FORMS = ("table", "json", "ior", "mdtest", "io500")
FORM = "kumihimo-files-1"
LIMIT_OF_IO500 = 10.0  # seconds of a phase that writes, unless the user gives more
LARGEST_TRANSFER = 1 << 30
MOST_ITERATIONS = 1000
MOST_ITEMS = 10_000_000
MOST_RANKS_ALONE = 4  # without a launcher and --ranks
ROOF_BYTES = 256 << 20
SECONDS = 7 * 86400.0  # of a launch, at most
SMALLER = "give a smaller --block, fewer --segments or fewer --ranks"
OF_IO500 = ("parts", "items", "item_bytes", "folders", "apis", "layouts", "transfers", "blocks", "segments")


def command(
    folder: argument("FOLDER", "Folder of the file system to measure; the run makes a folder of its own in it.", Path),
    parts: option("--parts LIST", "Parts: metadata, bandwidth [default: both].") = None,
    ranks: option("--ranks -p P", "Number of MPI processes [default: one per processor, at most 4].", int) = None,
    items: option("--items N", "Files and folders of a rank, for metadata.", int) = 500,
    item_bytes: option("--item-bytes SIZE", "Bytes of such a file, written when it is made and read back.") = "0",
    folders: option("--folders LIST", "Where they are: in one folder of all ranks, in a folder of each.") = "one,each",
    apis: option("--api LIST", "Interfaces: posix, mpiio, mpiio-collective, hdf5, hdf5-collective.") = "posix",
    layouts: option("--layout LIST", "Files of data: one of each rank, one shared.") = "each,shared",
    transfers: option("--transfer -t SIZES", "Bytes of one call.") = "1MiB",
    blocks: option("--block -b SIZES", "Bytes of a rank that are together in a file.") = "64MiB",
    segments: option("--segments N", "Blocks of a rank in a file.", int) = 1,
    cache: option(
        "--cache USE",
        "Page cache before reads: evict (the files), drop (all; root), direct (O_DIRECT, writes too) or keep.",
    ) = "evict",
    no_fsync: option("--no-fsync", "Do not wait in writes until the data are on the disk.") = False,
    no_check: option("--no-check", "Do not compare the bytes that are read.") = False,
    shift: option(
        "--shift N", "Rank r reads what rank r + N wrote [default: the ranks of a node, on one node 1].", int
    ) = None,
    iterations: option("--iterations -i N", "Number of iterations.", int) = 6,
    stonewall: duration(
        "--stonewall TIME", "Time limit of writing and of making files; all ranks then catch up with the fastest."
    ) = None,
    hints: option("--hint NAME=VALUE", "Hint of MPI-IO; may be repeated.", list[str]) = None,
    hdf5: option("--hdf5 PATH", "HDF5 library [default: the system's].") = None,
    library: options.Library = None,
    seed: option("--seed N", "Seed of the bytes of files.", int) = 1,
    with_published: option("--published", "Print published rates beside.") = False,
    format_: option("--format --form FORM", "Output: table, json, ior, mdtest or io500 (its phases).") = "table",
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Measure metadata rates and bandwidth of the file system that has FOLDER. Every byte that is read is compared, and
    a read from the page cache is shown as the memory's rate.

    The exit code is 1 if a byte differs.

    \b
    Examples:
    kumihimo bench files /scratch/user --ranks 4
    kumihimo bench files /scratch/user --parts bandwidth --api posix,mpiio --cache direct --block 1GiB
    kumihimo bench files /scratch/user --form io500 --stonewall 30s
    """
    if format_ not in FORMS:
        raise wrong_value(f"--form must be one of {', '.join(FORMS)}", f"'{format_}'", did_you_mean(format_, FORMS))
    if as_json and format_ not in ("table", "json", "io500"):
        raise wrong_value("--json excludes other forms", f"--form {format_}", "leave one of them out")
    if format_ == "io500":
        options.refuse_beside("--form io500", *OF_IO500)
    keeps = asserts.AssertCheck.of(asserts_file, junit)
    wanted = listed(parts, "--parts", PARTS) if parts else list(PARTS)
    if format_ in ("ior", "mdtest"):
        needed = "bandwidth" if format_ == "ior" else "metadata"
        if parts and wanted != [needed]:
            raise wrong_value(
                f"--form {format_} shows the part {needed} alone", f"--parts {parts}", "leave --parts out"
            )
        wanted = [needed]
    shared = common(cache, shift, stonewall, iterations, seed)
    data = data_sets(
        shared,
        *(listed(apis, "--api", cases.APIS), listed(layouts, "--layout", cases.LAYOUTS)),
        *(parse_sizes(transfers), parse_sizes(blocks), segments),
        {"sync": not no_fsync, "check": not no_check, "hints": checked_hints(hints), "hdf5": hdf5 or ""},
    )
    small = item_sets(shared, items, parse_size(item_bytes, 0), listed(folders, "--folders", ("one", "each")))
    place = launcher_environment.place()
    launcher = Launcher(ranks_of(ranks, place), mpi.choose(library or (place.family if place else None)), SECONDS)
    if shift is not None and not 0 <= shift < launcher.ranks:
        raise wrong_value(f"--shift must be from 0 to {launcher.ranks - 1}, the ranks - 1", shift)
    space.check_folder(folder)
    if format_ == "io500":
        return run_io500(folder, launcher, shared, stonewall, "json" if as_json else format_, keeps)
    asked = cases.measured_by_turns(
        tuple(data) if "bandwidth" in wanted else (),
        tuple(small) if "metadata" in wanted else (),
        iterations,
        roof_bytes(launcher.ranks, data),
    )
    space.check_room(folder, asked.bytes(launcher.ranks), asked.names(launcher.ranks), SMALLER)
    run = measured(folder, asked, launcher)
    found = as_object(asked, run)
    code = keeps.judge_results(found)
    return show(asked, run, found, "json" if as_json else format_, with_published) or code


# --- what is asked


@dataclass(frozen=True)
class SharedOptions:
    """Options of data and of items."""

    cache: str
    shift: int
    limit: float
    seed: int


def common(cache: str, shift: int | None, limit: float | None, iterations: int, seed: int) -> SharedOptions:
    if cache not in cases.CACHES:
        raise wrong_value(
            "--cache must be evict, drop, direct or keep", f"'{cache}'", did_you_mean(cache, cases.CACHES)
        )
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise wrong_value(f"--iterations must be from 1 to {MOST_ITERATIONS}", iterations)
    if not 0 <= seed < 1 << 63:
        raise wrong_value("--seed must be at least 0", seed)
    return SharedOptions(cache, cases.A_NODE if shift is None else shift, limit or 0.0, seed)


def listed(text: str, name: str, known: tuple[str, ...]) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            raise wrong_value(f"{name} must list some of {', '.join(known)}", f"'{word}'", did_you_mean(word, known))
    return list(dict.fromkeys(words))


def checked_hints(hints: list[str] | None) -> tuple[tuple[str, str], ...]:
    pairs = []
    for each in hints or []:
        name, equals, value = each.partition("=")
        if not name or not equals or not value:
            raise wrong_value("--hint must be NAME=VALUE, such as cb_nodes=4", f"'{each}'")
        pairs.append((name, value))
    return tuple(pairs)


def data_sets(
    shared: SharedOptions,
    apis: list[str],
    layouts: list[str],
    transfers: list[int],
    blocks: list[int],
    segments: int,
    more: dict,
) -> list[DataSet]:
    """Every combination that there is: collective calls are of one shared file."""
    if segments < 1:
        raise wrong_value("--segments must be at least 1", segments)
    found = []
    for api in apis:
        for layout in layouts:
            for transfer in transfers:
                for block in blocks:
                    check_sizes(transfer, block, shared.cache)
                    if api.endswith("collective") and layout == "each":
                        continue
                    name = re.sub(r"[^\w.]", "-", f"{api}-{layout}-{text_of(transfer)}-{text_of(block)}")
                    found.append(
                        DataSet(
                            *(name, api, layout == "shared", transfer, block, segments, shared.cache),
                            **{"shift": shared.shift, "limit": shared.limit, "seed": shared.seed, **more},
                        )
                    )
    if not found:
        raise wrong_value("collective calls need a shared file", f"--layout {','.join(layouts)}", "add --layout shared")
    check_beside(shared, found)
    return found


def check_sizes(transfer: int, block: int, cache: str) -> None:
    if transfer > LARGEST_TRANSFER:
        raise wrong_value("--transfer must be at most 1 GiB", text_of(transfer))
    if block % transfer:
        raise wrong_value("--block must be several times --transfer", f"{text_of(block)} and {text_of(transfer)}")
    if cache == "direct" and transfer % cases.ALIGNMENT:
        raise wrong_value(f"--transfer must be several times {cases.ALIGNMENT} B with O_DIRECT", text_of(transfer))


def check_beside(shared: SharedOptions, found: list[DataSet]) -> None:
    for each in found:
        if shared.cache == "direct" and each.api != "posix":
            raise wrong_value("--cache direct is for the interface posix alone", f"--api {each.api}")
        if shared.limit and each.api.endswith("collective"):
            raise wrong_value("collective calls take no --stonewall", f"--api {each.api}", "leave one of them out")


def item_sets(shared: SharedOptions, items: int, size: int, folders: list[str]) -> list[ItemSet]:
    if not 1 <= items <= MOST_ITEMS:
        raise wrong_value(f"--items must be from 1 to {MOST_ITEMS}", items)
    if size > LARGEST_TRANSFER:
        raise wrong_value("--item-bytes must be at most 1 GiB", text_of(size))
    return [
        ItemSet(
            f"{kind}-{where}",
            folders=kind == "folders",
            one_folder=where == "one",
            per_rank=items,
            bytes_each=0 if kind == "folders" else size,
            shift=shared.shift,
            limit=shared.limit,
            seed=shared.seed,
        )
        for where in folders
        for kind in ("folders", "files")
    ]


def ranks_of(asked: int | None, place: launcher_environment.LaunchPlace | None) -> int:
    """The ranks of the launcher that started us, those asked for, or one for each slot or processor."""
    if place and asked not in (None, place.ranks):
        raise wrong_value(f"mpirun has started {place.ranks} ranks", f"--ranks {asked}", "leave --ranks out")
    if place or asked is not None:
        return place.ranks if place else asked
    slots = allocation.slots_of_hosts(os.environ)
    return slots if slots > 1 else min(MOST_RANKS_ALONE, mpi.available_processors())


def roof_bytes(ranks: int, data: list[DataSet]) -> int:
    """As much as one rank writes, but not for ever."""
    largest = max(each.bytes(1) for each in data)
    return max(cases.ALIGNMENT, min(ROOF_BYTES, largest) // cases.ALIGNMENT * cases.ALIGNMENT)


# --- the run


def measured(folder: Path, asked: FileSteps, launcher: Launcher) -> FileRun:
    with progress.bar("measuring", len(asked.steps), lines=True) as advance:
        following = iter([*map(cases.step_text, asked.steps[1:]), "done"])
        return job.run(folder, asked, launcher, lambda found: advance(next(following, "")), say=output.message)


def run_io500(
    folder: Path,
    launcher: Launcher,
    shared: SharedOptions,
    limit: float | None,
    format_: str,
    keeps: asserts.AssertCheck,
) -> int:
    amounts = io500.amounts(space.free_space(folder), launcher.ranks)
    smallest = (amounts.easy_block + amounts.hard_segments * io500.HARD_TRANSFER) * launcher.ranks
    space.check_room(folder, smallest, 0, "name a folder with more space")
    asked = io500.steps(amounts, limit or LIMIT_OF_IO500, shared.cache, shared.seed)
    run = measured(folder, asked, launcher)
    scores = io500.scores(asked, run)
    phases = [{"name": each.name, "value": each.value, "seconds": each.seconds, "note": each.note} for each in scores]
    found = {**as_object(FileSteps(), run), "io500": {"phases": phases, "valid": False}}
    code = keeps.judge_results(found)
    if format_ == "json":
        output.print_json({**found, **output.own_cost()})
    else:
        print(io500.form(scores), end="")
    return tell_differences(run) or code


def tell_differences(run: FileRun) -> int:
    """The exit code."""
    wrong = rates.differences_of(run)
    for each in wrong:
        output.message(rates.difference_text(each))
    return int(bool(wrong))


# --- output


def show(asked: FileSteps, run: FileRun, found: dict, format_: str, with_published: bool) -> int:
    if format_ == "json":
        more = {"published": {"metadata": published.METADATA, "bandwidth": published.BANDWIDTH}}
        output.print_json({**found, **(more if with_published else {}), **output.own_cost()})
    elif format_ in ("ior", "mdtest"):
        print((forms.ior if format_ == "ior" else forms.mdtest)(asked, run), end="")
    else:
        show_tables(asked, run, with_published)
    return tell_differences(run)


def as_object(asked: FileSteps, run: FileRun) -> dict:
    return {
        "form": FORM,
        "ranks": run.about["ranks"],
        "nodes": len(run.about["nodes"]),
        "mpi": run.about["mpi"],
        "pinning": run.about["pinning"],
        "in_memory": run.in_memory,
        "metadata": rates.item_rows(asked, run),
        "bandwidth": rates.data_rows(asked, run),
        "roof": rates.roof_of(asked, run),
        "differences": rates.differences_of(run),
        "notes": [*run.notes, *rates.missing_of(asked, run)],
    }


def interval_text(spread: dict, text: object) -> str:
    return "" if spread["low"] is None else f"[{text(spread['low'])}, {text(spread['high'])}]"


def count_text(number: float) -> str:
    """Number of items in a second."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


NAMES_OF_OPERATIONS = {"plant": "make the tree", "clear": "remove the tree", "read": "open and read"}


def show_tables(asked: FileSteps, run: FileRun, with_published: bool) -> None:
    ranks, nodes = quantities.counted(run.about["ranks"], "rank"), quantities.counted(len(run.about["nodes"]), "node")
    output.print_line(f"{ranks} on {nodes}; {run.about['mpi']}")
    print()
    if asked.items:
        show_items(rates.item_rows(asked, run))
        if with_published:
            show_published_items()
        print()
    if asked.data:
        show_data(rates.data_rows(asked, run), rates.roof_of(asked, run))
        if with_published:
            show_published_data()
        print()
    for note in (*run.notes, *rates.missing_of(asked, run)):
        output.print_line(note)
    output.print_line("Medians with their 95 % intervals, which need 6 iterations; n: number of iterations.")


def show_items(rows: list[dict]) -> None:
    cells = []
    before = None
    for row in rows:
        name = f"{row['kind']}, {'one folder' if row['one_folder'] else 'a folder each'}"
        of = row["per_second"]
        cells.append(
            [
                name if name != before else "",
                NAMES_OF_OPERATIONS.get(row["operation"], row["operation"]),
                count_text(of["median"]),
                interval_text(of, count_text),
                *(count_text(of[part]) for part in ("max", "min", "mean", "deviation")),
                of["samples"],
            ]
        )
        before = name
    columns = ("items", "operation", "per second>", "interval", "max>", "min>", "mean>", "std dev>", "n>")
    size = f", files of {quantities.bytes_text(rows[-1]['bytes'])}"
    output.print_table(f"Metadata, operations of all ranks in a second{size}", columns, cells)


def show_data(rows: list[dict], roof: dict) -> None:
    cells = []
    for row in rows:
        of = row["bytes_per_second"]
        cells.append(
            [
                row["api"],
                row["layout"],
                text_of(row["transfer"]),
                text_of(row["block"]) + (f" x {row['segments']}" if row["segments"] > 1 else ""),
                row["operation"],
                quantities.rate_text(of["median"]),
                interval_text(of, quantities.rate_text),
                quantities.rate_text(of["max"]),
                of["samples"],
                quantities.share_text(row["of_roof"]) if "of_roof" in row else "",
                f"{row['source']}: {row['why']}",
            ]
        )
    columns = (
        *("interface", "file", "transfer>", "block>", "phase", "rate>", "interval", "best>", "n>", "of roof>"),
        "whose rate",
    )
    output.print_table("Bandwidth of all ranks", columns, cells)
    if roof.get("missing"):
        output.print_line(f"no roof: {roof['missing']}")
    elif roof:
        write, read = (quantities.rate_text(roof[f"{word}_bytes_per_second"]) for word in ("write", "read"))
        size = text_of(roof["transfer"])
        output.print_line(f"roof: one rank alone, O_DIRECT, calls of {size}: write {write}, read {read}")


def show_published_items() -> None:
    words = {"one": "one folder", "each": "a folder each", "": ""}
    rows = [
        [
            each["machine"],
            each["ranks"],
            words[each["folder"]],
            *(f"{each[name]:,}" for name in ("create", "stat", "remove")),
        ]
        for each in published.METADATA
    ]
    print()
    columns = ("machine", "ranks", "folder", "create>", "stat>", "remove>")
    output.print_table("Published: mdtest, files in a second", columns, rows)
    output.print_line(published.SOURCE)


def show_published_data() -> None:
    rows = [
        [
            each["machine"],
            each["nodes"],
            quantities.rate_text(each["bytes_per_second"]),
            f"{100 * each['of_peak']:.1f} %",
        ]
        for each in published.BANDWIDTH
    ]
    print()
    title = "Published: IOR, a file of each rank, calls of 1 MiB"
    output.print_table(title, ("machine", "nodes>", "rate>", "of peak>"), rows)
    output.print_line(published.SOURCE)
