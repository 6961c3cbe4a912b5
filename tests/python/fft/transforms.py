"""Every way through kumihimo.fft on the ranks of a launch, compared with numpy's transforms of the whole grid."""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from kumihimo import BadInput, KumihimoError, NotApplicable
from kumihimo.fft import PFFT

comm = MPI.COMM_WORLD
ways = sys.argv[1:] or ["auto"]


def compare(fft: PFFT, whole: np.ndarray, way: str, rounding: float = 0) -> None:
    axes = (-3, -2, -1)
    transform = np.fft.rfftn if fft.dtype.kind == "f" else np.fft.fftn
    grid = np.ascontiguousarray(whole[fft.local_slice(spectral=False)])
    expected = transform(whole, axes=axes)
    points = np.prod(whole.shape[-3:])
    assert fft.global_shape() == whole.shape and fft.global_shape(spectral=True) == expected.shape
    assert fft.local_shape(spectral=False) == grid.shape and fft.new_array().shape == grid.shape

    before = grid.copy()
    spectrum = fft.new_array(spectral=True)
    assert fft.forward(grid, spectrum, normalize=False) is spectrum
    part = expected[fft.local_slice(spectral=True)]
    assert np.abs(spectrum - part).max(initial=0) < 1e-11 + 1000 * rounding, (way, np.abs(spectrum - part).max())
    assert np.array_equal(grid, before)
    assert np.allclose(fft.forward(grid), part / points, rtol=0, atol=1e-14 + rounding), way
    back = fft.backward(fft.forward(grid))
    assert back.dtype == grid.dtype and np.abs(back - grid).max(initial=0) < 1e-13 + rounding, way
    assert np.abs(fft.backward(spectrum, normalize=True) - grid).max(initial=0) < 1e-13 + rounding, way


def sentence(work, kind: type[KumihimoError] = KumihimoError) -> str:
    try:
        work()
    except kind as error:
        return str(error)
    return "no error"


random = np.random.default_rng(1)  # the same on all ranks
for way in ways:
    for shape in ((7, 9, 10), (2, 3, 5)):
        for dtype in (float, complex):
            whole = random.uniform(-1, 1, shape).astype(dtype)
            if dtype is complex:
                whole += 1j * random.uniform(-1, 1, shape)
            with PFFT(comm, shape, dtype=dtype, variant=way, planning=0) as fft:
                compare(fft, whole, way)
bands = random.uniform(-1, 1, (3, 6, 5, 8))
for options in (
    {"grid": (-1,)},
    {"grid": (-1, 1, 1)},
    {"grid": (1, comm.size), "at_once": 2},
    {"slab": True, "threads": 2},
):
    with PFFT(comm, bands.shape, axes=(1, 2, 3), planning=0, **options) as fft:
        compare(fft, bands, str(options))
rows_and_columns = {"grid": (-1, 2 if comm.size % 2 == 0 else 1)}
for options in (
    {"variant": "leader", "exchange": "linear", "throttle": 1, "group": 1},
    {"variant": "packed", "send_window": 2, "receive_window": 1},
    {"variant": "derived", "at_once": 2},
    {"variant": "overlapped", "pieces": 2, "exchange": "bruck"},
    {"variant": "fused", "wire": "float32"},
):
    for whole in (bands, bands + 1j):
        with PFFT(comm, bands.shape, (1, 2, 3), whole.dtype, planning=0, **rows_and_columns, **options) as fft:
            compare(fft, whole, str(options), 1e-5 if "wire" in options else 0)
for wisdom, told in (("kept", ""), ("/proc/none", "; the measured plans cannot be stored: ")):
    with PFFT(comm, (7, 9, 10), wisdom=wisdom) as fft:
        compare(fft, random.uniform(-1, 1, (7, 9, 10)), wisdom)
        of_library, _, rest = fft.description.partition(")")
        assert "lines by" in of_library and rest.startswith(told) and bool(rest) == bool(told), fft.description
comm.Barrier()
assert [each.suffix for each in Path("kept").iterdir() if each.suffix == ".fftw"] == [".fftw"]
both_ways = PFFT(comm.Split(comm.rank % 2), (4, 4, 4), planning=0)  # groups transform grids of their own
compare(both_ways, random.uniform(-1, 1, (4, 4, 4)), "halves")

