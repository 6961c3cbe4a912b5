"""One sentence for each loop: what makes its plain form as fast as the best, by what was measured."""

from __future__ import annotations

from kumihimo.text.json_types import JsonObject

NEAR = 1.15  # ratio to the best form up to which a form is as good
FAR = 5.0


def advise(loop: JsonObject) -> str:
    """`loop`: with `forms` (their advice and what the compiler says) and `sizes` (their times). The first form in the
    order of their effort that comes near the best, where the plain one is farthest from it."""
    sizes = [(size, row) for size in loop["sizes"] if (row := row_of(size, loop["forms"][0]["form"]))]
    if not sizes:
        return "the plain form is wrong: the compiler or its flags break it"
    worst, plain = max(sizes, key=lambda pair: pair[1]["ratio"])
    if plain["ratio"] != 1 and plain["ratio_low"] is None:
        return "no advice: an interval needs 6 rounds or more (--rounds)"
    if plain["ratio"] == 1 or plain["ratio_low"] <= 1:
        return "keep the plain form: no other is certainly faster"
    if plain["ratio"] <= NEAR:
        saved = 100 * (1 - 1 / plain["ratio"])
        return f"keep the plain form: the fastest takes {saved:.0f} % less time ({worst['size']})"
    others = ((form, row_of(worst, form["form"])) for form in loop["forms"][1:])
    better, seconds = next((form, row["seconds"]) for form, row in others if row and row["ratio"] <= NEAR)
    gain = plain["seconds"] / seconds
    sentence = f"{better['advice']}: {gain:.1f} times as fast ({worst['size']})"
    if not loop["forms"][0]["vectorised"]:
        reason = loop["forms"][0]["reason"]
        sentence += "; the compiler did not vectorise the plain form" + (f" ({reason})" if reason else "")
    return sentence


def row_of(size: JsonObject, form: str) -> JsonObject | None:
    """Null where the form is refused."""
    return next((row for row in size["forms"] if row["form"] == form and "seconds" in row), None)


def spread(loop: JsonObject) -> float:
    """The largest ratio of a right form to the best, over the sizes."""
    return max((row["ratio"] for size in loop["sizes"] for row in size["forms"] if "ratio" in row), default=1.0)


def refused(loop: JsonObject) -> list[str]:
    found = [
        f"{loop['loop']}, form {row['form']}: {row['refused']}"
        for size in loop["sizes"]
        for row in size["forms"]
        if "refused" in row
    ]
    return list(dict.fromkeys(found))
