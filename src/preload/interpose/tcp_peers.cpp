#include "interpose/tcp_peers.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace kumihimo::interpose {
namespace {

constexpr unsigned established = 1, connecting = 2, retransmission = 1; // of a socket, and of its timer
constexpr unsigned fewest_repeats = 3, fewest_attempts = 2;             // these come after 1 s and 3 s

bool is_silent(unsigned state, unsigned timer, unsigned repeats) {
  if (timer != retransmission) return false;
  return (state == established && repeats >= fewest_repeats) || (state == connecting && repeats >= fewest_attempts);
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::uint64_t> own_sockets() {
  std::set<std::uint64_t> found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator each("/proc/self/fd", ignored), end; !ignored && each != end;
       each.increment(ignored)) {
    std::error_code closed;
    std::uint64_t inode = 0;
    const std::string target = std::filesystem::read_symlink(each->path(), closed);
    if (!closed && std::sscanf(target.c_str(), "socket:[%" SCNu64, &inode) == 1) found.insert(inode);
  }
  return found;
}

} // namespace

std::vector<std::string> silent_addresses(const std::string& table, const std::set<std::uint64_t>& sockets) {
  std::vector<std::string> found;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    unsigned remote = 0, state = 0, timer = 0, repeats = 0;
    std::uint64_t inode = 0;
    if (std::sscanf(line.c_str(), "%*d: %*8x:%*x %8x:%*x %x %*x:%*x %x:%*x %x %*u %*u %" SCNu64, &remote, &state,
                    &timer, &repeats, &inode) != 5)
      continue;
    if (!is_silent(state, timer, repeats) || !sockets.contains(inode)) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const in_addr address{remote}; // the table has it as it lies in memory
    if (inet_ntop(AF_INET, &address, text.data(), text.size())) found.emplace_back(text.data());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string host_name(const std::string& hosts, const std::string& address) {
  std::istringstream lines(hosts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string first, name;
    if (words >> first >> name && first == address) return name;
  }
  return address;
}

std::string silent_peers() {
  std::string all;
  const std::string hosts = text_of("/etc/hosts"); // a name server may be behind the same link
  for (const std::string& address : silent_addresses(text_of("/proc/self/net/tcp"), own_sockets()))
    all += (all.empty() ? "" : ", ") + host_name(hosts, address);
  return all;
}

} // namespace kumihimo::interpose
