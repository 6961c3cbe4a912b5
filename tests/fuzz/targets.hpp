// Parsers of files that others wrote: each takes any bytes, and ends with a value or an error of one sentence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::fuzz {

struct FuzzTarget {
  std::string_view name;
  void (*run)(std::string_view bytes);
  std::vector<std::string_view> seeds; // files of tests/python/formats/seeds that the parser reads
};

std::span<const FuzzTarget> all_targets();

} // namespace kumihimo::fuzz
