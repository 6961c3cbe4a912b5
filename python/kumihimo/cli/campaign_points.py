"""The points of a campaign, as `kumihimo simulate` understands them: its options, and one prediction."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
from collections.abc import Sequence

import click

from kumihimo.cli import click_errors, verbs
from kumihimo.predict.campaign.database import FAILED, NOT_APPLICABLE, OK
from kumihimo.predict.campaign.description import SimulateOption
from kumihimo.text.errors import KumihimoError, NotApplicable, wrong_value

NOT_OF_POINTS = ("json", "links", "explain", "page", "help")  # how results are shown


@functools.cache
def simulate() -> click.Command:
    return verbs.load("simulate")


def options() -> dict[str, SimulateOption]:
    """All that a point may have, by name."""
    found = {}
    for each in simulate().params:
        is_option = isinstance(each, click.Option)
        word = max(each.opts, key=len) if is_option else ""
        name = word.removeprefix("--").replace("-", "_") or each.name
        if name not in NOT_OF_POINTS:
            found[name] = SimulateOption(name, word, kind_of(each, name), each.multiple if is_option else False)
    return found


def kind_of(option: click.Parameter, name: str) -> str:
    if getattr(option, "is_flag", False):
        return "flag"
    if isinstance(option.type, click.types.IntParamType):
        return "integer"
    return "size" if name == "bytes" or name.endswith("_bytes") else "text"


def predict(words: Sequence[str], folder: str) -> dict:
    """Result of `kumihimo simulate WORDS --json`, with paths relative to `folder`. An error is the outcome of this
    point alone.
    """
    os.chdir(folder)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            simulate().main([*words, "--json"], prog_name="kumihimo simulate", standalone_mode=False)
        results = json.loads(printed.getvalue())["results"]
        if len(results) != 1:
            raise wrong_value(
                "a point must have one result", len(results), "list values apart, as compact and scattered"
            )
        (result,) = results
    except NotApplicable as error:
        return {"status": NOT_APPLICABLE, "error": str(error)}
    except KumihimoError as error:
        return {"status": FAILED, "error": str(error)}
    except click.UsageError as error:
        return {"status": FAILED, "error": click_errors.usage(error)}
    except MemoryError:
        return {"status": FAILED, "error": "there is not enough memory for this case; take fewer --workers"}
    except Exception as error:
        return {"status": FAILED, "error": f"{type(error).__name__}: {error}"}
    return {"status": OK, "result": result}
