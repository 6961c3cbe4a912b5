"""Compiles the loops with the user's compiler and flags, and reads what it says of their vectorisation."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.kernel.vectorisation import HERE, LOOPS
from kumihimo.processes import child_output
from kumihimo.processes.interrupts import ignoring_signals
from kumihimo.text.errors import failed, wrong_value
from kumihimo.text.json_types import JsonObject

PRAGMAS = ("-fopenmp-simd",)  # heeds #pragma omp simd; changes nothing else
GOLDEN = ("-O1", "-ffp-contract=off", "-DPREFIX=golden_")
NO_VECTORS = {"gcc": ("-fno-tree-vectorize",), "clang": ("-fno-vectorize", "-fno-slp-vectorize")}
LIMIT_SECONDS = 300  # of one source


class CompilerProcesses:
    """Compilers that run in threads, so that an interrupted build ends them: each with what it started itself, as a
    compiler's driver starts others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen] = set()
        self._is_ended = False

    def run(self, words: list[str], text: str = "", seconds: float = LIMIT_SECONDS) -> subprocess.CompletedProcess:
        """As subprocess.run. Failed: it takes longer than `seconds`, or the build was ended."""
        with self._lock:
            if self._is_ended:
                raise failed(f"{words[0]} was not started", "the build was ended")
            pipe = subprocess.PIPE
            with child_output.file_of(text.encode()) as stdin:
                process = subprocess.Popen(words, stdin=stdin, stdout=pipe, stderr=pipe, start_new_session=True)
            self._running.add(process)
        try:
            found = child_output.read_all(process, time.monotonic() + seconds)
        except child_output.TimedOut:
            raise failed(
                f"{words[0]} did not end within {seconds:.3g} s", shlex.join(words), "change --cc or --flags"
            ) from None
        finally:
            with ignoring_signals():
                if process.poll() is None:
                    kill(process)
                    process.wait()
                child_output.close(process)
                with self._lock:
                    self._running.discard(process)
        return subprocess.CompletedProcess(words, process.returncode, *map(child_output.decoded, found))

    def end(self) -> None:
        with self._lock:
            self._is_ended = True
            for process in self._running:
                kill(process)


def kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


@dataclass
class ReportingCompiler:
    command: list[str]
    kind: str  # gcc or clang: how it reports vectorisation
    version: str
    flags: list[str]

    @property
    def text(self) -> str:
        return shlex.join([*self.command, *self.flags])


@dataclass
class VectorisationReport:
    """Compiler's report on one form. `reason`: that of the first loop that it did not vectorise."""

    vectorised: bool = False
    reason: str = ""


@dataclass
class Built:
    driver: Path
    reports: dict[tuple[str, str], VectorisationReport] = field(default_factory=dict)  # of (loop, form)


def find(command: str, flags: str) -> ReportingCompiler:
    """Errors: it is not there, or it compiles no empty program with these flags."""
    words, flag_words = split("--cc", command), split("--flags", flags)
    if not words or shutil.which(words[0]) is None:
        raise wrong_value("--cc must name C compilers that are here", f"'{command}'", "install it, or name another")
    said = CompilerProcesses().run([*words, "--version"])
    version = said.stdout.splitlines()[0].strip() if said.stdout.strip() else words[0]
    compiler = ReportingCompiler(words, "clang" if "clang" in said.stdout else "gcc", version, flag_words)
    empty = [*words, *flag_words, *PRAGMAS, "-x", "c", "-c", "-", "-o", os.devnull]
    tried = CompilerProcesses().run(empty, "int x;\n")
    if tried.returncode != 0:
        raise wrong_value(
            f"{words[0]} must accept the --flags", f"'{flags}': {first_error(tried.stderr)}", "change them"
        )
    return compiler


def split(option: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise wrong_value(f"{option} must be words of a shell", f"'{text}'", "close the quotation") from None


def first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[-1] if lines else "no message").strip()


