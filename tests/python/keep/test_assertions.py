"""Texts and files of asserts: what they say, and one sentence for each that cannot be read."""

from pathlib import Path

import pytest

from kumihimo.keep import assertions
from kumihimo.keep.judge import ALL, MEDIAN
from kumihimo.text.errors import BadInput

READ = {
    "seconds <= 0.5": ("seconds", 0.5, "", MEDIAN),
    "seconds<=1e-3": ("seconds", 1e-3, "", MEDIAN),
    "seconds <= 20 ms in 95 % of passages": ("seconds", 0.02, "", 0.95),
    "seconds <= 1.05 of earlier in the median": ("seconds", 1.05, "earlier", MEDIAN),
    "seconds <= 120 % of predicted": ("seconds", 1.2, "predicted", MEDIAN),
    "seconds <= 0.5 of the golden": ("seconds", 0.5, "golden", MEDIAN),
    "bytes 1e9 rate >= 2e9": ("rate", 2e9, "", MEDIAN),
    "rate >= 2e9": ("rate", 2e9, "", MEDIAN),
    "rate >= 95 % of earlier": ("rate", 0.95, "earlier", MEDIAN),
    "bytes 1e9 share >= 0.5 of 4e9": ("share", 0.5, "", MEDIAN),
    "operations 1e9 share >= 25 % of 4e9 operations per second": ("share", 0.25, "", MEDIAN),
    "bytes 1e9 share >= 0.5 of triad in all passages": ("share", 0.5, "triad", ALL),
    "operations 1e9 share >= 0.5 of peak": ("share", 0.5, "peak", MEDIAN),
    "share >= 0.5 of bound": ("share", 0.5, "bound", MEDIAN),
    "waiting <= 10 %": ("waiting", 0.1, "", MEDIAN),
    "mpi <= 0.3": ("mpi", 0.3, "", MEDIAN),
    "ratio <= 1.1": ("ratio", 1.1, "", MEDIAN),
}


@pytest.mark.parametrize("text", READ)
def test_texts_are_read(text: str) -> None:
    found = assertions.parse(text)
    quantity, number, of, share = READ[text]
    assert (found.quantity, found.of, found.share) == (quantity, of, share)
    assert found.number == pytest.approx(number)


def test_several_asserts_in_a_text() -> None:
    found = assertions.parse_all("seconds <= 0.5; waiting <= 10 % ;")
    assert [each.quantity for each in found] == ["seconds", "waiting"]


UNREADABLE = (
    *("soon", "", ";", "seconds < 1", "seconds <= ", "bytes rate >= 3", "seconds <= 1 2", "rate >= 5 %"),
    *("seconds <= 0", "seconds <= -1", "bytes 0 rate >= 1", "bytes 1 rate >= 0", "seconds >= 1", "waiting >= 1"),
    *("seconds <= 1e999", "bytes 1e999 rate >= 1e9", "bytes 1 rate >= 1e999", "bytes 1 share >= 1 of 1e999"),
    *("seconds <= 5 %", "waiting <= 5 ms", "bytes 1 share >= 0.5", "bytes 1 share >= 0.5 of peak"),
    *("operations 1 share >= 0.5 of triad", "seconds <= 1 of triad", "share >= 0.5 of earlier"),
    *("seconds <= 1.1 of yesterday", "seconds <= 1 in the mean", "seconds <= 1 in 0 % of passages"),
    *("seconds <= 1 in 101 % of passages", "bytes 1 seconds <= 1", "ratio <= 1 of golden", "waiting <= 1 of 5"),
    *("waiting <= 10", "waiting <= 200 %", "mpi <= 1.01"),
    *("rate >= 1 in 95 % of passages", "rate >= 1 of library", "bytes 1 rate >= 1 of earlier", "rate <= 5"),
)


@pytest.mark.parametrize("text", UNREADABLE)
def test_others_are_one_sentence(text: str) -> None:
    with pytest.raises(BadInput) as error:
        assertions.parse_all(text)
    assert "\n" not in str(error.value) and f"`{text.strip()}" in str(error.value)


