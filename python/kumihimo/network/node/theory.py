"""Upper bounds of this node: its memory by the tables of its firmware, its arithmetic by its processors' data."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _node

DMI = Path("/sys/firmware/dmi/tables/DMI")
MEMORY_DEVICE = 17  # type of an entry: SMBIOS specification (DMTF DSP0134), section 7.18


@dataclass
class Peak:
    """A bound, or why it is not known."""

    value: float | None = None  # bytes a second, or GFLOPS of one core
    source: str = ""


def memory_peak(path: Path = DMI) -> Peak:
    try:
        table = path.read_bytes()
    except OSError:
        return Peak(None, f"not known: {path} cannot be read (root may); give --peak-bandwidth")
    return memory_peak_of(table)


def memory_peak_of(table: bytes) -> Peak:
    """The number of channels times their rate. A channel is a bank locator that names one, such as "P0 CHANNEL A":
    BANK 0, BANK 1 ... are slots, of which a channel may have several."""
    modules = [module for body, texts in entries(table) if (module := module_of(body, texts))]
    if not modules:
        return Peak(None, "not known: the firmware lists no memory with a rate; give --peak-bandwidth")
    banks = {bank for bank, _, _ in modules}
    if not all(re.search("channel", bank, re.IGNORECASE) for bank in banks) or (len(banks) == 1 and len(modules) > 1):
        return Peak(None, "not known: the firmware does not name the channels; give --peak-bandwidth")
    rate = min(megatransfers for _, megatransfers, _ in modules)
    width = min(bits for _, _, bits in modules)
    value = len(banks) * rate * 1e6 * width / 8
    return Peak(value, f"{len(banks)} channels of {width} bits at {rate} MT/s, by the firmware")


def entries(table: bytes) -> Iterator[tuple[bytes, list[str]]]:
    """Entries of memory devices: the formatted part and the texts."""
    at = 0
    while at + 4 <= len(table):
        kind, length = table[at], table[at + 1]
        if length < 4:
            return
        end = table.find(b"\0\0", at + length)
        if end < 0:
            return
        if kind == MEMORY_DEVICE:
            texts = table[at + length : end].decode("latin-1").split("\0")
            yield table[at : at + length], texts
        at = end + 2


def module_of(body: bytes, texts: list[str]) -> tuple[str, int, int] | None:
    """Bank locator, megatransfers a second, bits of data; none for an empty slot or an unknown rate."""
    if len(body) < 0x17:
        return None
    width, size = struct.unpack_from("<H", body, 0x0A)[0], struct.unpack_from("<H", body, 0x0C)[0]
    rated = struct.unpack_from("<H", body, 0x15)[0]
    configured = struct.unpack_from("<H", body, 0x20)[0] if len(body) >= 0x22 else 0
    rate = configured or rated
    if size == 0 or width in (0, 0xFFFF) or rate in (0, 0xFFFF):
        return None
    number = body[0x11]
    return (texts[number - 1].strip() if 0 < number <= len(texts) else ""), rate, width


def core_peak(cpuinfo: str | None = None, frequencies: Path = Path("/sys/devices/system/cpu/cpu0/cpufreq")) -> Peak:
    """GFLOPS of one core: frequency x operations of a cycle."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace") if cpuinfo is None else cpuinfo
    field = {m[1].strip(): m[2].strip() for m in re.finditer(r"^([^:\n]+):(.*)$", text.split("\n\n")[0], re.MULTILINE)}
    family, model = (int(field.get(name, "0") or 0) for name in ("cpu family", "model"))
    each = _node.flops_per_cycle(field.get("vendor_id", ""), family, model, field.get("flags", ""))
    if each == 0:
        return Peak(None, "not known: operations per cycle of this processor; give --peak-gflops")
    try:
        gigahertz = int((frequencies / "cpuinfo_max_freq").read_text()) * 1e-6
        what = "its highest frequency"
    except (OSError, ValueError):
        gigahertz = float(field.get("cpu MHz", "0") or 0) * 1e-3
        what = "the frequency that the system says, which it may exceed"
    if gigahertz <= 0:
        return Peak(None, "not known: the frequency of this processor; give --peak-gflops")
    return Peak(gigahertz * each, f"{each} operations a cycle at {gigahertz:.2f} GHz, {what}")
