// A file in the memory of a node that several processes map: made by one under a name that is new, opened by the
// others, and without a name as soon as all have it, so that it is gone with the last of them, however that ends.
//
// In place of a window of the MPI library, which takes more of a process (ADR 0021), and which two threads cannot make
// at one time on Open MPI 5.0.11: it ends the process.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kumihimo::shared_memory {

class SharedFile {
 public:
  using Name = std::int64_t; // of this user's on this machine; not negative

  // Makes it, of `bytes`, none of which are there yet. Error: no room, no rights.
  static Result<SharedFile> make(std::int64_t bytes);
  static Result<SharedFile> open(Name name);
  ~SharedFile(); // closes it, and takes the name away if it made it and has not yet; what is mapped stays
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&&) = delete;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  Name name() const { return name_; }
  void forget_name(); // once all have opened it
  Result<std::byte*> map(std::int64_t bytes) const;
  // The system sets memory aside for these bytes, zeros at first: without it, one that it cannot give when it is first
  // touched is a SIGBUS in the middle of a program. Error: no room.
  Status take(std::int64_t first, std::int64_t bytes) const;

 private:
  SharedFile(int file, Name name, bool made) : file_(file), name_(name), made_(made) {}
  int file_;
  Name name_;
  bool made_; // and still has its name
};

// The path of a file, for tests.
std::string path_of(SharedFile::Name name);

} // namespace kumihimo::shared_memory
