"""Expressions over the values of a point: `nodes * 16`, `library == 'mpich' and bytes <= 12KiB`, `f'{n}x{n}x{n}'`.

They are Python's, without attributes, subscripts and calls of anything but FUNCTIONS, so that a file from elsewhere can
read or change nothing.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from types import CodeType

from kumihimo.text.errors import did_you_mean, wrong_value
from kumihimo.text.sizes import parse_size

MOST_CHARACTERS = 4096  # of a text that an expression makes, since each may use others twice
MOST_DIGITS = 99
MOST_SHOWN = 40  # characters of a value in an error


def rounded(number: float, digits: int = 0) -> float:
    """Rounds, with a limit on the digits: for a whole number Python computes ten to their power."""
    if abs(digits) > MOST_DIGITS:
        raise ValueError(f"round takes at most {MOST_DIGITS} digits, not {digits}")
    return round(number, digits) if digits else round(number)


def replaced(text: str, old: str, new: str) -> str:
    if text.count(old) * len(new) > MOST_CHARACTERS:
        raise ValueError(f"replace makes texts of at most {MOST_CHARACTERS} characters")
    return text.replace(old, new)


FUNCTIONS = {"min": min, "max": max, "abs": abs, "round": rounded, "int": int, "str": str} | {
    name: getattr(math, name) for name in ("ceil", "floor", "log2", "sqrt")
}
FUNCTIONS |= {"lower": str.lower, "replace": replaced}
NODES = (
    *(ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Constant, ast.Name),
    *(ast.Tuple, ast.List, ast.JoinedStr, ast.FormattedValue, ast.Load, ast.boolop, ast.unaryop, ast.cmpop),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)
WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\b[0-9][0-9.]*(?:[kKMGTPE]i?)?B\b")


class CampaignExpression:
    """One expression of the file, checked; `where`: its key, for errors."""

    def __init__(self, text: object, where: str) -> None:
        self.where, self.text = where, text
        if not isinstance(text, str):
            raise wrong_value(f"{where} must be an expression in quotes, such as 'nodes * 16'", repr(text))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of what is hardly meant, such as `n is 1`: they become SyntaxErrors
                self._compile(text, where)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or error
            raise wrong_value(f"{where} must be an expression", f"'{text}', {reason}") from None

    def _compile(self, text: str, where: str) -> None:
        tree = ast.parse(WORDS.sub(_without_unit, text).replace("\n", " ").strip(), mode="eval")
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            self._check(node, id(node) in called)
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
        self.names = tuple(dict.fromkeys(names))
        self._code: CodeType = compile(ast.fix_missing_locations(_Bounded().visit(tree)), where, "eval")

    def _check(self, node: ast.AST, is_called: bool) -> None:
        if not isinstance(node, NODES):
            known = "numbers, texts, names, + - * / // % **, comparisons, and, or, not, if else"
            rule = f"{self.where} must be made of {known}"
            raise wrong_value(rule, f"'{self.text}'", "attributes and subscripts are not allowed")
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name not in FUNCTIONS or node.keywords:
                rule = f"functions in {self.where} must be among {', '.join(FUNCTIONS)}"
                raise wrong_value(rule, f"'{self.text}'", did_you_mean(name, FUNCTIONS))
        if isinstance(node, ast.FormattedValue) and node.format_spec and not is_short(node.format_spec):
            raise wrong_value(f"widths in {self.where} must be numbers of at most two digits", f"'{self.text}'")
        if isinstance(node, ast.Name) and node.id in FUNCTIONS and not is_called:
            raise wrong_value(f"{self.where} must call the function {node.id}", f"'{self.text}'", "add parentheses")

    def value(self, values: Mapping[str, object]) -> object:
        """A whole number where it is one: 48 / 3 is 16."""
        lacking = next((name for name in self.names if name not in values), None)
        if lacking is not None:
            rule = f"{self.where} must use names that all points have"
            raise wrong_value(rule, f"'{self.text}', where {lacking} has no value", did_you_mean(lacking, values))
        try:
            found = eval(self._code, {"__builtins__": {}, **BOUNDED, **FUNCTIONS}, dict(values))
            if isinstance(found, str) and len(found) > MOST_CHARACTERS:
                raise ValueError(f"a text of more than {MOST_CHARACTERS} characters")
        except (ArithmeticError, MemoryError, TypeError, ValueError) as error:
            shown = ", ".join(f"{name} = {repr(values[name])[:MOST_SHOWN]}" for name in self.names)
            at = f"'{self.text}' with {shown}" if shown else f"'{self.text}'"
            rule = f"{self.where} must have a value at every point"
            raise wrong_value(rule, f"{at}: {str(error) or 'not enough memory'}") from None
        return int(found) if isinstance(found, float) and found.is_integer() else found


def is_short(spec: ast.expr) -> bool:
    """A format that makes no text of many characters: f'{n:03}'."""
    texts = [each.value if isinstance(each, ast.Constant) else None for each in getattr(spec, "values", [None])]
    return all(isinstance(each, str) and not re.search(r"\d{3}", each) for each in texts)


class _Bounded(ast.NodeTransformer):
    """Makes each `*`, `%` and `**` a call of the function of BOUNDED."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = type(node.op).__name__ + " of"
        if name not in BOUNDED:
            return node
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])


def power(base: float, exponent: float) -> float:
    """Within 64 bits: larger ones could take for ever."""
    if abs(base) > 2**63 or abs(exponent) > 63:
        raise ValueError("a power must be of numbers within 64 bits, with an exponent of at most 63")
    return base**exponent


def of_numbers(sign: str, operation: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Without the repetition and the formatting of texts, which could fill the memory."""

    def checked(a: float, b: float) -> float:
        wrong = next((each for each in (a, b) if not isinstance(each, (int, float))), None)
        if wrong is not None:
            raise TypeError(f"{sign} takes numbers, not {wrong!r}")
        return operation(a, b)

    return checked


# By names that no name of a file can be.
BOUNDED = {"Pow of": power, "Mult of": of_numbers("*", operator.mul), "Mod of": of_numbers("%", operator.mod)}


def _without_unit(found: re.Match) -> str:
    word = found[0]
    return word if word[0] in "'\"" else str(parse_size(word, 0))
