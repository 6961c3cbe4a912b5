// A collective operation, which a schedule performs. It says what every rank holds at first and must hold at the end,
// never how.
#pragma once

#include "base/collective_kind.hpp"
#include "base/datatype.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "program/data_layout.hpp"
#include "schedule/neighbourhood.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace kumihimo {

Result<CollectiveKind> parse_collective(std::string_view name);

// How many elements the blocks of a collective have, and who knows it.
struct Counts {
  using Known = kumihimo::Known;
  Known known = Known::uniform;
  std::int64_t each = 0; // elements of a block; the mean of irregular blocks, for messages only
  std::shared_ptr<const std::vector<std::int64_t>> table;
  // The counts of this rank's blocks if no rank knows the table. Such a schedule makes programs for this rank only.
  std::shared_ptr<const OwnBlocks> own = {};

  bool irregular() const { return known != Known::uniform; }
};

struct Collective {
  CollectiveKind kind = CollectiveKind::allreduce;
  std::int32_t ranks = 1;
  Counts counts; // vectors (bcast, reduce, allreduce, scan, exscan) have counts.each elements
  DataType type = DataType::float64;
  std::int64_t type_bytes = 8; // size of one element, for opaque types too
  Operation operation = Operation::sum;
  bool commutative = true; // of `operation`; false asks for schedules that keep rank order
  Rank root{0};
  bool in_place = false;                           // bcast always is
  std::shared_ptr<const Neighbourhood> neighbours; // of a collective of neighbours

  Bytes bytes() const { return Bytes{counts.each * type_bytes}; }
  bool has_root() const { return kind->has_root(); }
  bool reduces() const { return kind->reduces(); }
  // Whether rank's input is the same memory as its output (as in MPI: at the root alone for reduce, gather, scatter).
  bool aliased(Rank rank) const;
  // The most blocks of any rank's input or output.
  std::int32_t most_blocks() const;
};

// An n-element collective of the built-in types; type_bytes and commutative follow. Neighbours, unless others are
// given, are those of a ring of all ranks.
Collective make_collective(CollectiveKind kind, std::int32_t ranks, std::int64_t count,
                           DataType type = DataType::float64, Operation operation = Operation::sum, Rank root = Rank{0},
                           bool in_place = false);

// The same collective, of equal blocks, of other neighbours.
Result<Collective> with_neighbours(Collective collective, std::shared_ptr<const Neighbourhood> neighbours);

// The same collective of irregular blocks: the v-form. `table` is as Counts says for its kind; only in alltoall does it
// have an entry for each pair.
Result<Collective> with_counts(Collective collective, std::vector<std::int64_t> table);

// The same collective as one rank has it: of blocks of that rank, none of which are known yet. Of a collective that has
// irregular counts which not every rank knows.
Collective with_local_counts(Collective collective, Rank rank);

// Counts that are hard on algorithms, for collectives of about `each` elements a block.
//   zeros: two of three blocks are empty      one_huge: one block has all, the others one element each at most
//   ramp: from nothing to twice the mean      random:SEED: up to twice the mean, a quarter of them empty
// In place alltoall sends back as much as it gets, so its counts are symmetric.
Result<std::vector<std::int64_t>> spread_counts(std::string_view spread, const Collective& collective);

// Elements of block `block` of a rank's input or output, in a collective of neighbours; 0 of nobody's, in the v-forms.
std::int64_t elements_to(const Collective& collective, Rank rank, std::int64_t destination);
std::int64_t elements_from(const Collective& collective, Rank rank, std::int64_t source);

} // namespace kumihimo
