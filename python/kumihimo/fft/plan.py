"""A plan of a transform, with the names of mpi4py-fft's PFFT."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_int64, c_void_p
from math import prod
from typing import TYPE_CHECKING

from kumihimo.fft import library
from kumihimo.text.errors import Failed, wrong_value

try:
    import numpy
    from mpi4py import MPI
except ImportError as error:
    raise ImportError(
        f"kumihimo.fft needs numpy and mpi4py ({error}); install them: pip install numpy mpi4py"
    ) from None

if TYPE_CHECKING:
    Array = numpy.ndarray

AXES = 3
MOST_POINTS = 2**31
OF_VARIANTS = ("at_once", "block", "throttle", "send_window", "receive_window", "group", "pieces")
OPTIONS = ("variant", *OF_VARIANTS, "exchange", "wire", "planning", "threads", "wisdom", "library")


class PFFT:
    """Transforms of a grid that the ranks of `comm` share, or of several grids (bands) together.

    shape: points of the whole grid along x, y and z; or bands, x, y and z, with axes=(1, 2, 3).
    dtype: float (real grids, with half of the spectrum) or complex, in double precision.
    grid: rows and columns of ranks, such as (4, 2); -1 for one of them: what remains; (-1,): slabs. [default: slabs
        while every rank gets a plane, then pencils]. slab=True: slabs.
    options: variant and its parameters (at_once, block, throttle, send_window, receive_window, group, pieces),
        exchange, wire, planning, threads, wisdom and library, as in kumihimo/fft.h.

    Creating it, forward(), backward() and destroy() are collective. Wrong values raise a KumihimoError.
    """

    def __init__(
        self,
        comm: MPI.Comm,
        shape: Sequence[int] | int,
        axes: Sequence[int] | None = None,
        dtype: object = float,
        grid: Sequence[int] | None = None,
        slab: bool = False,
        **options: object,
    ) -> None:
        if not isinstance(comm, MPI.Comm) or comm == MPI.COMM_NULL:
            got = "MPI.COMM_NULL" if isinstance(comm, MPI.Comm) else repr(comm)
            raise wrong_value("comm must be a communicator of mpi4py", got)
        self.comm = comm
        lengths = (shape,) if isinstance(shape, int) else tuple(shape)
        self.bands, self._points = bands_and_points(lengths, axes)
        self._has_bands = len(lengths) > AXES
        self.dtype = numpy.dtype(dtype)
        if self.dtype not in (numpy.dtype("float64"), numpy.dtype("complex128")):
            raise wrong_value("dtype must be float64 or complex128", str(self.dtype))
        kind = library.REAL if self.dtype == numpy.dtype("float64") else library.COMPLEX
        words = option_words(decomposition(grid, slab, comm.Get_size()), options)
        self._plan = c_void_p()
        handle = (MPI._addressof(comm), MPI._sizeof(comm))
        library.call(
            "create_at", *handle, (c_int64 * AXES)(*self._points), self.bands, kind, words.encode(), byref(self._plan)
        )
        self._boxes = [self._box(library.GRID), self._box(library.SPECTRUM)]

    def forward(self, grid: Array, spectrum: Array | None = None, normalize: bool = True) -> Array:
        """From the grid to its spectrum, which is divided by the number of points if it is to be normalised."""
        spectrum = self._transform("forward", grid, spectrum, False)
        if normalize:
            spectrum *= 1.0 / prod(self._points)
        return spectrum

    def backward(self, spectrum: Array, grid: Array | None = None, normalize: bool = False) -> Array:
        """Back again. The spectrum stays as it is."""
        grid = self._transform("backward", spectrum, grid, True)
        if normalize:
            grid *= 1.0 / prod(self._points)
        return grid

    def new_array(self, spectral: bool = False) -> Array:
        """Zeros, of this rank's part."""
        return numpy.zeros(self.local_shape(spectral), self._dtype_of(spectral))

    def local_shape(self, spectral: bool = True) -> tuple[int, ...]:
        return self._with_bands(self._boxes[spectral][0])

    def local_slice(self, spectral: bool = True) -> tuple[slice, ...]:
        """This rank's part of the whole array."""
        lengths, offsets = self._boxes[spectral]
        first = (slice(0, self.bands),) if self._has_bands else ()
        return (*first, *(slice(offset, offset + length) for length, offset in zip(lengths, offsets)))

    def global_shape(self, spectral: bool = False) -> tuple[int, ...]:
        nx, ny, nz = self._points
        return self._with_bands((nx, ny, nz // 2 + 1 if spectral and self.dtype.kind == "f" else nz))

    @property
    def description(self) -> str:
        """The variant, the grid of ranks and the library of lines."""
        return library.opened().kumihimo_fft_description(self._alive()).decode()

    def destroy(self) -> None:
        """Frees the plan: collective, so it does not happen by itself."""
        library.opened().kumihimo_fft_destroy(self._plan)
        self._plan = c_void_p()

    def __enter__(self) -> PFFT:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def _transform(self, direction: str, given: Array, result: Array | None, to_grid: bool) -> Array:
        self._check(given, spectral=to_grid)
        if result is None:
            result = numpy.empty(self.local_shape(not to_grid), self._dtype_of(not to_grid))
        self._check(result, spectral=not to_grid)
        if numpy.may_share_memory(given, result):
            raise wrong_value("a transform needs two arrays", "the same memory for both", "use another array")
        library.call(direction, self._alive(), given.ctypes.data, result.ctypes.data)
        return result

    def _check(self, array: object, spectral: bool) -> None:
        shape, dtype = self.local_shape(spectral), self._dtype_of(spectral)
        side = "spectrum" if spectral else "grid"
        rule = f"the {side} must be a contiguous array of {dtype} of shape {shape} on rank {self.comm.Get_rank()}"
        if not isinstance(array, numpy.ndarray):
            raise wrong_value(rule, f"a {type(array).__name__}")
        if array.shape != shape or array.dtype != dtype:
            raise wrong_value(rule, f"{array.dtype} of shape {array.shape}")
        if not array.flags.c_contiguous:
            raise wrong_value(rule, "an array with gaps", "copy it: numpy.ascontiguousarray(...)")

    def _dtype_of(self, spectral: bool) -> numpy.dtype:
        return numpy.dtype("complex128") if spectral else self.dtype

    def _with_bands(self, lengths: tuple[int, ...]) -> tuple[int, ...]:
        return (self.bands, *lengths) if self._has_bands else tuple(lengths)

    def _box(self, side: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        lengths, offsets = (c_int64 * AXES)(), (c_int64 * AXES)()
        library.call("local", self._plan, side, lengths, offsets)
        return tuple(lengths), tuple(offsets)

    def _alive(self) -> c_void_p:
        if not self._plan:
            raise Failed("the plan is destroyed", "make another one")
        return self._plan


def bands_and_points(shape: tuple[int, ...], axes: Sequence[int] | None) -> tuple[int, tuple[int, ...]]:
    wanted = "shape must be (x, y, z), or (bands, x, y, z) with axes=(1, 2, 3)"
    if not all(isinstance(each, (int, numpy.integer)) and each > 0 for each in shape):
        raise wrong_value(wanted, shape)
    if max(shape) >= MOST_POINTS:
        raise wrong_value("shape must have fewer than 2^31 points along each axis", shape)
    last = tuple(range(len(shape) - AXES, len(shape)))
    given = (
        tuple(axis + len(shape) if axis < 0 else axis for axis in axes)
        if axes is not None
        else tuple(range(len(shape)))
    )
    if len(shape) not in (AXES, AXES + 1) or given != last:
        raise wrong_value(wanted, f"shape={shape}, axes={axes}")
    return int(prod(shape[:-AXES])), tuple(int(each) for each in shape[-AXES:])


def decomposition(grid: Sequence[int] | None, slab: bool, ranks: int) -> str:
    """In the words of the library."""
    if grid is None:
        return "slab" if slab else "auto"
    rule = "grid must be rows and columns of ranks, one of which may be -1"
    # mpi4py-fft fills a grid up with ones: (-1,) is slabs, and (4, 2, 1) is (4, 2).
    both = (*grid, *[1] * (AXES - len(grid)))
    if len(grid) == 0 or len(both) != AXES or both[2] != 1 or slab:
        raise wrong_value(rule, f"grid={tuple(grid)}, slab={slab}")
    both = both[:2]
    if not all(isinstance(each, (int, numpy.integer)) for each in both):
        raise wrong_value(rule, tuple(grid))
    rows, columns = (each if each > 0 else ranks // max(1, other) for each, other in (both, both[::-1]))
    if max(both) <= 0 or rows * columns != ranks:
        raise wrong_value(f"{rule}, and their product {ranks}", tuple(grid))
    return f"{rows}x{columns}"


def option_words(decomposed: str, options: dict[str, object]) -> str:
    for name, value in options.items():
        if name not in OPTIONS:
            raise wrong_value(f"options of a transform are {', '.join(OPTIONS)}", f"'{name}'", "leave it out")
        if not str(value) or len(str(value).split()) != 1:
            rule = f"{name} must be one word without blanks"
            raise wrong_value(rule, f"'{value}'", "leave it out for the default")
    return " ".join([f"decomposition={decomposed}", *(f"{name}={value}" for name, value in options.items())])
