"""OTF2 traces as recordings: of `kumihimo record --trace`, Score-P, TAU and other tools."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kumihimo import _replay
from kumihimo.predict.replay import otf2_events
from kumihimo.predict.replay.trace import Trace
from kumihimo.processes import children
from kumihimo.text.errors import BadInput, KumihimoError, failed, missing, not_applicable, wrong_value

AGAIN = "record the program again"
READER = [sys.executable, "-m", otf2_events.__name__]


def read(path: Path) -> Trace:
    """Trace of an anchor file such as traces.otf2, or a folder with it: of `record --trace`, otf2/traces.otf2 in it."""
    anchor = anchor_of(path)
    found = results(anchor)
    recording = _replay.Recording(next(found))
    rank = 0
    for result in found:
        if isinstance(result, bytes):
            recording.set(rank, result)
            rank += 1
        else:
            summary: otf2_events.RankSummary = result  # the last one
    for members in summary.communicators:
        recording.add_communicator(members)
    for parts in summary.parts:
        recording.add_parts(parts)
    recording.name_places(summary.sites)
    recording.complete()
    return Trace(
        recording, summary.sites, summary.regions, summary.seconds, summary.computing, summary.silent, summary.events,
        summary.crowded, shared=summary.shared, off=summary.off,
    )  # fmt: skip


def results(anchor: Path) -> Iterator[Any]:
    """Results of otf2_events.results() from a process of their own: a crash of OTF2's library would end the command."""
    with children.start([*READER, str(anchor)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reader:
        try:
            while True:
                assert reader.stdout is not None, "it is a pipe"
                result = pickle.load(reader.stdout)
                if isinstance(result, Exception):
                    raise error_of(result, anchor)
                yield result
                if isinstance(result, otf2_events.RankSummary):
                    return
        except (EOFError, pickle.UnpicklingError):
            raise ended(reader.wait(), anchor) from None
        finally:
            reader.kill()


def ended(code: int, anchor: Path) -> KumihimoError:
    """The process ended before its results."""
    if code == -signal.SIGKILL:
        return failed(f"the system ended the process that reads {anchor}", "", "free some memory")
    if code < 0:
        reason = f"its library ended with {signal.Signals(-code).name}"
        return BadInput(f"OTF2 could not read {anchor}: {reason}", f"{AGAIN}, or copy the whole folder")
    return failed(f"the process that reads {anchor} ended with exit code {code}")


def error_of(found: Exception, anchor: Path) -> KumihimoError:
    """The sentence."""
    of, whole_folder = otf2_events, f"{AGAIN}, or copy the whole folder"
    if isinstance(found, KumihimoError):
        return found
    if isinstance(found, of.NoProcesses):
        return wrong_value("a trace must be one of an MPI program", f"no MPI processes in {anchor}", AGAIN)
    if isinstance(found, of.Incomplete):
        return wrong_value(f"the events of each rank must be whole in {anchor}", f"those of rank {found}", AGAIN)
    if isinstance(found, of.NoEnd):
        return wrong_value("the trace of each rank must have an end", f"rank {found} was cut off", AGAIN)
    if isinstance(found, of.ThreadCalls):
        rule = "a replay takes one thread of each process that calls MPI"
        return not_applicable(rule, f"location {found} sends or receives", "record with one such thread")
    if isinstance(found, of.BetweenGroups):
        return not_applicable("a replay has no collectives on inter-communicators", found, "record without them")
    if isinstance(found, of.Contradiction):
        return BadInput(f"OTF2 could not read {anchor}: it contradicts itself ({found})", whole_folder)
    definitions = anchor.with_suffix(".def")
    file = anchor if found.args[-1] == of.ANCHOR else definitions
    reason = "it is not whole, or no trace" if file.exists() else "no such file"
    return BadInput(f"OTF2 could not read {file}: {reason}", whole_folder)


def anchor_of(path: Path) -> Path:
    for found in (path, path / "traces.otf2", path / "otf2" / "traces.otf2"):
        if found.is_file():
            return found
    rule = "a trace must be a folder of kumihimo record --trace, or a file traces.otf2"
    if path.is_dir():  # other tools name it after the program
        anchors = sorted(path.glob("*.otf2"))
        if len(anchors) == 1 and anchors[0].is_file():
            return anchors[0]
        if anchors:
            raise wrong_value("a folder must have one trace", f"{len(anchors)} in {path}", "name one of its files")
    if path.exists():
        raise wrong_value(rule, path, "record the program with --trace")
    raise missing(f"the trace {path}", "check the path")
