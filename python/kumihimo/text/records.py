"""Results as types: frozen dataclasses whose members are those of the JSON that a verb prints, in their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kumihimo.text.errors import failed

if TYPE_CHECKING:
    import numpy
    import pandas

OPTIONAL = {"optional": True}  # metadata of a field that JSON lacks where it is None


class ResultRecord:
    """Base of frozen dataclasses that are results."""

    def to_dict(self) -> dict[str, Any]:
        """The members as the JSON of the verb has them: numbers, texts, lists and dictionaries."""
        members = {}
        for each in dataclasses.fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, each.name)
            if value is not None or not each.metadata.get("optional"):
                members[each.name] = as_json(value)
        return members


def as_json(value: Any) -> Any:
    if isinstance(value, ResultRecord):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    return value


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """A pandas.DataFrame, a row for each result. Raises Failed where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise failed("to_frame() needs pandas", "it is not installed", "pip install kumihimo[frames]") from None
    return pandas.DataFrame(list(rows))


def array_of(values: Any, dtype: str, shape: tuple[int, ...] | None = None) -> numpy.ndarray:
    """A numpy array of the values; with `shape` one of zeros. Raises Failed where numpy is not installed."""
    try:
        import numpy
    except ImportError:
        raise failed("an array needs numpy", "it is not installed", "pip install kumihimo[frames]") from None
    return numpy.asarray(values, dtype) if shape is None else numpy.zeros(shape, dtype)
