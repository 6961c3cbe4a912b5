"""What links have carried beside a prediction: a wrong byte is found, a prediction of another network is refused."""

from __future__ import annotations

import errno
import json
import struct
from pathlib import Path

import pytest

from kumihimo.cli import testbed_counters
from kumihimo.testbed import comparison, counters, link_reader, machine_file, page, testbeds
from kumihimo.testbed.comparison import LoadComparison, PredictedLoads
from kumihimo.testbed.counters import LinkCount
from kumihimo.testbed.wiring import HEADERS
from kumihimo.text.errors import BadInput, NotApplicable


def of_topology(topology: str) -> testbeds.Testbed:
    """Its description alone: there are no nodes."""
    text = machine_file.text_of("here", "of a test", topology, 6, 1, 10**8, 0.0)
    return testbeds.Testbed(testbeds.TestbedPlan("here", text, 1, 10**8, 0.0), Path("nowhere"), 0, 0, ())


def of_shape(shape: str) -> testbeds.Testbed:
    return of_topology(machine_file.topology_of(machine_file.of_shape(shape), None))


def written(folder: Path, **result: object) -> Path:
    file = folder / "prediction.json"
    file.write_text(json.dumps({"results": [result]}))
    return file


def simulated(kumihimo, folder: Path, testbed: testbeds.Testbed, *words: str) -> Path:
    """A prediction as a user makes it."""
    (folder / "here.toml").write_text(testbed.plan.machine)
    asked = ("simulate", "allreduce", "--machine", "here.toml", "--bytes", "500kB", "--json", *words)
    ended = kumihimo(*asked)
    assert ended.code == 0, ended.err
    file = folder / "prediction.json"
    file.write_text(ended.out)
    return file


def carried(loads: dict[int, float]) -> dict[int, LinkCount]:
    """As counters see these bytes of data in packets of 8,000 bytes, beside 9 acknowledgements."""
    found = {}
    for link, load in loads.items():
        packets = 9 + int(load / 8000)
        found[link] = LinkCount(round(load) + HEADERS * packets, packets)
    return found


def as_predicted(testbed: testbeds.Testbed, predicted: PredictedLoads) -> dict[int, LinkCount]:
    return carried({link: predicted.links[link] for link in testbed.wiring.ends})


@pytest.mark.parametrize("shape", ["3x3x3", "4x4m"])
def test_what_was_predicted_has_the_ratio_1_without_the_headers(kumihimo, tmp_path, shape):
    testbed = of_shape(shape)
    file = simulated(kumihimo, tmp_path, testbed, "--links", "-a", "ring")
    predicted = comparison.predicted(file, testbed, 3)
    assert predicted.what == "allreduce by ring (flow)"
    once = json.loads(file.read_text())["results"][0]["link_bytes"]
    assert predicted.links == [3 * each for each in once] and sum(once) > 0
    compared = LoadComparison(as_predicted(testbed, predicted), predicted)
    assert compared.mean == pytest.approx(1) and not compared.unexpected
    assert set(compared.ratios) == {link for link in testbed.wiring.ends if once[link]}


def test_a_link_whose_prediction_was_changed_is_the_worst(kumihimo, tmp_path):
    testbed = of_shape("3x3x3")
    file = simulated(kumihimo, tmp_path, testbed, "--links", "-a", "trinaryx6")
    counts = as_predicted(testbed, comparison.predicted(file, testbed, 1))
    wrong = json.loads(file.read_text())
    wrong["results"][0]["link_bytes"][7] *= 1.1
    file.write_text(json.dumps(wrong))
    compared = LoadComparison(counts, comparison.predicted(file, testbed, 1))
    assert compared.worst == 7 and compared.ratios[7] == pytest.approx(1 / 1.1, rel=1e-4)
    told = compared.as_dict(testbed)
    assert told["worst_link"] == testbed.plan.described.link_name(7) and told["links_compared"] == 162


