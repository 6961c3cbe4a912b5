// What tuning has found: for a collective on so many ranks and nodes, which algorithm to take for which lengths. A
// readable file; what it does not say is left to the MPI library.
#pragma once

#include "base/result.hpp"
#include "collectives/registry.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::interpose {

// The collectives whose calls are caught.
inline constexpr std::array taken_over = {CollectiveKind::bcast, CollectiveKind::reduce, CollectiveKind::allreduce};

std::size_t index_of(CollectiveKind kind); // in taken_over
std::uint64_t hash_of(std::string_view text);

struct Choice {
  CollectiveKind kind = CollectiveKind::allreduce;
  const Variant* variant = nullptr; // null: the library's own
  std::size_t place = 0;            // of the variant, among the registry's of its collective
  Parameters parameters;
  std::int64_t from_bytes = 0, to_bytes = 0; // of a vector, both included
  std::int32_t ranks = 0, nodes = 0;         // 0: any
};

class Wisdom {
 public:
  // Of a file's text. Errors name the entry: of a newer version, not JSON, an unknown algorithm.
  static Result<Wisdom> parse(std::string_view text, const Registry& registry);
  // One algorithm at its defaults for all lengths and numbers of ranks.
  static Result<Wisdom> of_algorithm(std::string_view name, const Registry& registry);

  // Those for a communicator, in the order of the file: the first that fits a call has it.
  std::vector<Choice> choices(CollectiveKind kind, std::int32_t ranks, std::int32_t nodes) const;
  std::uint64_t hash() const { return hash_; } // of what it says: equal on all ranks, or nothing is taken over

 private:
  std::vector<Choice> choices_;
  std::uint64_t hash_ = 0;
};

inline constexpr std::int64_t wisdom_version = 1;

} // namespace kumihimo::interpose
