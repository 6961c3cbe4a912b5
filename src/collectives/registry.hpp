// The registry of algorithms (ADR 0004: one typed registry). A row is all that the verifier, the simulator, the
// executors, the documentation, the command and the conformance tests need to pick an algorithm up; none of them knows
// a name.
#pragma once

#include "base/size_map.hpp"
#include "collectives/formula.hpp"
#include "collectives/parameters.hpp"
#include "schedule/schedule.hpp"
#include "topology/rank_space.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kumihimo {

// Promise about a result's bits, where an operation rounds, so that another order gives other bits. `verify` tests the
// first for each schedule; the second is its dataflow: one order for every interleaving; the third is tested for the
// registry, by comparing the orders on different shapes.
struct Guarantees {
  bool same_on_all_ranks = true;          // every rank that has the result has the same bits
  bool same_from_run_to_run = true;       // whenever messages arrive
  bool independent_of_placement = false;  // the order goes by rank numbers, whatever the shape of the ranks
  bool independent_of_rank_count = false; // the same contributions, spread over more or fewer ranks
  constexpr bool operator==(const Guarantees&) const = default;
};

// Guarantees of an algorithm whose operands' order goes by rank numbers.
inline constexpr Guarantees by_rank_numbers{.independent_of_placement = true};
// The same of a scan, where each rank has a result of its own.
inline constexpr Guarantees of_prefixes{.same_on_all_ranks = false, .independent_of_placement = true};

// Where the number of messages stops deciding and the bytes of each begin to. No result depends on it.
inline constexpr SizeRange short_messages{.to = 16 << 10}, long_messages{.from = short_messages.to + 1};

// One algorithm for one collective: a line of algorithms.def, which names both, and a row in a page: that of the
// algorithm, src/collectives/<collective>/<name>.cpp, or that of its family, src/collectives/families/<family>.cpp.
struct Variant {
  // One of parameters.def, with its default here: {parameter::window, 4}, {parameter::trees, DerivedDefault{"d"}}.
  struct Parameter : Taken<ParameterDeclaration, ParameterDefault> {
    Parameter(const ParameterDeclaration& declared, ParameterDefault value, std::optional<CollectiveKind> only = {})
        : Taken{&declared, std::move(value)}, only_for(only) {}
    std::optional<CollectiveKind> only_for; // the one collective that takes it, of those that share the row
    std::vector<CollectiveKind> parts = {}; // of a choice: what the algorithm that it names must do
  };
  std::string name = {}; // snake_case, the literature's word
  CollectiveKind kind = CollectiveKind::allreduce;
  std::string summary; // one line
  Cost cost;
  std::string reference; // paper, section
  std::vector<Parameter> parameters;
  std::string equal_counts; // why blocks whose lengths not every rank knows do not fit, if they do not
  std::string all_counts;   // why each rank must know the lengths of all blocks, where a rank of MPI's need not, if so
  bool offloads = false;    // needs a network's own engine, which some machines have and no MPI library gives
  bool extension = false;   // our own, of a published algorithm: reported beside the comparison, not in it
  Guarantees rounding;      // of reductions that round; others give the same bits in any order
  // The bytes for which it runs by default where a fixed order is asked for: of one algorithm of a collective each.
  std::optional<SizeRange> reproducible = {};

  // The schedule, or why there is none: `not_applicable` with the reason, or bad input. All parameters whose default is
  // a value are given.
  std::function<Result<Schedule>(const Collective&, const RankSpace&, const Parameters&)> recipe;

  // Whether the row names the parameter, or the one that it is an alternative to. Every row takes hints.
  bool takes(const ParameterDeclaration& parameter) const;
  // Error in parameters, whatever the collective, in one sentence: one that this algorithm does not take
  // (`not_applicable`), a number out of range, a part by an algorithm that is none (bad input).
  Status check(const Parameters& parameters) const;
  Parameters with_defaults(Parameters given) const; // those of the row that are values

  // recipe(), after the checks that every algorithm needs: ranks agree, root in range, parameters known and positive,
  // bytes that fit, operations applicable to the type, rank order where the operation does not commute. One rank alone
  // copies.
  Result<Schedule> build(const Collective& collective, const RankSpace& space, const Parameters& parameters = {}) const;

  // For this collective: all of them where nothing is reduced, or where the operation associates in bits.
  Guarantees guarantees(const Collective& collective) const;
};

// The row of each algorithm, defined by its page.
#define ALGORITHM(collective, name)                                                                                    \
  namespace collective##_##name {                                                                                      \
    Variant row();                                                                                                     \
  }
#include "collectives/algorithms.def"
#undef ALGORITHM

class Registry {
 public:
  static const Registry& standard(); // every algorithm of the library, by collective and then by name

  void add(Variant variant) { variants_.push_back(std::move(variant)); }
  const std::vector<Variant>& variants() const { return variants_; }
  std::vector<const Variant*> variants(CollectiveKind kind) const;
  Result<const Variant*> find(CollectiveKind kind, std::string_view name) const; // the error names the nearest

 private:
  std::vector<Variant> variants_;
};

// Error in a collective, whatever the algorithm; Variant::build() checks it first. A root or an operation that the
// collective does not take, bytes that do not fit, segments of less than an element.
Status check_collective(const Collective& collective, const RankSpace& space, const Parameters& parameters = {});

// Choice of an algorithm where the caller asked for no segments.
enum class Pipelining : std::uint8_t { machine_segments, whole_message };

// The number of segments for a vector cut in `lane_parts` equal lanes: asked for, or from the segment size; one where
// there is no more than an element each.
Result<Segments> choose_segments(const Collective& collective, const Parameters& parameters, std::int64_t lane_parts,
                                 Pipelining unasked = Pipelining::machine_segments);

} // namespace kumihimo
