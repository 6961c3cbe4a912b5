"""Expressions over the values of a point: `nodes * 16`, `library == 'mpich' and bytes <= 12KiB`, `f'{n}x{n}x{n}'`.

They are Python's, without attributes, subscripts and calls of anything but FUNCTIONS, so that a file from elsewhere can
read or change nothing.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from types import CodeType

from kumihimo.errors import did_you_mean, wrong_value
from kumihimo.sizes import parse_size

FUNCTIONS = {"min": min, "max": max, "abs": abs, "round": round, "int": int, "str": str} | {
    name: getattr(math, name) for name in ("ceil", "floor", "log2", "sqrt")
}
FUNCTIONS |= {"lower": str.lower, "replace": str.replace}
NODES = (
    *(ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Constant, ast.Name),
    *(ast.Tuple, ast.List, ast.JoinedStr, ast.FormattedValue, ast.Load, ast.boolop, ast.unaryop, ast.cmpop),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)
WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\b[0-9][0-9.]*(?:[kKMGTPE]i?)?B\b")


class Expression:
    """One expression of the file, checked; `where`: its key, for errors."""

    def __init__(self, text: object, where: str) -> None:
        self.where, self.text = where, text
        if not isinstance(text, str):
            raise wrong_value(f"{where} must be an expression in quotes, such as 'nodes * 16'", repr(text))
        try:
            tree = ast.parse(WORDS.sub(_without_unit, text).replace("\n", " ").strip(), mode="eval")
            called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            for node in ast.walk(tree):
                self._check(node, id(node) in called)
            names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
            self.names = tuple(dict.fromkeys(names))
            self._code: CodeType = compile(ast.fix_missing_locations(_Powers().visit(tree)), where, "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or error
            raise wrong_value(f"{where} must be an expression", f"'{text}', {reason}") from None

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
        if isinstance(node, ast.Name) and node.id in FUNCTIONS and not is_called:
            raise wrong_value(f"{self.where} must call the function {node.id}", f"'{self.text}'", "add parentheses")

    def value(self, values: Mapping[str, object]) -> object:
        """A whole number where it is one: 48 / 3 is 16."""
        lacking = next((name for name in self.names if name not in values), None)
        if lacking is not None:
            rule = f"{self.where} must use names that all points have"
            raise wrong_value(rule, f"'{self.text}', where {lacking} has no value", did_you_mean(lacking, values))
        try:
            found = eval(self._code, {"__builtins__": {}, POWER: power, **FUNCTIONS}, dict(values))
        except (ArithmeticError, TypeError, ValueError) as error:
            shown = ", ".join(f"{name} = {values[name]!r}" for name in self.names)
            rule = f"{self.where} must have a value at every point"
            raise wrong_value(rule, f"'{self.text}' with {shown}: {error}") from None
        return int(found) if isinstance(found, float) and found.is_integer() else found


class _Powers(ast.NodeTransformer):
    """Makes each power a call of `power`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name(POWER, ast.Load()), [node.left, node.right], [])


POWER = "power of"  # which no name can be


def power(base: float, exponent: float) -> float:
    """Within 64 bits: larger ones could take for ever."""
    if abs(base) > 2**63 or abs(exponent) > 63:
        raise ValueError("a power must be of numbers within 64 bits, with an exponent of at most 63")
    return base**exponent


def _without_unit(found: re.Match) -> str:
    word = found[0]
    return word if word[0] in "'\"" else str(parse_size(word, 0))
