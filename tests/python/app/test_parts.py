"""The published table: how many times as fast as one core each variant computes the parts of a kernel."""

from kumihimo.app import parts

PUBLISHED = {"seconds": [0.2, 0.1], "times": [20.0, 2.0, 5.0], "of": "published"}


def row(variant: str, seconds: list[float], threads: int = 1, **more: object) -> dict:
    timed = {"names": ["(ss,ss)", "(pp,pp)"], "seconds": seconds, "on_accelerator": variant.startswith("gpu"), **more}
    return {"variant": variant, "ranks": 1, "threads": threads, "right": True, "parts": timed}


def test_variants_stand_beside_one_core_and_what_was_published() -> None:
    rows = [
        row("gpu", [0.01, 0.05]),
        row("one", [0.3, 0.1], published=PUBLISHED),
        row("one", [0.4, 0.2], threads=2, published=PUBLISHED),
        row("whole", [0.1, 0.2], names=["(ss,ss)", "(ll,ll)"]),
        {**row("wrong", [0.1, 0.1]), "right": False},
    ]
    found = parts.comparison(rows)
    assert found["title"] == "Time by class, and times as fast as one on one core"
    assert found["columns"] == ["class", "one, ms", "gpu, ×", "published, ms", "published GPU, ×"]
    assert found["rows"] == [
        ["(ss,ss)", "300.0", "30.0", "200", "20.0"],
        ["(pp,pp)", "100.0", "2.0", "100", "2.0"],
        ["all", "400.0", "6.7", "300", "5.0"],
    ]


def test_without_published_figures_there_is_no_table() -> None:
    assert parts.comparison([row("one", [0.3, 0.1]), {"variant": "x", "right": None}]) is None
