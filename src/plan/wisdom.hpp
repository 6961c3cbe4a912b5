// What tuning has found: for a collective on so many ranks and nodes, which algorithm to take for which lengths. A
// readable file (docs/wisdom.md); what it does not say is left to the MPI library.
#pragma once

#include "base/result.hpp"
#include "base/size_map.hpp"
#include "collectives/registry.hpp"
#include "problem/wisdom_place.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::plan {

// What a run asks of the order of its reductions; choices for either stand beside each other.
enum class Determinism : std::uint8_t {
  any,
  fixed_order // the bits of a result depend on the ranks' data alone
};

// The ranks of a communicator, as wisdom tells them apart.
struct RankCounts {
  std::int32_t ranks = 0, nodes = 0,
               ranks_per_node = 0; // 0: any in a choice; nodes unlike each other in a communicator
  bool operator==(const RankCounts&) const = default;
};

// Those of a communicator, from what names the node of each of its ranks.
RankCounts count_ranks(std::span<const std::int64_t> node_of_rank);

struct Choice {
  CollectiveKind kind = CollectiveKind::allreduce;
  const Variant* variant = nullptr; // null: the library's own
  std::size_t place = 0;            // of the variant, among the registry's of its collective
  Parameters parameters;
  SizeRange bytes; // of a vector
  RankCounts on;
  Determinism determinism = Determinism::any; // a fixed order is kept at a cost, so only for who asks for it
  double most_of_library = 0; // of its time, at worst, as it was judged; 0: no figure, a person's word or a model's

  bool fits(CollectiveKind wanted, const RankCounts& ranks, Determinism asked) const;
  bool is_for(std::int64_t length) const { return bytes.has(length); }
  // Whether blocks of different lengths lose nothing by it, though only equal ones were judged: with all as long as the
  // longest it takes no more than the library with all as short as the shortest, whose time grows no faster than bytes.
  bool is_sound_for(std::int64_t shortest_bytes, std::int64_t longest_bytes) const;
};

// By the length of the vector, or of the longest block; null where nothing was chosen.
using ChoiceMap = SizeMap<std::shared_ptr<const Choice>>;
// Of the choices that fit a length the first one has it.
ChoiceMap by_size(std::vector<Choice> choices);

// The choice for a call; null: the library's own. `at_any_price`: whatever it loses by blocks of different lengths.
const Choice* choice_for(const ChoiceMap& choices, const Collective& collective, bool at_any_price);

// The choice where each rank knows the lengths of its own blocks alone. Then a choice holds for all lengths or for
// none: it must be the one of all lengths among those that take blocks of any lengths, and of a person or a model,
// since measurements of equal blocks say nothing of these. Null: the library's own.
std::shared_ptr<const Choice> choice_for_local_counts(std::vector<Choice> choices);

class Wisdom {
 public:
  // What a file must be of: the machine and the MPI library of this process.
  struct ThisProcess {
    problem::Fingerprint machine;
    std::string mpi; // first line of the library's version
  };
  using Found = problem::Found;

  // Of a file's text. The error is one sentence for the user, and names the entry: of a newer version, not whole, of
  // another machine or MPI library, an unknown algorithm. A file that names no machine or library is of any.
  static Result<Wisdom> parse(std::string_view text, const Registry& registry, const ThisProcess& here,
                              Found found = Found::named);
  // Algorithms at their defaults, for all lengths and numbers of ranks: a name is for all collectives that have it,
  // collective=name for one; of several, with commas between them, the first that fits a call has it.
  static Result<Wisdom> of_algorithm(std::string_view text, const Registry& registry);

  // The choices for a communicator, in the order of the file.
  std::vector<Choice> choices(CollectiveKind kind, const RankCounts& ranks, Determinism asked = Determinism::any) const;
  std::uint64_t hash() const { return hash_; } // of what it says: equal on all ranks, or nothing is taken over
  std::size_t size() const { return choices_.size(); }

 private:
  Status add_named(std::string_view item, const Registry& registry);
  std::vector<Choice> choices_;
  std::uint64_t hash_ = 0;
};

} // namespace kumihimo::plan
