#include "interpose/completion_check.hpp"

#include "mpi_hooks/call.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace kumihimo::interpose {
namespace {

constexpr std::string_view our_objects = "libkumihimo-"; // begins their files' names

// Whether a function is in this preload library, or in another of ours, which calls the next.
bool is_in_ours(const void* function) {
  static const char own = 0;
  Dl_info here{}, there{};
  const ElfW(Sym)* symbol = nullptr;
  void** const found = reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol));
  if (!dladdr(&own, &here) || !dladdr1(function, &there, found, RTLD_DL_SYMENT)) return false;
  if (here.dli_fbase == there.dli_fbase) return true;
  // An undefined symbol stands for a function whose address a program takes. It leads to the first definition.
  if (symbol && symbol->st_shndx == SHN_UNDEF) return true;
  const std::string_view path = there.dli_fname ? there.dli_fname : "";
  return path.substr(path.rfind('/') + 1).starts_with(our_objects);
}

// Looks the name up as a caller does. A name that nobody defines does not matter.
bool is_hooked(const std::string& name) {
  if (const void* const function = dlsym(RTLD_DEFAULT, name.c_str())) return is_in_ours(function);
  return mpi::loaded_symbol(name.c_str()) == nullptr;
}

template <class To>
std::string with(std::string_view name, To to) {
  std::string all(name);
  std::transform(all.begin(), all.end(), all.begin(), [&](unsigned char c) { return static_cast<char>(to(c)); });
  return all;
}

bool is_hooked_in_every_spelling(std::string_view name) {
  const std::string lower = with(name, [](int c) { return std::tolower(c); });
  const std::array<std::string, 7> spellings{
      std::string(name), lower, lower + "_", lower + "__", lower + "_f08_", lower + "_f08ts_", with(name, [](int c) {
        return std::toupper(c);
      })};
  return std::all_of(spellings.begin(), spellings.end(), is_hooked);
}

bool completes(mpi_hooks::Name name) {
  const mpi_hooks::Kind kind = mpi_hooks::describe(name).kind;
  const bool ends = name == mpi_hooks::Name::Request_free || name == mpi_hooks::Name::Cancel;
  return kind == mpi_hooks::Kind::wait || (kind == mpi_hooks::Kind::test && !ends);
}

} // namespace

bool completion_is_hooked() {
  for (std::size_t n = 0; n < mpi_hooks::names; ++n) {
    const auto name = static_cast<mpi_hooks::Name>(n);
    if (completes(name) && !is_hooked_in_every_spelling(mpi_hooks::describe(name).name)) return false;
  }
  return true;
}

} // namespace kumihimo::interpose
