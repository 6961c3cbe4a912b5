// Machine files by name: the one place of this layer that opens files.
#pragma once

#include "machine/machine.hpp"

#include <filesystem>
#include <span>

namespace kumihimo {

// From a path ("x/my.toml", anything with a '/' or ending in .toml) or a name ("k-computer": the first NAME.toml in
// `search`). Errors: no such file or name, with the names there are; an unreadable file; those of parse_machine.
Result<Machine> load_machine(const std::string& path_or_name, std::span<const std::filesystem::path> search,
                             std::string_view software = {});

// The names of all machine files in `search`, sorted, each once.
std::vector<std::string> machine_names(std::span<const std::filesystem::path> search);

} // namespace kumihimo