def build(
    compiler: ReportingCompiler, loops: list[str], folder: Path, advance: Callable[[str], None], sources: Path = LOOPS
) -> Built:
    """The driver with these loops of `sources`, in `folder`. Each loop twice: by the flags, and as the golden copy."""
    table = folder / "table.c"
    table.write_text(table_of(loops), encoding="utf-8")
    built = Built(folder / "driver")
    golden = [*compiler.command, *GOLDEN, *NO_VECTORS[compiler.kind]]
    jobs = [(golden, sources / f"{loop}.c", folder / f"{loop}.golden.o") for loop in loops]
    jobs += [([*compiler.command, "-O1"], HERE / "driver.c", folder / "driver.o")]
    jobs += [([*compiler.command, "-O1"], table, folder / "table.o")]
    plain = [*compiler.command, *compiler.flags, *PRAGMAS]
    processes = CompilerProcesses()
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as this whole module

    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        others = [pool.submit(compile_one, processes, *job) for job in jobs]
        tested = {
            loop: pool.submit(compile_reported, processes, compiler, plain, sources, loop, folder) for loop in loops
        }
        for loop, done in tested.items():
            built.reports.update({(loop, form): report for form, report in done.result().items()})
            advance(loop)
        for other in others:
            other.result()
    finally:  # by Ctrl-C or an error: nothing goes on
        with ignoring_signals():
            processes.end()
            pool.shutdown(cancel_futures=True)
    objects = [folder / f"{loop}{kind}.o" for loop in loops for kind in ("", ".golden")]
    run(CompilerProcesses(), [*plain, *objects, folder / "driver.o", folder / "table.o", "-o", built.driver, "-lm"])
    return built


def table_of(loops: list[str]) -> str:
    names = "".join(f"extern const struct loop loop_{loop}, golden_{loop};\n" for loop in loops)
    rows = "".join(f"    {{&loop_{loop}, &golden_{loop}}},\n" for loop in loops)
    return (
        '#include "suite.h"\nstruct pair {\n  const struct loop *loop, *golden;\n};\n'
        f"{names}const struct pair all_loops[] = {{\n{rows}}};\nconst int how_many_loops = {len(loops)};\n"
    )


def compile_one(processes: CompilerProcesses, command: list[str], source: Path, target: Path) -> str:
    return run(processes, [*command, f"-I{LOOPS}", "-w", "-c", source, "-o", target])


def compile_reported(
    processes: CompilerProcesses,
    compiler: ReportingCompiler,
    command: list[str],
    sources: Path,
    loop: str,
    folder: Path,
) -> JsonObject:
    """The compiler's reports, by form."""
    source, target = sources / f"{loop}.c", folder / f"{loop}.o"
    if compiler.kind == "clang":
        wanted = [f"-R{kind}=loop-vectorize" for kind in ("pass", "pass-missed", "pass-analysis")]
        said = run(processes, [*command, *wanted, f"-I{LOOPS}", "-c", source, "-o", target, "-w"])
    else:
        notes = folder / f"{loop}.notes"
        compile_one(processes, [*command, f"-fopt-info-vec-optimized-missed={notes}"], source, target)
        said = notes.read_text(encoding="utf-8", errors="replace") if notes.exists() else ""
    return reports_of(source.read_text(encoding="utf-8"), said, source.name)


def run(processes: CompilerProcesses, command: list) -> str:
    words = [str(word) for word in command]
    done = processes.run(words)
    if done.returncode != 0:
        source = next((Path(word).name for word in words if word.endswith(".c")), "the driver")
        raise failed(f"{words[0]} does not compile {source}", first_error(done.stderr), "change --cc or --flags")
    return done.stderr


# --- the report


def reports_of(source: str, said: str, name: str) -> dict[str, VectorisationReport]:
    """`said`: lines FILE:LINE:COLUMN: message, of GCC or Clang."""
    lines = form_lines(source)
    found = {form: VectorisationReport() for form in lines}
    for match in re.finditer(rf"{re.escape(name)}:(\d+):\d+: (.*)", said):
        form = next((form for form, (first, last) in lines.items() if first <= int(match[1]) <= last), None)
        if form is None:
            continue
        report, message = found[form], match[2]
        if re.search(r"loop vectorized using|vectorized loop", message):
            report.vectorised = True
        elif reason := reason_of(message):
            report.reason = report.reason or reason
    return found


def reason_of(message: str) -> str:
    """Why a loop was not vectorised, if the message says so."""
    match = re.search(r"not vectorized: (.*?)(?: \[-R.*\])?$", message)
    if match is None:
        return ""
    text = re.sub(r"\s+in [a-zA-Z_].*= .*;$", "", match[1]).strip().rstrip(".")  # GCC shows a statement of its own
    return re.sub(r"[: ]+\S+ = .*", "", text)


def form_lines(source: str) -> dict[str, tuple[int, int]]:
    """The first and the last line of the function of each form, by the form's name in the table."""
    lines = source.splitlines()
    spans = {}
    for i, line in enumerate(lines):
        if match := re.match(r"FORM\((\w+)\)", line):
            end = next((j for j in range(i, len(lines)) if lines[j].startswith("}")), len(lines) - 1)
            spans[match[1]] = (i + 1, end + 1)
    rows = re.findall(r'\{"([^"]+)", run_(\w+),', source)
    return {form: spans[function] for form, function in rows if function in spans}
