// Reductions without a loop of our own (the user's operations, derived types), by MPI_Reduce_local.
#pragma once

#include "mpi/library.hpp"
#include "transport/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumihimo::mpi_transport {

class LibraryReduction {
 public:
  // `type_bytes`: the extent of `type`, whose elements are contiguous. The library must outlive this object.
  LibraryReduction(const mpi::Library& library, mpi::Handle type, mpi::Handle operation, std::int64_t type_bytes)
      : library_(library), type_(type), operation_(operation), type_bytes_(type_bytes) {}

  // For the engine. Refers to this object; for one thread at a time.
  transport::Reduction reduction() const { return {nullptr, &run, this}; }
  // The first failure of MPI_Reduce_local.
  Status status() const { return library_.check(code_, "MPI_Reduce_local"); }

 private:
  static void run(const void* self, const void* left, const void* right, void* target, std::int64_t count);
  void apply(const std::byte* left, const std::byte* right, std::byte* target, int count) const;

  const mpi::Library& library_;
  mpi::Handle type_, operation_;
  std::int64_t type_bytes_;
  mutable std::vector<std::byte> aside_;
  mutable int code_ = 0;
};

} // namespace kumihimo::mpi_transport
