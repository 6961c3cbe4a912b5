"""Kernels of a program: a golden copy, variants of it and hints, of which `kumihimo tune kernel FILE.py` finds the
fastest right one for each size. Untuned, a kernel is its golden copy. A program needs no more than this package: it
loads no native module."""

import os

from kumihimo.kernel import declaration
from kumihimo.kernel.declaration import Kernel, kernel
from kumihimo.kernel.loops import Loop

if declaration.TUNING in os.environ:
    from kumihimo.kernel import serving

    declaration.serve = serving.serve

__all__ = ["Kernel", "Loop", "kernel"]
