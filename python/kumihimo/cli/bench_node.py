"""`kumihimo bench node`: STREAM, DGEMM, HPL and HPCG on this node, by numbers of threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Optional

from kumihimo.app import catalogue, launches
from kumihimo.cli import asserts, options, output, progress
from kumihimo.cli.options import argument, duration, option
from kumihimo.network.node import measurements, theory
from kumihimo.network.node.theory import Peak
from kumihimo.text import quantities
from kumihimo.text.errors import KumihimoError, did_you_mean, failed, wrong_value
from kumihimo.text.sizes import parse_size

PARTS = ("stream", "dgemm", "hpl", "hpcg")
MOST_ROUNDS = 10_000
MOST_THREADS = 4096


def command(
    parts: argument("[PART...]", "Parts: stream, dgemm, hpl, hpcg [default: all].", Optional[list[str]]) = None,
    threads: option("--threads -t T[,T..]", "Numbers of threads [default: 1, 2, 4 .. and all processors].") = None,
    rounds: option("--rounds N", "Samples of STREAM, DGEMM and HPL.", int) = 11,
    array: option("--array SIZE", "One array of STREAM [default: 4 times all last-level caches].") = None,
    peak_bandwidth: option(
        "--peak-bandwidth RATE", "Theoretical bytes a second: 204.8GB [default: by firmware]."
    ) = None,
    library: option("--blas PATH", "BLAS library [default: the first of OpenBLAS, BLIS, MKL].") = None,
    dgemm_size: option("--dgemm-size N", "Rows of the matrices of DGEMM.", int) = 3000,
    hpl_size: option("--hpl-size N", "Rows of the matrix of HPL.", int) = 5000,
    peak_gflops: option("--peak-gflops G", "GFLOPS of one core at most [default: by processor].") = None,
    size: option("--size -s N", "Grid of HPCG: 104 or 104x104x96; sides are multiples of 8.") = "104",
    ordering: option("--ordering NAME", "Order of sweeps of HPCG: levels, colours or auto (the faster).") = "auto",
    seconds: duration("--seconds TIME", "Time of HPCG for each number of threads; its rules demand 1800.") = "30s",
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Measure this node by STREAM, DGEMM, HPL and HPCG. STREAM measures memory bandwidth and DGEMM matrix products. HPL
    and HPCG run by their rules, with Kumihimo's own solvers.

    The exit code is 1 if a residual of HPL or a validation of HPCG fails.

    \b
    Examples:
    kumihimo bench node
    kumihimo bench node stream --threads 1,2 --peak-bandwidth 51.2GB
    kumihimo bench node hpcg --size 104 --seconds 60
    """
    keeps = asserts.AssertCheck.of(asserts_file, junit)
    wanted = checked_parts(parts or [])
    numbers = checked_threads(threads)
    if not 1 <= rounds <= MOST_ROUNDS:
        raise wrong_value(f"--rounds must be from 1 to {MOST_ROUNDS}", rounds)
    if not 1 <= dgemm_size <= 46340:
        raise wrong_value("--dgemm-size must be from 1 to 46340", dgemm_size)
    if not 1 <= hpl_size <= 1_000_000:
        raise wrong_value("--hpl-size must be from 1 to 1000000", hpl_size)
    if ordering not in (*measurements.ORDERINGS, "auto"):
        raise wrong_value("--ordering must be levels, colours or auto", f"'{ordering}'")
    grid = checked_grid(size)
    memory = Peak(float(parse_size(peak_bandwidth)), "given") if peak_bandwidth else theory.memory_peak()
    core = Peak(checked_gflops(peak_gflops), "given") if peak_gflops else theory.core_peak()
    array_bytes = parse_size(array, 64) if array else measurements.usual_array()
    steps = len(numbers) * sum(part in wanted for part in ("stream", "dgemm", "hpl")) + 3 * ("hpcg" in wanted)
    with progress.bar("measuring", steps, lines=True) as advance:
        asked = measurements.NodeMeasurement(numbers, rounds, progress.run_interruptible, advance)
        checked = {}
        if "stream" in wanted:
            checked["stream"] = measurements.stream(asked, array_bytes, memory)
        if "dgemm" in wanted:
            checked["dgemm"] = measurements.dgemm(asked, dgemm_size, library or "", core)
        if "hpl" in wanted:
            checked["hpl"] = measurements.hpl(asked, hpl_size, library or "", hpl_solver(hpl_size, library))
        if "hpcg" in wanted:
            checked["hpcg"] = measurements.hpcg(asked, grid, ordering, seconds)
        found, failure = measured(checked)
    code = keeps.judge_results(found) if found else 0
    if found and as_json:
        output.print_json({**found, **output.own_cost()})
    elif found:
        show(found)
    if failure:
        raise failure
    check_validity(found)
    return code


