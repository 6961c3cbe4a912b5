// The contiguous copy of a call's data if the program's types have gaps, packed and unpacked by the MPI library in
// pieces that it can count. For a non-blocking call it keeps its own types, because the program may free its types
// meanwhile. They are made from the program's; MPI_Type_dup would call the functions of its attributes.
#pragma once

#include "mpi/library.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::interpose {

// Elements of a type, from an address on.
struct Elements {
  void* first = nullptr;
  std::int64_t count = 0;
  mpi::Handle type = 0;
};
// `count` of them, from the element `first` on.
Elements part(const mpi::Library& library, const Elements& all, std::int64_t first, std::int64_t count);

class Packed {
 public:
  // `alone`: a communicator of this rank alone, with errors returned.
  Packed(const mpi::Library& library, mpi::Handle alone) : library_(library), alone_(alone) {}
  ~Packed();
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  // Uninitialised memory that lives as long as this object. Throws std::bad_alloc.
  std::byte* make(std::int64_t bytes) {
    return memory_.emplace_back(new std::byte[static_cast<std::size_t>(bytes)]).get();
  }

  Status pack(const Elements& from, std::byte* data) const;
  // Adds a piece that unpack() copies at the end.
  void unpack_to(const Elements& to, std::byte* data) {
    if (to.count > 0) pieces_.push_back({to, data});
  }
  Status keep_types(); // of these pieces
  Status unpack() const;

 private:
  template <class F>
  Status each(const Elements& all, std::byte* data, F&& move) const;

  const mpi::Library& library_;
  mpi::Handle alone_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  struct Piece {
    Elements to;
    std::byte* data = nullptr;
  };
  std::vector<Piece> pieces_;
  std::vector<mpi::Handle> types_; // that are kept
};

} // namespace kumihimo::interpose
