#include "base/mapped_file.hpp"

#include "base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace kumihimo {

Result<MappedFile> MappedFile::open(const std::string& path, const std::string& what, const std::string& advice) {
  if (Status s = check_regular(path, {what, 0, advice}); !s) return s.error();
  const auto system_says = [&] {
    const std::string why = std::generic_category().message(errno);
    return wrong_value(what + " cannot be read", fmt::format("'{}': {}", path, why), advice);
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_says();
  MappedFile mapped;
  struct stat found {};
  void* at = nullptr;
  bool failed = fstat(file, &found) != 0;
  const auto bytes = static_cast<std::size_t>(found.st_size);
  if (!failed && bytes > 0) { // of an empty file there is no map
    at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    failed = at == MAP_FAILED;
  }
  if (failed) {
    Error error = system_says();
    close(file);
    return error;
  }
  close(file);
  if (bytes == 0) return mapped;
  static_cast<void>(madvise(at, bytes, MADV_SEQUENTIAL)); // a hint
  mapped.bytes_ = {static_cast<const std::byte*>(at), bytes};
  mapped.identity_ = {found.st_dev, found.st_ino, bytes,
                      std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), identity_(other.identity_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_), std::swap(identity_, other.identity_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

} // namespace kumihimo
