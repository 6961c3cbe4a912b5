// The parts of a range: part i of m of n elements begins at floor(i n / m). Threads, ranks and fixed blocks share it,
// so that whoever wrote a part first also works on it later.
#pragma once

#include <cstdint>

namespace kumihimo::threads {

struct IndexRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const IndexRange&) const = default;
};

// 0 <= i < m. n m must fit 63 bits.
constexpr IndexRange part(std::int64_t n, std::int64_t i, std::int64_t m) { return {n * i / m, n * (i + 1) / m}; }

} // namespace kumihimo::threads
