// Choices of tuning: the algorithm of a collective by its length and by the numbers of ranks and nodes. They are read
// from a file (docs/wisdom.md). The MPI library runs everything else.
#pragma once

#include "base/result.hpp"
#include "base/size_map.hpp"
#include "collectives/registry.hpp"
#include "problem/wisdom_place.hpp"
#include "topology/rank_space.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::plan {

// The order of reductions that a run asks for. A file may have choices for both.
enum class Determinism : std::uint8_t {
  any,
  fixed_order // the bits of a result depend on the ranks' data alone
};

// Numbers of a communicator by which wisdom finds its choices.
struct RankCounts {
  std::int32_t ranks = 0, nodes = 0;
  std::int32_t ranks_per_node = 0; // 0: in a choice any number, in a communicator nodes with different numbers
  std::string shape;               // of the nodes: 3x3x3; empty: in a choice any, in a communicator none that is known
  bool operator==(const RankCounts&) const = default;
};

// The counts of a communicator, from a number for the node of each rank.
RankCounts count_ranks(std::span<const std::int64_t> node_of_rank);

// RankCounts::shape of ranks on nodes whose places are known.
std::string shape_of(const RankSpace& space);

struct WisdomChoice {
  CollectiveKind kind = CollectiveKind::allreduce;
  const Variant* variant = nullptr; // null: the library's own
  std::size_t place = 0;            // of the variant, among the registry's of its collective
  Parameters parameters = on_real_ranks();
  SizeRange bytes; // of a vector
  RankCounts on;
  Determinism determinism = Determinism::any; // a fixed order is kept at a cost, so only for who asks for it
  double most_of_library = 0;      // its time over the library's at worst, as measured; 0: from a person or a model
  bool of_unequal_blocks = false;  // measured with them, and for no others
  bool of_non_blocking = false;    // for non-blocking calls, and for no others
  bool of_user_operations = false; // tuned for a program that reduces by operations of its own

  // Whether the choice is for these ranks and this order.
  bool fits(CollectiveKind wanted, const RankCounts& ranks, Determinism asked) const;
  bool is_for(std::int64_t length) const { return bytes.has(length); }
  // Whether the choice loses nothing with blocks of different lengths, though only equal ones were measured. With all
  // blocks as long as the longest it must take no more time than the library with all as short as the shortest. The
  // library's time grows no faster than the bytes.
  bool is_sound_for(std::int64_t shortest_bytes, std::int64_t longest_bytes) const;
  // Whether it may run reductions by the program's own operations, which cost more than those that were measured.
  bool is_for_user_operations() const { return of_user_operations || most_of_library == 0; }
};

// Choices by the length of the vector, or of the longest block; null where nothing was chosen.
using ChoiceMap = SizeMap<std::shared_ptr<const WisdomChoice>>;
// The first choice that fits a length has it.
ChoiceMap by_size(std::vector<WisdomChoice> choices);

// The choice for a call; null: the library's own. `at_any_price`: whatever it loses by blocks of different lengths.
const WisdomChoice* choice_for(const ChoiceMap& choices, const Collective& collective, bool at_any_price);

// What was chosen for the longest block, the library's own too; null: nothing.
const WisdomChoice* choice_of_longest(const ChoiceMap& choices, const Collective& irregular);

// Removes and returns the choices for unequal blocks, or for non-blocking calls.
std::vector<WisdomChoice> take_choices_of_unequal_blocks(std::vector<WisdomChoice>& choices);
std::vector<WisdomChoice> take_choices_of_non_blocking(std::vector<WisdomChoice>& choices);

// The choice where each rank knows the lengths of its own blocks alone. Then a choice holds for all lengths or for
// none: it must be the one of all lengths among those that take blocks of any lengths, and measured with unequal blocks
// or of a person or a model, since measurements of equal blocks say nothing of these. Null: the library's own.
std::shared_ptr<const WisdomChoice> choice_for_local_counts(std::vector<WisdomChoice> choices);

class Wisdom {
 public:
  // The machine and the MPI library of this process. A file must be made for both.
  struct ThisProcess {
    problem::Fingerprint machine;
    std::string mpi; // first line of the library's version
  };
  using Found = problem::WisdomOrigin;

  // The wisdom of a file's text. The error is one sentence for the user, and names the entry: another version, not
  // whole, made for another machine or MPI library, an unknown algorithm. A file that names no machine or library is
  // for any.
  static Result<Wisdom> parse(std::string_view text, const Registry& registry, const ThisProcess& here,
                              Found found = Found::named);
  // Algorithms at their defaults, for all lengths and numbers of ranks. "ring" is for all collectives that have a ring,
  // "allgather=ring" for one. In a list with commas the first item that fits a call has it.
  static Result<Wisdom> of_algorithm(std::string_view text, const Registry& registry);

  // The choices for a communicator, in the order of the file.
  std::vector<WisdomChoice> choices(CollectiveKind kind, const RankCounts& ranks,
                                    Determinism asked = Determinism::any) const;
  std::uint64_t hash() const { return hash_; } // of the text: if it differs between ranks, no call is taken over
  std::size_t size() const { return choices_.size(); }

 private:
  Status add_named(std::string_view item, const Registry& registry);
  std::vector<WisdomChoice> choices_;
  std::uint64_t hash_ = 0;
};

} // namespace kumihimo::plan
