// Handles in an array as MPI's functions take it: addresses, or 32-bit integers in the MPICH family.
#pragma once

#include "mpi/library.hpp"

#include <cstring>
#include <vector>

namespace kumihimo::mpi {

class HandleArray {
 public:
  explicit HandleArray(LibraryFamily family)
      : each_(family == LibraryFamily::open_mpi ? sizeof(Handle) : sizeof(std::int32_t)) {}

  void clear() { bytes_.clear(); }
  // A handle's lower bytes come first.
  void add(Handle handle) {
    bytes_.resize(bytes_.size() + each_);
    std::memcpy(bytes_.data() + bytes_.size() - each_, &handle, each_);
  }
  int size() const { return static_cast<int>(bytes_.size() / each_); }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }

 private:
  std::size_t each_;
  std::vector<std::byte> bytes_;
};

} // namespace kumihimo::mpi
