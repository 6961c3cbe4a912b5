"""One page of the error sentences that the tests provoke: error_page.py LIST PAGE

LIST is what the tests append to $KUMIHIMO_ERROR_LIST, a line "kind<tab>sentence" for each error. The page groups the
sentences by kind, and keeps one of those that differ only in numbers and quoted values. Exits with 1 if a sentence
breaks the rules of `faults`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TITLES = {
    "bad_input": "Wrong or missing values",
    "not_applicable": "Right values that do not fit the case",
    "failed": "Failures",
}
MOST_WORDS = 60
MOST_CHARACTERS = 1000

# The words of other libraries within our sentences.
OTHERS = re.compile(r"(?<=not TOML: ).*?(?=; correct)|(?<=cannot be read: ).*")

# The folder of a test, which is another one in each run.
TEMPORARY = re.compile(r"/tmp/pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[^/\s,:;')]+(/(?=\w))?|/tmp/(?=\w)")

# What a sentence must not contain -> why.
RULES = {
    r", found ": "says what it expected; say what is wrong, then (got VALUE)",
    r"\bexpected\b": "says what it expected; say what is wrong, then (got VALUE)",
    r",  |  \(got ": "has a gap where a value should be",
    r"[.;:]$": "ends with punctuation",
    r"^[A-Z][a-z]+ [a-z]": "begins with a capital letter, though it follows 'kumihimo: '",
    r"\b(\w+) \1\b": "repeats a word",
}


def faults(sentence: str) -> list[str]:
    """Why a sentence is no error of ours. Values of the user, in quotes or after "got", may be anything."""
    ours = re.sub(r"(?<!\w)'[^']*'|\"[^\"]*\"", "''", OTHERS.sub("", sentence))
    bare = re.sub(r"\(got .*?\)(?=;|$)", "(got '')", ours)
    found = [why for pattern, why in RULES.items() if re.search(pattern, bare)]
    found += ["shows an empty value"] if "(got )" in ours else []
    if len(bare.split()) > MOST_WORDS:
        found.append(f"has more than {MOST_WORDS} words")
    if len(sentence) > MOST_CHARACTERS:
        found.append(f"has more than {MOST_CHARACTERS} characters")
    return found


def shape_of(sentence: str) -> str:
    """Sentences of one call site: values, places and numbers differ, the other words do not."""
    sentence = re.sub(r"^\S+?:\d+: \S+|; write .*", "#", sentence)
    return re.sub(r"\(got .*?\)(?=;|$)|'[^']*'|\"[^\"]*\"|/\S+|\d+|\b\w+_\w+\b", "#", sentence)


def unique(lines: list[str]) -> dict[str, list[str]]:
    """By kind, the sentences of different shapes, sorted."""
    first: dict[tuple[str, str], str] = {}
    for line in sorted(set(lines)):
        masked = TEMPORARY.sub(lambda path: "" if path[0].endswith("/") else "FOLDER", line)
        kind, tab, sentence = masked.partition("\t")
        if tab and sentence:
            first.setdefault((kind, shape_of(sentence)), sentence)
    return {kind: sorted(s for (k, _), s in first.items() if k == kind) for kind in TITLES}


def page(sentences: dict[str, list[str]]) -> str:
    parts = ["# Errors that the tests provoke\n"]
    for kind, title in TITLES.items():
        parts.append(f"\n## {title} ({len(sentences[kind])})\n\n")
        # The reader of machine files writes the key before "must".
        parts += [f"- {'KEY ' if s.startswith('must ') else ''}{s}\n" for s in sentences[kind]]
    return "".join(parts)


def main(source: str, target: str) -> int:
    sentences = unique(Path(source).read_text(encoding="utf-8", errors="replace").splitlines())
    Path(target).write_text(page(sentences), encoding="utf-8")
    count = sum(map(len, sentences.values()))
    wrong = [(s, why) for each in sentences.values() for s in each for why in faults(s)]
    for sentence, why in wrong:
        print(f"error sentence {why}: {sentence[:MOST_CHARACTERS]}")
    print(f"{count} different error sentences: {target}")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
