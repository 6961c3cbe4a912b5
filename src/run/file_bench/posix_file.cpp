// Files by the calls of the system.
#include "file_bench/byte_file.hpp"
#include "file_bench/system_error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kumihimo::file_bench {
namespace {

class PosixFile final : public ByteFile {
 public:
  explicit PosixFile(bool is_direct) : is_direct_(is_direct) {}
  ~PosixFile() override { static_cast<void>(close().ok()); }

  Status open(const std::string& path, OpenFor what) override {
    path_ = path;
    const int flags = (what == OpenFor::writing ? O_RDWR | O_CREAT : O_RDONLY) | (is_direct_ ? O_DIRECT : 0);
    file_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (file_ >= 0) return Nothing{};
    return refused_by_system(fmt::format("{} cannot be opened", path), errno, is_direct_);
  }

  Status write(std::int64_t position, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t done = pwrite(file_, bytes.data(), bytes.size(), position);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0)
        return refused_by_system(fmt::format("{} cannot be written at byte {}", path_, position),
                                 done == 0 ? ENOSPC : errno, is_direct_);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
      position += done;
    }
    return Nothing{};
  }

  Status read(std::int64_t position, std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t done = pread(file_, bytes.data(), bytes.size(), position);
      if (done < 0 && errno == EINTR) continue;
      if (done == 0) return failed(fmt::format("{} ends at byte {}", path_, position), "it was written further");
      if (done < 0)
        return refused_by_system(fmt::format("{} cannot be read at byte {}", path_, position), errno, is_direct_);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
      position += done;
    }
    return Nothing{};
  }

  Status sync() override {
    if (fsync(file_) == 0) return Nothing{};
    return refused_by_system(fmt::format("{} cannot be brought to the disk (fsync)", path_), errno);
  }

  Status close() override {
    if (file_ < 0 || ::close(std::exchange(file_, -1)) == 0) return Nothing{};
    return refused_by_system(fmt::format("{} cannot be closed", path_), errno);
  }

 private:
  bool is_direct_;
  int file_ = -1;
  std::string path_;
};

} // namespace

std::unique_ptr<ByteFile> make_posix_file(bool is_direct) { return std::make_unique<PosixFile>(is_direct); }

} // namespace kumihimo::file_bench
