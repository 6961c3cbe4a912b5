"""Numbers of machine files that no machine has."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats.rows import SEEDS

TREE = SEEDS / "fat-tree.toml"
PACKETS = ("-p", "8", "-b", "64KiB", "-a", "binomial", "--model", "packet")
AT_A_SWITCH = "the packet model knows at most 1000 links at a switch"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('cables = "2x1"', 'cables = "100000x1"', AT_A_SWITCH),
        ('cables = "2x1"', 'cables = "2x100000"', AT_A_SWITCH),
        ('parents = "1x4"', 'parents = "100000x4"', AT_A_SWITCH),
        ('message_cost = { value = "1 us"', 'message_cost = { value = "9223372036854775807 us"', "at most 1000 s"),
        ('hop_latency = { value = "100 ns"', 'hop_latency = { value = "1001 s"', "must be a time of at most 1000 s"),
        ('link_bandwidth = { value = "375 MB/s"', 'link_bandwidth = { value = "999 B/s"', "of at least 1 kB/s"),
    ],
)
def test_numbers_that_no_network_has_are_refused(kumihimo, tmp_path: Path, old: str, new: str, sentence: str) -> None:
    """65,536 links at one switch were counted as none, and times of years did not fit into 64 bits of picoseconds."""
    text = TREE.read_text()
    assert old in text
    (tmp_path / "m.toml").write_text(text.replace(old, new))
    ended = kumihimo("simulate", "bcast", "-m", "./m.toml", *PACKETS)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert sentence in ended.err
