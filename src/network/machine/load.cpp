#include "machine/load.hpp"

#include "base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <system_error>

namespace kumihimo {
namespace fs = std::filesystem;
namespace {

constexpr TextFileRule machine_file{"the machine file", 1 << 20, "check the path"}; // they have a few kB

bool is_path(const std::string& text) { return text.find('/') != std::string::npos || text.ends_with(".toml"); }

Result<fs::path> find_machine(const std::string& name, std::span<const fs::path> search) {
  std::error_code code;
  for (const fs::path& folder : search)
    if (const fs::path path = folder / (name + ".toml"); fs::is_regular_file(path, code)) return path;
  if (fs::symlink_status(name, code).type() != fs::file_type::not_found) {
    const auto text = read_text(name, machine_file); // the error says what is there instead of a machine file
    if (!text) return text.error();
  }
  auto names = machine_names(search);
  if (!names.empty()) names.emplace_back("this-machine");
  return wrong_value(
      "unknown machine", fmt::format("'{}'", name),
      names.empty() ? std::string("give the path of a file that ends in .toml")
                    : fmt::format("use one of {}, or the path of a file that ends in .toml", fmt::join(names, ", ")));
}

} // namespace

Result<Machine> load_machine(const std::string& path_or_name, std::span<const fs::path> search,
                             std::string_view software) {
  const auto path =
      TRY(is_path(path_or_name) ? Result<fs::path>(fs::path(path_or_name)) : find_machine(path_or_name, search));
  const auto text = TRY(read_text(path.string(), machine_file));
  return parse_machine(text, path.string(), software);
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
