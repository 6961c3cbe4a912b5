"""The options of verbs that check performance asserts, and what becomes of verdicts: lines, files, an exit code."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.cli import output
from kumihimo.cli.options import option, written
from kumihimo.keep import assertions, checks, observed, outputs
from kumihimo.keep.assertions import PerformanceAssert
from kumihimo.keep.checks import UNREADABLE, AssertVerdict, References
from kumihimo.keep.judge import LEAST_RUNS
from kumihimo.text.errors import BadInput, wrong_value

MOST_REPEATS = 1000
ROUNDS = 11  # samples of a roof
GROUP = "Performance asserts (docs/guides/keep-a-program-fast.md)"

# Each verb that measures takes both, and calls AssertCheck.of() and judge_results().
File = option("--asserts FILE", "Check the performance asserts of this TOML file.", Path, GROUP)
Junit = written("--junit FILE", "Write the verdicts as JUnit XML to this file.", group=GROUP)
Repeat = option("--repeat N", f"Run the program N times: {LEAST_RUNS} and more give intervals of 95 %.", int, GROUP)


@dataclass
class AssertCheck:
    """Asserts that the command line names. The file is read before the work."""

    junit: Path | None = None
    file: assertions.AssertFile = field(default_factory=assertions.AssertFile)
    references: References = field(default_factory=References)
    measures_roofs: bool = True

    @staticmethod
    def of(path: Path | None, junit: Path | None, measures_roofs: bool = True) -> AssertCheck:
        """BadInput: the file cannot be read, or one that it refers to."""
        found = AssertCheck(junit, measures_roofs=measures_roofs)
        if path is not None:
            found.file = assertions.read(path)
        files = dict(found.file.references)
        roofs = files.pop(assertions.ROOFS_FILE, None)
        roof = roofs_in(roofs) if roofs is not None else measured_roof if measures_roofs else None
        found.references = References.of_files(files, roof)
        return found

    @property
    def asked(self) -> bool:
        return bool(self.file.asserts) or self.junit is not None

    def verdicts(self, rows: Sequence[observed.ObservedRow], regions: Iterable[Mapping] = ()) -> list[AssertVerdict]:
        """Verdicts on the file's asserts, and on those that the program states about its regions."""
        stated, unreadable = stated_in(regions)
        return [*checks.verdicts([*stated, *self.file.asserts], rows, self.references), *unreadable]

    def unjudged(self, why: str) -> list[AssertVerdict]:
        """Verdicts on all asserts of the file, none of them judged."""
        subjects = [" ".join(filter(None, (each.subject, each.name))) for each in self.file.asserts]
        pairs = zip(self.file.asserts, subjects)
        return [AssertVerdict(each.text, subject, UNREADABLE, why=why) for each, subject in pairs]

    def judge_results(self, found: dict) -> int:
        """Judges the object of a verb's --json, adds the verdicts to it, and returns the exit code. Prints nothing
        where nothing was asked for.
        """
        if not self.asked:
            return 0
        every = self.verdicts(observed.rows_of(found))
        found["asserts"] = [each.as_object() for each in every]
        return self.tell(every, output.message)

    def tell(self, found: Sequence[AssertVerdict], say: Callable[[str], None]) -> int:
        """One line each, annotations, and JUnit XML; the exit code."""
        for line in outputs.lines(found):
            say(line)
        for line in outputs.github_annotations(found):
            print(line, file=sys.stderr, flush=True)
        if self.junit is not None:
            output.write(self.junit, outputs.junit(found, shlex.join(["kumihimo", *sys.argv[1:]])))
        return checks.exit_code(found)


def stated_in(regions: Iterable[Mapping]) -> tuple[list[PerformanceAssert], list[AssertVerdict]]:
    """The asserts in the program's code, and those that cannot be read."""
    stated: dict[tuple[str, str], PerformanceAssert] = {}
    unreadable = []
    for region in regions:
        if not region.get("expectation"):
            continue
        name = region["name"]
        try:
            for each in assertions.parse_all(region["expectation"]):
                stated[name, each.text] = each.on(assertions.REGION, name, "the program")
        except BadInput as error:
            file, line = region.get("file") or "", region.get("line") or 0
            text = region["expectation"]
            unreadable.append(AssertVerdict(text, f"region {name}", UNREADABLE, why=str(error), file=file, line=line))
    return list(stated.values()), unreadable


def checked_repeat(repeat: int | None) -> int:
    if repeat is not None and not 1 <= repeat <= MOST_REPEATS:
        raise wrong_value(f"--repeat must be from 1 to {MOST_REPEATS}", repeat)
    return repeat or 1


def roofs_in(path: Path) -> checks.Roof:
    """From JSON of `bench node` (the most that it measured) or of `app`."""
    found = observed.read(path)
    rates: dict[str, float] = {}
    try:
        for row in (found.get("stream") or {}).get("results", []):
            if row["kernel"] == "triad":
                rates["triad"] = max(rates.get("triad", 0.0), row["bytes_per_second"]["median"])
        for row in (found.get("dgemm") or {}).get("results", []):
            rates["peak"] = max(rates.get("peak", 0.0), row["fma_gflops"]["median"] * 1e9)
        if of_app := found.get("rates"):
            rates = {"triad": of_app["triad_bytes_per_second"], "peak": of_app["peak_flops"]}
    except (KeyError, TypeError, AttributeError, ValueError):
        rates = {}

    def roof(name: str) -> float:
        if name not in rates:
            rule = f"roofs must name JSON of `kumihimo bench node` or `kumihimo app` with {name}"
            raise wrong_value(rule, path)
        return rates[name]

    return roof


_measured: dict[str, float] = {}


def measured_roof(name: str) -> float:
    """On all processors of this node, once a command."""
    if name not in _measured:
        from kumihimo import _node

        threads = len(os.sched_getaffinity(0))
        if name == "triad":
            size = _node.usual_array_bytes()
            samples = _node.measure_stream(size, threads, ROUNDS)
            at = list(_node.STREAM_KERNELS).index("triad")
            arrays = list(_node.STREAM_ARRAYS)[at]
            times = [min(kind[at]) for kind in (samples.cached, samples.streamed) if kind[at]]
            _measured[name] = arrays * samples.bytes_per_array / min(times)
        else:
            _measured[name] = max(_node.measure_peak(threads, ROUNDS).gflops) * 1e9
        rate = f"{_measured[name]:.3g} {assertions.ROOFS[name]} a second"
        output.message(f"measured {name} of this node on {threads} processors: {rate}")
    return _measured[name]
