#include "placement/hostfile.hpp"

#include "base/text_parsing.hpp"
#include "placement/launcher_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace kumihimo {
namespace {

constexpr std::int32_t most_ranks = 1 << 20;
constexpr std::array<std::string_view, 4> counts = {"slots", "cpu", "count", "cpus"};
constexpr std::array<std::string_view, 26> others = {
    "max_slots", "max-slots", "slots_max", "slots-max", "max_cpu",           "max-cpu",
    "cpu_max",   "cpu-max",   "max_count", "max-count", "count_max",         "count-max",
    "port",      "boards",    "sockets",   "cores",     "sockets_per_board", "sockets-per-board",
    "username",  "user",      "user_name", "user-name", "cores_per_socket",  "cores-per-socket",
    "binding",   "ifname"};

class LineReader {
 public:
  LineReader(std::string_view file, const LauncherLine& line) : file_(file), line_(line) {}

  Result<HostLine> read() const {
    const std::string joined = without_gaps_at_equals(line_.content);
    const auto words = words_of(joined, " \t\r\f\v");
    HostLine found{"", 1, line_.number};
    std::optional<std::string_view> ranks;
    std::string_view host = words.front();
    if (const std::size_t at = host.find('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
    const std::size_t colon = is_address(host) ? std::string_view::npos : host.find(':');
    if (colon != std::string_view::npos) ranks = host.substr(colon + 1);
    found.host = host.substr(0, colon);
    if (found.host.empty() || found.host.find('=') != std::string::npos)
      return wrong("a line is a host and its ranks, such as 'node1:4' or 'node1 slots=4'", line_.content);
    if (found.host.front() == '+' || found.host.front() == '^')
      return wrong("the file must name its hosts", found.host, "write the names of the hosts that take ranks");
    for (const std::string_view word : std::span(words).subspan(1)) {
      const std::string_view key = word.substr(0, word.find('='));
      if (key.size() == word.size() || key.size() + 1 == word.size() || key.empty())
        return wrong("name=value must follow the host", word);
      const bool is_count = std::find(counts.begin(), counts.end(), key) != counts.end();
      if (!is_count && std::find(others.begin(), others.end(), key) == others.end())
        return wrong("a hostfile has no such key", key, "write slots=4, max_slots=4 or binding=core");
      if (is_count && ranks) return wrong("a line must give the ranks of its host once", line_.content);
      if (is_count) ranks = word.substr(key.size() + 1);
    }
    if (!ranks) return found;
    const auto number = count_in(*ranks);
    if (!number || *number < 1 || *number > most_ranks)
      return wrong(fmt::format("a host has 1 to {} ranks", most_ranks), *ranks);
    found.ranks = *number;
    return found;
  }

 private:
  static std::string without_gaps_at_equals(std::string_view text) {
    std::string joined;
    const auto is_gap = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; };
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '=')
        while (!joined.empty() && is_gap(joined.back())) joined.pop_back();
      else if (is_gap(text[at]) && !joined.empty() && joined.back() == '=')
        continue;
      joined += text[at];
    }
    return joined;
  }
  // Of the sixth version of IP: "fe80::1".
  static bool is_address(std::string_view host) {
    return std::count(host.begin(), host.end(), ':') > 1 &&
           host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  }

  Error wrong(std::string_view rule, std::string_view got, std::string advice = {}) const {
    return wrong_value(fmt::format("{}:{}: {}", file_, line_.number, rule), fmt::format("'{}'", on_one_line(got)),
                       std::move(advice));
  }

  std::string_view file_;
  const LauncherLine& line_;
};

} // namespace

Result<std::vector<HostLine>> read_hostfile(std::string_view text, std::string_view file) {
  std::vector<HostLine> hosts;
  for (const LauncherLine& line : launcher_lines(text)) {
    HostLine host = TRY(LineReader(file, line).read());
    hosts.push_back(std::move(host));
  }
  return hosts;
}

} // namespace kumihimo
