#include "record/call_traffic.hpp"

#include "mpi_hooks/array_lengths.hpp"

#include <algorithm>
#include <array>

namespace kumihimo::record {

using mpi_hooks::CallKind;
using mpi_hooks::HookedCall;
using mpi_hooks::Role;

// A thread keeps the sizes of predefined types, whose handles never stand for another type.
std::int64_t CallTrafficReader::size_of(mpi::Handle type) const {
  struct Size {
    mpi::Handle type = 0;
    std::int64_t bytes = 0; // 0: not kept
  };
  static constinit thread_local std::array<Size, 16> sizes{};
  Size& kept = sizes[(static_cast<std::uintptr_t>(type) >> 4 ^ static_cast<std::uintptr_t>(type) >> 9) % sizes.size()];
  if (kept.type == type && kept.bytes > 0) [[likely]]
    return kept.bytes;
  const std::int64_t bytes = asked_size_of(type);
  if (types_.find(type)) kept = {type, bytes};
  return bytes;
}

std::int64_t CallTrafficReader::asked_size_of(mpi::Handle type) const {
  long long bytes = 0;
  if (type == library_.constants.datatype_null || library_.call.Type_size_x(type, &bytes) != 0 || bytes < 0) return 0;
  return bytes;
}

CallTraffic CallTrafficReader::of(const HookedCall& call, int rank) const {
  const CallTraits& traits = traits_of(call.name);
  if (traits.partner_at >= 0 && call.language == mpi_hooks::Language::c) return of_message(call, traits);
  switch (call.kind()) {
  case CallKind::collective:
  case CallKind::nonblocking_collective:
  case CallKind::persistent_collective: {
    const std::int64_t bytes = of_collective(call, rank);
    return {bytes, false, -1, bytes / blocks_of(call, rank)};
  }
  case CallKind::one_sided: {
    // A get has the same bytes at both sides; some have no count.
    const std::int64_t count = call.has(Role::count) ? call.integer(Role::count) : 1;
    const bool gets = call.name == mpi_hooks::Name::Get_accumulate || call.name == mpi_hooks::Name::Rget_accumulate;
    const std::int64_t bytes = gets ? call.integer(Role::target_count) * size_of(call.handle(Role::target_type))
                                    : count * size_of(call.handle(Role::type));
    return {bytes, true, static_cast<int>(call.integer(Role::target))};
  }
  default: break;
  }
  if (call.has(Role::destination)) {
    const int destination = static_cast<int>(call.integer(Role::destination));
    if (destination == library_.constants.proc_null) return {0, true, destination};
    if (call.has(Role::partitions))
      return {call.integer(Role::partitions) * call.integer(Role::partition_count) *
                  size_of(call.handle(Role::send_type)),
              true, destination};
    const bool both = call.has(Role::buffer);
    return {call.integer(both ? Role::count : Role::send_count) *
                size_of(call.handle(both ? Role::type : Role::send_type)),
            true, destination};
  }
  return {call.has(Role::receive_count) ? received(call) : 0};
}

std::int64_t CallTrafficReader::received(const HookedCall& call) const {
  int bytes = 0;
  if (call.has(Role::status) &&
      library_.call.Get_count(static_cast<const mpi::StatusWords*>(call.pointer(Role::status)), library_.constants.byte,
                              &bytes) == 0 &&
      bytes >= 0)
    return bytes;
  if (call.has(Role::source) && call.integer(Role::source) == library_.constants.proc_null) return 0;
  return call.integer(Role::receive_count) * size_of(call.handle(Role::receive_type));
}

// MPI_Alltoallw and MPI_Neighbor_alltoallw have a type for each count.
std::int64_t CallTrafficReader::sum(const HookedCall& call, Role counts, Role type) const {
  const int n = mpi_hooks::entries(call, mpi_hooks::array_lengths_of(call), counts);
  const bool each = type == Role::send_types || type == Role::receive_types;
  const std::int64_t size = each ? 0 : size_of(call.handle(type));
  std::int64_t bytes = 0;
  for (int i = 0; i < n; ++i) bytes += call.integer(counts, i) * (each ? size_of(call.handle(type, i)) : size);
  return bytes;
}

std::vector<std::int64_t> CallTrafficReader::parts_of(const HookedCall& call) const {
  std::vector<std::int64_t> parts;
  const CollectiveRow* const collective = mpi_hooks::collective_of(call.name).row;
  if (!collective || !collective->sends_to_each() || call.has(Role::root) || !call.has(Role::send_counts)) return parts;
  const bool in_place = call.in_place(Role::send_buffer); // then as much goes out as comes in
  const Role counts = in_place ? Role::receive_counts : Role::send_counts;
  const Role types = in_place ? Role::receive_types : Role::send_types;
  const Role type = in_place ? Role::receive_type : Role::send_type;
  const int n = mpi_hooks::entries(call, mpi_hooks::array_lengths_of(call), counts);
  for (int i = 0; i < n; ++i)
    parts.push_back(call.integer(counts, i) * size_of(call.has(types) ? call.handle(types, i) : call.handle(type)));
  return parts;
}

// That this rank's part of a collective consists of.
std::int64_t CallTrafficReader::blocks_of(const HookedCall& call, int rank) {
  const CollectiveRow& collective = *mpi_hooks::collective_of(call.name).row;
  if (!collective.sends_to_each() || (call.has(Role::root) && call.integer(Role::root) != rank)) return 1;
  const mpi_hooks::ArrayLengths lengths = mpi_hooks::array_lengths_of(call);
  return std::max(1, collective.reduces() ? lengths.own : lengths.sends);
}

std::int64_t CallTrafficReader::of_collective(const HookedCall& call, int rank) const {
  const CollectiveRow& collective = *mpi_hooks::collective_of(call.name).row;
  // Between two groups: of MPI_ROOT and MPI_PROC_NULL, negative in both families, most arguments mean nothing.
  const std::int64_t root = call.has(Role::root) ? call.integer(Role::root) : 0;
  if (root < 0 &&
      (root == library_.constants.proc_null || (!collective.reduces() && collective.output.whose == WhichRanks::root)))
    return 0;
  if (call.has(Role::counts)) return sum(call, Role::counts, Role::type);
  if (call.has(Role::count)) {
    const std::int64_t bytes = call.integer(Role::count) * size_of(call.handle(Role::type));
    return collective.sends_to_each() ? bytes * mpi_hooks::array_lengths_of(call).own : bytes;
  }
  if (!collective.moves_data()) return 0;
  const bool at_root = call.has(Role::root) && (root == rank || root < 0);
  if (collective.input.whose == WhichRanks::root) { // at the root what it deals out, else what arrives
    if (at_root && call.has(Role::send_counts)) return sum(call, Role::send_counts, Role::send_type);
    if (at_root)
      return call.integer(Role::send_count) * size_of(call.handle(Role::send_type)) *
             mpi_hooks::array_lengths_of(call).sends;
    return call.integer(Role::receive_count) * size_of(call.handle(Role::receive_type));
  }
  const bool in_place = call.in_place(Role::send_buffer);
  const bool to_all = collective.sends_to_each();
  if (!in_place && call.has(Role::send_counts))
    return sum(call, Role::send_counts, call.has(Role::send_types) ? Role::send_types : Role::send_type);
  if (!in_place) {
    const std::int64_t block = call.integer(Role::send_count) * size_of(call.handle(Role::send_type));
    return to_all ? block * mpi_hooks::array_lengths_of(call).sends : block;
  }
  // In place the receive side tells.
  if (call.has(Role::receive_counts) && to_all)
    return sum(call, Role::receive_counts, call.has(Role::receive_types) ? Role::receive_types : Role::receive_type);
  const std::int64_t size = size_of(call.handle(Role::receive_type));
  if (call.has(Role::receive_counts)) return call.integer(Role::receive_counts, rank) * size;
  const std::int64_t block = call.integer(Role::receive_count) * size;
  return to_all ? block * mpi_hooks::array_lengths_of(call).receives : block;
}

} // namespace kumihimo::record
