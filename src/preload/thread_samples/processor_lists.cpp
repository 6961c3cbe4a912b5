#include "thread_samples/processor_lists.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace kumihimo::thread_samples {

std::string list_of(const ProcessorMask& mask) {
  const std::size_t most = 8 * sizeof mask;
  const auto has = [&](std::size_t processor) {
    return processor < most && CPU_ISSET_S(processor, sizeof mask, mask.data());
  };
  std::string list;
  for (std::size_t first = 0; first < most; ++first) {
    if (!has(first)) continue;
    std::size_t last = first;
    while (has(last + 1)) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (last > first) list += fmt::format("-{}", last);
    first = last;
  }
  return list;
}

std::vector<int> processors_in(std::string_view list) {
  std::vector<int> found;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    int first = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), first);
    if (error != std::errc{}) continue;
    int last = first;
    if (end < item.data() + item.size() && *end == '-') std::from_chars(end + 1, item.data() + item.size(), last);
    for (int processor = first; processor <= last; ++processor) found.push_back(processor);
  }
  return found;
}

std::string processors_of_thread(pid_t thread) {
  ProcessorMask allowed{};
  return sched_getaffinity(thread, sizeof allowed, allowed.data()) == 0 ? list_of(allowed) : std::string();
}

std::string widen_calling_thread() {
  ProcessorMask all;
  std::memset(all.data(), 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, all.data()); // if refused, the mask that it has is the answer
  return processors_of_thread(0);
}

} // namespace kumihimo::thread_samples
