// One interface to a file for all ways of reading and writing: a row of `interfaces` each.
#pragma once

#include "base/result.hpp"
#include "mpi_job/job.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::file_bench {

enum class Interface : std::uint8_t { posix, mpi_independent, mpi_collective, hdf5, hdf5_collective };
std::string_view name_of(Interface interface);
Result<Interface> interface_named(std::string_view name);
// Whether all ranks must make the same calls in the same order.
bool is_collective(Interface interface);

enum class OpenFor : std::uint8_t { writing, reading };

struct ByteFileOptions {
  Interface interface = Interface::posix;
  bool is_shared = false;                                 // by all ranks; else each has its own
  bool is_direct = false;                                 // O_DIRECT, for posix alone
  std::int64_t bytes = 0;                                 // of the whole file; HDF5 needs them beforehand
  std::vector<std::pair<std::string, std::string>> hints; // of MPI-IO
  std::string hdf5_library;                               // "": the usual names
};

// Positions are of the data in the file. After an error the file can be closed.
class ByteFile {
 public:
  virtual ~ByteFile() = default;
  virtual Status open(const std::string& path, OpenFor what) = 0;
  virtual Status write(std::int64_t position, std::span<const std::byte> bytes) = 0;
  virtual Status read(std::int64_t position, std::span<std::byte> bytes) = 0;
  virtual Status sync() = 0; // what this rank wrote is on the disk
  virtual Status close() = 0;
};

// Error: the library that the interface needs is missing.
Result<std::unique_ptr<ByteFile>> make_byte_file(const mpi_job::MpiJob& job, const ByteFileOptions& options);

std::unique_ptr<ByteFile> make_posix_file(bool is_direct);
Result<std::unique_ptr<ByteFile>> make_mpi_file(const mpi_job::MpiJob& job, const ByteFileOptions& options);
Result<std::unique_ptr<ByteFile>> make_hdf5_file(const mpi_job::MpiJob& job, const ByteFileOptions& options);

} // namespace kumihimo::file_bench