def test_a_link_that_is_predicted_idle_and_is_not_is_told():
    testbed = of_shape("4")
    links = sorted(testbed.wiring.ends)
    predicted = PredictedLoads("", [1000.0 if link == links[0] else 0.0 for link in range(max(links) + 1)])
    counts = carried(dict.fromkeys(links, 0.0) | {links[0]: 1000.0, links[1]: 5.0, links[2]: 70.0})
    compared = LoadComparison(counts, predicted)
    assert (compared.ratios, compared.unexpected) == ({links[0]: 1.0}, [links[2], links[1]])
    told = compared.as_dict(testbed)
    assert (told["links_predicted_idle"], told["bytes_predicted_idle_max"]) == (2, 70)
    nothing = LoadComparison(counts, PredictedLoads("", [0.0] * len(predicted.links)))
    assert (nothing.worst, nothing.mean, nothing.as_dict(testbed)["worst_link"]) == (None, None, None)


@pytest.mark.parametrize("other", ["4x4", "3x3m", "9", "3x3x3"])
def test_a_prediction_of_another_shape_is_refused(kumihimo, tmp_path, other):
    file = simulated(kumihimo, tmp_path, of_shape(other), "--links", "-a", "ring")
    with pytest.raises(BadInput, match=r"must be of the testbed's network, torus 3x3 \(got ") as refused:
        comparison.predicted(file, of_shape("3x3"), 1)
    assert other in str(refused.value) and "testbed machine" in str(refused.value)


def test_a_prediction_with_other_links_is_refused(tmp_path):
    for links in ([1.0] * 5, [0.0] * 30 + [1.0]):
        file = written(tmp_path, collective="bcast", algorithm="a", network="torus 3x3", link_bytes=links)
        with pytest.raises(BadInput, match="a torus 3x3 with other links"):
            comparison.predicted(file, of_shape("3x3"), 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        '{"results": []}',
        '{"results": [{"collective": "bcast", "algorithm": "a", "network": "torus 3x3"}]}',
        '{"results": [{"network": "torus 3x3", "link_bytes": [1]}]}',
        '{"results": [{"programs": "p", "link_bytes": ["many"]}]}',
        '{"results": [{"programs": "p", "link_bytes": [-1]}]}',
        '{"results": [{"programs": "p", "link_bytes": [NaN]}]}',
        '{"results": [{"programs": "p", "link_bytes": [Infinity]}]}',
        pytest.param('{"results": [{"programs": "p", "link_bytes": [1%s]}]}' % ("0" * 400), id="400 digits"),
        '{"results": [{"programs": "p", "link_bytes": [1]}, {"programs": "p", "link_bytes": [1]}]}',
        "[" * 99_999,
    ],
)
def test_what_is_no_prediction_is_refused(tmp_path, text):
    file = tmp_path / "prediction.json"
    file.write_text(text)
    with pytest.raises(BadInput):
        comparison.predicted(file, of_shape("3x3"), 1)


@pytest.mark.parametrize("option", ["--page", "--compare"])
def test_a_testbed_without_links_has_nothing_to_show_or_compare(monkeypatch, tmp_path, option):
    monkeypatch.setattr(testbeds, "find", lambda _: of_shape("1"))
    file = written(tmp_path, programs="p", link_bytes=[])
    with pytest.raises(NotApplicable, match="the testbed has no links; leave --page and --compare out"):
        testbed_counters.command(**{option.strip("-"): file})


def counted(folder: Path, **changed: object) -> Path:
    """A file of counters of the only link."""
    row = {"link": 0, "bytes": 1000, "packets": 2, "drops": 0}
    whole = {"testbed": "here", "results": [row | {key: changed.pop(key) for key in row if key in changed}]}
    (folder / "before.json").write_text(json.dumps(whole | changed))
    return folder / "before.json"


