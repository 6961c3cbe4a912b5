"""One look for each algorithm on the whole page: colour, marker, dashes.

Colours are the variables of pages/style.css. No algorithm is special: the subject of the experiment comes first,
the rest in the order in which they appear, so that two pages of the same material look the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.folder import Material
from kumihimo.text.json_types import JsonObject

LIBRARY, BOUND = "library", "bound"
EXTENSION_DASH = "7 4"


class Styles:
    def __init__(self, material: Material) -> None:
        self.subject: str | None = (material.simulated or {}).get("subject")
        self.extensions: set[str] = set()
        names: dict[str, None] = {self.subject: None} if self.subject else {}
        for result in _results(material):
            names.setdefault(result["algorithm"])
            if result.get("extension"):
                self.extensions.add(result["algorithm"])
        names.pop(LIBRARY, None)
        self._place = {name: i for i, name in enumerate(names)}

    def order(self, names: Iterable[str]) -> list[str]:
        return sorted(set(names), key=lambda name: (self._place.get(name, len(self._place)), name))

    def of(self, name: str, points: Sequence[JsonObject] = (), checked: bool | None = None) -> pages.LineSeries:
        place = self._place.get(name, len(self._place))
        return pages.LineSeries(
            name,
            list(points),
            display.label(name),
            colour=f"s{place if place < pages.COLOURS else 1 + place % (pages.COLOURS - 1)}",
            marker=place % 5,
            strong=name == self.subject,
            dash=EXTENSION_DASH if name in self.extensions else "",
            checked=checked,
        )

    def bar(self, name: str, parts: Sequence[float], note: str, label: str = "") -> pages.ChartBar:
        look = self.of(name)
        return pages.ChartBar(label or look.label or name, parts, look.colour, note)

    @staticmethod
    def library(name: str, points: Sequence[JsonObject] = ()) -> pages.LineSeries:
        return pages.LineSeries(LIBRARY, list(points), name, LIBRARY, strong=True)

    @staticmethod
    def bound(points: Sequence[JsonObject] = ()) -> pages.LineSeries:
        """Line of the bound that nothing can beat."""
        return pages.bound(BOUND, list(points))


def _results(material: Material) -> Iterable[JsonObject]:
    for part in (material.simulated, material.measured):
        yield from (part or {}).get("results", ())
