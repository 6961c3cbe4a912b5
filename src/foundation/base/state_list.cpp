#include "base/state_list.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

std::vector<std::byte> packed_cells(const StateGrid& grid) {
  const auto row_bytes = static_cast<std::size_t>(grid.size[0] * grid.element_bytes);
  std::vector<std::byte> packed(row_bytes * static_cast<std::size_t>(grid.size[1] * grid.size[2]));
  std::byte* to = packed.data();
  for (std::int64_t z = 0; z < grid.size[2]; ++z)
    for (std::int64_t y = 0; y < grid.size[1]; ++y, to += row_bytes)
      std::memcpy(to, grid.first + (z * grid.plane + y * grid.row) * grid.element_bytes, row_bytes);
  return packed;
}

} // namespace

void copy_shared_cells(const std::array<std::int64_t, 3>& begin, const std::array<std::int64_t, 3>& size,
                       std::span<const std::byte> packed, const StateGrid& to) {
  std::array<std::int64_t, 3> low{}, high{}; // of the whole grid
  for (std::size_t a = 0; a < 3; ++a) {
    low[a] = std::max(begin[a], to.begin[a]);
    high[a] = std::min(begin[a] + size[a], to.begin[a] + to.size[a]);
    if (high[a] <= low[a]) return;
  }
  const auto row_bytes = static_cast<std::size_t>((high[0] - low[0]) * to.element_bytes);
  for (std::int64_t z = low[2]; z < high[2]; ++z)
    for (std::int64_t y = low[1]; y < high[1]; ++y) {
      const std::int64_t there = ((z - begin[2]) * size[1] + y - begin[1]) * size[0] + low[0] - begin[0];
      const std::int64_t here = (z - to.begin[2]) * to.plane + (y - to.begin[1]) * to.row + low[0] - to.begin[0];
      std::memcpy(to.first + here * to.element_bytes, packed.data() + there * to.element_bytes, row_bytes);
    }
}

Status StatePart::take(std::span<const std::byte> saved) const {
  if (unpack) return unpack(saved);
  if (saved.size() != bytes.size())
    return failed(fmt::format("{} in the state must have {} bytes", name, bytes.size()),
                  fmt::format("it has {}", saved.size()));
  if (!saved.empty()) std::memcpy(bytes.data(), saved.data(), saved.size());
  return Nothing{};
}

std::vector<std::byte> StateList::packed() const {
  std::vector<std::byte> all;
  for (const StatePart& part : parts_) {
    const std::vector<std::byte> own = part.pack ? part.pack() : std::vector<std::byte>();
    const std::span<const std::byte> bytes = part.pack ? std::span<const std::byte>(own) : part.bytes;
    const std::uint64_t length = bytes.size();
    const auto prefix = std::as_bytes(std::span(&length, 1));
    all.insert(all.end(), prefix.begin(), prefix.end());
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

Status StateList::unpack(std::span<const std::byte> packed) const {
  for (const StatePart& part : parts_) {
    std::uint64_t length = 0;
    if (packed.size() < sizeof length) return failed("a saved state ends before " + part.name);
    std::memcpy(&length, packed.data(), sizeof length);
    packed = packed.subspan(sizeof length);
    if (packed.size() < length) return failed("a saved state ends in " + part.name);
    if (Status s = part.take(packed.first(length)); !s) return s;
    packed = packed.subspan(length);
  }
  return Nothing{};
}

StateList& StateList::grid(std::string name, const StateGrid& grid) {
  const auto unpack = [grid, name](std::span<const std::byte> bytes) -> Status {
    const std::int64_t needed = grid.size[0] * grid.size[1] * grid.size[2] * grid.element_bytes;
    if (static_cast<std::int64_t>(bytes.size()) != needed)
      return failed(name + " in the state is of another part of the grid");
    copy_shared_cells(grid.begin, grid.size, bytes, grid);
    return Nothing{};
  };
  return add({std::move(name), {}, [grid] { return packed_cells(grid); }, unpack, grid});
}

} // namespace kumihimo
