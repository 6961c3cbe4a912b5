// One process at a time reads and writes a file that several extend.
#pragma once

#include <string>

namespace kumihimo {

// Held while it lives, by a lock on the file `path`.lock, which is made and stays. Waits. Where that cannot be made, as
// in a folder that is not writable, nothing is locked: writing the file fails as well.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path);
  ~LockedFile();
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

 private:
  int file_;
};

} // namespace kumihimo
