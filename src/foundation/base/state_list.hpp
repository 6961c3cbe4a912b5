// What the future of an iteration depends on, as a list of named parts in memory. One list both saves and loads, so
// that the two cannot differ.
//
//   list.number("iterations", iterations).array("r", std::span(r)).vector("history", history);
//
// The parts are those of one rank. The list refers to them: it is made anew for every use.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kumihimo {

// A rank's box of an array over the whole grid of all ranks, which other boxes of other ranks can be filled from. The
// order of axes is x, y, z; x is contiguous.
struct StateGrid {
  std::int64_t element_bytes = 8;
  std::array<std::int64_t, 3> cells{};         // of all ranks
  std::array<std::int32_t, 3> ranks{};         // along each axis
  std::array<std::int64_t, 3> begin{}, size{}; // this rank's box
  std::byte* first = nullptr;                  // its first cell in memory
  std::int64_t row = 0, plane = 0;             // elements from y to y + 1 and from z to z + 1
};

// Give bytes, or functions that make them and take them.
struct StatePart {
  std::string name;
  std::span<std::byte> bytes; // in one piece
  std::function<std::vector<std::byte>()> pack = {};
  std::function<Status(std::span<const std::byte>)> unpack = {}; // error: no state of this part
  std::optional<StateGrid> grid = {};

  Status take(std::span<const std::byte> saved) const; // error: another length; that of unpack()
};

class StateList {
 public:
  template <class T>
  StateList& number(std::string name, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add({std::move(name), std::as_writable_bytes(std::span(&value, 1))});
  }
  template <class T>
  StateList& array(std::string name, std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add({std::move(name), std::as_writable_bytes(values)});
  }
  // Of a length that is part of the state.
  template <class T>
  StateList& vector(std::string name, std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto pack = [&values] {
      const auto bytes = std::as_bytes(std::span(values));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    const auto unpack = [&values, name](std::span<const std::byte> bytes) -> Status {
      if (bytes.size() % sizeof(T) != 0) return failed(name + " in the state is no list of whole numbers");
      values.resize(bytes.size() / sizeof(T));
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      return Nothing{};
    };
    return add({std::move(name), {}, pack, unpack});
  }
  StateList& add(StatePart part) {
    parts_.push_back(std::move(part));
    return *this;
  }
  StateList& grid(std::string name, const StateGrid& grid);

  const std::vector<StatePart>& parts() const { return parts_; }

  // All parts in order, each with its length before it; and back. Error: bytes of another list.
  std::vector<std::byte> packed() const;
  Status unpack(std::span<const std::byte> packed) const;

 private:
  std::vector<StatePart> parts_;
};

// Copies the cells that two boxes of one grid share from packed bytes of the one (x fastest) into the memory of the
// other. Nothing, if they share none.
void copy_shared_cells(const std::array<std::int64_t, 3>& begin, const std::array<std::int64_t, 3>& size,
                       std::span<const std::byte> packed, const StateGrid& to);

// Called at the top of an iteration, where the parts that `fill` lists are all that the following ones depend on. It
// may save them, or load those of another iteration, from which the caller then goes on: true. Collective; an error is
// known to all ranks.
using FillState = std::function<void(StateList&)>;
using AtIteration = std::function<Result<bool>(std::int64_t iteration, const FillState& fill)>;

} // namespace kumihimo
