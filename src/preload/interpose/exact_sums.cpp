#include "interpose/exact_sums.hpp"

#include "interpose/collective_of_call.hpp"
#include "interpose/device_memory.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/packed.hpp"
#include "kernels/exact_sum.hpp"

#include <unistd.h>

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::interpose {
namespace {

constexpr std::int64_t piece_bytes = 256 << 10; // of accumulators: they stay in the cache between their three steps
constexpr std::int64_t most_bytes_at_once = 16 << 20; // of a non-blocking sum

std::int64_t whole_piece(const kernels::ExactKernels& kernels) { // elements
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(piece_bytes / kernels.bytes)));
}

// Rounds up to a power of two, filled with zeros, so that there are few lengths and few plans.
std::int64_t padded(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

// A sum on this rank: its addends and its result.
struct Sum {
  Interposer* interposer = nullptr;
  Communicator* communicator = nullptr;
  mpi::Handle handle = 0; // of the communicator
  CollectiveKind kind = CollectiveKind::allreduce;
  CallForm form = CallForm::blocking;
  DataType type = DataType::float64;
  const kernels::ExactKernels* kernels = nullptr;
  Rank root{0};
  const std::byte* input = nullptr;
  std::byte* output = nullptr; // null: the result is another rank's
  std::int64_t count = 0;
  std::shared_ptr<Packed> packed = {}; // in place of buffers on a device

  std::int64_t bytes() const { return count * size_of(type); }

  Status leave_device() {
    const bool from = DeviceMemory::holds(input), to = output && DeviceMemory::holds(output);
    if (!from && !to) [[likely]]
      return Nothing{};
    const mpi::Handle byte = interposer->library().constants.byte;
    packed = std::make_shared<Packed>(interposer->library(), interposer->alone());
    const Elements addends{const_cast<std::byte*>(input), bytes(), byte}, sums{output, bytes(), byte};
    if (to) packed->unpack_to(sums, output = packed->make(bytes()));
    if (!from) return Nothing{};
    std::byte* const data = packed->make(bytes());
    input = data;
    return packed->pack(addends, data);
  }
  Status return_to_device() const { return packed ? packed->unpack() : Status(Nothing{}); }

  void expand(std::int64_t first, std::int64_t number, std::byte* sums) const {
    kernels->expand(input + first * size_of(type), sums, number);
    const std::int64_t filling = (padded(number) - number) * kernels->bytes;
    std::memset(sums + number * kernels->bytes, 0, static_cast<std::size_t>(filling));
  }
  void round(std::int64_t first, std::int64_t number, const std::byte* sums) const {
    if (output) kernels->round(sums, output + first * size_of(type), number);
  }

  // An in-place reduction of accumulators.
  Collective collective(std::int64_t number) const {
    Collective c = make_collective(kind, communicator->ranks(), number, type, Operation::user, root, true);
    c.type_bytes = kernels->bytes;
    c.commutative = true;
    return c;
  }
};

std::optional<Sum> sum_of(Interposer& interposer, CollectiveKind kind, const BufferArguments& call, CallForm form) {
  if (!kind->reduces() || !kind->is_vector() || kind->of_prefixes()) return std::nullopt;
  const mpi::NamedType* const type = interposer.types().find(interposer.plain(call.send.type));
  if (call.send.count <= 0 || !type || !is_floating(type->type)) return std::nullopt;
  const kernels::ExactKernels* const kernels = kernels::find_exact_kernels(type->type);
  if (limited_bytes(call.send.count, type->each * kernels->bytes) >= most_bytes / 2)
    return std::nullopt; // rounded up, still a number
  if (interposer.types().operation(interposer.plain(call.operation)) != Operation::sum) return std::nullopt;
  Sum sum{&interposer, nullptr, interposer.plain(call.communicator), kind, form, type->type};
  bool between = false;
  if (form == CallForm::blocking) interposer.meet(sum.handle);
  sum.communicator =
      form == CallForm::blocking ? interposer.communicator(sum.handle) : interposer.known(sum.handle, between);
  const bool rooted = kind->has_root();
  if (!sum.communicator || (rooted && (call.root < 0 || call.root >= sum.communicator->ranks()))) return std::nullopt;
  if (rooted) sum.root = Rank{call.root};
  sum.kernels = kernels;
  sum.count = call.send.count * type->each;
  const bool gets_result = !rooted || sum.communicator->rank() == call.root;
  if (gets_result) sum.output = static_cast<std::byte*>(call.receive.buffer);
  const bool in_place = gets_result && call.send.buffer == interposer.library().constants.in_place;
  sum.input = static_cast<const std::byte*>(in_place ? call.receive.buffer : call.send.buffer);
  return sum;
}

// An error of this rank while the others run their part: the transport tells them.
ExactAnswer raised(const Sum& sum, const Error& error) {
  if (transport::Transport* const transport = sum.communicator->transport())
    sum.interposer->nonblocking().abandon(*transport, error);
  return {true, sum.interposer->raise(error, sum.handle)};
}

// The plan of an answer; null: the library runs the sum.
Result<plan::Plan*> plan_in(const Sum& sum, const Communicator::Answer& answer) {
  if (const Error* error = std::get_if<Error>(&answer)) return *error;
  const Reason* const reason = std::get_if<Reason>(&answer);
  if (!reason) return std::get<Communicator::Ready>(answer).plan;
  if (*reason == Reason::not_connected) sum.interposer->want(sum.handle);
  sum.interposer->counters().forwarded(counted_as(sum.kind, sum.form), sum.bytes(), *reason);
  return nullptr;
}

void count(const Sum& sum) {
  sum.interposer->counters().ran(counted_as(sum.kind, sum.form), sum.bytes(), place_of_exact_sums);
}

// The accumulators of the piece at hand: one blocking collective runs at a time in a thread.
std::byte* accumulators(std::int64_t bytes) {
  // Freed at the end of a thread, but for the first: it may still call MPI when its objects are gone, from those that a
  // program has for good.
  struct ThreadBuffer {
    std::vector<std::byte>* memory = new std::vector<std::byte>;
    ~ThreadBuffer() {
      if (gettid() != getpid()) delete memory;
    }
  };
  thread_local ThreadBuffer kept;
  std::vector<std::byte>& memory = *kept.memory;
  if (static_cast<std::int64_t>(memory.size()) < bytes) memory.resize(static_cast<std::size_t>(bytes));
  return memory.data();
}

Status run_piece(const Sum& sum, std::int64_t first, std::int64_t number, plan::Plan* plan) {
  std::byte* const sums = accumulators(padded(number) * sum.kernels->bytes);
  sum.expand(first, number, sums);
  if (plan)
    if (Status s = sum.interposer->run(*sum.communicator, sum.handle, *plan, {sums, sums}); !s) return s;
  sum.round(first, number, sums);
  return Nothing{};
}

// True: it was run, or started; false: it is the library's.
Result<bool> run(Sum& sum) {
  const std::int64_t piece = whole_piece(*sum.kernels), last = (sum.count - 1) % piece + 1;
  std::optional<Communicator::Answer> at_last, at_first; // which keep their plans
  plan::Plan *piece_plan = nullptr, *last_plan = nullptr;
  if (sum.communicator->ranks() > 1) { // one rank alone only rounds: what it has, but for the bits of a NaN
    // Both before either runs: of a vector in place its addends are gone once its first piece is summed.
    at_last = sum.communicator->plan(sum.collective(padded(last)));
    at_first = sum.count > piece ? sum.communicator->plan(sum.collective(piece)) : at_last;
    last_plan = TRY(plan_in(sum, *at_last));
    if (last_plan) piece_plan = TRY(plan_in(sum, *at_first));
    if (!piece_plan) return false;
  }
  count(sum);
  if (Status s = sum.leave_device(); !s) return s.error();
  std::int64_t first = 0;
  for (; first + last < sum.count; first += piece)
    if (Status s = run_piece(sum, first, piece, piece_plan); !s) return s.error();
  if (Status s = run_piece(sum, first, last, last_plan); !s) return s.error();
  if (Status s = sum.return_to_device(); !s) return s.error();
  return true;
}

Result<bool> start(Sum& sum, mpi::Handle& request) {
  const std::int64_t number = padded(sum.count), bytes = number * sum.kernels->bytes;
  const Communicator::Answer answer = bytes > most_bytes_at_once ? Communicator::Answer(Reason::too_long)
                                                                 : sum.communicator->plan_alone(sum.collective(number));
  plan::Plan* const plan = TRY(plan_in(sum, answer));
  if (!plan) return false;
  count(sum);
  if (Status s = sum.leave_device(); !s) return s.error();
  const std::shared_ptr<std::byte[]> sums(new std::byte[static_cast<std::size_t>(bytes)]);
  sum.expand(0, sum.count, sums.get());
  PlannedWork work{plan,
                   sum.communicator->transport(),
                   &sum.communicator->queue(),
                   {sums.get(), sums.get()},
                   sum.handle,
                   [sums, sum, kept = std::get<Communicator::Ready>(answer).kept]() -> Status {
                     sum.round(0, sum.count, sums.get());
                     return sum.return_to_device();
                   }};
  request = TRY(sum.interposer->nonblocking().start(std::move(work)));
  return true;
}

// Only this rank finds a lack of memory, when the sum is already decided to be ours.
template <class F>
ExactAnswer answer_of(const Sum& sum, F&& carry_out) {
  const Result<bool> ours = attempted(carry_out, [] { return Result<bool>(out_of_memory()); });
  if (!ours) return raised(sum, ours.error());
  return {true, *ours ? std::optional(0) : std::nullopt};
}

} // namespace

ExactAnswer run_exact(Interposer& interposer, CollectiveKind kind, const BufferArguments& call) {
  std::optional<Sum> sum = attempted([&] { return sum_of(interposer, kind, call, CallForm::blocking); },
                                     [] { return std::optional<Sum>(); });
  if (!sum) return {};
  return answer_of(*sum, [&] { return run(*sum); });
}

ExactAnswer start_exact(Interposer& interposer, CollectiveKind kind, const BufferArguments& call,
                        mpi::Handle& request) {
  std::optional<Sum> sum = attempted([&] { return sum_of(interposer, kind, call, CallForm::nonblocking); },
                                     [] { return std::optional<Sum>(); });
  if (!sum || sum->communicator->ranks() == 1) return {}; // alone: a copy
  return answer_of(*sum, [&] { return start(*sum, request); });
}

} // namespace kumihimo::interpose
