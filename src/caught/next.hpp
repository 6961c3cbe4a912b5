// Where a caught call goes on: to the next object that has its name (another tool, or the MPI library), and where there
// is none in sight, because the library was loaded for one module alone as Python does, to the library's profiling
// name.
#pragma once

#include "caught/call.hpp"

namespace kumihimo::caught {

// "MPI_Send" or "mpi_send_"; null where the library has no such function.
void* next_of(const char* name);

// A call with large counts over a library without that form: the arguments of its plain form, or MPI's error code for a
// count that does not fit. Arrays of counts are copied; those of calls that end later are kept for good, since nothing
// tells when the library has read them last.
class Narrowed {
 public:
  explicit Narrowed(const Call& call);
  ~Narrowed();
  Narrowed(const Narrowed&) = delete;
  Narrowed& operator=(const Narrowed&) = delete;
  int error() const { return error_; }
  Word word(std::size_t i) const { return words_[i]; }

 private:
  void narrow(const Call& call, std::size_t place, Role role);
  int error_ = 0;
  bool kept_ = false;
  std::array<Word, 13> words_{};
  std::array<int*, 4> arrays_{};
  std::size_t made_ = 0;
};

// MPI's code for a call that the library has not.
int absent();

} // namespace kumihimo::caught