def check_validity(found: dict) -> None:
    """Raises if a rating does not count."""
    for row in found.get("hpl", {}).get("results", []):
        if not row["passed"]:
            residual = "no number" if row["residual"] is None else f"{row['residual']:.3g}"
            raise failed(
                f"the residual of HPL on {quantities.counted(row['threads'], 'thread')} must be below "
                f"{measurements.HPL_THRESHOLD} (got {residual})",
                advice="its rating does not count: name another BLAS library with --blas",
            )
    if "hpcg" in found and not found["hpcg"]["validation"]["passed"]:
        raise failed("the validation of HPCG failed", advice="its rating does not count; --json has the departures")


def hpl_solver(rows: int, library: str | None) -> Callable[[int, int], list[measurements.HplRun]]:
    """The application lu in one process."""
    options_of_lu = {"blas": library} if library else {}
    problem = launches.AppProblem(catalogue.find("lu"), str(rows), options_of_lu, "", most_iterations=1)

    def solve(threads: int, runs: int) -> list[measurements.HplRun]:
        resources = launches.Resources(1, threads, None)
        found = launches.run(problem, [catalogue.AppCandidate("rows", ())], resources, turns=runs)
        return [hpl_run(row) for row in found.results]

    return solve


def hpl_run(row: dict) -> measurements.HplRun:
    """Figures of a result of the application lu."""
    if not row["gflops"] or row["seconds"] <= 0:
        raise failed("a run of HPL took no time that the clock shows", advice="give a larger --hpl-size")
    block, right = row["parameters"]["block"], row["checked"]["right"]
    return measurements.HplRun(row["gflops"], row["seconds"], row["residual"], right, block)


def measured(checked: dict[str, measurements.Measurement]) -> tuple[dict, KumihimoError | None]:
    """The results of the parts, up to one that fails."""
    found = {}
    for part, measure in checked.items():
        try:
            found[part] = measure()
        except KumihimoError as error:
            return found, error
    return found, None


def checked_parts(names: list[str]) -> list[str]:
    for name in names:
        if name not in PARTS:
            raise wrong_value("a part must be one of stream, dgemm, hpl, hpcg", f"'{name}'", did_you_mean(name, PARTS))
    return [part for part in PARTS if part in names or not names]


def checked_threads(text: str | None) -> list[int]:
    if text is None:
        return measurements.usual_threads(measurements.processors())
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not re.fullmatch(r"[0-9]{1,9}", word) or not 1 <= int(word) <= MOST_THREADS:
            raise wrong_value(f"--threads must be numbers from 1 to {MOST_THREADS}, such as 1,2", f"'{text}'")
    return sorted(set(map(int, words)))


def checked_grid(text: str) -> tuple[int, int, int]:
    """Its sides; whether they are multiples of 8 the native side says."""
    words = text.split("x")
    if len(words) not in (1, 3) or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
        raise wrong_value("--size must be a side, or three: 104 or 104x104x96", f"'{text}'")
    sides = [int(word) for word in words] * (3 if len(words) == 1 else 1)
    return sides[0], sides[1], sides[2]


def checked_gflops(text: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) or float(text) <= 0:
        raise wrong_value("--peak-gflops must be a positive number", f"'{text}'")
    return float(text)


# --- output


def show(found: dict) -> None:
    for part, showing in (("stream", show_stream), ("dgemm", show_dgemm), ("hpl", show_hpl), ("hpcg", show_hpcg)):
        if part in found:
            showing(found)
            print()
    output.print_line("Medians with their 95 % intervals, which need 6 samples; n: number of samples.")


def interval(statistics: dict, text: object) -> str:
    if statistics["low"] is None:
        return ""
    return f"[{text(statistics['low'])}, {text(statistics['high'])}]"


def show_stream(parts: dict) -> None:
    found, rows = parts["stream"], []
    for row in found["results"]:
        rate = row["bytes_per_second"]
        share = quantities.share_text(row["share"]) if "share" in row else ""
        rows.append(
            [
                row["threads"],
                row["kernel"],
                row["stores"],
                quantities.rate_text(rate["median"]),
                interval(rate, quantities.rate_text),
                quantities.rate_text(row["best"]),
                rate["samples"],
                share,
            ]
        )
    size = quantities.bytes_text(found["array_bytes"])
    title = f"STREAM, arrays of {size}; bytes as STREAM counts them"
    output.print_table(title, ("threads>", "kernel", "stores", "rate>", "interval", "best>", "n>", "of peak>"), rows)
    known = quantities.rate_text(found["peak_bytes_per_second"])
    output.print_line(f"theoretical bandwidth: {known + ', ' if known else ''}{found['peak_source']}")


