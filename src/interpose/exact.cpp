#include "interpose/exact.hpp"

#include "kernels/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <vector>

namespace kumihimo::interpose {
namespace {

constexpr std::int64_t piece_bytes = 256 << 10; // of accumulators: they stay in the cache between their three steps

// Elements of a whole piece.
std::int64_t whole_piece(const kernels::ExactKernels& kernels) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(piece_bytes / kernels.bytes)));
}

// The accumulators of the piece at hand; one collective runs at a time in a thread.
Result<std::byte*> accumulators(std::int64_t bytes) {
  thread_local std::vector<std::byte> memory;
  try {
    if (static_cast<std::int64_t>(memory.size()) < bytes) memory.resize(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return failed("256 KiB of memory for exact sums", "less");
  }
  return memory.data();
}

// Of so many accumulators, in place. The type tells the accumulators apart, their length is their own.
Collective question_of(CollectiveKind kind, std::int32_t ranks, DataType type, std::int64_t count, Rank root) {
  Collective c = make_collective(kind, ranks, count, type, Operation::user, root, true);
  c.type_bytes = kernels::find_exact_kernels(type)->bytes;
  c.commutative = true;
  return c;
}

struct Sum {
  const kernels::ExactKernels& kernels;
  const std::byte* input;
  std::byte* output; // unused where the rank gets no result
  std::int64_t count, value_bytes;
  bool gets_result;
};

// A piece of `padded` accumulators, of which the first `count` are those from element `first` on; the others are zero.
Status run_piece(const Sum& sum, std::int64_t first, std::int64_t count, std::int64_t padded, plan::Plan* plan) {
  const Result<std::byte*> memory = accumulators(padded * sum.kernels.bytes);
  if (!memory) return memory.error();
  std::byte* const sums = *memory;
  sum.kernels.expand(sum.input + first * sum.value_bytes, sums, count);
  std::memset(sums + count * sum.kernels.bytes, 0, static_cast<std::size_t>((padded - count) * sum.kernels.bytes));
  if (plan)
    if (Status s = plan->run({sums, sums}); !s) return s;
  if (sum.gets_result) sum.kernels.round(sums, sum.output + first * sum.value_bytes, count);
  return Nothing{};
}

// The plans of a vector's pieces: none is run before all are there.
struct Pieces {
  std::int64_t whole = 1, last = 0; // elements of a piece, and of the last one
  plan::Plan* whole_plan = nullptr;
  plan::Plan* last_plan = nullptr;

  std::int64_t padded_last() const {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(last)));
  }
};

Status run_all(const Sum& sum, const Pieces& pieces) {
  std::int64_t first = 0;
  for (; first + pieces.last < sum.count; first += pieces.whole)
    if (Status s = run_piece(sum, first, pieces.whole, pieces.whole, pieces.whole_plan); !s) return s;
  return run_piece(sum, first, pieces.last, pieces.padded_last(), pieces.last_plan);
}

} // namespace

Result<execute::Reduction> exact_reduction(const Collective& question) {
  const kernels::ExactKernels* const kernels = kernels::find_exact_kernels(question.type);
  if (!kernels) return bad_input("a type with exact sums", std::string(name_of(question.type)));
  return execute::Reduction{nullptr, kernels->merge, nullptr};
}

ExactAnswer take_exact(CollectiveKind kind, Call call) {
  Session* const current = Session::current();
  if (!current || current->reproducible() != Reproducible::exact) [[likely]]
    return {};
  Session& session = *current;
  call.type = session.plain(call.type), call.operation = session.plain(call.operation);
  call.communicator = session.plain(call.communicator);
  const std::optional<DataType> type = session.types().type(call.type);
  if (call.count <= 0 || !type || !is_floating(*type) || session.types().operation(call.operation) != Operation::sum)
    return {};
  Communicator* const communicator = session.communicator(call.communicator);
  const bool rooted = kind == CollectiveKind::reduce;
  if (!communicator || (rooted && (call.root < 0 || call.root >= communicator->ranks()))) return {};

  const kernels::ExactKernels& kernels = *kernels::find_exact_kernels(*type);
  const std::int64_t bytes = call.count * size_of(*type);
  Pieces pieces;
  pieces.whole = whole_piece(kernels);
  pieces.last = (call.count - 1) % pieces.whole + 1;
  const auto plan = [&](std::int64_t count) {
    return communicator->plan(question_of(kind, communicator->ranks(), *type, count, Rank{call.root}));
  };
  if (communicator->ranks() > 1) { // one rank alone only rounds: what it has, but for the bits of a NaN
    const auto last = plan(pieces.padded_last());
    const auto whole = call.count > pieces.whole ? plan(pieces.whole) : last;
    for (const auto* each : {&last, &whole})
      if (const Reason* reason = std::get_if<Reason>(each)) {
        session.tally().handed_on(index_of(kind), bytes, *reason);
        return {true, std::nullopt};
      }
    pieces.last_plan = std::get<Communicator::Ready>(last).plan;
    pieces.whole_plan = std::get<Communicator::Ready>(whole).plan;
  }
  session.tally().ran(index_of(kind), bytes, session.place_of_exact_sums());
  const bool gets_result = !rooted || communicator->rank() == call.root;
  const void* input = call.send == session.library().constants.in_place && gets_result ? call.receive : call.send;
  const Sum sum{kernels,
                static_cast<const std::byte*>(input),
                static_cast<std::byte*>(call.receive),
                call.count,
                size_of(*type),
                gets_result};
  const Status done = run_all(sum, pieces);
  return {true, done ? 0 : session.raise(done.error(), call.communicator)};
}

} // namespace kumihimo::interpose
