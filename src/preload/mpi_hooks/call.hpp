// A hooked MPI call: which one, from where, and its arguments as they came.
//
// All arguments of MPI's C functions are integers or pointers, and all of Fortran's are pointers: in the calling
// conventions of x86-64 and AArch64 on Linux each has a register or a stack slot of one machine word, whose upper half
// the callee of an int ignores. So the arguments are taken and handed on as words, by one template for each number of
// them, and only who looks at one must know what it is: its role, from the table (calls.def).
#pragma once

#include "base/collective_kind.hpp"
#include "mpi/library.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kumihimo::mpi_hooks {

using Word = std::uintptr_t;
using mpi::Handle;

enum class Name : std::uint8_t {
#define KUMIHIMO_CALL(name, ...) name,
#include "mpi_hooks/calls.def"
};
#define KUMIHIMO_CALL(...) +1
inline constexpr std::size_t names = 0
#include "mpi_hooks/calls.def"
    ;

enum class CallKind : std::uint8_t {
  point_to_point, // blocking, probes included
  nonblocking_point_to_point,
  persistent_point_to_point, // makes a request that is started later
  start,
  wait,
  test, // what returns at once
  collective,
  nonblocking_collective,
  persistent_collective,
  one_sided,       // moves data
  synchronisation, // of windows
  window,
  window_end,
  communicator, // makes one
  communicator_end,
  attribute, // sets or ends some
  environment,
};

enum class Role : std::uint8_t {
  // What is sent and received; `buffer`, `count` and `type` where both are one.
  buffer,
  count,
  type,
  send_buffer,
  send_count,
  send_type,
  receive_buffer,
  receive_count,
  receive_type,
  partitions,
  partition_count, // MPI_Count in every form
  // Arrays, with an entry for each rank or neighbour. Addresses are MPI_Aint in every form.
  counts,
  send_counts,
  send_displacements,
  send_addresses,
  send_types,
  receive_counts,
  receive_displacements,
  receive_addresses,
  receive_types,
  // With whom.
  destination,
  source,
  send_tag,
  receive_tag,
  root,
  operation,
  communicator,
  target,
  target_displacement,
  target_count,
  target_type,
  window,
  reorder, // whether a topology may have other ranks
  info,
  // Where handles stand that a call makes or ends.
  request,
  requests,
  message,
  new_communicator,
  ended_communicator,
  new_window,
  ended_window,
  // What a call tells.
  request_count,
  index,
  indices,
  completed_count,
  flag,
  status,
  statuses,
  level,
  required,
  provided,
  unit,
  // Of no interest.
  group,
  argc,
  argv,
  other,
};
inline constexpr std::size_t roles = static_cast<std::size_t>(Role::other) + 1;

struct CallDescription {
  std::string_view name; // "MPI_Send"
  CallKind kind;
  std::uint8_t arguments;
  std::uint8_t only_in_c; // leading arguments that Fortran's form lacks
  std::array<Role, 13> roles;
};
extern const std::array<CallDescription, names> descriptions;
inline const CallDescription& describe(Name name) { return descriptions[static_cast<std::size_t>(name)]; }
// The place of a role among the arguments in C (the first, if several have it), or -1.
extern const std::array<std::array<std::int8_t, roles>, names> places;
inline int place_of(Name name, Role role) {
  return places[static_cast<std::size_t>(name)][static_cast<std::size_t>(role)];
}

// The collective that a call asks for, in any of its forms.
struct HookedCollective {
  const CollectiveRow* row = nullptr; // null: it asks for none
  bool local_counts = false;          // each rank knows the lengths of its own blocks only
};
extern const std::array<HookedCollective, names> collectives;
inline const HookedCollective& collective_of(Name name) { return collectives[static_cast<std::size_t>(name)]; }

enum class Language : std::uint8_t { c, fortran };

// A counter for all threads. Zeroed memory is a valid one.
struct Counter {
  void count(std::int64_t more = 1) { std::atomic_ref(number).fetch_add(more, std::memory_order_relaxed); }
  std::int64_t counted() { return std::atomic_ref(number).load(std::memory_order_relaxed); }
  std::int64_t number;
};

class HookedCall {
 public:
  HookedCall(Name called, const char* as, Language from, bool is_large, const void* returns_to, Word* words)
      : name(called), exported(as), language(from), large(is_large), site(returns_to), words_(words) {}

  const Name name;
  const char* const exported; // as it was called: "mpi_send_"
  const Language language;
  const bool large;       // of the MPI_X_c forms
  const void* const site; // where the call returns to
  // For the hooks of a preload library, from before() to after().
  std::array<Word, 5> notes{};
  // Set by handle_call() for a call that goes on and whose arguments by value decide that: the next calls with the same
  // arguments, other than buffers, are only counted here and go on, until FastPath::forget().
  Counter* fast_path = nullptr;

  const CallDescription& description() const { return describe(name); }
  CallKind kind() const { return describe(name).kind; }
  bool has(Role role) const { return place_of(name, role) >= 0; }

  // An argument as it came.
  Word word(Role role) const { return words_[place(role)]; }
  void* pointer(Role role) const { return reinterpret_cast<void*>(word(role)); }
  // Put another in its place before the call goes on.
  void replace(Role role, Word word) { words_[place(role)] = word; }

  // A count, rank, tag or displacement.
  std::int64_t integer(Role role) const;
  // Entry i of an array of them.
  std::int64_t integer(Role array, std::int64_t i) const;
  // A handle that is given by value; one that stands somewhere (after the call, for those that it makes).
  Handle handle(Role role) const;
  Handle handle_at(Role role) const { return handle(role, 0); }
  Handle handle(Role array, std::int64_t i) const;
  // MPI_IN_PLACE in place of a buffer; MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE.
  bool in_place(Role buffer) const;
  // A buffer as C has it: the special addresses, too.
  void* buffer(Role buffer) const;
  // What the program finds where the call puts a handle.
  void give(Role role, Handle made) const;
  bool ignores_status() const;

  Word* words() const { return words_; }

 private:
  std::size_t place(Role role) const {
    const int skipped = language == Language::fortran ? description().only_in_c : 0;
    return static_cast<std::size_t>(place_of(name, role) - skipped);
  }
  Word* words_;
};

// Whether entries of this role are as wide as MPI_Count or MPI_Aint in the forms with large counts, and whether in all.
bool is_wide_if_large(Role role);
bool is_always_wide(Role role);

inline bool begins_mpi(const HookedCall& call) { return call.name == Name::Init || call.name == Name::Init_thread; }

} // namespace kumihimo::mpi_hooks
