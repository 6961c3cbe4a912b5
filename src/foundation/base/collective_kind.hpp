// What a collective means: one row of collectives.def each, from which everything else follows.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kumihimo {

enum class WhichRanks : std::uint8_t { none, root, all };
enum class Part : std::uint8_t { nothing, vector, block, each };
enum class Combined : std::uint8_t { moved, reduced };
enum class Contributors : std::uint8_t { nobody, root, all, up_to_itself, before_itself, sources };

// Who knows how many elements the blocks of a collective have.
enum class Known : std::uint8_t {
  uniform, // every block has `each` elements
  global,  // block b has table[b]; every rank knows all (allgatherv)
  local,   // rank a sends table[a * ranks + b] to b; a rank knows its row and its column (alltoallv)
  rooted,  // block b has table[b]; the root knows all, others their own (gatherv)
  // Rank r has table[r] for each of its destinations (neighbor_allgatherv), or table[destinations_before(r) + k] for
  // its k-th (neighbor_alltoallv); a rank knows what it sends and gets.
  neighbours
};

struct CollectiveRow {
  struct Side {
    WhichRanks whose = WhichRanks::none;
    Part part = Part::nothing;
  };
  std::string_view name;
  Side input, output;
  Combined combined = Combined::moved;
  Contributors from = Contributors::nobody;
  Known irregular = Known::uniform; // who knows the counts of its v-form; uniform: it has none
  std::size_t index = 0;            // in all_collectives; a program's own row takes a larger one, of its own

  constexpr bool moves_data() const { return output.part != Part::nothing; }
  constexpr bool reduces() const { return combined == Combined::reduced; }
  constexpr bool is_vector() const { return output.part == Part::vector; } // it is about one vector, not about blocks
  constexpr bool has_root() const { return input.whose == WhichRanks::root || output.whose == WhichRanks::root; }
  // Whether each rank exchanges blocks with its neighbours alone.
  constexpr bool of_neighbours() const { return from == Contributors::sources; }
  constexpr bool sends_to_each() const { return input.part == Part::each; }
  constexpr bool receives_from_each() const { return output.part == Part::each; }
  // Whether each pair of ranks has a block of its own.
  constexpr bool of_pairs() const { return !reduces() && sends_to_each() && receives_from_each(); }
  // Whether the order of the ranks decides who contributes (scans).
  constexpr bool of_prefixes() const {
    return from == Contributors::up_to_itself || from == Contributors::before_itself;
  }
  // Whether all ranks that have a result have the same one.
  constexpr bool gives_all_the_same() const {
    return !sends_to_each() && output.part != Part::block && !of_prefixes() && !of_neighbours();
  }
  // Of a broadcast input and output are one memory, always; among neighbours MPI has no form in place.
  constexpr bool has_one_buffer() const { return is_vector() && !reduces(); }
  constexpr bool may_be_in_place() const { return moves_data() && !has_one_buffer() && !of_neighbours(); }
  // Where in place the result lies in the root's input, rather than the input in the output.
  constexpr bool is_in_place_by_receiver() const { return input.whose == WhichRanks::root; }
};

// A row and its index. Kinds are compared by the index: each Python module has a copy of the table, at other addresses.
// The rows of the library are named here. A program may ask for a collective of its own by a row of its own.
class CollectiveKind {
 public:
  constexpr CollectiveKind();
  constexpr explicit CollectiveKind(const CollectiveRow& meaning) : row_(&meaning), index_(meaning.index) {}
  constexpr const CollectiveRow* operator->() const { return row_; }
  constexpr const CollectiveRow& operator*() const { return *row_; }
  constexpr std::size_t index() const { return index_; }
  constexpr bool operator==(const CollectiveKind& other) const { return index_ == other.index_; }
  constexpr std::strong_ordering operator<=>(const CollectiveKind& other) const { return index_ <=> other.index_; }

#define COLLECTIVE(name, ...) static const CollectiveKind name;
#define MPI_CALL(...)
#include "base/collectives.def"
#undef COLLECTIVE
#undef MPI_CALL

 private:
  const CollectiveRow* row_;
  std::size_t index_;
};

namespace collective_rows {

enum CollectiveIndex : std::size_t {
#define COLLECTIVE(name, ...) at_##name,
#define MPI_CALL(...)
#include "base/collectives.def"
#undef COLLECTIVE
  number
};
#define COLLECTIVE(name, whose_input, sent, whose_output, received, combined, from, irregular)                         \
  inline constexpr CollectiveRow name{#name,                                                                           \
                                      {WhichRanks::whose_input, Part::sent},                                           \
                                      {WhichRanks::whose_output, Part::received},                                      \
                                      Combined::combined,                                                              \
                                      Contributors::from,                                                              \
                                      Known::irregular,                                                                \
                                      at_##name};
#include "base/collectives.def"
#undef COLLECTIVE

} // namespace collective_rows

#define COLLECTIVE(name, ...) inline constexpr CollectiveKind CollectiveKind::name{collective_rows::name};
#include "base/collectives.def"
#undef COLLECTIVE
constexpr CollectiveKind::CollectiveKind() : CollectiveKind(collective_rows::barrier) {}

inline constexpr std::size_t collective_kinds = collective_rows::number;
inline constexpr std::array<CollectiveKind, collective_kinds> all_collectives = {
#define COLLECTIVE(name, ...) CollectiveKind::name,
#include "base/collectives.def"
#undef COLLECTIVE
#undef MPI_CALL
};

// A call of MPI that asks for a collective.
enum class Lengths : std::uint8_t { equal, lists, types }; // of blocks
enum class LengthsOf : std::uint8_t { agreed, own };
struct MpiCall {
  CollectiveKind kind;
  std::string_view blocking, nonblocking; // without MPI_
  Lengths lengths;
  LengthsOf of;
};
inline constexpr std::array mpi_calls = {
#define COLLECTIVE(...)
#define MPI_CALL(kind, blocking, nonblocking, lengths, of)                                                             \
  MpiCall{CollectiveKind::kind, #blocking, #nonblocking, Lengths::lengths, LengthsOf::of},
#include "base/collectives.def"
#undef COLLECTIVE
#undef MPI_CALL
};

constexpr std::string_view name_of(CollectiveKind kind) { return kind->name; } // "allreduce"

} // namespace kumihimo