shape = both_ways.local_shape(spectral=False)
rank = both_ways.comm.rank
expected = f"the grid must be a contiguous array of float64 of shape {shape} on rank {rank} (got "
assert sentence(lambda: both_ways.forward(np.zeros((1, 2)))) == expected + "float64 of shape (1, 2))"
assert sentence(lambda: both_ways.forward(np.zeros(shape, "f4"))) == f"{expected}float32 of shape {shape})"
assert sentence(lambda: both_ways.forward([1.0])) == expected + "a list)"
assert "got an array with gaps" in sentence(lambda: both_ways.forward(np.zeros((*shape, 2))[..., 0]))
assert sentence(lambda: PFFT(comm, (4, 4, 4), dtype="f4")) == "dtype must be float64 or complex128 (got float32)"
assert "shape must be (x, y, z), or (bands, x, y, z)" in sentence(lambda: PFFT(comm, (4, 4)))
assert "shape must be (x, y, z), or (bands, x, y, z)" in sentence(lambda: PFFT(comm, (4, 4, 0)))
assert "shape must be (x, y, z), or (bands, x, y, z)" in sentence(lambda: PFFT(comm, (2, 4, 4, 4)))
assert sentence(lambda: PFFT(None, (4, 4, 4))) == "comm must be a communicator of mpi4py (got None)"
assert sentence(lambda: PFFT(MPI.COMM_NULL, (4, 4, 4))) == "comm must be a communicator of mpi4py (got MPI.COMM_NULL)"
assert "grid must be rows and columns of ranks" in sentence(lambda: PFFT(comm, (4, 4, 4), grid=(3, 5)))
for odd in ((3, 5, 2), (1, 1, 1, 1), (), "ab", ("4", "1")):
    assert "grid must be rows and columns of ranks" in sentence(lambda odd=odd: PFFT(comm, (4, 4, 4), grid=odd))
assert "got shape=(4,), axes=None" in sentence(lambda: PFFT(comm, 4))
assert "options of a transform are variant, " in sentence(lambda: PFFT(comm, (4, 4, 4), varaint="window"))
wrong = "variant must be one of auto, packed, fused"
assert wrong in sentence(lambda: PFFT(comm, (4, 4, 4), variant="golden"), BadInput)
assert "at_once must be a number from 1 to " in sentence(lambda: PFFT(comm, (4, 4, 4), at_once=0), BadInput)
windows = {"variant": "fused", "throttle": 4, "send_window": 2, "receive_window": 1}
no_effect = "throttle has no effect beside send_window and receive_window; leave one of them out"
assert sentence(lambda: PFFT(comm, (4, 4, 4), **windows), NotApplicable) == no_effect
assert sentence(lambda: PFFT(comm, (4, 4, 4), planning=-1)) == "planning must be seconds from 0 to 600 (got '-1')"
assert "wire must be one of float64, float32" in sentence(lambda: PFFT(comm, (4, 4, 4), wire="float16"))
assert "of variant=fused are at_once, block, group, receive_window, send_window, throttle, threads, " in sentence(
    lambda: PFFT(comm, (4, 4, 4), variant="fused", pieces=2)
)
if comm.size > 1:
    floats = sentence(lambda: PFFT(comm, (4, 4, 4), variant="window", wire="float32"))
    assert floats == "a window has no messages that could carry floats; leave wire=float32 out"
assert "must be one that can be loaded" in sentence(lambda: PFFT(comm, (4, 4, 4), library="/nowhere/libfftw3.so"))
for path in ("", " ", "a b"):
    rule = f"wisdom must be one word without blanks (got '{path}'); leave it out for the default"
    assert sentence(lambda path=path: PFFT(comm, (4, 4, 4), wisdom=path)) == rule
assert sentence(lambda: PFFT(comm, (4096,) * 3)).endswith("; use a smaller grid, fewer bands or more nodes")
if comm.size > 1:
    without = "window has no messages of an alltoall of the registry (got exchange=linear); leave exchange out"
    assert sentence(lambda: PFFT(comm, (4, 4, 4), variant="window", exchange="linear"), NotApplicable) == without
both_ways.destroy()
assert sentence(lambda: both_ways.forward(np.zeros(shape))) == "the plan is destroyed; make another one"
left = PFFT(comm, (4, 4, 4), planning=0)  # ends with the program
if comm.rank == 0:
    print("all right")
