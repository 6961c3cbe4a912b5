#include "base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kumihimo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_buffered = std::size_t{1} << 20;
constexpr int most_links = 40; // as in Linux
constexpr mode_t of_a_new_file = 0666, of_owner_alone = 0600, permission_bits = 07777;

std::string_view advice_for(int error) {
  switch (error) {
  case ENOENT: return "make its folder first, or name another file";
  case ENOSPC:
  case EDQUOT: return "make space, or name a file on another disk";
  case EFBIG: return "raise the limit of a file's size (ulimit -f)";
  case EACCES:
  case EPERM:
  case EROFS: return "name a file that you can write, in a folder that you can write to";
  case EIO: return "check the disk, or name a file on another one";
  default: return "name another file";
  }
}

// Whether the path leads to an open file of a process, as /dev/stdout does: another name for it would lose what the
// shell has sent there.
bool is_descriptor(fs::path path) {
  std::error_code code;
  for (int links = 0; links < most_links; ++links) {
    const fs::path folder = fs::weakly_canonical(path.has_parent_path() ? path.parent_path() : ".", code);
    if (folder.native().starts_with("/proc/") && folder.filename() == "fd") return true;
    if (!fs::is_symlink(path, code)) return false;
    path = folder / fs::read_symlink(path, code);
  }
  return false;
}

// Where the links lead, also if nothing is there yet.
fs::path target_of(fs::path path) {
  std::error_code code;
  for (int links = 0; links < most_links && fs::is_symlink(path, code); ++links)
    path = path.parent_path() / fs::read_symlink(path, code);
  return path;
}

bool knows_no_sync(int error) { return error == EINVAL || error == ENOSYS || error == ENOTSUP; }

void sync_folder(const fs::path& folder) { // so that the new name survives a power failure; it is whole either way
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(fsync(file));
  close(file);
}

} // namespace

WholeFile::WholeFile(std::string path) : path_(std::move(path)) { open(); }

WholeFile::~WholeFile() {
  if (file_ >= 0) close(file_);
  if (!new_path_.empty()) unlink(new_path_.c_str());
}

void WholeFile::keep_error(bool is_one) {
  if (is_one && error_ == 0) error_ = errno;
}

void WholeFile::open() {
  struct stat old {};
  const bool exists = stat(path_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return keep_error(true);
  if (is_descriptor(path_) || (exists && !S_ISREG(old.st_mode))) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, of_a_new_file);
    return keep_error(file_ < 0);
  }
  if (exists && access(path_.c_str(), W_OK) != 0) return keep_error(true); // its owner has protected it
  place_ = target_of(path_).string();
  std::uint64_t chance = 0;
  if (getrandom(&chance, sizeof chance, 0) != sizeof chance) return keep_error(true);
  new_path_ = (fs::path(place_).parent_path() / fmt::format(".kumihimo-{:016x}.new", chance)).string();
  const mode_t mode = exists ? of_owner_alone : of_a_new_file; // until it has that of the old one
  file_ = ::open(new_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file_ < 0) return keep_error(true), new_path_.clear();
  if (!exists) return;
  if (old.st_uid != geteuid() || old.st_gid != getegid()) // only root can give a file to another user
    static_cast<void>(fchown(file_, old.st_uid, old.st_gid) == 0);
  keep_error(fchmod(file_, old.st_mode & permission_bits) != 0);
}

void WholeFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= most_buffered) flush();
}

void WholeFile::flush() {
  std::string_view left = buffer_;
  while (error_ == 0 && !left.empty()) {
    const ssize_t done = ::write(file_, left.data(), left.size());
    if (done >= 0)
      left.remove_prefix(static_cast<std::size_t>(done));
    else
      keep_error(errno != EINTR);
  }
  buffer_.clear();
}

Status WholeFile::finish() {
  flush();
  if (error_ == 0 && !new_path_.empty()) keep_error(fsync(file_) != 0 && !knows_no_sync(errno));
  if (file_ >= 0) keep_error(close(std::exchange(file_, -1)) != 0);
  if (error_ == 0 && !new_path_.empty()) {
    keep_error(rename(new_path_.c_str(), place_.c_str()) != 0);
    if (error_ == 0) new_path_.clear(), sync_folder(fs::path(place_).parent_path());
  }
  if (error_ == 0) return Nothing{};
  return failed(fmt::format("{} was not written", path_), std::generic_category().message(error_),
                std::string(advice_for(error_)));
}

} // namespace kumihimo
