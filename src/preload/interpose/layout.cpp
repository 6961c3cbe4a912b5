#include "interpose/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kumihimo::interpose {
namespace {

// Analysing a derived type takes 1 or 2 µs, as packing this many bytes does.
constexpr std::int64_t worth_a_look_bytes = 8 << 10;
// The most parts that are analysed; a type of more is packed.
constexpr int most_numbers = 256;
constexpr int most_depth = 8;

// MPI's combiners, after that of predefined types: the order is the same in all libraries.
enum Combiner : std::uint8_t {
  named,
  dup,
  contiguous,
  vector,
  hvector_integer,
  hvector,
  indexed,
  hindexed_integer,
  hindexed,
  indexed_block,
  struct_integer,
  structure,
  subarray,
  darray,
  f90_real,
  f90_complex,
  f90_integer,
  resized,
  hindexed_block,
  large // not one of MPI's: made with large counts, by any constructor
};

struct TypeEnvelope {
  int combiner = named, integers = 0, addresses = 0, types = 0;
};
// A library with large counts ends the program if a type made with them is queried without.
bool ask(const mpi::Library& library, mpi::Handle type, TypeEnvelope& e) {
  using Wide = int (*)(mpi::Handle, long long*, long long*, long long*, long long*, int*);
  static const auto wide = reinterpret_cast<Wide>(mpi::loaded_symbol("PMPI_Type_get_envelope_c"));
  if (wide) {
    long long integers = 0, addresses = 0, counts = 0, types = 0;
    if (wide(type, &integers, &addresses, &counts, &types, &e.combiner) != 0) return false;
    if (counts > 0) return e.combiner = large, true;
  }
  if (library.call.Type_get_envelope(type, &e.integers, &e.addresses, &e.types, &e.combiner) != 0) return false;
  e.combiner -= library.constants.combiner_named;
  return true;
}
bool is_derived(const TypeEnvelope& e) {
  return e.combiner != named && e.combiner != f90_real && e.combiner != f90_complex && e.combiner != f90_integer;
}

// The arguments of a derived type's constructor.
class Contents {
 public:
  Contents(const mpi::Library& library, mpi::Handle type, const TypeEnvelope& e)
      : integers(static_cast<std::size_t>(e.integers)), addresses(static_cast<std::size_t>(e.addresses)),
        types(static_cast<std::size_t>(e.types)), library_(library) {
    std::vector<std::int32_t> narrow(types.size());
    const bool is_narrow = library.family == mpi::LibraryFamily::mpich;
    void* const to = is_narrow ? static_cast<void*>(narrow.data()) : types.data();
    known_ = library.call.Type_get_contents(type, e.integers, e.addresses, e.types, integers.data(), addresses.data(),
                                            to) == 0;
    if (is_narrow) std::copy(narrow.begin(), narrow.end(), types.begin());
  }
  ~Contents() {
    if (!known_) return;
    for (mpi::Handle& type : types)
      if (TypeEnvelope e; ask(library_, type, e) && is_derived(e)) library_.call.Type_free(&type);
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  explicit operator bool() const { return known_; }

  std::vector<int> integers;
  std::vector<mpi::Address> addresses;
  std::vector<mpi::Handle> types;

 private:
  const mpi::Library& library_;
  bool known_ = false;
};

// The bytes of an element if they equal its extent, else 0.
std::int64_t bytes_without_gaps(const mpi::Library& library, mpi::Handle type) {
  long long size = 0;
  mpi::Address low = 0, extent = 0, true_low = 0, true_extent = 0;
  if (library.call.Type_size_x(type, &size) != 0 || library.call.Type_get_extent(type, &low, &extent) != 0 ||
      library.call.Type_get_true_extent(type, &true_low, &true_extent) != 0)
    return 0;
  return low == 0 && true_low == 0 && extent == size && true_extent == size ? size : 0;
}

// Whether elements whose bytes fill their extent also are in order. They may overlap beside a hole.
bool is_in_order(const mpi::Library& library, mpi::Handle type, int depth) {
  const std::int64_t bytes = bytes_without_gaps(library, type);
  TypeEnvelope e;
  if (bytes == 0 || !ask(library, type, e)) return false;
  if (!is_derived(e)) return true;
  if (e.combiner == large || depth == most_depth || e.integers + e.addresses + e.types > most_numbers) return false;
  const Contents of(library, type, e);
  if (!of || of.types.empty()) return false;
  for (const mpi::Handle each : of.types)
    if (!is_in_order(library, each, depth + 1)) return false;
  const std::int64_t element = bytes_without_gaps(library, of.types[0]);
  const auto count = static_cast<std::size_t>(of.integers.empty() ? 0 : of.integers[0]);
  const auto one_after_the_other = [&](auto&& length, auto&& begin) { // of parts, in bytes
    std::int64_t at = 0;
    for (std::size_t i = 0; i < count; at += length(i), ++i)
      if (length(i) > 0 && begin(i) != at) return false;
    return true;
  };
  const auto own_length = [&](std::size_t i) { return of.integers[1 + i] * element; };
  const auto one_length = [&](std::size_t) { return of.integers[1] * element; };
  const auto address = [&](std::size_t i) { return std::int64_t{of.addresses[i]}; };
  switch (e.combiner) {
  case dup:
  case contiguous:
  case resized:
  case subarray: // without gaps it is the whole array
    return true;
  case vector: return count <= 1 || of.integers[2] == of.integers[1];
  case hvector: return count <= 1 || of.addresses[0] == of.integers[1] * element;
  case indexed:
    return one_after_the_other(own_length, [&](std::size_t i) { return of.integers[1 + count + i] * element; });
  case hindexed: return one_after_the_other(own_length, address);
  case indexed_block:
    return one_after_the_other(one_length, [&](std::size_t i) { return of.integers[2 + i] * element; });
  case hindexed_block: return one_after_the_other(one_length, address);
  case structure:
    return one_after_the_other(
        [&](std::size_t i) { return of.integers[1 + i] * bytes_without_gaps(library, of.types[i]); }, address);
  default: return false;
  }
}

} // namespace

// The last predefined type is remembered: it never changes, and programs use the same one again and again.
TypeLayout layout_of(const mpi::Library& library, mpi::Handle type) {
  struct Last {
    mpi::Handle type = 0;
    TypeLayout layout = TypeLayout::derived;
  };
  thread_local Last last;
  if (last.type == type && last.layout != TypeLayout::derived) return last.layout;
  TypeEnvelope e;
  if (!ask(library, type, e) || e.combiner != named) return TypeLayout::derived;
  last = {type, bytes_without_gaps(library, type) > 0 ? TypeLayout::dense : TypeLayout::holes};
  return last.layout;
}

bool is_dense(const mpi::Library& library, mpi::Handle type, std::int64_t bytes) {
  const TypeLayout layout = layout_of(library, type);
  if (layout != TypeLayout::derived) return layout == TypeLayout::dense;
  return bytes >= worth_a_look_bytes && is_in_order(library, type, 0);
}

} // namespace kumihimo::interpose
