// Phases on files of data: written, read back by the same or another rank, removed.
#pragma once

#include "base/result.hpp"
#include "file_bench/byte_file.hpp"
#include "mpi_job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kumihimo::file_bench {

// What is done about the page cache before a read: nothing; the files' pages are let go of; all caches of the node are
// (root); or O_DIRECT goes past it, in writes, too.
enum class CacheUse : std::uint8_t { keep, evict, drop, direct };

// Files as IOR lays them out: a segment has a block of each rank, a block several transfers (one call each).
struct DataCase {
  std::string name;
  ByteFileOptions file;
  std::int64_t transfer = 1 << 20, block = 64 << 20, segments = 1; // bytes, bytes, blocks of a rank
  CacheUse cache = CacheUse::evict;
  bool syncs = true;      // in the time of a write
  bool checks = true;     // every byte that is read
  std::int32_t shift = 1; // rank r reads the data of rank r + shift
  double limit = 0;       // seconds after which a write stops: all ranks then write as much as the fastest one; 0: none
  std::uint64_t seed = 1;
  std::int64_t written = -1; // transfers of a rank, by the write before; -1: all

  std::int64_t transfers() const { return block / transfer * segments; }
  std::int64_t transfers_there() const { return written < 0 ? transfers() : written; }
};

// Error: what is misspelt or does not fit.
Result<DataCase> parse_data_case(const nlohmann::json& given);

// Each is collective and returns what is printed.
Result<nlohmann::json> write_data(const mpi_job::MpiJob& job, const std::string& folder, DataCase& c);
Result<nlohmann::json> read_data(const mpi_job::MpiJob& job, const std::string& folder, const DataCase& c);
Result<nlohmann::json> remove_data(const mpi_job::MpiJob& job, const std::string& folder, const DataCase& c);

// O_DIRECT by rank 0 alone, the others asleep: what one rank gets of the file system at most.
struct RoofCase {
  std::int64_t bytes = 256 << 20, transfer = 8 << 20;
  std::uint64_t seed = 1;
};
Result<nlohmann::json> measure_roof(const mpi_job::MpiJob& job, const std::string& folder, const RoofCase& c);

} // namespace kumihimo::file_bench
