#include "record/completions.hpp"

#include "record/per_thread.hpp"

namespace kumihimo::record {
namespace {

using mpi_hooks::Role;

struct Noted {
  std::vector<mpi::Handle> requests;
};

} // namespace

bool completes(const mpi_hooks::HookedCall& call) {
  const bool of_kind = call.kind() == mpi_hooks::CallKind::wait || call.kind() == mpi_hooks::CallKind::test;
  return of_kind && (call.has(Role::request) || call.has(Role::requests)) &&
         (call.has(Role::status) || call.has(Role::statuses));
}

const std::vector<mpi::Handle>& noted_requests() { return PerThread<Noted>::mine().requests; }

void note_requests(const mpi_hooks::HookedCall& call) {
  std::vector<mpi::Handle>& requests = PerThread<Noted>::mine().requests;
  requests.clear();
  const bool several = call.has(Role::requests);
  const std::int64_t n = several ? call.integer(Role::request_count) : 1;
  for (std::int64_t i = 0; i < n; ++i) requests.push_back(call.handle(several ? Role::requests : Role::request, i));
}

std::vector<int> completed(const mpi_hooks::HookedCall& call) {
  std::vector<int> places;
  // A Fortran index counts from one.
  const int base = call.language == mpi_hooks::Language::fortran ? 1 : 0;
  if (call.has(Role::flag) && !*static_cast<const int*>(call.pointer(Role::flag))) return places;
  if (call.has(Role::index)) {
    const int index = *static_cast<const int*>(call.pointer(Role::index)) - base;
    if (index >= 0) places.push_back(index);
  } else if (call.has(Role::completed_count)) {
    const int n = *static_cast<const int*>(call.pointer(Role::completed_count));
    for (int i = 0; i < n; ++i) places.push_back(static_cast<const int*>(call.pointer(Role::indices))[i] - base);
  } else {
    const std::int64_t n = call.has(Role::requests) ? call.integer(Role::request_count) : 1;
    for (int i = 0; i < n; ++i) places.push_back(i);
  }
  return places;
}

} // namespace kumihimo::record
