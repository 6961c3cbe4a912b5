// The names of Fortran: of mpif.h and `use mpi`, as the compilers spell them, and of mpi_f08. The last argument is the
// error, which mpi_f08 may leave out; behind it compilers pass the length of a text. KUMIHIMO_PROFILING: the profiling
// names in their place.
#include "mpi_hooks/argument_lists.hpp"
#include "mpi_hooks/fast_path.hpp"
#include "mpi_hooks/fortran.hpp"
#include "mpi_hooks/hooks.hpp"
#include "mpi_hooks/next_function.hpp"
#include "mpi_hooks/sessions.hpp"

#include <utility>

namespace kumihimo::mpi_hooks {
namespace {

template <Name name>
constinit thread_local FastPath fast_path;

constexpr bool has_text(Name name) {
  return name == Name::Comm_create_from_group || name == Name::Intercomm_create_from_groups ||
         name == Name::Comm_accept || name == Name::Comm_connect;
}

template <Name name, bool f08, class... Words>
void hook_of_fortran(const char* exported, const void* site, Words... given) {
  using Function = void (*)(Words...);
  static const auto next = reinterpret_cast<Function>(next_of(exported));
  if (!Fortran::get().is_hooked(f08)) {
    const FortranReturnAddress forwarded(site);
    return next(given...);
  }
  const Nesting nesting(name);
  if (!nesting) return next(given...);
  std::array<Word, sizeof...(Words)> words{given...};
  if constexpr (has_fast_path(name))
    if (fast_path<name>.template counts<name, Language::fortran>(words)) return next(given...);
  HookedCall call(name, exported, Language::fortran, false, site, words.data());
  auto* const error = reinterpret_cast<int*>(words[words.size() - 1 - has_text(name)]);
  ExceptionGuard guard(call);
  const std::array<Word, sizeof...(Words)> said = words; // handle_call() may replace them
  const std::uint64_t era = FastPath::era();
  if (const std::optional<int> code = handle_call(call)) {
    guard.returned();
    if (error) *error = *code;
    return;
  }
  if constexpr (has_fast_path(name))
    if (call.fast_path) fast_path<name>.template remember<name, Language::fortran>(said, call.fast_path, era);
  before(call);
  ProgramSessions::before(call);
  [&]<std::size_t... i>(std::index_sequence<i...>) { next(words[i]...); }
  (std::index_sequence_for<Words...>{});
  guard.returned();
  const int code = error ? *error : 0;
  ProgramSessions::after(call, code);
  after(call, code);
}

// MPICH's names of mpi_f08 for calls with a buffer, which is described there. They call C's names, which are hooked.
template <Name name, class... Words> // the name, so that each has a `next` of its own
void forwarded_to_c(const char* exported, const void* site, Words... given) {
  static const auto next = reinterpret_cast<void (*)(Words...)>(next_of(exported));
  const FortranReturnAddress forwarded(site);
  if (next) next(given...);
}

} // namespace
} // namespace kumihimo::mpi_hooks

using namespace kumihimo::mpi_hooks;

#define KUMIHIMO_NAME(exported, name, f08, number)                                                                     \
  extern "C" [[gnu::weak]] void exported(KUMIHIMO_PARAMETERS(number)) {                                                \
    hook_of_fortran<Name::name, f08>(#exported, __builtin_return_address(0) KUMIHIMO_ARGUMENTS(number));               \
  }
#define KUMIHIMO_NAME_TO_C(exported, name, number)                                                                     \
  extern "C" [[gnu::weak]] void exported(KUMIHIMO_PARAMETERS(number)) {                                                \
    forwarded_to_c<Name::name>(#exported, __builtin_return_address(0) KUMIHIMO_ARGUMENTS(number));                     \
  }
#define KUMIHIMO_PREFIXED_SPELLINGS(p, P, lower, upper, name, number)                                                  \
  KUMIHIMO_NAME(p##mpi_##lower, name, false, number)                                                                   \
  KUMIHIMO_NAME(p##mpi_##lower##_, name, false, number)                                                                \
  KUMIHIMO_NAME(p##mpi_##lower##__, name, false, number)                                                               \
  KUMIHIMO_NAME(P##MPI_##upper, name, false, number)                                                                   \
  KUMIHIMO_NAME(p##mpi_##lower##_f08_, name, true, number)                                                             \
  KUMIHIMO_NAME_TO_C(p##mpi_##lower##_f08ts_, name, number)
#ifdef KUMIHIMO_PROFILING
#define KUMIHIMO_SPELLINGS(...) KUMIHIMO_PREFIXED_SPELLINGS(p, P, __VA_ARGS__)
#else
#define KUMIHIMO_SPELLINGS(...) KUMIHIMO_PREFIXED_SPELLINGS(, , __VA_ARGS__)
#endif
// With the error; those that begin with argc and argv in C begin without them here.
#define KUMIHIMO_FORTRAN_plain(lower, upper, name, ...)                                                                \
  KUMIHIMO_SPELLINGS(lower, upper, name, KUMIHIMO_NUMBER(__VA_ARGS__ __VA_OPT__(, ) error))
#define KUMIHIMO_FORTRAN_large(lower, upper, name, ...) KUMIHIMO_FORTRAN_plain(lower, upper, name, __VA_ARGS__)
#define KUMIHIMO_FORTRAN_argv(lower, upper, name, argc, argv, ...)                                                     \
  KUMIHIMO_FORTRAN_plain(lower, upper, name __VA_OPT__(, ) __VA_ARGS__)
#define KUMIHIMO_FORTRAN_one_text(lower, upper, name, ...)                                                             \
  KUMIHIMO_FORTRAN_plain(lower, upper, name, __VA_ARGS__, length)
#define KUMIHIMO_FORTRAN_text(...)
#define KUMIHIMO_FORTRAN_varying(...)
#define KUMIHIMO_HOOK(name, lower, upper, kind, form, ...)                                                             \
  KUMIHIMO_FORTRAN_##form(lower, upper, name __VA_OPT__(, ) __VA_ARGS__)
#include "mpi_hooks/names_of_version.def"