def test_counters_of_an_earlier_time_are_read(tmp_path):
    assert counters.earlier(counted(tmp_path), "--since", of_shape("2")) == {0: LinkCount(1000, 2)}


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 2**64, -(2**64), "many", None])
def test_what_is_no_file_of_counters_is_refused(tmp_path, number):
    with pytest.raises(BadInput, match="--less must name what `testbed counters --json` wrote"):
        counters.earlier(counted(tmp_path, bytes=number), "--less", of_shape("2"))


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"testbed": "there"}, "those of testbed there"),
        ({"testbed_started": 5}, "those of an earlier testbed of this name"),
    ],
)
def test_counters_of_another_testbed_are_refused(tmp_path, changed, found):
    with pytest.raises(BadInput, match=f"--since must name counters of testbed here \\(got {found}\\)"):
        counters.earlier(counted(tmp_path, **changed), "--since", of_shape("2"))


@pytest.mark.parametrize("more", [{"bytes": 1001}, {"packets": 3}])
def test_counters_that_are_ahead_of_the_testbeds_are_refused(monkeypatch, tmp_path, more):
    """Written by a version that did not say when the testbed was made."""
    testbed = of_shape("2")
    monkeypatch.setattr(testbeds, "find", lambda _: testbed)
    monkeypatch.setattr(counters, "now", lambda _: counters.LinkReading(0.0, {0: LinkCount(1000, 2)}))
    with pytest.raises(BadInput, match="--since must name counters of an earlier time"):
        testbed_counters.command(since=counted(tmp_path, **more))
    testbed_counters.command(less=counted(tmp_path, **more), as_json=True)  # a run may have fewer of some link


class KernelAnswer:
    """A netlink socket that answers with one message."""

    def __init__(self, kind: int, number: int) -> None:
        self.message = link_reader.HEAD.pack(link_reader.HEAD.size + 4, kind, 0, 1, 0) + struct.pack("=i", number)

    def __enter__(self) -> KernelAnswer:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send(self, _: bytes) -> None:
        pass

    def recv(self, _: int) -> bytes:
        return self.message


@pytest.mark.parametrize("kind", link_reader.LAST)
def test_an_error_of_the_kernel_is_not_the_end_of_its_list(monkeypatch, kind):
    monkeypatch.setattr(link_reader.socket, "socket", lambda *_: KernelAnswer(kind, -errno.EPERM))
    with pytest.raises(SystemExit, match="the kernel does not list the queues of links: Operation not permitted"):
        link_reader.drops()
    monkeypatch.setattr(link_reader.socket, "socket", lambda *_: KernelAnswer(kind, 0))
    assert link_reader.drops() == {}


def test_predictions_without_links_or_of_several_algorithms_are_refused(kumihimo, tmp_path):
    testbed = of_shape("3x3")
    for words in (("-a", "ring"), ("--links",)):
        file = simulated(kumihimo, tmp_path, testbed, *words)
        with pytest.raises(BadInput, match="--links --json"):
            comparison.predicted(file, testbed, 1)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
@pytest.mark.parametrize("beside", [True, False])
def test_a_page_in_a_browser(browser, tmp_path, width, dark, beside):
    testbed = of_shape("3x3x3")
    predicted = PredictedLoads("<a>", [1000.0 * (link % 5) for link in range(162)])
    counts = as_predicted(testbed, predicted)
    text = page.render(testbed, counts, LoadComparison(counts, predicted) if beside else None)
    (tmp_path / "page.html").write_text(text)
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark)
    assert (seen.ready, seen.console) == ("yes", []) and seen.wide <= 0
    assert len(seen.painted) == 2 + beside and all(n > 400 for n in seen.painted)
    assert ("farthest from the prediction" in text, "&lt;a&gt;" in text) == (beside, beside)


def test_a_network_of_switches_has_cells():
    testbed = of_topology('[topology]\nfamily = "fat_tree"\narity = "4x4"\nparents = "1x4"\n')
    counts = carried(dict.fromkeys(testbed.wiring.ends, 5000.0))
    text = page.render(testbed, counts, None)
    assert "link-cells" in text and "link-load" not in text and "switch0" in text
