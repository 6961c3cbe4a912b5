#include "base/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
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

} // namespace

Result<std::string> read_text(const std::string& path, const TextFileRule& rule) {
  const auto fails = [&](std::string found) {
    return wrong_value(fmt::format("{} cannot be read", rule.what), std::move(found), std::string(rule.advice));
  };
  std::error_code code;
  const fs::file_type type = fs::status(path, code).type();
  if (type == fs::file_type::none) // a loop of links, a name that is too long, a folder that may not be searched
    return fails(fmt::format("'{}': {}", path, code.message()));
  if (type != fs::file_type::regular) return fails(fmt::format("{} '{}'", kind_of(type), path));
  if (fs::file_size(path, code) > static_cast<std::uintmax_t>(rule.most_bytes))
    return fails(fmt::format("'{}', which is longer than {} MiB", path, rule.most_bytes >> 20));
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) return fails(fmt::format("'{}', which cannot be read", path));
  return text;
}

} // namespace kumihimo
