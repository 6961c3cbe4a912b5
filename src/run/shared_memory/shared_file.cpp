#include "shared_memory/shared_file.hpp"

#include "shared_memory/signals_blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kumihimo::shared_memory {
namespace {

Error no_room(std::int64_t bytes, int error) {
  return failed(fmt::format("cannot get {} bytes of shared memory", bytes), std::strerror(error), "enlarge /dev/shm");
}

Error no_file(const char* what, int error) {
  return failed(fmt::format("cannot {} a file in /dev/shm", what), std::strerror(error));
}

} // namespace

Path path_of(SharedFile::Name name) {
  Path path{};
  fmt::format_to_n(path.begin(), path.size() - 1, "/dev/shm/kumihimo-rings-{}-{:016x}", getuid(),
                   static_cast<std::uint64_t>(name));
  return path;
}

// A random name, so that it differs from the files of other jobs, also of those that were killed.
Result<SharedFile> SharedFile::create(std::int64_t bytes) {
  std::uint64_t chance = 0;
  if (getrandom(&chance, sizeof chance, 0) != sizeof chance) return no_file("name", errno);
  const auto name = static_cast<Name>(chance >> 1);
  const int file = ::open(path_of(name).data(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return no_file("create", errno);
  SharedFile made(file, name, true);
  // Beyond the limit of file sizes the system sends a signal, which would end the program.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && static_cast<std::uint64_t>(bytes) > limit.rlim_cur)
    return no_room(bytes, EFBIG);
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) return no_room(bytes, errno);
  return made;
}

Result<SharedFile> SharedFile::open(Name name) {
  const int file = ::open(path_of(name).data(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return no_file("open", errno);
  return SharedFile(file, name, false);
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), name_(other.name_), owns_name_(std::exchange(other.owns_name_, false)) {}

SharedFile::~SharedFile() {
  unlink();
  if (file_ >= 0) close(file_);
}

void SharedFile::unlink() {
  if (std::exchange(owns_name_, false)) ::unlink(path_of(name_).data());
}

Result<std::byte*> SharedFile::map(std::int64_t bytes) const {
  void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return no_room(bytes, errno);
  return static_cast<std::byte*>(memory);
}

Status SharedFile::allocate(std::int64_t first, std::int64_t bytes) const {
  const SignalsBlocked blocked; // at each signal, as of a profiler, older kernels give all back and begin again
  int error = 0;
  do error = posix_fallocate(file_, static_cast<off_t>(first), static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error != 0) return no_room(bytes, error);
  return Nothing{};
}

} // namespace kumihimo::shared_memory
