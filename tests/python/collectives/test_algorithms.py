"""The page of algorithms is made from the registry."""

from __future__ import annotations

import re

from kumihimo import _collectives
from kumihimo.collectives import algorithms, arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks


def test_the_page_is_up_to_date(repository):
    page = (repository / "docs" / "algorithms.md").read_text(encoding="utf-8")
    assert page == algorithms.page(), "docs/algorithms.md is out of date; run scripts/document"


def test_each_row_is_on_one_page(repository):
    """A page of its own at its path, or the page of a family, which has several rows."""
    folder = repository / "src" / "collectives"
    own = [f"{p.parent.name}/{p.stem}" for p in folder.glob("*/*.cpp") if p.parent.name not in ("families", "patterns")]
    families = "".join(p.read_text(encoding="utf-8") for p in folder.glob("families/*.cpp"))
    kinds = "|".join(sorted({v.kind for v in _collectives.all_variants()}, key=len, reverse=True))
    named = [
        f"{kind}/{name}" for kind, name in re.findall(rf"^Variant ({kinds})_(\w+)::row\(\)", families, re.MULTILINE)
    ]
    assert len(named) > 30
    assert sorted(own + named) == sorted(f"{v.kind}/{v.name}" for v in _collectives.all_variants())


def test_every_row_is_complete():
    for variant in _collectives.all_variants():
        for text in (variant.summary, variant.cost, variant.reference):
            assert text and "\n" not in text, variant.name
        assert f"`{variant.name}`" in algorithms.section(variant.kind)


def test_what_runs_by_default_is_what_the_row_says():
    space = arguments.rank_space(Ranks("4x4", None, 1))
    asked = arguments.collective(CollectiveArguments("allreduce", count=4096), space)
    said = {}
    for variant in arguments.variants("allreduce"):
        defaults = {parameter.name: parameter.default_value for parameter in variant.parameters}
        if "window" in defaults and variant.name not in ("hierarchical", "trinary_mesh"):
            schedule = variant.build(asked, space, arguments.parameters(segments=4))
            ran = arguments.parameters_of(schedule.parameters)
            assert ran["window"] == int(defaults["window"]), variant.name
            assert ran.get("overlap", False) == (defaults.get("overlap") == "true"), variant.name
            said[variant.name] = ran
    assert len(said) > 10 and said["trinaryx3_overlap"]["overlap"]
