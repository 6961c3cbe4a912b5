"""Quantities as people read them."""

from __future__ import annotations

import pytest

from kumihimo.text.quantities import share_text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (-0.0, "0 %"),
        (0.0004, "0.0 %"),
        (-0.0004, "0.0 %"),
        (0.003, "0.3 %"),
        (-0.003, "-0.3 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.56, "56 %"),
        (-0.56, "-56 %"),
        (1.5, "150 %"),
    ],
)
def test_a_share_that_rounds_to_nothing_has_no_sign(share: float, text: str) -> None:
    assert share_text(share) == text
