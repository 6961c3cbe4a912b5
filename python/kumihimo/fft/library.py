"""The C library of kumihimo/fft.h, by ctypes. It finds the MPI library that mpi4py has loaded."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p
from functools import cache

from kumihimo.processes import package_files
from kumihimo.text.errors import BadInput, Failed, NotApplicable, failed

NAME = "kumihimo_fft"
COMPLEX, REAL = 0, 1
GRID, SPECTRUM = 0, 1

ERRORS = {1: Failed, 2: BadInput, 3: NotApplicable}

ARGUMENTS = {
    "create_at": (c_void_p, c_size_t, POINTER(c_int64), c_int64, c_int, c_char_p, POINTER(c_void_p)),
    "local": (c_void_p, c_int, POINTER(c_int64), POINTER(c_int64)),
    "forward": (c_void_p, c_void_p, c_void_p),
    "backward": (c_void_p, c_void_p, c_void_p),
}


def compiler_options() -> str:
    return package_files.compiler_options(NAME)


@cache
def opened() -> ctypes.CDLL:
    try:
        found = ctypes.CDLL(str(package_files.library(NAME)))
    except OSError as error:
        advice = "build it again with make build"
        raise failed("the library of transforms cannot be loaded", str(error), advice) from None
    for name, arguments in ARGUMENTS.items():
        getattr(found, f"{NAME}_{name}").argtypes = arguments
    found.kumihimo_fft_error.restype = c_char_p
    found.kumihimo_fft_description.argtypes, found.kumihimo_fft_description.restype = (c_void_p,), c_char_p
    found.kumihimo_fft_destroy.argtypes, found.kumihimo_fft_destroy.restype = (c_void_p,), None
    return found


def call(name: str, *arguments: object) -> None:
    """A function that returns 0, or the code of an error. Raises its sentence."""
    if code := getattr(opened(), f"{NAME}_{name}")(*arguments):
        raise ERRORS.get(code, Failed)(opened().kumihimo_fft_error().decode())
