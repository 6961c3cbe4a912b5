// Vectors of numbers in the compilers' vector extension, and how they are read and written.
//
// A file that includes this is compiled for one set of instructions, from a source that others include for theirs: so
// all is in an unnamed namespace. Were a function shared between such files, the linker could keep the copy with
// instructions that an older processor lacks.
#pragma once

#include <cstring>

#define KUMIHIMO_INLINE inline __attribute__((always_inline))

namespace kumihimo {
namespace {

template <class T, int count>
struct VectorOf {
  typedef T type __attribute__((vector_size(count * sizeof(T))));
};

// `count` numbers.
template <class T, int count>
using Lanes = typename VectorOf<T, count>::type;

// Of any alignment. A number alone is a vector of one.
template <class V, class T>
KUMIHIMO_INLINE void load_into(V& to, const T* from) {
  std::memcpy(&to, from, sizeof to);
}
// The same in files that are compiled for processors with such vectors: others may not return one.
template <class V, class T>
KUMIHIMO_INLINE V load(const T* from) {
  V made;
  load_into(made, from);
  return made;
}
template <class V, class T>
KUMIHIMO_INLINE void store(T* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

} // namespace
} // namespace kumihimo
