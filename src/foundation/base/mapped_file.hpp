// A binary file that is read where it lies in memory, a page at a time as it is needed.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kumihimo {

class MappedFile {
 public:
  // Whether a file is the one that was mapped before, and nobody has written it since.
  struct Identity {
    std::uint64_t device = 0, number = 0, bytes = 0;
    std::int64_t written_ns = 0;
    bool operator==(const Identity&) const = default;
  };

  // `what`: for errors, as "the events of rank 3". Error: it is no regular file, or the system does not map it.
  static Result<MappedFile> open(const std::string& path, const std::string& what, const std::string& advice);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const Identity& identity() const { return identity_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
  Identity identity_;
};

} // namespace kumihimo
