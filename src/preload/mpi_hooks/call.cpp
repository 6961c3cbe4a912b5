#include "mpi_hooks/call.hpp"

#include "mpi_hooks/fortran.hpp"

#include <initializer_list>

namespace kumihimo::mpi_hooks {
namespace {

// Of each form: how many of the first arguments are C's alone.
constexpr std::uint8_t skipped_plain = 0, skipped_large = 0, skipped_text = 0, skipped_one_text = 0,
                       skipped_varying = 0, skipped_argv = 2;

constexpr CallDescription described(std::string_view name, CallKind kind, std::uint8_t only_in_c,
                                    std::initializer_list<Role> roles) {
  CallDescription description{name, kind, static_cast<std::uint8_t>(roles.size()), only_in_c, {}};
  std::size_t at = 0;
  for (const Role role : roles) description.roles[at++] = role;
  return description;
}

HandleKind kind_of(Role role) {
  switch (role) {
  case Role::type:
  case Role::send_type:
  case Role::receive_type:
  case Role::target_type:
  case Role::send_types:
  case Role::receive_types: return HandleKind::type;
  case Role::operation: return HandleKind::operation;
  case Role::window:
  case Role::new_window:
  case Role::ended_window: return HandleKind::window;
  case Role::request:
  case Role::requests: return HandleKind::request;
  case Role::message: return HandleKind::message;
  case Role::info: return HandleKind::info;
  default: return HandleKind::communicator;
  }
}

} // namespace

// Seen outside by their declarations.
constexpr std::array<CallDescription, names> descriptions = [] {
  using enum Role;
#define KUMIHIMO_CALL(name, lower, upper, kind, form, ...)                                                             \
  described("MPI_" #name, CallKind::kind, skipped_##form, {__VA_ARGS__}),
  return std::array<CallDescription, names>{{
#include "mpi_hooks/calls.def"
  }};
}();

constexpr std::array<HookedCollective, names> collectives = [] {
  std::array<HookedCollective, names> all{};
  const auto set = [&](const HookedCollective& collective, std::initializer_list<Name> forms) {
    for (const Name name : forms) all[static_cast<std::size_t>(name)] = collective;
  };
#define COLLECTIVE(...)
#define MPI_CALL(kind, blocking, nonblocking, lengths, of)                                                             \
  set({&collective_rows::kind, LengthsOf::of == LengthsOf::own},                                                       \
      {Name::blocking, Name::nonblocking, Name::blocking##_init});
#include "base/collectives.def"
#undef COLLECTIVE
#undef MPI_CALL
  return all;
}();

constexpr std::array<std::array<std::int8_t, roles>, names> places = [] {
  std::array<std::array<std::int8_t, roles>, names> all{};
  for (std::size_t n = 0; n < names; ++n) {
    all[n].fill(-1);
    for (int i = descriptions[n].arguments - 1; i >= 0; --i)
      all[n][static_cast<std::size_t>(descriptions[n].roles[static_cast<std::size_t>(i)])] =
          static_cast<std::int8_t>(i);
  }
  return all;
}();

bool is_always_wide(Role role) {
  return role == Role::target_displacement || role == Role::partition_count || role == Role::send_addresses ||
         role == Role::receive_addresses;
}

bool is_wide_if_large(Role role) {
  switch (role) {
  case Role::count:
  case Role::send_count:
  case Role::receive_count:
  case Role::target_count:
  case Role::counts:
  case Role::send_counts:
  case Role::receive_counts:
  case Role::send_displacements:
  case Role::receive_displacements:
  case Role::unit: return true;
  default: return is_always_wide(role);
  }
}

std::int64_t HookedCall::integer(Role role) const {
  const bool wide = is_always_wide(role) || (large && is_wide_if_large(role));
  const Word given = word(role);
  if (language == Language::c)
    return wide ? static_cast<std::int64_t>(given) : static_cast<std::int32_t>(static_cast<std::uint32_t>(given));
  return wide ? *reinterpret_cast<const std::int64_t*>(given) : *reinterpret_cast<const std::int32_t*>(given);
}

std::int64_t HookedCall::integer(Role array, std::int64_t i) const {
  const bool wide = is_always_wide(array) || (large && is_wide_if_large(array));
  return wide ? static_cast<const std::int64_t*>(pointer(array))[i]
              : static_cast<const std::int32_t*>(pointer(array))[i];
}

Handle HookedCall::handle(Role role) const {
  if (language == Language::fortran)
    return Fortran::get().handle(kind_of(role), *static_cast<const int*>(pointer(role)));
  const Word given = word(role);
  return is_open_mpi() ? static_cast<Handle>(given) : static_cast<std::int32_t>(static_cast<std::uint32_t>(given));
}

Handle HookedCall::handle(Role array, std::int64_t i) const {
  if (language == Language::fortran)
    return Fortran::get().handle(kind_of(array), static_cast<const int*>(pointer(array))[i]);
  return is_open_mpi() ? static_cast<const Handle*>(pointer(array))[i]
                       : static_cast<const std::int32_t*>(pointer(array))[i];
}

bool HookedCall::in_place(Role buffer) const {
  if (language == Language::fortran) return Fortran::get().is_in_place(pointer(buffer));
  return word(buffer) == (is_open_mpi() ? Word{1} : ~Word{0});
}

void* HookedCall::buffer(Role role) const {
  if (language == Language::c) return pointer(role);
  if (in_place(role)) return reinterpret_cast<void*>(is_open_mpi() ? Word{1} : ~Word{0});
  return Fortran::get().is_bottom(pointer(role)) ? nullptr : pointer(role);
}

void HookedCall::give(Role role, Handle made) const {
  if (language == Language::fortran)
    *static_cast<int*>(pointer(role)) = Fortran::get().integer(kind_of(role), made);
  else if (is_open_mpi())
    *static_cast<Handle*>(pointer(role)) = made;
  else
    *static_cast<std::int32_t*>(pointer(role)) = static_cast<std::int32_t>(made);
}

bool HookedCall::ignores_status() const {
  const void* const given = pointer(has(Role::status) ? Role::status : Role::statuses);
  if (language == Language::fortran) return Fortran::get().is_status_ignored(given);
  return given == reinterpret_cast<const void*>(Word{is_open_mpi() ? 0u : 1u});
}

} // namespace kumihimo::mpi_hooks
