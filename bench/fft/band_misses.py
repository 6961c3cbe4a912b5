"""A model of the cache misses of band blocking: what a transform of fft3d fetches from beyond the cache of a processor,
by how many bands are exchanged at once. It replays the reads and writes of the ranks that share the cache on an LRU
cache of pages. Conflicts of addresses and prefetching are left out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

PAGE = 4096  # bytes that the model takes together: it is told what is contiguous
LINE = 64
POINT = 16
Page = tuple[int, str, int]  # of which rank, of which buffer, and its number there


@dataclass(frozen=True)
class BandBlocking:
    """Whole grids in slabs. `sharing`: ranks that take turns on one processor and its cache."""

    points: int  # of a band, on all ranks
    ranks: int
    sharing: int
    bands: int
    at_once: int

    @property
    def pages(self) -> int:
        """Of a band on a rank."""
        return ceil(self.points * POINT / self.ranks / PAGE)

    @property
    def pages_to_others(self) -> int:
        """The block of a rank to itself is read where it was written."""
        return self.pages - self.pages // self.ranks

    def accesses(self) -> Iterator[Page]:
        """In time: ranks take turns at each stage, as they wait for each other's messages between them."""
        for first in range(0, self.bands, self.at_once):
            bands = range(min(self.at_once, self.bands - first))
            for step in (self._to_messages, self._messages, self._from_messages):
                for rank in range(self.sharing):
                    for band in bands:
                        yield from step(rank, first, band)

    def _to_messages(self, rank: int, first: int, band: int) -> Iterator[Page]:
        for page in range(self.pages):
            yield rank, "grid", (first + band) * self.pages + page
            yield rank, "sent", band * self.pages + page

    def _messages(self, rank: int, first: int, band: int) -> Iterator[Page]:
        for page in range(self.pages_to_others):
            yield rank, "sent", band * self.pages + page
            yield rank, "received", band * self.pages + page

    def _from_messages(self, rank: int, first: int, band: int) -> Iterator[Page]:
        for page in range(self.pages):
            yield rank, "received" if page < self.pages_to_others else "sent", band * self.pages + page
            yield rank, "spectrum", (first + band) * self.pages + page


def misses_of_a_band(of: BandBlocking, cache: int) -> float:
    """Cache lines that a rank fetches for a band, there, if the cache has so many bytes and was empty at first."""
    return misses(of.accesses(), cache // PAGE) * (PAGE // LINE) / of.bands / of.sharing


def misses(accesses: Iterator[Page], pages: int) -> int:
    """Of an LRU cache of so many pages."""
    held: OrderedDict[Page, None] = OrderedDict()
    missed = 0
    for page in accesses:
        if page in held:
            held.move_to_end(page)
            continue
        missed += 1
        held[page] = None
        if len(held) > pages:
            held.popitem(last=False)
    return missed
