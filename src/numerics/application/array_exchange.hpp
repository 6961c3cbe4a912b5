// An exchange of boxes of arrays by the MPI library: MPI_Alltoallw with derived datatypes, as mpi4py-fft does it (L.
// Dalcin, M. Mortensen and D. Keyes, J. Parallel Distrib. Comput. 128 (2019) 137). No loop of ours packs anything.
#pragma once

#include "base/result.hpp"
#include "mpi/handle_array.hpp"
#include "mpi/library.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::application {

// A box of an array of doubles with four axes, the last one contiguous.
struct ArrayBox {
  std::array<std::int64_t, 4> array{}, begin{}, length{};
  bool is_empty() const { return length[0] * length[1] * length[2] * length[3] == 0; }
};

class ArrayExchange {
 public:
  virtual ~ArrayExchange() = default;
  virtual Status run(const double* from, double* to) = 0; // collective
};

// Of all ranks of a communicator, which outlives the exchange, as `library` does.
class LibraryArrays final : public ArrayExchange {
 public:
  // `to`: the box for each rank, of the array that is sent from; `from`: that of each rank, of the other one.
  static Result<std::unique_ptr<ArrayExchange>> make(const mpi::Library& library, mpi::Handle communicator,
                                                     const std::vector<ArrayBox>& to,
                                                     const std::vector<ArrayBox>& from);
  ~LibraryArrays() override;
  LibraryArrays(const LibraryArrays&) = delete;
  LibraryArrays& operator=(const LibraryArrays&) = delete;
  Status run(const double* from, double* to) override;

 private:
  struct Side {
    explicit Side(mpi::LibraryFamily family) : types(family) {}
    mpi::HandleArray types;
    std::vector<mpi::Handle> made;
    std::vector<int> counts;
  };
  LibraryArrays(const mpi::Library& library, mpi::Handle communicator)
      : library_(library), communicator_(communicator), sent_(library.family), received_(library.family) {}
  Status add(const ArrayBox& box, Side& side) const;
  using AllToAll = int (*)(const void*, const int*, const int*, const void*, void*, const int*, const int*, const void*,
                           mpi::Handle);

  const mpi::Library& library_;
  mpi::Handle communicator_;
  AllToAll all_to_all_ = nullptr;
  Side sent_, received_;
  std::vector<int> displacements_; // all 0: types have them
};

} // namespace kumihimo::application
