"""Names of a package that are imported from its modules when they are first used.

A verb that needs one name of a package would else import all of its modules before it starts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping


def lazily(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The function __getattr__ of `package`. `modules`: of each name, the module of the package that has it."""

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return get
