"""Statistics of measured times."""

from collections.abc import Sequence


class Comparison:
    """Of two implementations over several launches."""

    @property
    def launches(self) -> int: ...

    @property
    def ratio(self) -> float: ...

    @property
    def ratio_low(self) -> float: ...

    @property
    def ratio_high(self) -> float: ...

    @property
    def coverage(self) -> float: ...

    def is_faster(self, extra: float = 0.0) -> bool:
        """
        Whether ours is faster with its whole interval, even if it costs `extra` times theirs more.
        """

def compare(medians: Sequence[tuple[float, float]]) -> Comparison:
    """From (our median, theirs) of each launch."""

class Summary:
    """
    Of a set of samples: the median with its 95 % interval; nothing is removed.
    """

    @property
    def samples(self) -> int: ...

    @property
    def median(self) -> float: ...

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def coverage(self) -> float: ...

    @property
    def outliers(self) -> int: ...

def summarise(samples: Sequence[float]) -> Summary:
    """Finite values, at least one, in any order."""

def geometric_mean(values: Sequence[float]) -> float: ...

def quantile(samples: Sequence[float], probability: float) -> float:
    """Linear between neighbouring samples."""

def quantile_interval(samples: Sequence[float], probability: float) -> tuple[float, float]:
    """
    The 95 % interval of a quantile; an end that the samples do not show is infinite.
    """

def change_points(values: Sequence[float]) -> list[tuple[int, float]]:
    """
    Pairs (index of the first value after a change, chance of one as large in any order).
    """
