#include "plan/call_key.hpp"

#include "base/hash.hpp"

namespace kumihimo::plan {

CallKey key_of(const Collective& c) {
  std::int64_t count = c.counts.each;
  if (c.counts.table) {
    std::uint64_t hash = 0;
    for (const std::int64_t n : *c.counts.table) hash = mixed(hash, static_cast<std::uint64_t>(n));
    count = static_cast<std::int64_t>(hash);
  }
  return {count,          c.type_bytes, c.has_root() ? c.root.value : 0, c.kind, c.type, c.operation, c.in_place,
          c.counts.table, c.neighbours, c.counts.own != nullptr,         false};
}

} // namespace kumihimo::plan
