"""The output of IOR 4.1 and mdtest 4.1, which scripts read (hpc/ior, src/ior-output.c and src/mdtest.c)."""

from __future__ import annotations

import statistics as plain
from collections.abc import Iterator

from kumihimo.text.json_types import JsonObject
from kumihimo.tune.file_bench import rates
from kumihimo.tune.file_bench.cases import DataSet, FileSteps, ItemSet
from kumihimo.tune.file_bench.cost_law import MEMORY
from kumihimo.tune.file_bench.job import FileRun
from kumihimo.tune.file_bench.rates import population_deviation, source_of

MIB, KIB = float(1 << 20), 1024.0
APIS = {"posix": "POSIX", "mpiio": "MPIIO", "mpiio-collective": "MPIIO", "hdf5": "HDF5", "hdf5-collective": "HDF5"}
IOR_COLUMNS = (
    *(("access", 9), ("bw(MiB/s)", 10), ("IOPS", 10), ("Latency(s)", 11), ("block(KiB)", 10), ("xfer(KiB)", 10)),
    *(("open(s)", 10), ("wr/rd(s)", 10), ("close(s)", 10), ("total(s)", 10), ("iter", 4)),
)
IOR_RULES = (6, 9, 4, 10, 10, 9, 8, 8, 8, 8, 4)  # dashes below each
IOR_SUMMARY_HEAD = (
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) "
    "Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize "
    "aggs(MiB)   API RefNum"
)
MDTEST_HEAD = (
    "   Operation                     Max            Min           Mean        Std Dev",
    "   ---------                     ---            ---           ----        -------",
)


def padded(number: float) -> str:
    """IOR's PPDouble: ten characters, with fewer digits for larger numbers."""
    digits = 6 if number < 1 else 2 if number < 3600 else 0
    return f"{number:<10.{digits}f}"


def per_node(run: FileRun) -> int:
    """Ranks of the first node."""
    nodes = run.about["node_of_rank"]
    return nodes.count(nodes[0])


# --- IOR


def ior(asked: FileSteps, run: FileRun) -> str:
    """All sets of data as tests of one run of IOR. A read from the page cache is no line of a table: a warning says
    what it is."""
    lines = ["IOR-4.1.0: MPI Coordinated Test of Parallel I/O", "(in the form of IOR, by kumihimo bench files)"]
    for data in asked.data:
        lines += ["", *test_of(data, asked, run)]
    lines += ["", "Summary of all tests:", IOR_SUMMARY_HEAD]
    for number, data in enumerate(asked.data):
        lines += summary_of(number, data, asked, run)
    return "\n".join(lines) + "\n"


def test_of(data: DataSet, asked: FileSteps, run: FileRun) -> Iterator[str]:
    ranks = run.about["ranks"]
    shift = shift_of(data, asked, run)
    options = {
        "api": APIS[data.api],
        "test filename": f"data-{data.name}",
        "access": "single-shared-file" if data.shared else "file-per-process",
        "type": "collective" if data.api.endswith("collective") else "independent",
        "segments": data.segments,
        "ordering in a file": "sequential",
        "ordering inter file": "constant task offset" if shift else "no tasks offsets",
        **({"task offset": shift} if shift else {}),
        "nodes": len(run.about["nodes"]),
        "tasks": ranks,
        "clients per node": per_node(run),
        "repetitions": len(list(rates.steps_of(asked, run, data=data.name, do="write"))),
        "xfersize": size_text(data.transfer),
        "blocksize": size_text(data.block),
        "aggregate filesize": size_text(data.bytes(ranks)),
    }
    yield "Options: "
    yield from (f"{name:<20}: {value}" for name, value in options.items())
    yield ""
    yield "Results: "
    yield ""
    yield " ".join(f"{name:<{width}}" for name, width in IOR_COLUMNS)
    yield " ".join(f"{'-' * rule:<{width}}" for (_, width), rule in zip(IOR_COLUMNS, IOR_RULES))
    for number, pair in enumerate(zip(*(rates.steps_of(asked, run, data=data.name, do=w) for w in ("write", "read")))):
        for word, result in zip(("write", "read"), pair):
            yield result_line(word, result, data, run, number)


def shift_of(data: DataSet, asked: FileSteps, run: FileRun) -> int:
    return next((found.get("shift", 0) for found in rates.steps_of(asked, run, data=data.name, do="read")), 0)


def size_text(size: int) -> str:
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}" if size % factor == 0 else f"{size / factor:.2f} {unit}"
    return f"{size} bytes"


