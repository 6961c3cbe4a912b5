#include "caught/next.hpp"

#include "caught/extent.hpp"
#include "caught/fortran.hpp"
#include "caught/hooks.hpp"

#include <dlfcn.h>

#include <cctype>
#include <limits>
#include <string>

namespace kumihimo::caught {
namespace {

constexpr int error_count = 2; // MPI_ERR_COUNT, in both families

bool fits(std::int64_t value) {
  return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
}

bool is_array(Role role) {
  return role == Role::counts || role == Role::send_counts || role == Role::receive_counts ||
         role == Role::send_displacements || role == Role::receive_displacements;
}

} // namespace

thread_local bool Outermost::inside_ = false;

void* next_of(const char* name) {
  if (void* address = dlsym(RTLD_NEXT, name)) return address;
  const std::string p = std::isupper(static_cast<unsigned char>(*name)) ? "P" : "p";
  if (void* address = mpi::loaded_symbol((p + name).c_str())) return address;
  return mpi::loaded_symbol(name);
}

Narrowed::Narrowed(const Call& call) {
  const Description& description = call.description();
  kept_ = description.kind != Kind::collective;
  for (std::size_t i = 0; i < description.arguments && error_ == 0; ++i) narrow(call, i, description.roles[i]);
}

Narrowed::~Narrowed() {
  for (std::size_t i = 0; i < made_ && (!kept_ || error_ != 0); ++i) delete[] arrays_[i];
}

void Narrowed::narrow(const Call& call, std::size_t place, Role role) {
  words_[place] = call.words()[place];
  if (!is_wide_if_large(role) || is_always_wide(role)) return;
  if (!is_array(role)) {
    if (!fits(call.integer(role))) error_ = error_count;
    return;
  }
  if (!call.pointer(role)) return; // of no meaning on this rank
  const int n = entries(call, extent_of(call), role);
  int* const array = arrays_[made_++] = new int[static_cast<std::size_t>(n)];
  for (int i = 0; i < n; ++i) {
    if (!fits(call.integer(role, i))) error_ = error_count;
    array[i] = static_cast<int>(call.integer(role, i));
  }
  words_[place] = reinterpret_cast<Word>(array);
}

int absent() { return is_open_mpi() ? 16 : 15; } // MPI_ERR_OTHER

} // namespace kumihimo::caught
