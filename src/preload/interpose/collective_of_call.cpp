#include "interpose/collective_of_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace kumihimo::interpose {
namespace {

using CollectiveOrReason = std::variant<Collective, Reason>;

// The length of a vector or of the longest block, in elements; of blocks of different lengths they stay the call's.
struct Length {
  std::int64_t count = 0;
  RankNumbers counts = {}; // where they differ
};
Length length_of(const BufferArguments& call, const BufferSide& side, std::int32_t ranks) {
  const RankNumbers& counts = call.counts ? call.counts : side.counts;
  if (!counts) return {side.count};
  Length length{counts[0]};
  for (std::int32_t r = 1; r < ranks; ++r) {
    if (counts[r] != counts[0]) length.counts = counts;
    length.count = std::max(length.count, counts[r]); // none is longer, and all are empty where it is
  }
  return length;
}

// `each`: what a count of the call's is, in elements of the collective.
CollectiveOrReason with_lengths(Collective c, const Length& length, std::int64_t each) {
  if (!length.counts) return c;
  std::vector<std::int64_t> table;
  for (std::int32_t r = 0; r < c.ranks; ++r) table.push_back(length.counts[r] * each);
  Result<Collective> irregular = with_counts(std::move(c), std::move(table));
  if (!irregular) return Reason::no_plan;
  return *irregular;
}

} // namespace

std::int64_t limited_bytes(std::int64_t count, std::int64_t each) {
  std::int64_t bytes = 0;
  return __builtin_mul_overflow(count, each, &bytes) ? most_bytes : std::min(bytes, most_bytes);
}

CollectiveOrReason collective_of_call(const mpi::Library& library, const mpi::Types& types, CollectiveKind kind,
                                      const BufferArguments& call, const RankBuffers& view, std::int32_t ranks) {
  const Rank root{kind->has_root() ? call.root : 0};
  const BufferSide* const side = view.length();
  if (!side) return make_collective(kind, ranks, 0, DataType::uint8);
  const Length length = length_of(call, *side, ranks);
  const auto is_too_long = [&](std::int64_t each) {
    return limited_bytes(limited_bytes(length.count, each), kind->is_vector() ? 1 : ranks) >= most_bytes;
  };
  const std::optional<Operation> operation = kind->reduces() ? types.operation(call.operation) : std::nullopt;
  if (operation) {
    if (length.count == 0) return Reason::empty;
    const mpi::NamedType* const type = types.find(side->type);
    if (!type) return Reason::other_type;
    if (!type->may(*operation)) return Reason::other_op;
    if (is_too_long(type->bytes())) return Reason::no_plan;
    return with_lengths(make_collective(kind, ranks, length.count * type->each, type->type, *operation, root), length,
                        type->each);
  }
  long long size = 0;
  if (library.call.Type_size_x(side->type, &size) != 0 || size < 0) return Reason::other_type;
  if (length.count == 0 || size == 0) return Reason::empty;
  // Longer than the library can pack in one piece, which a rank may need.
  if (is_too_long(size) || limited_bytes(length.count, size) > std::numeric_limits<int>::max()) return Reason::no_plan;
  if (kind->reduces()) {
    Collective by_user = make_collective(kind, ranks, length.count, DataType::opaque, Operation::user, root);
    by_user.type_bytes = size;
    by_user.commutative = true; // else the call is the library's
    return with_lengths(std::move(by_user), length, 1);
  }
  return with_lengths(make_collective(kind, ranks, length.count * size, DataType::uint8, Operation::sum, root), length,
                      size);
}

} // namespace kumihimo::interpose
