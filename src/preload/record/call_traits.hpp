// What the recorder looks at in each call, by the call's name: in one small table, since a call in a program costs the
// cache lines that it touches.
#pragma once

#include "mpi_hooks/call.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace kumihimo::record {

struct alignas(16) CallTraits {
  mpi_hooks::CallKind kind{};
  // Where the communicator or the window is among the arguments in C; -1: nowhere. (Fortran's form of a hooked call
  // that is `at_a_site` has the same place.)
  std::int8_t handle_at = -1;
  bool is_window = false;
  // Neither makes nor ends a communicator, window or persistent request: a CallSite remembers its row.
  bool at_a_site = false;
  bool is_collective = false;        // in any form
  bool moves_data = false;           // or may have a size: only then CallTraffic is asked for
  bool receives_with_status = false; // a blocking call whose status describes a received message
  bool may_be_untimed = false;       // where calls are short, only a sample of them is timed (timed_calls.hpp)
  // Of a call that sends to one rank, or puts, gets or accumulates: where its rank, and the count and the type of what
  // is moved, are among the arguments. `partner_at` -1: another call; `count_at` -1: one element.
  std::int8_t partner_at = -1, count_at = -1, type_at = -1;
};

constexpr CallTraits traits_of(mpi_hooks::Name name, mpi_hooks::CallKind kind,
                               std::initializer_list<mpi_hooks::Role> roles) {
  using mpi_hooks::CallKind;
  using mpi_hooks::Role;
  CallTraits traits{kind};
  bool receives = false, has_status = false;
  std::int8_t at = 0;
  for (const Role role : roles) {
    if (role == Role::communicator || role == Role::window) {
      traits.handle_at = at;
      traits.is_window = role == Role::window;
    }
    receives |= role == Role::receive_count || role == Role::source;
    has_status |= role == Role::status;
    traits.moves_data |= role == Role::destination || role == Role::receive_count;
    ++at;
  }
  const auto place = [&](Role wanted) {
    std::int8_t found = 0;
    for (const Role role : roles) {
      if (role == wanted) return found;
      ++found;
    }
    return std::int8_t{-1};
  };
  const bool nonblocking = kind == CallKind::nonblocking_point_to_point;
  traits.is_collective = kind == CallKind::collective || kind == CallKind::nonblocking_collective ||
                         kind == CallKind::persistent_collective;
  traits.moves_data |=
      traits.is_collective || kind == CallKind::one_sided || kind == CallKind::persistent_point_to_point;
  traits.at_a_site = kind == CallKind::point_to_point || nonblocking || kind == CallKind::wait ||
                     kind == CallKind::test || kind == CallKind::collective ||
                     kind == CallKind::nonblocking_collective || kind == CallKind::one_sided ||
                     kind == CallKind::synchronisation;
  traits.receives_with_status = kind == CallKind::point_to_point && receives && has_status &&
                                name != mpi_hooks::Name::Probe && name != mpi_hooks::Name::Mprobe;
  traits.partner_at = place(Role::destination) >= 0 ? place(Role::destination) : place(Role::target);
  const bool gets_by_target = name == mpi_hooks::Name::Get_accumulate || name == mpi_hooks::Name::Rget_accumulate;
  if (place(Role::partitions) >= 0 || kind == CallKind::synchronisation) {
    traits.partner_at = -1;
  } else if (gets_by_target) {
    traits.count_at = place(Role::target_count), traits.type_at = place(Role::target_type);
  } else if (place(Role::buffer) >= 0) {
    traits.count_at = place(Role::count), traits.type_at = place(Role::type);
  } else {
    traits.count_at = place(Role::send_count), traits.type_at = place(Role::send_type);
  }
  traits.may_be_untimed = nonblocking || kind == CallKind::one_sided || kind == CallKind::synchronisation;
  return traits;
}

inline constexpr std::array<CallTraits, mpi_hooks::names> traits_of_all = [] {
  using enum mpi_hooks::Role;
#define KUMIHIMO_CALL(name, lower, upper, kind, form, ...)                                                             \
  traits_of(mpi_hooks::Name::name, mpi_hooks::CallKind::kind, {__VA_ARGS__}),
  return std::array<CallTraits, mpi_hooks::names>{{
#include "mpi_hooks/calls.def"
  }};
}();
inline const CallTraits& traits_of(mpi_hooks::Name name) { return traits_of_all[static_cast<std::size_t>(name)]; }

} // namespace kumihimo::record
