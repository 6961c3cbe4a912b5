#include "base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace kumihimo {
namespace {

namespace fs = std::filesystem;

std::string_view kind_of(fs::file_type type) {
  switch (type) {
  case fs::file_type::not_found: return "no file";
  case fs::file_type::directory: return "the folder";
  case fs::file_type::fifo: return "the FIFO";
  case fs::file_type::socket: return "the socket";
  case fs::file_type::character:
  case fs::file_type::block: return "the device";
  default: return "not a regular file";
  }
}

// Not by a stream, whose buffer throws when the system cannot read.
std::error_code read_to_end(int file, std::int64_t most_bytes, std::string& text) {
  std::size_t size = 0;
  while (static_cast<std::int64_t>(size) <= most_bytes) {
    if (size == text.size()) text.resize(std::max(2 * size, std::size_t{1} << 16));
    const ssize_t bytes = read(file, text.data() + size, text.size() - size);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return {errno, std::generic_category()};
    if (bytes == 0) break;
    size += static_cast<std::size_t>(bytes);
  }
  text.resize(size);
  return {};
}

// What tells a compressed text from one of an unknown format.
std::string_view compression_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> beginnings{
      {{"\x1f\x8b", "gzip"}, {"BZh", "bzip2"}, {"\xfd\x37zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}}};
  for (const auto& [bytes, name] : beginnings)
    if (text.starts_with(bytes)) return name;
  return {};
}

Error unreadable(const TextFileRule& rule, std::string found) {
  return wrong_value(fmt::format("{} cannot be read", rule.what), std::move(found), std::string(rule.advice));
}

} // namespace

Status check_regular(const std::string& path, const TextFileRule& rule) {
  std::error_code code;
  const fs::file_type type = fs::status(path, code).type();
  if (type == fs::file_type::none) // a loop of links, a name that is too long, a folder that may not be searched
    return unreadable(rule, fmt::format("'{}': {}", path, code.message()));
  if (type != fs::file_type::regular) return unreadable(rule, fmt::format("{} '{}'", kind_of(type), path));
  return Nothing{};
}

Result<std::string> read_text(const std::string& path, const TextFileRule& rule) {
  if (Status s = check_regular(path, rule); !s) return s.error();
  const auto system_says = [&](const std::error_code& why) {
    return unreadable(rule, fmt::format("'{}': {}", path, why.message()));
  };
  const auto too_long = [&] {
    return unreadable(rule, fmt::format("'{}', which is longer than {} MiB", path, rule.most_bytes >> 20));
  };
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code); // 0 of files whose text the system makes, as in /proc
  if (!code && size > static_cast<std::uintmax_t>(rule.most_bytes)) return too_long();
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_says({errno, std::generic_category()});
  std::string text(code ? 0 : static_cast<std::size_t>(size) + 1, '\0'); // one more, to find the end
  const std::error_code failure = read_to_end(file, rule.most_bytes, text);
  close(file);
  if (failure) return system_says(failure);
  if (static_cast<std::int64_t>(text.size()) > rule.most_bytes) return too_long();
  if (const std::string_view name = compression_of(text); !name.empty())
    return wrong_value(fmt::format("{} must not be compressed", rule.what), fmt::format("'{}', {} data", path, name),
                       "decompress it");
  return text;
}

} // namespace kumihimo
