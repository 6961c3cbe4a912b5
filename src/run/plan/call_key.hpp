// The key by which later calls find the plan of a collective call.
#pragma once

#include "schedule/collective.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::plan {

// What tells one call from another on the same communicator.
struct CallKey {
  std::int64_t count = 0, type_bytes = 8; // elements, and the size of one
  std::int32_t root = 0;
  CollectiveKind kind = CollectiveKind::allreduce;
  DataType type = DataType::float64;
  Operation operation = Operation::sum;
  bool in_place = false;
  std::shared_ptr<const std::vector<std::int64_t>> table; // of irregular counts; `count` is its hash then
  std::shared_ptr<const Neighbourhood> neighbours;        // of a collective of neighbours
  bool local_counts = false; // any: each call has lengths of its own, which its rank alone knows
  bool non_blocking = false; // by a choice for such calls alone

  bool operator==(const CallKey& other) const {
    const bool same = count == other.count && type_bytes == other.type_bytes && root == other.root &&
                      kind == other.kind && type == other.type && operation == other.operation &&
                      in_place == other.in_place && local_counts == other.local_counts &&
                      non_blocking == other.non_blocking;
    if (neighbours != other.neighbours && !(neighbours && other.neighbours && *neighbours == *other.neighbours))
      return false;
    return same && (table == other.table || (table && other.table && *table == *other.table));
  }
  // Of four words. Multiplicative hashing (Knuth, volume 3, section 6.4): the golden ratio spreads neighbouring
  // counts.
  std::uint64_t hash() const {
    const std::uint64_t small =
        static_cast<std::uint64_t>(root) << 32 | static_cast<std::uint64_t>(kind.index()) << 24 |
        static_cast<std::uint64_t>(type) << 16 | static_cast<std::uint64_t>(operation) << 8 | in_place;
    const std::uint64_t length = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type_bytes);
    return (length ^ small * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL;
  }
};
CallKey key_of(const Collective& collective);

} // namespace kumihimo::plan
