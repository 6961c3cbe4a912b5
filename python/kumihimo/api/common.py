"""Shared by the functions of the library: sizes, counts of progress, sequences of results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, overload

from kumihimo.collectives.given import GivenOption
from kumihimo.text.records import ResultRecord, frame_of

if TYPE_CHECKING:
    import pandas

Progress = Callable[[int, int, str], object]  # steps done, of how many, what was done last
Size = Union[int, str]  # bytes, or a text with a unit: "64KiB"
Result = TypeVar("Result", bound=ResultRecord)


def sizes_text(sizes: Size | Sequence[Size] | None) -> str | None:
    """As --bytes has it."""
    if sizes is None or isinstance(sizes, str):
        return sizes
    return str(sizes) if isinstance(sizes, int) else ",".join(map(str, sizes))


def counter(progress: Progress | None, total: int) -> Callable[[str], object]:
    """The function to call after each step."""
    done = 0

    def advance(what: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, what)

    return advance


FLAGS = {"type": "--type", "operation": "--op", "algorithms": "--algorithm"}
NAMES = {"bytes": "bytes_", "type": "type_", "algorithms": "algorithm"}  # of the verbs' arguments


def given_of(
    function: Callable[..., object], arguments: Mapping[str, object], parameters: Mapping[str, object] | None = None
) -> list[GivenOption]:
    """The arguments of a function that are not as by default, and parameters of algorithms, as options of its verb."""
    declared = inspect.signature(function).parameters
    given = {name: value for name, value in arguments.items() if value not in (declared[name].default, {})}
    return [
        GivenOption(NAMES.get(name, name), FLAGS.get(name, f"--{name.replace('_', '-')}"), shown(value))
        for name, value in {**given, **(parameters or {})}.items()
    ]


def shown(value: object) -> object:
    """As the command line has it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    return None if value is True else value


class ResultList(Sequence[Result], Generic[Result]):
    """Results in the order of their cases, and why some cases have none."""

    def __init__(self, results: Sequence[Result], not_applicable: Sequence[Mapping[str, Any]] = ()) -> None:
        self._results = tuple(results)
        self.not_applicable = tuple(not_applicable)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._results)!r})"

    def to_dict(self) -> dict[str, Any]:
        """As --json has it: `results` and `not_applicable`."""
        return {"results": [each.to_dict() for each in self], "not_applicable": list(self.not_applicable)}

    def to_frame(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each result. Raises Failed where pandas is not installed."""
        return frame_of(each.to_dict() for each in self)
