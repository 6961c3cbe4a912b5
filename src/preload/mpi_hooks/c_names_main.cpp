// The names of C: LD_PRELOAD puts the object that compiles this before the MPI library. Programs ask at run time
// whether a name is there and take it for the library's, so those of MPI 4, of MPI 4.1 and with large counts are in
// objects of their own (names_of_version.def), which only preload libraries for MPI libraries that have them link. So
// are the profiling names (KUMIHIMO_PROFILING), by which the functions of tools and C++ bindings call MPI.
#include "mpi_hooks/argument_lists.hpp"
#include "mpi_hooks/fast_path.hpp"
#include "mpi_hooks/hooks.hpp"
#include "mpi_hooks/next_function.hpp"
#include "mpi_hooks/sessions.hpp"

#include <utility>

namespace kumihimo::mpi_hooks {
namespace {

#ifdef KUMIHIMO_PROFILING
constexpr bool is_profiling = true;
#else
constexpr bool is_profiling = false;
#endif

template <class... Words>
int go_on(int (*next)(Words...), const Word* words) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return next(words[i]...); }
  (std::index_sequence_for<Words...>{});
}

template <Name name, bool large>
constinit thread_local FastPath fast_path;

// Apart from what calls that pass go through.
template <Name name, bool large, class... Words>
[[gnu::noinline]] int look_at(int (*next)(Words...), const char* exported, const void* site, Words... given) {
  const std::array<Word, sizeof...(Words)> said{given...};
  std::array<Word, sizeof...(Words) + 1> words{given...};
  HookedCall call(name, exported, Language::c, large, FortranReturnAddress::site_or(site), words.data());
  ExceptionGuard guard(call);
  const std::uint64_t era = FastPath::era();
  if (const std::optional<int> code = handle_call(call)) return guard.returned(), *code;
  if constexpr (has_fast_path(name))
    if (next && call.fast_path) fast_path<name, large>.template remember<name, Language::c>(said, call.fast_path, era);
  before(call);
  ProgramSessions::before(call);
  int code = 0;
  if (next) [[likely]] {
    code = go_on(next, words.data());
  } else {
    code = absent();
  }
  guard.returned();
  ProgramSessions::after(call, code);
  after(call, code);
  return code;
}

template <Name name, bool large, class... Words>
int hook_of_c(const char* exported, const void* site, Words... given) {
  using Function = int (*)(Words...);
  static const auto next = reinterpret_cast<Function>(next_of(exported));
  if (is_profiling && next && is_in_library(site)) return next(given...);
  const Nesting nesting(name);
  if constexpr (has_fast_path(name))
    if (nesting &&
        fast_path<name, large>.template counts<name, Language::c>(std::array<Word, sizeof...(Words)>{given...}))
      return next(given...);
  if (next && !nesting) {
    if constexpr (name == Name::Comm_free || name == Name::Comm_disconnect || name == Name::Abort) {
      std::array<Word, sizeof...(Words)> words{given...};
      HookedCall call(name, exported, Language::c, large, site, words.data());
      nested(call, Nesting::outer());
    }
    return next(given...);
  }
  if (!nesting) return absent();
  return look_at<name, large>(next, exported, site, given...);
}

} // namespace
} // namespace kumihimo::mpi_hooks

using namespace kumihimo::mpi_hooks;

#define KUMIHIMO_NAME(exported, name, is_large, number)                                                                \
  extern "C" [[gnu::weak]] int exported(KUMIHIMO_PARAMETERS(number)) {                                                 \
    return hook_of_c<Name::name, is_large>(#exported, __builtin_return_address(0) KUMIHIMO_ARGUMENTS(number));         \
  }
#ifdef KUMIHIMO_PROFILING
#define KUMIHIMO_PREFIXED(name) PMPI_##name
#else
#define KUMIHIMO_PREFIXED(name) MPI_##name
#endif
#define KUMIHIMO_NAME_OF(exported, ...) KUMIHIMO_NAME(exported, __VA_ARGS__) // a macro in place of a name
#ifdef KUMIHIMO_LARGE_COUNTS
#define KUMIHIMO_C_plain(name, number)
#define KUMIHIMO_C_large(name, number) KUMIHIMO_NAME_OF(KUMIHIMO_PREFIXED(name##_c), name, true, number)
#else
#define KUMIHIMO_C_plain(name, number) KUMIHIMO_NAME_OF(KUMIHIMO_PREFIXED(name), name, false, number)
#define KUMIHIMO_C_large(name, number) KUMIHIMO_C_plain(name, number)
#endif
#define KUMIHIMO_C_text(name, number) KUMIHIMO_C_plain(name, number)
#define KUMIHIMO_C_one_text(name, number) KUMIHIMO_C_plain(name, number)
#define KUMIHIMO_C_argv(name, number) KUMIHIMO_C_plain(name, number)
#define KUMIHIMO_C_varying(name, number) KUMIHIMO_C_plain(name, number)
#define KUMIHIMO_HOOK(name, lower, upper, kind, form, ...) KUMIHIMO_C_##form(name, KUMIHIMO_NUMBER(__VA_ARGS__))
#include "mpi_hooks/names_of_version.def"
