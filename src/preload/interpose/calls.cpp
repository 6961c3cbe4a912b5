#include "interpose/calls.hpp"

#include "interpose/arguments.hpp"
#include "interpose/collective_of_call.hpp"
#include "interpose/device_memory.hpp"
#include "interpose/exact_sums.hpp"
#include "interpose/layout.hpp"
#include "interpose/local_counts.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/packed.hpp"
#include "interpose/repeated_call.hpp"
#include "mpi_hooks/fast_path.hpp"
#include "mpi_transport/library_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

namespace kumihimo::interpose {
namespace {

// A call that is being decided on.
struct RequestedCall {
  Interposer& interposer;
  CollectiveKind kind;
  CallForm form;
  mpi_hooks::Counter*& fast_path;

  std::nullopt_t hand_on(std::int64_t bytes, Reason reason) const {
    interposer.counters().forwarded(counted_as(kind, form), bytes, reason);
    return std::nullopt;
  }
  // The same, if the next call with these arguments, other than buffers, is forwarded for the same reason.
  std::nullopt_t hand_on_for_good(std::int64_t bytes, Reason reason, const BufferArguments& call) const;
  // Whether the decision on a call holds for the next one with the same arguments.
  bool will_hold(const BufferArguments& call) const;
};

// A call with a plan.
struct SupportedCall {
  Interposer* interposer = nullptr;
  Communicator* communicator = nullptr;
  plan::Plan* plan = nullptr;
  execute::Buffers buffers;
  std::shared_ptr<Packed> packed; // if the data of this rank are not contiguous
  mpi_hooks::Counter* counter = nullptr;
  std::shared_ptr<plan::Plan> held = {}; // `plan`, if this call must keep it alive
  std::optional<mpi_transport::LibraryReduction> user_operation = {};

