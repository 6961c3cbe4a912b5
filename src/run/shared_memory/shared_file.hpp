// A file in memory that the processes of a node map. One process creates it under a new name and the others open it. It
// is unlinked as soon as all have opened it, so it vanishes with the last process, however that ends.
//
// It replaces a window of the MPI library, which takes more memory of a process (ADR 0021). Open MPI 5.0.11 also ends a
// process in which two threads create windows at a time.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kumihimo::shared_memory {

class SharedFile {
 public:
  using Name = std::int64_t; // unique for this user on this machine; not negative

  // A new file of `bytes` bytes without memory. Error: no room, no rights.
  static Result<SharedFile> create(std::int64_t bytes);
  static Result<SharedFile> open(Name name);
  ~SharedFile(); // closes it, and unlinks it if this object created it; mappings stay
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&&) = delete;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  Name name() const { return name_; }
  void unlink(); // once all have opened it
  Result<std::byte*> map(std::int64_t bytes) const;
  // Allocates memory for these bytes, filled with zeros. Without it, a page that the system cannot give at its first
  // use is a SIGBUS in the middle of a program. Error: no room.
  Status allocate(std::int64_t first, std::int64_t bytes) const;

 private:
  SharedFile(int file, Name name, bool owns_name) : file_(file), name_(name), owns_name_(owns_name) {}
  int file_;
  Name name_;
  bool owns_name_; // created it and has not unlinked it
};

// The path of a file; for tests. In memory of its own, so that a file is unlinked where the heap has none left.
using Path = std::array<char, 64>;
Path path_of(SharedFile::Name name);

} // namespace kumihimo::shared_memory
