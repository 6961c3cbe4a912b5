#include "interpose/arguments.hpp"

#include <array>
#include <atomic>

namespace kumihimo::interpose {
namespace {

struct Place { // in a group
  bool exists = true, between = false;
  std::int32_t rank = 0, ranks = 1;
};

Place place_in(Session& session, mpi::Handle handle) {
  const mpi::Library& library = session.library();
  if (handle == library.constants.comm_null) return {false};
  Place place;
  if (const Communicator* const known = session.known(handle, place.between)) {
    place.rank = known->rank(), place.ranks = known->ranks();
    return place;
  }
  int two_groups = place.between;
  if (!place.between && library.call.Comm_test_inter(handle, &two_groups) != 0) return {false};
  place.between = two_groups;
  library.call.Comm_rank(handle, &place.rank);
  library.call.Comm_size(handle, &place.ranks);
  return place;
}

// Whether this library refuses to reduce from a buffer to itself, by an example on this rank alone.
bool refuses_example(const mpi::Library& library, bool rooted, int count) {
  mpi::Handle alone = 0; // split and not duplicated: no function of the program's for attributes is called
  if (library.call.Comm_split(library.constants.comm_self, 0, 0, &alone) != 0) return false;
  library.call.Comm_set_errhandler(alone, library.constants.errors_return);
  std::array<std::int32_t, 2> data{};
  const mpi::Handle type = library.datatype(DataType::int32), sum = library.operation(Operation::sum);
  const int code = rooted ? library.call.Reduce(data.data(), data.data(), count, type, sum, 0, alone)
                          : library.call.Allreduce(data.data(), data.data(), count, type, sum, alone);
  library.call.Comm_free(&alone);
  return code != 0;
}

// Open MPI lets it pass for one element, in MPI_Allreduce.
bool refuses_same_buffer(const mpi::Library& library, CollectiveKind kind, std::int64_t count) {
  enum : std::int8_t { unknown, no, yes };
  static std::array<std::atomic<std::int8_t>, 4> known{};
  const bool rooted = kind == CollectiveKind::reduce, several = count > 1;
  std::atomic<std::int8_t>& answer = known[static_cast<std::size_t>(2 * rooted + several)];
  if (answer == unknown) answer = refuses_example(library, rooted, several ? 2 : 1) ? yes : no;
  return answer == yes;
}

bool has_wrong_root(Session& session, const Call& call) {
  if (call.root == 0) return false;
  const Place place = place_in(session, session.plain(call.communicator));
  return !place.exists || (!place.between && (call.root < 0 || call.root >= place.ranks));
}

bool has_wrong_reduction_buffers(Session& session, CollectiveKind kind, Form form, const Call& call) {
  const mpi::Library& library = session.library();
  const void* const in_place = library.constants.in_place;
  const bool same = call.send == call.receive;
  if (call.send && call.receive && !same && call.send != in_place && call.receive != in_place) [[likely]]
    return false;
  if (!session.types().type(session.plain(call.type))) return false; // the library's, wherever its elements lie
  bool gets_result = true;
  if (kind == CollectiveKind::reduce) {
    const Place place = place_in(session, session.plain(call.communicator));
    gets_result = !place.between && place.rank == call.root;
  }
  if (!gets_result) return !call.send || call.send == in_place;
  if (!call.send || !call.receive || call.receive == in_place) return true;
  const bool at_end = kind == CollectiveKind::reduce && form == Form::blocking;
  return same && !at_end && refuses_same_buffer(library, kind, call.count);
}

} // namespace

bool is_refused(Session& session, CollectiveKind kind, Form form, const Call& call) {
  if (call.count < 0) return true;
  if (kind != CollectiveKind::allreduce && has_wrong_root(session, call)) return true;
  if (call.count == 0) return false;
  if (kind != CollectiveKind::bcast) return has_wrong_reduction_buffers(session, kind, form, call);
  return call.receive == session.library().constants.in_place ||
         (!call.receive && session.types().type(session.plain(call.type)));
}

bool is_refused_at_end(Session& session, CollectiveKind kind, const Call& call) {
  if (kind != CollectiveKind::reduce || call.send != call.receive) [[likely]]
    return false;
  const Place place = place_in(session, session.plain(call.communicator));
  return place.rank == call.root && refuses_same_buffer(session.library(), kind, call.count);
}

} // namespace kumihimo::interpose
