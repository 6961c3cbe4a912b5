#include "plan/collective_call.hpp"

#include <array>
#include <tuple>

namespace kumihimo::plan {
namespace {

using mpi::Handle;
using Call = CollectiveCall;

// The arguments of a call, in the order of its function.
auto arguments_of(int (*)(Handle), const Call& c) { return std::tuple(c.communicator); }
auto arguments_of(int (*)(void*, int, Handle, int, Handle), const Call& c) {
  return std::tuple(c.receive, c.count, c.type, c.root, c.communicator);
}
auto arguments_of(int (*)(const void*, void*, int, Handle, Handle, int, Handle), const Call& c) {
  return std::tuple(c.send, c.receive, c.count, c.type, c.operation, c.root, c.communicator);
}
auto arguments_of(int (*)(const void*, void*, int, Handle, Handle, Handle), const Call& c) {
  return std::tuple(c.send, c.receive, c.count, c.type, c.operation, c.communicator);
}
auto arguments_of(int (*)(const void*, int, Handle, void*, int, Handle, int, Handle), const Call& c) {
  return std::tuple(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.communicator);
}
auto arguments_of(int (*)(const void*, int, Handle, void*, int, Handle, Handle), const Call& c) {
  return std::tuple(c.send, c.count, c.type, c.receive, c.count, c.type, c.communicator);
}
// With lists.
auto arguments_of(int (*)(const void*, int, Handle, void*, const int*, const int*, Handle, int, Handle),
                  const Call& c) {
  const auto& [counts, displacements] = c.received;
  return std::tuple(c.send, c.count, c.type, c.receive, counts, displacements, c.type, c.root, c.communicator);
}
auto arguments_of(int (*)(const void*, const int*, const int*, Handle, void*, int, Handle, int, Handle),
                  const Call& c) {
  const auto& [counts, displacements] = c.sent;
  return std::tuple(c.send, counts, displacements, c.type, c.receive, c.count, c.type, c.root, c.communicator);
}
auto arguments_of(int (*)(const void*, int, Handle, void*, const int*, const int*, Handle, Handle), const Call& c) {
  const auto& [counts, displacements] = c.received;
  return std::tuple(c.send, c.count, c.type, c.receive, counts, displacements, c.type, c.communicator);
}
auto arguments_of(int (*)(const void*, void*, const int*, Handle, Handle, Handle), const Call& c) {
  return std::tuple(c.send, c.receive, c.sent.counts, c.type, c.operation, c.communicator);
}
auto arguments_of(int (*)(const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle, Handle),
                  const Call& c) {
  const auto& [sent, sent_at] = c.sent;
  const auto& [received, received_at] = c.received;
  return std::tuple(c.send, sent, sent_at, c.type, c.receive, received, received_at, c.type, c.communicator);
}

template <auto function>
int pass_to(const mpi::Functions& mpi, const Call& c) {
  return std::apply(mpi.*function, arguments_of(mpi.*function, c));
}

// A non-blocking function has the request behind the arguments of its blocking one.
template <auto blocking, auto non_blocking>
int begin_with(const mpi::Functions& mpi, const Call& c, Handle* request) {
  return std::apply(mpi.*non_blocking, std::tuple_cat(arguments_of(mpi.*blocking, c), std::tuple(request)));
}

// By the index of the collective: of blocks of one length, of lists of them, and non-blocking of blocks of one length.
struct CallTable {
  std::array<int (*)(const mpi::Functions&, const Call&), 2> blocking;
  int (*non_blocking)(const mpi::Functions&, const Call&, Handle*);
};
constexpr std::array<CallTable, collective_kinds> calls = [] {
  std::array<CallTable, collective_kinds> all{};
#define COLLECTIVE(...)
#define MPI_CALL(kind, blocking, non_blocking, lengths, of) MPI_CALL_##lengths(kind, blocking, non_blocking)
#define MPI_CALL_equal(kind, call, begin)                                                                              \
  all[CollectiveKind::kind.index()].blocking[0] = pass_to<&mpi::Functions::call>;                                      \
  all[CollectiveKind::kind.index()].non_blocking = begin_with<&mpi::Functions::call, &mpi::Functions::begin>;
#define MPI_CALL_lists(kind, call, begin)                                                                              \
  all[CollectiveKind::kind.index()].blocking[1] = pass_to<&mpi::Functions::call>;
#define MPI_CALL_types(kind, call, begin)
#include "base/collectives.def"
#undef COLLECTIVE
#undef MPI_CALL
#undef MPI_CALL_equal
#undef MPI_CALL_lists
#undef MPI_CALL_types
  return all;
}();

} // namespace

bool has_call(CollectiveKind kind, bool is_irregular) {
  return kind.index() < calls.size() && calls[kind.index()].blocking[is_irregular] != nullptr;
}

int call_library(const mpi::Functions& mpi, const CollectiveCall& c) {
  return calls[c.kind.index()].blocking[c.is_irregular](mpi, c);
}

int begin_library(const mpi::Functions& mpi, const CollectiveCall& c, mpi::Handle* request) {
  return calls[c.kind.index()].non_blocking(mpi, c, request);
}

} // namespace kumihimo::plan
