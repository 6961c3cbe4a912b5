#include "base/locked_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace kumihimo {

LockedFile::LockedFile(const std::string& path)
    : file_(open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
  if (file_ >= 0) flock(file_, LOCK_EX);
}

LockedFile::~LockedFile() {
  if (file_ >= 0) close(file_);
}

} // namespace kumihimo
