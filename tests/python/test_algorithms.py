"""The page of algorithms is made from the registry."""

from __future__ import annotations

from kumihimo import _collectives, algorithms


def test_the_page_is_up_to_date(repository):
    page = (repository / "docs" / "algorithms.md").read_text(encoding="utf-8")
    assert page == algorithms.page(), "docs/algorithms.md is out of date; run scripts/document"


def test_each_row_has_a_page_at_its_path(repository):
    folder = repository / "src" / "collectives"
    pages = {f"{p.parent.name}/{p.stem}" for p in folder.glob("*/*.cpp") if p.parent.name != "patterns"}
    assert pages == {f"{v.kind}/{v.name}" for v in _collectives.all_variants()}


def test_every_row_is_complete():
    for variant in _collectives.all_variants():
        for text in (variant.summary, variant.cost, variant.reference):
            assert text and "\n" not in text, variant.name
        assert f"`{variant.name}`" in algorithms.section(variant.kind)
