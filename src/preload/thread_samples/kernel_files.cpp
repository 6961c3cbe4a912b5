#include "thread_samples/kernel_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace kumihimo::thread_samples {

std::string kernel_text(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  close(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

} // namespace kumihimo::thread_samples