def result_line(word: str, result: JsonObject, data: DataSet, run: FileRun, number: int) -> str:
    if "missing" in result:
        return f"WARNING: {word} was not measured: {result['missing']}"
    rate = result["bytes"] / max(result["seconds"], rates.SHORT) / MIB
    source, why = source_of(result, data, run.in_memory)
    if source == MEMORY:
        return f"WARNING: {word} {number} at {rate:.2f} MiB/s is the memory's rate, not the file system's: {why}"
    numbers = (
        rate,
        result["transfers"] / max(result["transfer_seconds"], rates.SHORT),
        result["latency_seconds"],
        data.block / KIB,
        data.transfer / KIB,
        *(result[f"{part}_seconds"] for part in ("open", "transfer", "close")),
        result["seconds"],
    )
    cells = [padded(each) for each in numbers]
    cells[2] += " "  # IOR has two blanks behind the latency
    return f"{word:<10}{' '.join(cells)} {number:<4d}"


def summary_of(number: int, data: DataSet, asked: FileSteps, run: FileRun) -> Iterator[str]:
    for word in ("write", "read"):
        results = list(rates.steps_of(asked, run, data=data.name, do=word))
        if any("missing" in each or source_of(each, data, run.in_memory)[0] == MEMORY for each in results):
            continue
        seconds = [max(each["seconds"], rates.SHORT) for each in results]
        bandwidth = [each["bytes"] / MIB / time for each, time in zip(results, seconds)]
        operations = [each["transfers"] / time for each, time in zip(results, seconds)]
        yield summary_line(number, word, data, run, (bandwidth, operations, seconds), results)


def summary_line(
    number: int, word: str, data: DataSet, run: FileRun, samples: tuple[list[float], ...], results: list[JsonObject]
) -> str:
    bandwidth, operations, seconds = samples
    cells = [f"{word:<9}"]
    for each in (bandwidth, operations):
        figures = (max(each), min(each), plain.fmean(each), population_deviation(each))
        cells += [f"{figure:10.2f}" for figure in figures]
    cells.append(f"{plain.fmean(seconds):10.5f}")
    if "limit_seconds" in results[0]:
        at_limit = sum(each["limit_seconds"] for each in results)
        cells += [f"{at_limit / len(results):10.2f} "]
        cells += [f"{sum(each['bytes_at_limit'] for each in results) / max(at_limit, rates.SHORT) / MIB:13.2f}"]
    else:
        cells += [f"{'NA':>10} ", f"{'NA':>13}"]
    shift = results[0].get("shift", data.shift if data.shift >= 0 else 1)
    cells += [f"{number:5d}", f"{run.about['ranks']:6d}", f"{per_node(run):3d}", f"{len(results):4d}"]
    cells += [f"{int(not data.shared):3d}", f"{int(shift > 0):5d}", f"{max(shift, 1):8d}", f"{0:9d}", f"{0:4d}"]
    cells += [f"{data.segments:6d}", f"{data.block:8d}", f"{data.transfer:8d}", f"{results[0]['bytes'] / MIB:9.1f}"]
    return " ".join([*cells, f"{APIS[data.api]:>3}", f"{0:6d}"])


# --- mdtest


def mdtest(asked: FileSteps, run: FileRun) -> str:
    """A run of mdtest for each way of dividing items among folders."""
    lines: list[str] = []
    for one_folder in dict.fromkeys(each.one_folder for each in asked.items):
        chosen = [each for each in asked.items if each.one_folder == one_folder]
        lines += ["", *summary_rate(chosen, asked, run)]
    return "\n".join(lines[1:]) + "\n"


def summary_rate(chosen: list[ItemSet], asked: FileSteps, run: FileRun) -> Iterator[str]:
    ranks, nodes = run.about["ranks"], len(run.about["nodes"])
    yield f"mdtest-4.1.0 was launched with {ranks} total task(s) on {nodes} node(s)"
    where = "one folder of all tasks" if chosen[0].one_folder else "a folder of each task (-u)"
    yield f"(in the form of mdtest, by kumihimo bench files; {where})"
    if not any(each.bytes_each for each in chosen):
        yield "WARNING: Read bytes is 0, thus, a read test will actually just open/close"
    yield f"{ranks} tasks, {chosen[0].per_rank * ranks} files/directories"
    yield ""
    rows = [row for row in rates.item_rows(asked, run) if row["set"] in {each.name for each in chosen}]
    yield f"SUMMARY rate (in ops/sec): (of {len(rows[0]['rates'])} iterations)"
    yield from MDTEST_HEAD
    for kind, noun in (("folders", "Directory"), ("files", "File")):
        for operation, word in (
            *(("create", "creation"), ("stat", "stat"), ("read", "read"), ("rename", "rename")),
            ("remove", "removal"),
        ):
            if (kind, operation) != ("files", "rename"):  # which mdtest does not measure
                yield from mdtest_line(
                    f"{noun} {word}", [r for r in rows if (r["kind"], r["operation"]) == (kind, operation)]
                )
    for operation, word in (("plant", "creation"), ("clear", "removal")):
        yield from mdtest_line(f"Tree {word}", [row for row in rows if row["operation"] == operation][-1:])


def mdtest_line(name: str, rows: list[JsonObject]) -> Iterator[str]:
    for row in rows:
        of = row["per_second"]
        yield f"   {name:<22} " + " ".join(f"{of[part]:14.3f}" for part in ("max", "min", "mean", "deviation"))
