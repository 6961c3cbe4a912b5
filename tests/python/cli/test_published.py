"""`kumihimo published`, and the page that it makes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.app.published_figures import kernel_rates, registry
from kumihimo.app.published_figures.kernel_rates import KernelRates
from kumihimo.cli import published
from kumihimo.text.errors import BadInput, Failed

QUICK = ("reedbush-offload-ratio", "reedbush-offload-seconds", "blue-waters-bcast-step", "pgas-upc-get-node-4")


def test_figures_are_compared_and_others_have_their_reason(kumihimo) -> None:
    asked = [word for name in QUICK for word in ("--case", name)]
    ended = kumihimo("published", *asked, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    results = {each["name"]: each for each in found["results"]}
    assert list(results) == ["blue-waters-bcast-step", "reedbush-offload-ratio", "reedbush-offload-seconds"]
    for each in results.values():
        assert each["ratio"] == pytest.approx(each["predicted"] / each["published"])
    assert "reason" in results["blue-waters-bcast-step"] and "reason" not in results["reedbush-offload-ratio"]
    assert not results["reedbush-offload-seconds"]["is_counted"]
    logs = [abs(each["log_ratio"]) for each in results.values() if each["is_counted"]]
    assert [each["count"] for each in found["medians"]] == [1, 1, 2]
    assert found["medians"][-1]["log_ratio"] == pytest.approx(sum(logs) / 2)
    assert results["reedbush-offload-ratio"]["fitted"] and not results["blue-waters-bcast-step"]["fitted"]
    step = results["blue-waters-bcast-step"]
    assert step["effect"] == pytest.approx((step["predicted"] - 1) / (step["published"] - 1))
    assert results["reedbush-offload-seconds"]["effect"] is None
    assert [each["name"] for each in found["not_predicted"]] == ["pgas-upc-get-node-4"]
    assert found["rates"] == {}, "nothing that needs a rate of a kernel"


def test_the_table_and_the_page(kumihimo, tmp_path: Path) -> None:
    asked = [word for name in QUICK for word in ("--case", name)]
    ended = kumihimo("published", *asked, "--write", "page.md")
    assert ended.code == 0, ended.err
    assert "Figures: numbers were fitted to other figures of their study" in ended.out
    assert "Figures: numbers were made from them" in ended.out
    assert re.search(r"^all +2 ", ended.out, re.MULTILINE), "inputs do not count"
    assert "Off by more than 30 %" in ended.out and "Not predicted:" in ended.out
    page = (tmp_path / "page.md").read_text()
    assert all(f"| `{name}` |" in page for name in QUICK) and "- `blue-waters-bcast-step`: " in page
    assert "| `blue-waters` | `blue-waters-bcast-step` |" in page


def test_inputs_alone_have_no_median(kumihimo) -> None:
    ended = kumihimo("published", "--case", "reedbush-offload-seconds")
    assert ended.code == 0 and "No figure counts" in ended.out and "Median" not in ended.out


def test_what_this_machine_cannot_compute_is_left_out_and_a_wrong_unit_is_an_error() -> None:
    def without_library(_: KernelRates) -> float:
        raise Failed("DGEMM needs OpenBLAS", "install it")

    good = next(each for each in registry.FIGURES if each.name == "reedbush-offload-ratio")
    found, left_out = published.answers([replace(good, predict=without_library), good], KernelRates())
    assert [each.figure.name for each, _ in found] == [good.name]
    assert [each.why for each in left_out] == ["It could not be computed here: DGEMM needs OpenBLAS; install it."]
    with pytest.raises(BadInput, match="reedbush-offload-ratio"):
        published.answers([replace(good, value=4e6)], KernelRates())


def test_the_list_has_all(kumihimo) -> None:
    ended = kumihimo("published", "--list", "--json")
    assert [each["name"] for each in json.loads(ended.out)["figures"]] == [each.name for each in registry.FIGURES]
    assert "rsdft-allreduce" in kumihimo("published", "--list").out


@pytest.mark.parametrize(
    ("words", "sentence"),
    (
        (("--case", "k-hpll"), "did you mean k-hpl"),
        (("--list", "--write", "x.md"), "--list takes no --write"),
        (("--list", "--measure"), "--list takes no --measure"),
    ),
)
def test_wrong_input_is_one_sentence(kumihimo, words: tuple[str, ...], sentence: str) -> None:
    ended = kumihimo("published", *words)
    assert ended.code == 2 and sentence in ended.err and len(ended.err.splitlines()) == 1, ended.err


def test_the_page_of_the_documentation_has_every_figure_and_every_reason(repository: Path) -> None:
    text = (repository / "docs" / "published.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `") and "Campaign" not in line}
    off, reasons = set(), text.partition("## Off by more")[2].partition("## Campaigns")[0]
    for each in registry.FIGURES:
        assert each.name in rows, "run kumihimo published --write docs/published.md"
        if each.is_compared:
            cells = [cell.strip() for cell in rows[each.name].split("|")]
            assert cells[2] == published.published_text(each), each.name
            off |= {each.name} if cells[6] == "off" else set()
    assert off == set(re.findall(r"`([a-z0-9-]+)`", reasons)) and len(off) > 5
    assert "no reason is known" not in text
    for words in (published.INDEPENDENT, published.FITTED, "all"):
        assert re.search(rf"^\| {words} \| \d+ \| [\d.]+ % \| [\d.]+ % \| \d+ \|$", text, re.MULTILINE), words


def test_the_page_does_not_depend_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only --measure measures."""
    monkeypatch.setattr(kernel_rates, "peak_here", lambda: 1e9)
    committed = KernelRates()
    assert committed.peak > 1e10 and KernelRates(here=True).peak == 1e9
    assert 0.4 < committed.lu.updates / committed.peak < 1 and committed.lines.flops < committed.peak
    assert committed.long_lines.flops < committed.lines.flops, "they outgrow the cache"
    used = committed.used()
    assert used == json.loads(kernel_rates.COMMITTED.read_text()), "its form is that of the file"
    assert used["processor"] in published.rates_text(committed) and used["date"] in published.rates_text(committed)
