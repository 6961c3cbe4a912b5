"""One look for each algorithm on the whole page: colour, marker, dashes.

Colours are the variables of pages/style.css. No algorithm is special: the subject of the experiment comes first,
the rest in the order in which they appear, so that two pages of the same material look the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumihimo.demo.report import display
from kumihimo.demo.report.folder import Material

COLOURS = 16
LIBRARY, BOUND = "library", "bound"
EXTENSION_DASH, BOUND_DASH = "7 4", "2 4"


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

    def of(self, name: str) -> dict:
        place = self._place.get(name, len(self._place))
        look = {
            "name": name,
            "label": display.label(name),
            "colour": f"s{place if place < COLOURS else 1 + place % (COLOURS - 1)}",
            "marker": place % 5,
            "strong": name == self.subject,
        }
        if name in self.extensions:
            look["dash"] = EXTENSION_DASH
        return look

    @staticmethod
    def library(name: str) -> dict:
        return {"name": LIBRARY, "label": name, "colour": LIBRARY, "marker": 0, "strong": True}

    @staticmethod
    def bound() -> dict:
        """What nothing can beat."""
        return {"name": BOUND, "label": "bound", "colour": BOUND, "marker": 0, "bare": True, "dash": BOUND_DASH}


def _results(material: Material) -> Iterable[dict]:
    for part in (material.simulated, material.measured):
        yield from (part or {}).get("results", ())
