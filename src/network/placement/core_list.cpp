#include "placement/core_list.hpp"

#include "base/text_parsing.hpp"

#include <algorithm>

namespace kumihimo {
namespace {

constexpr std::int32_t most_cores = 1 << 16; // of a node, and of a list

bool is_too_long(const CoreList& list) { return static_cast<std::int64_t>(list.cores.size()) > most_cores; }

// "0,2-4", ascending or not. None: anything else.
std::optional<std::vector<std::int32_t>> numbers_in(std::string_view text) {
  std::vector<std::int32_t> numbers;
  while (true) {
    const auto first = take_count(text);
    const auto last = take(text, "-") ? take_count(text) : first;
    if (!first || !last || *last < *first || *last >= most_cores) return std::nullopt;
    for (std::int32_t n = *first; n <= *last; ++n) numbers.push_back(n);
    if (static_cast<std::int32_t>(numbers.size()) > most_cores) return std::nullopt;
    if (text.empty()) return numbers;
    if (!take(text, ",")) return std::nullopt;
  }
}

bool add_packages(std::string_view text, CoreList& list) {
  if (text == "*") {
    list.cores.push_back({0, BoundCore::all});
    return true;
  }
  const auto packages = numbers_in(text);
  if (packages)
    for (const std::int32_t package : *packages) list.cores.push_back({package, BoundCore::all});
  return packages.has_value();
}

bool add_cores_of_package(std::string_view text, CoreList& list) {
  const auto package = count_in(take_until(text, ':'));
  if (!package || *package >= most_cores || text.empty()) return false;
  while (!text.empty()) {
    std::string_view cores = take_until(text, ':');
    if (!take(cores, "c")) take(cores, "C");
    if (cores == "*") {
      list.cores.push_back({*package, BoundCore::all});
      continue;
    }
    const auto numbers = numbers_in(cores);
    if (!numbers || is_too_long(list)) return false;
    for (const std::int32_t core : *numbers) list.cores.push_back({*package, core});
  }
  return true;
}

bool add_item(std::string_view item, CoreList& list) {
  const bool has_letter = !item.empty() && std::string_view("pPsS").find(item.front()) != std::string_view::npos;
  const bool has_cores = item.find(':') != std::string_view::npos;
  if (has_letter) item.remove_prefix(1);
  const bool names_package = has_letter || has_cores;
  if (!list.cores.empty() && names_package != list.names_packages) return false;
  list.names_packages = names_package;
  if (has_cores) return add_cores_of_package(item, list);
  if (has_letter) return add_packages(item, list);
  const auto cores = numbers_in(item);
  if (cores)
    for (const std::int32_t core : *cores) list.cores.push_back({0, core});
  return cores.has_value();
}

} // namespace

std::optional<CoreList> core_list_in(std::string_view text) {
  CoreList list;
  do {
    if (!add_item(take_until(text, ';'), list) || is_too_long(list)) return std::nullopt;
  } while (!text.empty());
  std::sort(list.cores.begin(), list.cores.end());
  list.cores.erase(std::unique(list.cores.begin(), list.cores.end()), list.cores.end());
  return list;
}

} // namespace kumihimo
