#include "interpose/arguments.hpp"

#include "interpose/layout.hpp"
#include "plan/collective_call.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace kumihimo::interpose {
namespace {

struct RankInCommunicator {
  bool exists = true, between = false;
  std::int32_t rank = 0, ranks = 1;
};

RankInCommunicator rank_in(Interposer& interposer, mpi::Handle handle) {
  const mpi::Library& library = interposer.library();
  if (handle == library.constants.comm_null) return {false};
  RankInCommunicator own;
  if (const Communicator* const known = interposer.known(handle, own.between)) {
    own.rank = known->rank(), own.ranks = known->ranks();
    return own;
  }
  int two_groups = own.between;
  if (!own.between && library.call.Comm_test_inter(handle, &two_groups) != 0) return {false};
  own.between = two_groups;
  library.call.Comm_rank(handle, &own.rank);
  library.call.Comm_size(handle, &own.ranks);
  return own;
}

// Whether this library refuses a send buffer that is the receive buffer, by an example on this rank alone.
bool refuses_example(const Interposer& interposer, CollectiveKind kind, int count) {
  const mpi::Library& library = interposer.library();
  Result<mpi::Handle> alone = interposer.make_alone(); // where nobody else calls
  if (!alone) return false;
  std::array<std::int32_t, 2> data{};
  const int code =
      plan::call_library(library.call, {kind, data.data(), data.data(), count, library.datatype(DataType::int32),
                                        library.operation(Operation::sum), 0, *alone});
  library.call.Comm_free(&*alone);
  return code != 0;
}

// Open MPI accepts it for one element in MPI_Allreduce.
bool refuses_same_buffer(const Interposer& interposer, CollectiveKind kind, std::int64_t count) {
  enum : std::int8_t { unknown, no, yes };
  static std::array<std::array<std::atomic<std::int8_t>, 2>, collective_kinds> known{};
  const bool several = count > 1;
  std::atomic<std::int8_t>& answer = known[kind.index()][several];
  if (answer == unknown) answer = refuses_example(interposer, kind, several ? 2 : 1) ? yes : no;
  return answer == yes;
}

bool has_negative(const RankNumbers& counts, std::int32_t ranks) {
  for (std::int32_t r = 0; r < ranks; ++r)
    if (counts[r] < 0) return true;
  return false;
}

// Asks the library to pack no elements.
bool is_committed(Interposer& interposer, mpi::Handle type) {
  if (layout_of(interposer.library(), type) != TypeLayout::derived) return true;
  const mpi::Handle alone = interposer.alone();
  if (alone == interposer.library().constants.comm_self) return true; // it does not return errors
  std::byte nothing{};
  int at = 0;
  return interposer.library().call.Pack(&nothing, 0, type, &nothing, 1, &at, alone) == 0;
}

// `counts`: of the call, in own of the side's own count.
bool is_wrong_side(Interposer& interposer, CollectiveKind kind, const BufferSide& side, const RankNumbers& counts,
                   std::int32_t ranks) {
  std::int64_t count = side.count;
  if (side.types) {
    for (std::int32_t r = 0; r < ranks; ++r)
      if (side.counts[r] != 0 &&
          is_wrong_side(interposer, kind, {side.buffer, side.counts[r], side.types[r]}, {}, ranks))
        return true;
    return false;
  }
  for (const RankNumbers* const each : {&side.counts, &counts}) {
    if (!*each) continue;
    if (has_negative(*each, ranks)) return true;
    for (std::int32_t r = 0; r < ranks; ++r) count = std::max(count, (*each)[r]);
  }
  const mpi::Handle type = interposer.plain(side.type);
  const mpi::Constants& constants = interposer.library().constants;
  if (count < 0 || type == constants.datatype_null) return true;
  if (count == 0) return false;
  const bool ours = interposer.types().find(type) != nullptr;
  if (!side.buffer && ours) return true; // a derived type may have absolute addresses
  if (side.buffer == constants.in_place) return true;
  return !ours && !is_committed(interposer, type);
}

} // namespace

bool is_one_buffer(const Interposer& interposer, CollectiveKind kind, const RankBuffers& view, std::int32_t rank) {
  const CollectiveRow& m = *kind;
  if (!view.sent || !view.received || (view.sent->count <= 0 && !m.reduces()) || view.received->counts) return false;
  auto sent = reinterpret_cast<std::uintptr_t>(view.sent->buffer),
       received = reinterpret_cast<std::uintptr_t>(view.received->buffer);
  if (!m.reduces() && m.sends_to_each() != m.receives_from_each()) { // where this rank's own block belongs
    const mpi::NamedType* const type = interposer.types().find(interposer.plain(view.sent->type));
    if (!type) return false;
    const auto own = static_cast<std::uintptr_t>(rank) * static_cast<std::uintptr_t>(view.sent->count) *
                     static_cast<std::uintptr_t>(type->bytes());
    (m.receives_from_each() ? received : sent) += own;
  }
  if (sent != received) [[likely]]
    return false;
  if (m.reduces()) return true; // whose sides have one type
  return interposer.types().find(interposer.plain(view.sent->type)) &&
         interposer.types().find(interposer.plain(view.received->type));
}

bool is_refused(Interposer& interposer, CollectiveKind kind, const BufferArguments& call) {
  if (!kind->moves_data() || kind->of_neighbours()) return false; // how many blocks is not known yet
  const mpi::Handle communicator = interposer.plain(call.communicator);
  const bool rooted = kind->has_root();
  RankInCommunicator own;
  // By MPI's words its receive buffer does not count, which MPICH looks at all the same.
  const bool first_gets_nothing =
      kind->from == Contributors::before_itself && interposer.library().family == mpi::LibraryFamily::open_mpi;
  if (rooted || first_gets_nothing || call.has_counts()) {
    own = rank_in(interposer, communicator);
    if (rooted && (!own.exists || (!own.between && (call.root < 0 || call.root >= own.ranks)))) return true;
    if (own.between) return false; // both groups have other arguments: the library's
  }
  RankBuffers view = view_of(kind, call, own.rank == call.root, interposer.library().constants.in_place);
  if (first_gets_nothing && own.exists && own.rank == 0) view.received = nullptr; // it may be anything there
  for (const BufferSide* const side : {view.sent, view.received, view.both})
    if (side && is_wrong_side(interposer, kind, *side, call.counts, own.ranks)) return true;
  if (!view.sent || !view.received) return false;
  if (!rooted) own = rank_in(interposer, communicator);
  return is_one_buffer(interposer, kind, view, own.rank) && refuses_same_buffer(interposer, kind, view.sent->count);
}

} // namespace kumihimo::interpose
