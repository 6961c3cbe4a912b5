// Reductions without a loop of our own (user-defined operations, derived types), by MPI_Reduce_local.
//
// Alignment: the program's function gets operands that are aligned to 16 bytes, as memory of malloc is, or to the
// largest power of two that divides the element's extent if that is smaller. Operands elsewhere are copied first.
#pragma once

#include "mpi/library.hpp"
#include "transport/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumihimo::mpi_transport {

class LibraryReduction {
 public:
  struct Operands {
    mpi::Handle type = 0, operation = 0;
    std::int64_t type_bytes = 0; // of an element in the engine's buffers
    bool commutative = false;
    // The engine's buffers hold elements as MPI_Pack packs them: they are unpacked for the function.
    bool is_packed = false;
    mpi::Handle alone = 0; // a communicator of this rank, for MPI_Pack
  };
  // The library must outlive this object.
  LibraryReduction(const mpi::Library& library, const Operands& operands);

  // For the engine. Refers to this object; for one thread at a time. Throws std::bad_alloc.
  transport::Reduction reduction() const { return {nullptr, &run, this}; }
  // The first failure of the library.
  Status status() const { return library_.check(code_, "MPI_Reduce_local"); }
  bool is_packed() const { return operands_.is_packed; }

 private:
  static void run(const void* self, const void* left, const void* right, void* target, std::int64_t count);
  bool is_aligned(const void* address) const;
  void apply(const std::byte* left, const std::byte* right, std::byte* target, std::int64_t count) const;
  void apply_apart(const std::byte* left, const std::byte* right, std::byte* target, int count) const;
  std::byte* first_element(std::vector<std::byte>& memory) const;
  void fetch(const std::byte* from, std::byte* elements, int count) const;
  void store(const std::byte* elements, std::byte* to, int count) const;
  void note(int code) const { code_ = code_ == 0 ? code : code_; }

  const mpi::Library& library_;
  Operands operands_;
  mpi::Address extent_ = 0, true_low_ = 0, true_extent_ = 0;
  std::int64_t most_apart_ = 1;                 // elements that are copied at once
  mutable std::vector<std::byte> left_, right_; // the copies, with their gaps
  mutable int code_ = 0;
};

} // namespace kumihimo::mpi_transport