  bool packs_elements() const { return user_operation && user_operation->is_packed(); }
};

// False for a type that the program may free: another one may get its handle.
bool RequestedCall::will_hold(const BufferArguments& call) const {
  if (!interposer.lets_pass() || call.has_counts()) return false;
  return !kind->moves_data() || (interposer.types().find(call.send.type) && interposer.types().find(call.receive.type));
}

std::nullopt_t RequestedCall::hand_on_for_good(std::int64_t bytes, Reason reason, const BufferArguments& call) const {
  mpi_hooks::Counter& counter = interposer.counters().forwarded(counted_as(kind, form), bytes, reason);
  if (will_hold(call)) fast_path = &counter;
  return std::nullopt;
}

// The communicator of a call; null: the call is forwarded. A non-blocking call on a new one of several ranks asks for
// its set-up.
Communicator* communicator_of(const RequestedCall& asked, const BufferArguments& call) {
  Interposer& interposer = asked.interposer;
  const auto may_set_up = [&] {
    std::int32_t ranks = 0;
    return asked.form == CallForm::blocking ||
           (interposer.library().call.Comm_size(call.communicator, &ranks) == 0 && ranks == 1);
  };
  if (asked.form == CallForm::blocking) interposer.meet(call.communicator);
  bool between = false;
  Communicator* found = interposer.known(call.communicator, between);
  if (!found && mpi_hooks::ProgramSessions::made_communicator(call.communicator))
    return asked.hand_on(0, Reason::session), nullptr;
  if (!found && !between && may_set_up()) {
    found = interposer.communicator(call.communicator);
    between = !found;
  }
  if (found) return found;
  if (!between) interposer.want(call.communicator);
  asked.hand_on(0, between ? Reason::between : Reason::not_connected);
  return nullptr;
}

// The address of a side's first block.
void* first_address(const Interposer& interposer, const BufferSide& side) {
  if (!side.counts || !side.displacements || side.types) return side.buffer;
  return part(interposer.library(), {side.buffer, 0, interposer.plain(side.type)}, side.displacements[0], 0).first;
}

bool is_on_device(const Interposer& interposer, const RankBuffers& view) {
  if (!DeviceMemory::is_possible()) [[likely]]
    return false;
  const std::array sides{view.sent, view.received, view.both};
  return std::any_of(sides.begin(), sides.end(), [&](const BufferSide* side) {
    return side && DeviceMemory::holds(first_address(interposer, *side));
  });
}

// The plan of a call, counted; or nothing, and it has been handed on, or has failed with an error of ours.
struct Planned {
  plan::Plan* plan = nullptr;
  std::shared_ptr<plan::Plan> kept = {};
  mpi_hooks::Counter* counter = nullptr;
  std::optional<Error> error = {};
};
Planned plan_of(const RequestedCall& asked, Communicator& communicator, const BufferArguments& call,
                const Collective& collective, bool on_device) {
  const std::int64_t bytes = collective.bytes().value;
  Communicator::Answer answer =
      asked.form == CallForm::blocking ? communicator.plan(collective, on_device) : communicator.plan_alone(collective);
  if (const Error* error = std::get_if<Error>(&answer)) return {.error = *error};
  if (const Reason* reason = std::get_if<Reason>(&answer)) {
    if (*reason == Reason::not_connected) asked.interposer.want(call.communicator);
    if (*reason == Reason::not_chosen || *reason == Reason::device)
      asked.hand_on_for_good(bytes, *reason, call);
    else
      asked.hand_on(bytes, *reason);
    return {};
  }
  if (on_device) asked.interposer.counters().packed_from_device();
  auto& ready = std::get<Communicator::Ready>(answer);
  mpi_hooks::Counter& counter =
      asked.interposer.counters().ran(counted_as(asked.kind, asked.form), bytes, ready.variant);
  return {ready.plan, std::move(ready.kept), &counter, std::nullopt};
}

using Answer = std::optional<Result<SupportedCall>>; // nothing: handed on

// The bytes of a block for the counters; of the first one if they differ.
std::int64_t bytes_of(const RequestedCall& asked, const BufferArguments& call, const RankBuffers& view) {
  const BufferSide* const side = view.length();
  if (!side) return 0;
  const RankNumbers& counts = call.counts ? call.counts : side->counts;
  if (counts && asked.kind->of_neighbours()) return 0; // of which there may be none
  const std::int64_t count = counts ? counts[0] : side->count;
  if (count <= 0) return 0;
  const mpi::Handle one = side->types ? asked.interposer.plain(side->types[0]) : side->type;
  if (const mpi::NamedType* type = asked.interposer.types().find_dense(one)) return limited_bytes(count, type->bytes());
  long long size = 0;
  const bool by_user = asked.kind->reduces() && !asked.interposer.types().operation(call.operation);
  const bool known = (!asked.kind->reduces() || by_user) && one != asked.interposer.library().constants.datatype_null &&
                     asked.interposer.library().call.Type_size_x(one, &size) == 0;
  return known ? limited_bytes(count, std::max(0LL, size)) : 0;
}

// The sides of a call that need no packing.
struct Dense {
  bool sent, received, both;
};
Dense dense_sides(const SupportedCall& taken, const RankBuffers& view, const Collective& collective) {
  const Interposer& interposer = *taken.interposer;
  const CollectiveRow& m = *collective.kind;
  const auto is = [&](const BufferSide* side, bool of_each) {
    if (side && DeviceMemory::holds(first_address(interposer, *side))) return false;
    if (side && m.reduces()) return !taken.packs_elements(); // a pair with holes is one element
    if (!side || interposer.types().find_dense(side->type)) return true;
    return is_dense(interposer.library(), side->type, collective.bytes().value * (of_each ? collective.ranks : 1));
  };
  return {is(view.sent, m.sends_to_each()), is(view.received, m.receives_from_each()),
          is(view.both, m.sends_to_each() || m.receives_from_each())};
}

// Whether blocks of different lengths are contiguous and in order.
bool lies_in_order(const RankBuffers& view, std::int32_t ranks) {
  const BufferSide* const side = view.length();
  if (!side || !side->counts) return true;
  for (std::int32_t r = 1; r < ranks; ++r)
    if (side->displacements[r] != side->displacements[r - 1] + side->counts[r - 1]) return false;
  return true;
}

void move_to_first_block(SupportedCall& taken, const RankBuffers& view) {
  const BufferSide& side = *view.length();
  const Elements all{side.buffer, 0, side.type};
  taken.buffers.output = part(taken.interposer->library(), all, side.displacements[0], 0).first;
  if (view.both) taken.buffers.input = taken.buffers.output;
}

// Packs blocks of different lengths into contiguous memory.
Status set_packed_blocks(SupportedCall& taken, const RankBuffers& view, const Dense& dense,
                         const Collective& collective) {
  const mpi::Library& library = taken.interposer->library();
  const BufferSide& side = *view.length();
  const std::int32_t rank = taken.communicator->rank();
  const auto length = [&](std::int32_t r) {
    return collective.counts.irregular() ? (*collective.counts.table)[static_cast<std::size_t>(r)]
                                         : collective.counts.each;
  };
  const auto block = [&](std::int32_t r) {
    return part(library, {side.buffer, 0, side.type}, side.displacements[r], side.counts[r]);
  };
  std::int64_t bytes = 0, before_own = 0;
  for (std::int32_t r = 0; r < collective.ranks; ++r) {
    if (r == rank) before_own = bytes;
    bytes += length(r);
  }
  std::byte* const data = taken.packed->make(bytes);
  taken.buffers.output = data;
  std::byte* at = data;
  for (std::int32_t r = 0; r < collective.ranks; at += length(r), ++r) taken.packed->unpack_to(block(r), at);
  if (view.both) {
    taken.buffers.input = data;
    return taken.packed->pack(block(rank), data + before_own);
  }
  if (dense.sent) return Nothing{};
  std::byte* const sent = taken.packed->make(length(rank));
  taken.buffers.input = sent;
  return taken.packed->pack({view.sent->buffer, view.sent->count, view.sent->type}, sent);
}

// Packs the vectors of a reduction. Types without gaps are copied as bytes, and so are predefined pairs, including
// their holes.
Status set_packed_vectors(SupportedCall& taken, const RankBuffers& view, const Dense& dense,
                          const Collective& collective) {
  const auto own = static_cast<std::size_t>(taken.communicator->rank());
  const std::int64_t block = collective.bytes().value;
  std::int64_t sent = block, received = block;
  if (collective.kind->sends_to_each()) {
    const auto* const table = collective.counts.table.get();
    sent = table ? std::accumulate(table->begin(), table->end(), std::int64_t{0}) * collective.type_bytes
                 : block * collective.ranks;
    if (table) received = (*table)[own] * collective.type_bytes;
  }
  const auto elements = [&](const BufferSide& side, std::int64_t bytes) {
    if (taken.packs_elements()) return Elements{side.buffer, bytes / collective.type_bytes, side.type};
    return Elements{side.buffer, bytes, taken.interposer->library().constants.byte};
  };
  const bool gets_nothing = collective.kind->from == Contributors::before_itself && own == 0;
  Packed& packed = *taken.packed;
  if (view.both) {
    std::byte* const data = packed.make(sent);
    taken.buffers = {data, data};
    packed.unpack_to(elements(*view.both, sent), data);
    return packed.pack(elements(*view.both, sent), data);
  }
  if (view.received && !dense.received && !gets_nothing) {
    std::byte* const data = packed.make(received);
    taken.buffers.output = data;
    packed.unpack_to(elements(*view.received, received), data);
  }
  if (!view.sent || dense.sent) return Nothing{};
  std::byte* const data = packed.make(sent);
  taken.buffers.input = data;
  return packed.pack(elements(*view.sent, sent), data);
}

// Packs data into our memory, in one buffer if the plan has one. Ranks may differ in their types and in MPI_IN_PLACE.
Status set_packed(SupportedCall& taken, const RankBuffers& view, const Dense& dense, const Collective& collective) {
  const CollectiveRow& m = *collective.kind;
  const mpi::Library& library = taken.interposer->library();
  const std::int64_t rank = taken.communicator->rank(), block = collective.bytes().value;
  const std::int64_t sent = m.sends_to_each() ? collective.ranks : 1,
                     received = m.receives_from_each() ? collective.ranks : 1;
  const auto elements = [](const BufferSide& side, std::int64_t blocks) {
    return Elements{side.buffer, side.count * blocks, side.type};
  };
  taken.packed = std::make_shared<Packed>(library, taken.interposer->alone());
  Packed& packed = *taken.packed;
  if (m.reduces()) return set_packed_vectors(taken, view, dense, collective);
  if (view.length()->counts) return set_packed_blocks(taken, view, dense, collective);
  if (view.both) {
    std::byte* const data = packed.make(std::max(sent, received) * block);
    taken.buffers = {data, data};
    const Elements all = elements(*view.both, std::max(sent, received));
    if (m.receives_from_each()) packed.unpack_to(all, data);
    if (m.sends_to_each()) return packed.pack(all, data);
    return packed.pack(part(library, all, rank * view.both->count, view.both->count), data + rank * block);
  }
  const bool one_memory = collective.kind->has_one_buffer(); // which each rank reads or writes
  if (view.received && (one_memory || !dense.received)) {
    std::byte* const data = packed.make(received * block);
    taken.buffers.output = data;
    packed.unpack_to(elements(*view.received, received), data);
  }
  if (view.sent && (one_memory || !dense.sent)) {
    std::byte* const data = packed.make(sent * block);
    taken.buffers.input = data;
    return packed.pack(elements(*view.sent, sent), data);
  }
  return Nothing{};
}

Status set_buffers(SupportedCall& taken, RankBuffers view, bool one_buffer, const Collective& collective,
                   CallForm form) {
  const bool of_sender = collective.kind->is_in_place_by_receiver(); // what is in place
  if (one_buffer) view = {nullptr, nullptr, true, of_sender ? view.sent : view.received};
  if (view.both)
    taken.buffers = {view.both->buffer, view.both->buffer};
  else
    taken.buffers = {view.sent ? view.sent->buffer : nullptr, view.received ? view.received->buffer : nullptr};
  const Dense dense = dense_sides(taken, view, collective);
  if (dense.sent && dense.received && dense.both && lies_in_order(view, collective.ranks)) {
    if (view.length() && view.length()->counts) move_to_first_block(taken, view);
    return Nothing{};
  }
  try {
    Status packed = set_packed(taken, view, dense, collective);
    return packed && form == CallForm::nonblocking ? taken.packed->keep_types() : packed;
  } catch (const std::bad_alloc&) {
    return failed("out of memory", fmt::format("{} bytes to pack a block", collective.bytes().value));
  }
}

BufferArguments plain(const Interposer& interposer, BufferArguments call) {
  for (mpi::Handle* const each : {&call.send.type, &call.receive.type, &call.operation, &call.communicator})
    *each = interposer.plain(*each);
  return call;
}

// For an error after the decision for a plan: the others may run it and wait for this rank.
Answer give_up(const RequestedCall& asked, Communicator& communicator, const Error& error) {
  asked.interposer.nonblocking().abandon(*communicator.transport(), error);
  return Answer(error);
}

// A call in which this rank knows the lengths of its own blocks only.
Answer take_own(const RequestedCall& asked, const BufferArguments& call) {
  Interposer& interposer = asked.interposer;
  Communicator* const communicator = communicator_of(asked, call);
  if (!communicator) return std::nullopt;
  const RankBuffers view =
      view_of(asked.kind, call, communicator->rank() == call.root, interposer.library().constants.in_place);
  const std::int64_t bytes = bytes_of(asked, call, view);
  if (const auto reason = communicator->declines(asked.kind, true)) return asked.hand_on(bytes, *reason);
  const Collective collective = collective_of_local_counts(asked.kind, *communicator, call, view);
  const bool on_device = is_on_device(interposer, view);
  const auto found = communicator->borrow_plan(collective, asked.form, on_device);
  if (const Error* error = std::get_if<Error>(&found)) return give_up(asked, *communicator, *error);
  if (const Reason* reason = std::get_if<Reason>(&found)) {
    if (*reason == Reason::not_connected) interposer.want(call.communicator);
    return asked.hand_on(bytes, *reason);
  }
  if (on_device) interposer.counters().packed_from_device();
  const auto& borrowed = std::get<Communicator::BorrowedPlan>(found);
  const Result<OwnData> data = lay_out(interposer, collective, communicator->rank(), view, asked.form);
  if (!data) return give_up(asked, *communicator, data.error());
  if (Status s = borrowed.plan->bind(data->blocks); !s) return give_up(asked, *communicator, s.error());
  mpi_hooks::Counter& counter = interposer.counters().ran(counted_as(asked.kind, asked.form), bytes, borrowed.variant);
  return Answer(SupportedCall{&interposer, communicator, borrowed.plan.get(), data->buffers, data->packed, &counter,
                              borrowed.plan});
}

// Of the input as the library packs it, whatever its type; 0: not known.
std::int64_t packed_bytes(const mpi::Library& library, const BufferArguments& call) {
  int size = 0;
  if (call.counts || library.call.Type_size(call.send.type, &size) != 0) return 0;
  return call.send.count * std::int64_t{size};
}

// Why the library runs a reduction, whatever was chosen. All ranks find the same, before anything is set up.
std::optional<Reason> obstacle_of_reduction(const RequestedCall& asked, const BufferArguments& call) {
  const Interposer& interposer = asked.interposer;
  if (interposer.types().operation(call.operation))
    return interposer.types().find(call.send.type) ? std::nullopt : std::optional(Reason::other_type);
  const mpi::Constants& constants = interposer.library().constants;
  const auto& on_windows = constants.operations_on_windows;
  const bool is_no_reduction = std::find(on_windows.begin(), on_windows.end(), call.operation) != on_windows.end();
  if (is_no_reduction || call.operation == constants.op_null) return Reason::other_op; // the library tells the error
  if (asked.form == CallForm::nonblocking) return Reason::op_nonblocking;
  if (interposer.reproducible() != Reproducible::off) return Reason::op_reproducible;
  int commutes = 0;
  const int code = interposer.library().call.Op_commutative(call.operation, &commutes);
  if (code != 0) return Reason::other_op;
  return commutes ? std::nullopt : std::optional(Reason::op_not_commutative);
}

// Of a user-defined operation, by the layout that its type has on this rank.
mpi_transport::LibraryReduction::Operands operands_of(Interposer& interposer, const BufferArguments& call,
                                                      const Collective& collective) {
  const mpi::Handle type = call.send.type;
  const bool is_packed =
      !interposer.types().find_dense(type) && !is_dense(interposer.library(), type, collective.bytes().value);
  return {.type = type,
          .operation = call.operation,
          .type_bytes = collective.type_bytes,
          .commutative = collective.commutative,
          .is_packed = is_packed,
          .alone = is_packed ? interposer.alone() : 0};
}

Answer take(const RequestedCall& asked, const BufferArguments& call) {
  if (call.local_counts) return take_own(asked, call);
  Interposer& interposer = asked.interposer;
  if (asked.kind->reduces()) { // nothing is set up for what is never ours
    if (!call.counts && call.send.count == 0) return asked.hand_on(0, Reason::empty);
    if (const auto reason = obstacle_of_reduction(asked, call))
      return asked.hand_on(packed_bytes(interposer.library(), call), *reason);
  }
  Communicator* const communicator = communicator_of(asked, call);
  if (!communicator) return std::nullopt;
  const RankBuffers view =
      view_of(asked.kind, call, communicator->rank() == call.root, interposer.library().constants.in_place);
  if (const auto reason = communicator->declines(asked.kind))
    return asked.hand_on(bytes_of(asked, call, view), *reason);
  std::variant<Collective, Reason> asks =
      collective_of_call(interposer.library(), interposer.types(), asked.kind, call, view, communicator->ranks());
  if (const Reason* reason = std::get_if<Reason>(&asks)) return asked.hand_on(bytes_of(asked, call, view), *reason);
  Collective& collective = std::get<Collective>(asks);
  const bool one_buffer = is_one_buffer(interposer, asked.kind, view, communicator->rank());
  collective.in_place |= view.in_place || one_buffer;
  const Planned planned = plan_of(asked, *communicator, call, collective, is_on_device(interposer, view));
  if (planned.error) return give_up(asked, *communicator, *planned.error);
  if (!planned.plan) return std::nullopt;
  SupportedCall taken{&interposer, communicator, planned.plan, {}, nullptr, planned.counter, planned.kept};
  if (collective.type == DataType::opaque)
    taken.user_operation.emplace(interposer.library(), operands_of(interposer, call, collective));
  if (Status s = set_buffers(taken, view, one_buffer, collective, asked.form); !s)
    return give_up(asked, *communicator, s.error());
  return Answer(taken);
}

// Whether no algorithm is chosen for this length. Checks only what needs no communication.
bool is_left_to_library(const RequestedCall& asked, const Communicator& communicator, const BufferArguments& call,
                        std::int64_t bytes) {
  if (asked.form == CallForm::nonblocking || call.has_counts() || bytes == 0) return false;
  if (asked.kind->reduces() && !asked.interposer.types().operation(call.operation)) return false;
  return communicator.leaves(asked.kind, bytes);
}

// Forwards calls of a collective without an algorithm, or without one for this length, on a known communicator: most
// calls of most programs.
bool is_forwarded_at_once(const RequestedCall& asked, const BufferArguments& call) {
  Interposer& interposer = asked.interposer;
  if (interposer.wants() || interposer.reproducible() == Reproducible::exact) return false;
  bool between = false;
  const Communicator* const communicator = interposer.known(call.communicator, between);
  if (!communicator) return false;
  const auto reason = communicator->declines(asked.kind, call.local_counts);
  const RankBuffers view =
      view_of(asked.kind, call, communicator->rank() == call.root, interposer.library().constants.in_place);
  const std::int64_t bytes = bytes_of(asked, call, view);
  if (!reason && !is_left_to_library(asked, *communicator, call, bytes)) return false;
  asked.hand_on_for_good(bytes, reason.value_or(Reason::not_chosen), call);
  return true;
}

// Handles a lack of memory, which only this rank finds. A non-blocking call without a transport is forwarded. In a
// blocking one the others may already be in an agreement, which would match the library's messages of this rank.
Answer take_or_fail(const RequestedCall& asked, const BufferArguments& call) {
  return attempted([&] { return take(asked, call); },
                   [&]() -> Answer {
                     bool between = false;
                     Communicator* const known = asked.interposer.known(call.communicator, between);
                     if (known && known->transport()) return give_up(asked, *known, out_of_memory());
                     if (asked.form == CallForm::nonblocking) return asked.hand_on(0, Reason::no_plan);
                     return Answer(out_of_memory());
                   });
}

PlannedWork work_of(const SupportedCall& taken, mpi::Handle communicator) {
  return {taken.plan, taken.communicator->transport(), &taken.communicator->queue(), taken.buffers, communicator};
}

// With a user-defined operation.
Status run_reduction(const SupportedCall& taken, mpi::Handle communicator) {
  const transport::Reduction reduction = taken.user_operation->reduction();
  if (Status done = taken.interposer->run(*taken.communicator, communicator, *taken.plan, taken.buffers, &reduction);
      !done)
    return done;
  Status done = taken.user_operation->status();
  if (!done) taken.interposer->nonblocking().abandon(*taken.communicator->transport(), done.error());
  return done;
}

Status run(const SupportedCall& taken, mpi::Handle communicator) {
  const Status done = taken.user_operation
                          ? run_reduction(taken, communicator)
                          : taken.interposer->run(*taken.communicator, communicator, *taken.plan, taken.buffers);
  if (!done || !taken.packed) [[likely]]
    return done;
  return taken.packed->unpack();
}

std::optional<int> run_allowed(const RequestedCall& asked, const BufferArguments& call) {
  Interposer* const interposer = &asked.interposer;
  if (interposer->reproducible() == Reproducible::exact)
    if (const ExactAnswer exact = run_exact(*interposer, asked.kind, call); exact.is_sum) return exact.code;
  const std::uint64_t era = mpi_hooks::FastPath::era();
  const Answer taken = take_or_fail(asked, call);
  if (!taken) return std::nullopt;
  // The program may free its operation: another one may get its handle.
  const bool may_recur = *taken && !(*taken)->packed && !(*taken)->held && !(*taken)->user_operation;
  if (may_recur && asked.will_hold(call))
    RepeatedCall::of(asked.kind)
        .remember(*interposer, asked.kind, call, {(*taken)->communicator, (*taken)->plan, (*taken)->counter}, era);
  const Status done = *taken ? run(**taken, call.communicator) : Status(taken->error());
  if (done) [[likely]]
    return 0;
  return interposer->raise(done.error(), call.communicator);
}

} // namespace

std::optional<int> run_call(CollectiveKind kind, const BufferArguments& given, mpi_hooks::Counter*& fast_path) {
  Interposer* const interposer = Interposer::current();
  if (!interposer) return std::nullopt;
  const RequestedCall asked{*interposer, kind, CallForm::blocking, fast_path};
  const BufferArguments call = plain(*interposer, given);
  if (const std::optional<int> code = RepeatedCall::of(kind).run(*interposer, call)) return code;
  if (is_forwarded_at_once(asked, call)) return std::nullopt;
  if (is_refused(*interposer, kind, call)) return asked.hand_on(0, Reason::refused);
  return run_allowed(asked, call);
}

std::optional<int> start_call(CollectiveKind kind, const BufferArguments& given, mpi::Handle& request,
                              mpi_hooks::Counter*& fast_path) {
  Interposer* const interposer = Interposer::current();
  if (!interposer) return std::nullopt;
  const RequestedCall asked{*interposer, kind, CallForm::nonblocking, fast_path};
  const BufferArguments call = plain(*interposer, given);
  interposer->starts_nonblocking();
  if (is_forwarded_at_once(asked, call)) return std::nullopt;
  if (is_refused(*interposer, kind, call)) return asked.hand_on(0, Reason::refused);
  if (interposer->reproducible() == Reproducible::exact)
    if (const ExactAnswer exact = start_exact(*interposer, kind, call, request); exact.is_sum) return exact.code;
  const Answer taken = take_or_fail(asked, call);
  if (!taken) return std::nullopt;
  if (!*taken) return interposer->raise(taken->error(), call.communicator);
  PlannedWork work = work_of(**taken, call.communicator);
  const auto packed = (*taken)->packed;
  const auto held = (*taken)->held;
  const auto fail = [&]() -> Result<mpi::Handle> {
    interposer->nonblocking().abandon(*(*taken)->communicator->transport(), out_of_memory());
    return out_of_memory();
  };
  const auto start = [&] {
    if (packed || held) // kept until the end
      work.at_end = [packed, held]() -> Status { return packed ? packed->unpack() : Status(Nothing{}); };
    return interposer->nonblocking().start(std::move(work));
  };
  const auto started = attempted(start, fail);
  if (!started) return interposer->raise(started.error(), call.communicator);
  request = *started;
  return 0;
}

void count_other(mpi_hooks::Name name) {
  if (Interposer* const interposer = Interposer::current()) interposer->counters().other(name);
}

void expect_one_sided() {
  if (Interposer* const interposer = Interposer::current()) interposer->expect_one_sided();
}

Nonblocking* under_way() {
  Interposer* const interposer = Interposer::current();
  return interposer && interposer->nonblocking().any() ? &interposer->nonblocking() : nullptr;
}

void after_comm_made(mpi::Handle given) {
  Interposer* const interposer = Interposer::current();
  if (!interposer) return;
  const mpi::Handle communicator = interposer->plain(given);
  attempted([&] { return interposer->set_up_new(communicator), true; }, [] { return false; });
}

void before_comm_free(mpi::Handle communicator) {
  if (Interposer* const interposer = Interposer::current()) interposer->release(interposer->plain(communicator));
}

void before_abort() {
  if (Interposer* const interposer = Interposer::current()) interposer->aborts();
}

void after_init() {
  if (Interposer* const interposer = Interposer::make()) interposer->set_up_world();
}

void begin_watch() {
  static const double seconds = settings_of_environment().timeout_seconds;
  if (!(seconds > 0)) return;
  Watchdog::begin(seconds);
  Interposer::current();
}

void before_finalize() { Interposer::world_ends(); }

} // namespace kumihimo::interpose