def gflops_text(value: float) -> str:
    return f"{value:.3g}" if value < 99.95 else f"{value:.0f}"


def show_dgemm(parts: dict) -> None:
    found, rows = parts["dgemm"], []
    for row in found["results"]:
        cells = [row["threads"]]
        for name in ("dgemm_gflops", "fma_gflops"):
            known = row.get(name)
            cells += [gflops_text(known["median"]), interval(known, gflops_text)] if known else ["", ""]
        peak = row.get("theoretical_gflops")
        share = row["dgemm_gflops"]["median"] / row["fma_gflops"]["median"] if "dgemm_gflops" in row else None
        rows.append(
            [
                *cells,
                gflops_text(peak) if peak else "",
                quantities.share_text(share) if share else "",
                row["instructions"],
            ]
        )
    library = found["library"] or "no BLAS library"
    columns = ("threads>", "dgemm>", "interval", "fma>", "interval", "theoretical>", "dgemm of fma>", "instructions")
    output.print_table(f"GFLOPS of double precision, N = {found['rows']}; {library}", columns, rows)
    if found["missing"]:
        output.print_line(found["missing"])
    output.print_line(f"theoretical: {found['peak_source']}")


def show_hpl(parts: dict) -> None:
    """Beside DGEMM on as many threads, if that was measured."""
    found = parts["hpl"]
    beside = {row["threads"]: row.get("dgemm_gflops") for row in parts.get("dgemm", {}).get("results", [])}
    rows = []
    for row in found["results"]:
        rating, dgemm = row["gflops"], beside.get(row["threads"])
        rows.append(
            [
                row["threads"],
                gflops_text(rating["median"]),
                interval(rating, gflops_text),
                rating["samples"],
                quantities.share_text(rating["median"] / dgemm["median"]) if dgemm else "",
                quantities.seconds_text(row["seconds"]["median"]),
                f"{row['residual']:.4f}" if row["residual"] is not None else "NaN",
                "PASSED" if row["passed"] else "FAILED",
            ]
        )
    columns = ("threads>", "rating>", "interval", "n>", "of dgemm>", "time>", "residual>", "check")
    block = f", NB = {found['block']}" if rows else ""
    output.print_table(f"HPL: GFLOPS by HPL's rules, N = {found['rows']}{block}", columns, rows)
    if found["missing"]:
        output.print_line(found["missing"])
    if not all(row["long_enough"] for row in found["results"]):
        least = quantities.seconds_text(measurements.SHORT_SECONDS)
        output.print_line(f"runs of less than {least} are too short for a rating: give a larger --hpl-size")


def show_hpcg(parts: dict) -> None:
    found = parts["hpcg"]
    grid = "x".join(map(str, found["grid"]))
    reference = found["reference"]
    rows = [
        [
            row["threads"],
            f"{row['rating_gflops']:.3f}",
            f"{row['set_gflops']['median']:.3f}",
            interval(row["set_gflops"], lambda value: f"{value:.3f}"),
            row["sets"],
            f"{row['raw_gflops']['median']:.3f}",
            quantities.rate_text(row["bytes_per_second"]),
            f"{row['seconds']:.1f} s",
        ]
        for row in found["results"]
    ]
    title = f"HPCG, grid of {grid}: GFLOPS by HPCG's rules"
    output.print_table(
        title, ("threads>", "rating>", "of a set>", "interval", "sets>", "raw>", "traffic>", "time>"), rows
    )
    output.print_line("rating: of the time of all sets together; of a set: the median, with its interval")
    output.print_line(
        f"ordering: {found['ordering']} ({found['groups']} groups); {found['iterations']} iterations for the "
        f"{reference['iterations']} of the reference; reference on 1 thread: {reference['gflops']:.3f} GFLOPS"
    )
    checks = found["validation"]
    output.print_line(
        f"validation: {'passed' if checks['passed'] else 'FAILED'}; departures from symmetry "
        f"{checks['matrix_departure']:.2g}, {checks['preconditioner_departure']:.2g} (at most 1); iterations with a "
        f"large diagonal {checks['plain_iterations']} (at most 12), {checks['preconditioned_iterations']} (at most 2); "
        f"same bits in all sets: {'yes' if checks['same_bits'] else 'no'}"
    )
    if not found["long_enough"]:
        rule = f"{measurements.LONG_SECONDS} s and a quarter of the memory"
        output.print_line(f"too short or too small for the rules of HPCG, which demand {rule}")
