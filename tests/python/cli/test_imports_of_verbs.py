"""What a command line imports before it starts: what it does not use costs every call tens of milliseconds."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kumihimo.cli import verbs

RUN = """
import sys
from kumihimo import cli
code = cli.carry_out(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def imported(*arguments: str) -> set[str]:
    line = [sys.executable, "-c", RUN, *arguments]
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KUMIHIMO_ERROR_LIST")}
    return set(subprocess.run(line, capture_output=True, text=True, check=True, env=plain).stderr.split())


def test_the_version_needs_no_parser_of_options():
    assert imported("--version").isdisjoint({"click", "typer", "pathlib", "subprocess", "kumihimo.cli.verbs"})


def test_the_list_of_verbs_imports_none_and_has_their_first_sentences():
    assert not any(
        name.startswith(f"kumihimo.cli.{verbs.file_of(verb)}") for verb in verbs.VERBS for name in imported("--help")
    )
    for verb in verbs.VERBS:
        assert verbs.summary(verb) == verbs.load(verb).get_short_help_str(limit=verbs.LONGEST_SUMMARY)


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_help_needs_no_templates_and_no_schemas(verb):
    assert imported(*verb.split(), "--help").isdisjoint({"jinja2", "jsonschema", "rich", "hmac"})
