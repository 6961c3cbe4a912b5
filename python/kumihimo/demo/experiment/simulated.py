"""The whole experiment, as one object."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone

import kumihimo
from kumihimo import _machine, _topology
from kumihimo.demo.experiment import links, published, sweep, trees
from kumihimo.demo.experiment.cases import Progress, silent
from kumihimo.processes.package_files import folder
from kumihimo.text.json_types import JsonObject

MACHINE = "k-computer"


def load_machine(name: str = MACHINE) -> _machine.Machine:
    """The described machine of the experiment."""
    return _machine.load(name, [folder("machines")])


def run(
    progress: Progress = silent,
    paper_shape: str = published.PAPER_SHAPE,
    full_shape: str = published.FULL_SHAPE,
    command: str = "",
) -> JsonObject:
    """Simulate everything that the page shows of K. Other shapes are for a quicker look."""
    started = time.perf_counter()
    whole = load_machine()
    paper, full = (whole.with_shape(_topology.Shape.parse(shape)) for shape in (paper_shape, full_shape))
    whole_machine = sweep.curves(full, progress, sweep.FACTOR_FULL, None)
    curves = sweep.curves(paper, progress, sweep.FACTOR, sweep.FACTOR_OF_EXTENSIONS)
    by_segment = sweep.sensitivity(paper, curves, progress)
    return {
        "form": "kumihimo-simulated-1",
        "version": kumihimo.__version__,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": command,
        "subject": published.SUBJECT,
        "paper_shape": paper_shape,
        "full_shape": full_shape,
        # Whether the publication's figures may stand beside these.
        "as_published": paper_shape == published.PAPER_SHAPE,
        "whole_machine": full_shape == str(whole.shape),
        "machine": json.loads(whole.to_json()),
        "published": published.FIGURES,
        "results": curves + whole_machine,
        "parts": sweep.parts(paper, progress),
        "segments": by_segment,
        "tuned": sweep.tuned(paper, curves, by_segment, progress),
        "links": links.loads(whole, progress),
        "trees": trees.trees(),
        "wall_seconds": time.perf_counter() - started,
    }
