"""Traffic that links have carried, beside the prediction of `simulate` for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

from kumihimo.testbed import faults
from kumihimo.testbed.counters import LinkCount
from kumihimo.testbed.testbeds import Testbed
from kumihimo.text import files
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

LARGEST_FILE = 64 << 20
WRITTEN_BY = "what `simulate --links --json` wrote of one algorithm and size"


@dataclass(frozen=True)
class PredictedLoads:
    """`what`: a few words about it. `links`: bytes of each directed link, by its number."""

    what: str
    links: list[float]


def predicted(path: Path, testbed: Testbed, times: int) -> PredictedLoads:
    """Loads that `simulate` wrote, times a factor. Refuses those of another network."""
    ours = testbed.plan.described.network
    text = files.read_text(path, "the prediction", LARGEST_FILE)
    try:
        (result,) = json.loads(text)["results"]
        links = [float(each) * times for each in result["link_bytes"]]
        subject = result.get("programs") or f"{result['collective']} by {result['algorithm']}"
        network = str(result.get("network", ours))  # of a GOAL file it is not told
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        raise wrong_value(f"--compare must name {WRITTEN_BY}", path) from None
    if not all(0 <= each < float("inf") for each in links):
        raise wrong_value("the prediction's bytes of a link must be 0 or more", path)
    others = [number for number, carried in enumerate(links) if carried and number not in testbed.wiring.ends]
    if network != ours or others or len(links) <= max(testbed.wiring.ends):
        found = network if network != ours else f"a {network} with other links"
        advice = "write the machine file with `testbed machine`, and predict with that"
        raise wrong_value(f"the prediction must be of the testbed's network, {ours}", found, advice)
    return PredictedLoads(f"{subject} ({result['model']})" if "model" in result else subject, links)


@dataclass(frozen=True)
class LoadComparison:
    """Measured and predicted bytes of data of each directed link."""

    measured: Mapping[int, LinkCount]
    predicted: PredictedLoads

    def ratio(self, link: int) -> float | None:
        """Measured by predicted; None: nothing is predicted."""
        return self.measured[link].data / self.predicted.links[link] if self.predicted.links[link] else None

    @cached_property
    def ratios(self) -> dict[int, float]:
        found = {link: self.ratio(link) for link in self.measured}
        return {link: ratio for link, ratio in found.items() if ratio is not None}

    @property
    def worst(self) -> int | None:
        """The link whose ratio is farthest from 1."""
        return max(self.ratios, key=lambda link: abs(self.ratios[link] - 1), default=None)

    @property
    def mean(self) -> float | None:
        return fmean(self.ratios.values()) if self.ratios else None

    @property
    def unexpected(self) -> list[int]:
        """Links that have carried data though none are predicted, those with most first."""
        found = [link for link, count in self.measured.items() if count.data and not self.predicted.links[link]]
        return sorted(found, key=lambda link: -self.measured[link].data)

    def as_dict(self, testbed: Testbed) -> JsonObject:
        worst, busiest = self.worst, self.unexpected[:1]
        return {
            "links_compared": len(self.ratios),
            "mean_ratio": self.mean,
            "worst_ratio": None if worst is None else self.ratios[worst],
            "worst_link": None if worst is None else testbed.plan.described.link_name(worst),
            "links_predicted_idle": len(self.unexpected),
            "bytes_predicted_idle_max": self.measured[busiest[0]].data if busiest else 0,
        }


def link_rows(testbed: Testbed, carried: Mapping[int, LinkCount], compared: LoadComparison | None) -> list[JsonObject]:
    """A row for each link."""
    wiring, machine, recorded = testbed.wiring, testbed.plan.described, faults.recorded(testbed)
    rows = []
    for link, count in sorted(carried.items()):
        first, second = wiring.ends[link]
        row = {"link": link, "name": machine.link_name(link), "from": wiring.name(first), "to": wiring.name(second)}
        row |= {"bits_per_second": recorded.rate(link, testbed.plan.rate)}
        row |= {"bytes": count.bytes, "data_bytes": count.data}
        row |= {"predicted_bytes": compared.predicted.links[link], "ratio": compared.ratio(link)} if compared else {}
        rows.append(row | {"packets": count.packets, "drops": count.drops})
    return rows


def ratio_text(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f}"


def link_text(testbed: Testbed, link: int) -> str:
    """ "node0 to node9, +x at (0,0,0)"."""
    first, second = testbed.wiring.ends[link]
    ends = f"{testbed.wiring.name(first)} to {testbed.wiring.name(second)}"
    return f"{ends}, {testbed.plan.described.link_name(link)}"