FILE = """
[references]
earlier = "last.json"

[whole]
seconds = "<= 60"
waiting = "<= 10 %"

[region.solve]
bytes = 1e9
share = ">= 0.5 of triad"
seconds = ["<= 1.05 of earlier", "<= 2 in all passages"]
judge = "95 % of passages"

[call.MPI_Allreduce]
seconds = "<= 20 us"

[site."solver.c:41"]
waiting = "<= 0.2"
"""


def read(tmp_path: Path, text: str) -> assertions.AssertFile:
    path = tmp_path / "asserts.toml"
    path.write_text(text, encoding="utf-8")
    return assertions.read(path)


def test_a_file_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, FILE)
    assert found.references == {"earlier": tmp_path / "last.json"}
    told = [(each.subject, each.name, each.quantity, each.share) for each in found.asserts]
    assert told == [
        ("whole", "", "seconds", MEDIAN),
        ("whole", "", "waiting", MEDIAN),
        ("region", "solve", "share", 0.95),
        ("region", "solve", "seconds", 0.95),
        ("region", "solve", "seconds", ALL),
        ("call", "MPI_Allreduce", "seconds", MEDIAN),
        ("site", "solver.c:41", "waiting", MEDIAN),
    ]
    assert found.asserts[2].work == 1e9 and found.asserts[2].of == "triad"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "must assert something"),
        ("[regions.solve]\nseconds = '<= 1'", "did you mean region?"),
        ("[region]\nseconds = '<= 1'", "must be a table"),
        ("[region.solve]\nsecond = '<= 1'", "did you mean seconds?"),
        ("[region.solve]\njudge = 'median'", "must assert something"),
        ("[region.solve]\nseconds = 1", "must be a text with its sign"),
        ("[region.solve]\nseconds = '<= x'", "region.solve: an assert must be"),
        ("[region.solve]\nshare = '>= 0.5 of 3e9'", "add bytes = 1e9"),
        ("[region.solve]\nbytes = 1\nshare = '>= 0.5 of peak'", "add operations = 1e9"),
        ("[region.solve]\nbytes = true\nrate = '>= 1'", "must be a number"),
        ("[region.solve]\nseconds = '<= 1'\njudge = 'mean'", "is judged in the median"),
        ("[references]\nearlyer = 'a'\n[whole]\nseconds = '<= 1'", "did you mean earlier?"),
        ("[references]\nearlier = 1\n[whole]\nseconds = '<= 1'", "references must name files"),
        ("[whole", "must be TOML"),
        ("[whole]\nseconds = '<= 1'\n\n[region.solve]\nrate = '>= 1e9'", "toml:5: region.solve: the rate of a region"),
        ("[call.MPI_Send]\nrate = '>= 1e9'", "toml:2: call.MPI_Send: the rate of a call needs the bytes"),
        ("[site.'a.c:4']\nmpi = '<= 0.1'", "toml:2: site.a.c:4: all of a site is MPI"),
        ("[region.solve]\nratio = '<= 1.1'", "`ratio` stands under [row.NAME]"),
        ("[region.solve]\nseconds = '<= 1 of library'", "`of library` stands under [row.NAME]"),
        ("[region.solve]\nshare = '>= 0.5 of bound'", "`of bound` stands under [row.NAME]"),
        ("[region]\nsolve.seconds = '<= 1'\nsolve.second = '<= 1'", "toml:3: region.solve: a key must be"),
        ("[region.'a b']\nseconds = [\n  '<= 1',\n  '<= x',\n]", "toml:2: region.a b: an assert must be"),
        ("[whole]\nseconds = '<= 1'\n[cal.MPI_Send]\nseconds = '<= 1'", "toml:3: a table must be one of"),
        ("[references]\ngolden = 'a'\nroof = 'b'\n[whole]\nseconds = '<= 1'", "toml:3: references must name"),
        ("[region.solve]\nseconds = '<= 1'\n[region.solve]\nseconds = '<= 1'", "must be TOML"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    assert word in str(error.value) and "\n" not in str(error.value)
    assert "asserts.toml" in str(error.value)
