"""Rates over the iterations, and whose they are: the file system's, or the memory's."""

from __future__ import annotations

import math
import statistics as plain
from collections.abc import Iterator

from kumihimo.network.node import statistics
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.file_bench.cases import DataSet, FileSteps, ItemSet
from kumihimo.tune.file_bench.cost_law import MEMORY, STORAGE
from kumihimo.tune.file_bench.job import FileRun

LEAST_CACHED = 0.01  # share of a file in the page cache from which on a read is the memory's
SHORT = 1e-9  # seconds, for a phase that the clock does not see


def source_of(result: JsonObject, data: DataSet, in_memory: bool) -> tuple[str, str]:
    """The medium whose rate a write or read has, and why."""
    if in_memory:
        return MEMORY, "the file system is in memory"
    if data.cache == "direct":
        return STORAGE, "O_DIRECT"
    if result["do"] == "write":
        return (STORAGE, "fsync in the time") if result["synced"] else (MEMORY, "no fsync in the time")
    share = result["cached_share"]
    if share >= LEAST_CACHED:
        return MEMORY, f"{100 * share:.0f} % in the page cache"
    return STORAGE, "not in the page cache"


def spread(samples: list[float]) -> JsonObject:
    """Median with interval; and as mdtest and IOR have them: most, least, mean, deviation (of the sample)."""
    return {
        **statistics(samples),
        "max": max(samples),
        "min": min(samples),
        "mean": plain.fmean(samples),
        "deviation": plain.stdev(samples) if len(samples) > 1 else 0.0,
    }


def steps_of(asked: FileSteps, run: FileRun, **wanted: str) -> Iterator[JsonObject]:
    """Results of the steps that have these members."""
    for step, result in zip(asked.steps, run.results):
        if all(step.get(name) == value for name, value in wanted.items()):
            yield result


def item_rows(asked: FileSteps, run: FileRun) -> list[JsonObject]:
    """A row for each set of items and operation. "plant" and "clear" are the folders of the items."""
    return [
        item_row(each, word, list(steps_of(asked, run, items=each.name, do=word)))
        for each in asked.items
        for word in ("plant", *each.operations, "clear")
    ]


def item_row(items: ItemSet, operation: str, results: list[JsonObject]) -> JsonObject:
    rates = [each["items"] / max(each["seconds"], SHORT) for each in results]
    row = {
        "set": items.name,
        "kind": "folders" if items.folders else "files",
        "one_folder": items.one_folder,
        "operation": operation,
        "items": results[0]["items"],
        "bytes": items.bytes_each,
        "per_second": spread(rates),
        "rates": rates,
        "seconds": [each["seconds"] for each in results],
    }
    if "items_at_limit" in results[0]:
        row["per_second_at_limit"] = [each["items_at_limit"] / max(each["limit_seconds"], SHORT) for each in results]
    return row


def data_rows(asked: FileSteps, run: FileRun) -> list[JsonObject]:
    """A row for each set of data, for its writes and for its reads."""
    roof = roof_of(asked, run)
    rows = []
    for each in asked.data:
        for word in ("write", "read"):
            results = list(steps_of(asked, run, data=each.name, do=word))
            if results and not any("missing" in result for result in results):
                rows.append(data_row(each, word, results, run.in_memory, roof))
    return rows


def data_row(data: DataSet, word: str, results: list[JsonObject], in_memory: bool, roof: JsonObject) -> JsonObject:
    rates = [each["bytes"] / max(each["seconds"], SHORT) for each in results]
    sources = [source_of(each, data, in_memory) for each in results]
    source = next((each for each in sources if each[0] == MEMORY), sources[0])  # of the worst iteration
    row = {
        "set": data.name,
        "operation": word,
        "api": data.api,
        "layout": data.layout,
        "transfer": data.transfer,
        "block": data.block,
        "segments": data.segments,
        "cache": data.cache,
        "bytes": results[0]["bytes"],
        "bytes_per_second": spread(rates),
        "source": source[0],
        "why": source[1],
        "iterations": [{name: each[name] for name in each if name not in ("step", "do")} for each in results],
    }
    if word == "read":
        row["cached_share"] = max(each["cached_share"] for each in results)
        row["shift"] = results[0]["shift"]
    of_roof = roof.get(f"{word}_bytes_per_second")
    if of_roof and source[0] == STORAGE:
        row["of_roof"] = row["bytes_per_second"]["median"] / of_roof
    if "bytes_at_limit" in results[0]:
        at_limit = [each["bytes_at_limit"] / max(each["limit_seconds"], SHORT) for each in results]
        row["bytes_per_second_at_limit"] = at_limit
    return row


def roof_of(asked: FileSteps, run: FileRun) -> JsonObject:
    """O_DIRECT by one rank alone, or why there is none."""
    for found in steps_of(asked, run, do="roof"):
        if "missing" in found or run.in_memory:
            return {"missing": found.get("missing", "the file system is in memory")}
        return {
            "transfer": found["transfer"],
            "bytes": int(found["bytes"]),
            "write_bytes_per_second": found["bytes"] / max(found["write_seconds"], SHORT),
            "read_bytes_per_second": found["bytes"] / max(found["read_seconds"], SHORT),
        }
    return {}


def missing_of(asked: FileSteps, run: FileRun) -> list[str]:
    """Why sets of data were not measured."""
    return list(dict.fromkeys(result["missing"] for result in run.results if "missing" in result))


def differences_of(run: FileRun) -> list[JsonObject]:
    return [each for result in run.results for each in result.get("differences", [])]


def difference_text(found: JsonObject) -> str:
    times = found["transfers"]
    more = f" ({times} transfers of rank {found['rank']} have wrong bytes)" if times > 1 else ""
    return (
        f"{found['file']} differs at byte {found['offset']}: expected 0x{found['expected']:02x}, "
        f"found 0x{found['found']:02x}{more}"
    )


def population_deviation(samples: list[float]) -> float:
    """As IOR has it."""
    mean = plain.fmean(samples)
    return math.sqrt(plain.fmean([(each - mean) ** 2 for each in samples]))
