"""The process that imports a Python file and serves its kernels (serving.py)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from kumihimo.kernel import declaration, serving
from kumihimo.text.errors import BadInput, KumihimoError, wrong_value


def main(path: str) -> None:
    file = Path(path).resolve()
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        sys.exit(str(wrong_value("kernels must be in a file of Python", file.name, "name a file that ends in .py")))
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # as pickle and inspect need it
    try:
        spec.loader.exec_module(module)
    except BadInput as error:
        serving.refuse(error)
    except KumihimoError as error:
        sys.exit(str(error))
    serving.serve(declaration.declared)
