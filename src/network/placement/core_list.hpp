// Where a rankfile of Open MPI binds a rank: a list of items with ; between them. An item is
//
//   0,2-4          cores of the node
//   1:0-2  1:0,3   cores of package 1; p1:0, s1:0 and 1:c0 are the same
//   1:*    p1      all cores of package 1;  p0-1 of several, p* of all
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kumihimo {

struct BoundCore {
  static constexpr std::int32_t all = -1;
  std::int32_t package = 0; // 0 where the list names no packages
  std::int32_t core = 0;    // of the package, or of the node; all: the whole package
  auto operator<=>(const BoundCore&) const = default;
};

struct CoreList {
  bool names_packages = false;
  std::vector<BoundCore> cores; // ascending, each once; at least one
};

// None: the text has another form, or one item names a package and another one does not.
std::optional<CoreList> core_list_in(std::string_view text);

} // namespace kumihimo
