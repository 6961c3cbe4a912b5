#include "machine/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

namespace kumihimo {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t largest_file = 1 << 20; // machine files are a few kB; a longer one is something else

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

Result<std::string> read_text(const fs::path& path) {
  std::error_code code;
  const auto fails = [](std::string found) {
    return wrong_value("the machine file cannot be read", std::move(found), "check the path");
  };
  const fs::file_type type = fs::status(path, code).type();
  if (type == fs::file_type::none) // a loop of links, a name that is too long, a folder that may not be looked into
    return fails(fmt::format("'{}': {}", path.string(), code.message()));
  if (type != fs::file_type::regular) return fails(fmt::format("{} '{}'", kind_of(type), path.string()));
  if (fs::file_size(path, code) > largest_file)
    return fails(fmt::format("'{}', which is longer than 1 MiB", path.string()));
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) return fails(fmt::format("'{}', which cannot be read", path.string()));
  return text;
}

bool is_path(const std::string& text) { return text.find('/') != std::string::npos || text.ends_with(".toml"); }

Result<fs::path> find_machine(const std::string& name, std::span<const fs::path> search) {
  std::error_code code;
  for (const fs::path& folder : search)
    if (const fs::path path = folder / (name + ".toml"); fs::is_regular_file(path, code)) return path;
  if (fs::symlink_status(name, code).type() != fs::file_type::not_found) {
    const auto text = read_text(name); // what a file of this name is, that was not meant or cannot be read
    if (!text) return text.error();
  }
  const auto names = machine_names(search);
  return wrong_value(
      "unknown machine", fmt::format("'{}'", name),
      names.empty() ? std::string("give the path of a file that ends in .toml")
                    : fmt::format("use one of {}, or the path of a file that ends in .toml", fmt::join(names, ", ")));
}

} // namespace

Result<Machine> load_machine(const std::string& path_or_name, std::span<const fs::path> search) {
  const auto path =
      TRY(is_path(path_or_name) ? Result<fs::path>(fs::path(path_or_name)) : find_machine(path_or_name, search));
  const auto text = TRY(read_text(path));
  return parse_machine(text, path.string());
}

std::vector<std::string> machine_names(std::span<const fs::path> search) {
  std::set<std::string> names;
  std::error_code code;
  for (const fs::path& folder : search)
    for (const auto& entry : fs::directory_iterator(folder, code))
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

} // namespace kumihimo
