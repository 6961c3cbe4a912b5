#include "plan/collective_call.hpp"

#include <array>

namespace kumihimo::plan {
namespace {

using mpi::Handle;
using Call = CollectiveCall;

// A call by the arguments that it takes, which those of MPI have in one order each.
int pass(int (*f)(Handle), const Call& c) { return f(c.communicator); }
int pass(int (*f)(void*, int, Handle, int, Handle), const Call& c) {
  return f(c.receive, c.count, c.type, c.root, c.communicator);
}
int pass(int (*f)(const void*, void*, int, Handle, Handle, int, Handle), const Call& c) {
  return f(c.send, c.receive, c.count, c.type, c.operation, c.root, c.communicator);
}
int pass(int (*f)(const void*, void*, int, Handle, Handle, Handle), const Call& c) {
  return f(c.send, c.receive, c.count, c.type, c.operation, c.communicator);
}
int pass(int (*f)(const void*, int, Handle, void*, int, Handle, int, Handle), const Call& c) {
  return f(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.communicator);
}
int pass(int (*f)(const void*, int, Handle, void*, int, Handle, Handle), const Call& c) {
  return f(c.send, c.count, c.type, c.receive, c.count, c.type, c.communicator);
}
// With lists.
int pass(int (*f)(const void*, int, Handle, void*, const int*, const int*, Handle, int, Handle), const Call& c) {
  const auto& [counts, displacements] = c.received;
  return f(c.send, c.count, c.type, c.receive, counts, displacements, c.type, c.root, c.communicator);
}
int pass(int (*f)(const void*, const int*, const int*, Handle, void*, int, Handle, int, Handle), const Call& c) {
  const auto& [counts, displacements] = c.sent;
  return f(c.send, counts, displacements, c.type, c.receive, c.count, c.type, c.root, c.communicator);
}
int pass(int (*f)(const void*, int, Handle, void*, const int*, const int*, Handle, Handle), const Call& c) {
  const auto& [counts, displacements] = c.received;
  return f(c.send, c.count, c.type, c.receive, counts, displacements, c.type, c.communicator);
}
int pass(int (*f)(const void*, void*, const int*, Handle, Handle, Handle), const Call& c) {
  return f(c.send, c.receive, c.sent.counts, c.type, c.operation, c.communicator);
}
int pass(int (*f)(const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle, Handle),
         const Call& c) {
  const auto& [sent, sent_at] = c.sent;
  const auto& [received, received_at] = c.received;
  return f(c.send, sent, sent_at, c.type, c.receive, received, received_at, c.type, c.communicator);
}

template <auto function>
int pass_to(const mpi::Functions& mpi, const Call& c) {
  return pass(mpi.*function, c);
}

// By the index of the collective: of blocks of one length, and of lists of them.
using Calls = std::array<int (*)(const mpi::Functions&, const Call&), 2>;
constexpr std::array<Calls, collective_kinds> calls = [] {
  std::array<Calls, collective_kinds> all{};
#define COLLECTIVE(...)
#define MPI_CALL(kind, blocking, nonblocking, lengths, of) MPI_CALL_##lengths(kind, blocking)
#define MPI_CALL_equal(kind, call) all[CollectiveKind::kind.index()][0] = pass_to<&mpi::Functions::call>;
#define MPI_CALL_lists(kind, call) all[CollectiveKind::kind.index()][1] = pass_to<&mpi::Functions::call>;
#define MPI_CALL_types(kind, call)
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
  return kind.index() < calls.size() && calls[kind.index()][is_irregular] != nullptr;
}

int call_library(const mpi::Functions& mpi, const CollectiveCall& c) {
  return calls[c.kind.index()][c.is_irregular](mpi, c);
}

} // namespace kumihimo::plan
