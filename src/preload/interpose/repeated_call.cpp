#include "interpose/repeated_call.hpp"

#include "interpose/arguments.hpp"
#include "interpose/device_memory.hpp"
#include "mpi_hooks/fast_path.hpp"

#include <array>

namespace kumihimo::interpose {
namespace {

constinit thread_local std::array<RepeatedCall, collective_kinds> last;

} // namespace

RepeatedCall& RepeatedCall::of(CollectiveKind kind) { return last[kind.index()]; }

RepeatedCall::ComparedArguments RepeatedCall::arguments_of(const BufferArguments& c) {
  return {c.communicator, c.send.count, c.receive.count, c.send.type, c.receive.type, c.operation, c.root};
}

RankBuffers RepeatedCall::view_in(const Interposer& interposer, const BufferArguments& call) const {
  return view_of(kind_, call, found_.communicator->rank() == call.root, interposer.library().constants.in_place);
}

void RepeatedCall::remember(const Interposer& interposer, CollectiveKind kind, const BufferArguments& call,
                            const Found& found, std::uint64_t era) {
  // In a reproducible run a plan may be made for one call and end with it. Buffers that may be on a device are checked
  // in each call.
  if (interposer.reproducible() != Reproducible::off || call.has_counts() || DeviceMemory::is_possible()) return;
  kind_ = kind;
  found_ = found;
  said_ = arguments_of(call);
  const RankBuffers view = view_in(interposer, call);
  in_place_ = view.in_place;
  era_ = is_one_buffer(interposer, kind_, view, found.communicator->rank()) ? 0 : era; // that one is as in place
}

std::optional<int> RepeatedCall::run(Interposer& interposer, const BufferArguments& call) const {
  if (era_ != mpi_hooks::FastPath::era() || call.has_counts() || said_ != arguments_of(call)) return std::nullopt;
  const RankBuffers view = view_in(interposer, call);
  if (view.in_place != in_place_ || is_one_buffer(interposer, kind_, view, found_.communicator->rank()))
    return std::nullopt;
  const BufferSide* const input = view.both ? view.both : view.sent;
  const BufferSide* const output = view.both ? view.both : view.received;
  for (const BufferSide* const side : {input, output})
    if (side && (!side->buffer || side->buffer == interposer.library().constants.in_place)) return std::nullopt;
  found_.counter->count();
  const execute::Buffers buffers{input ? input->buffer : nullptr, output ? output->buffer : nullptr};
  const Status done = interposer.run(*found_.communicator, call.communicator, *found_.plan, buffers);
  return done ? 0 : interposer.raise(done.error(), call.communicator);
}

} // namespace kumihimo::interpose
