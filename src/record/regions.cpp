#include "record/regions.hpp"

#include "record/clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace kumihimo::record {

std::vector<Regions::Open>& Regions::open() {
  // Never destroyed: what is written at the exit of the process comes after the end of a thread's variables.
  static thread_local auto* const open = new std::vector<Open>;
  return *open;
}

void Regions::begin(std::string name, std::string expectation, std::int64_t mpi_ns, bool meant) {
  Open begun{{std::move(name), std::move(expectation)}, 0, mpi_ns, counters_.read(), meant};
  begun.begun_ns = Clock::now_ns();
  open().push_back(std::move(begun));
}

void Regions::end(const std::string& name, std::int64_t mpi_ns) {
  const std::int64_t now = Clock::now_ns();
  auto& opened = open();
  const auto it = std::find_if(opened.rbegin(), opened.rend(), [&](const Open& o) { return o.identity.first == name; });
  const std::lock_guard lock(mutex_);
  if (it == opened.rend()) {
    if (std::find(unbegun_.begin(), unbegun_.end(), name) == unbegun_.end()) unbegun_.push_back(name);
    return;
  }
  Region& region = regions_[it->identity];
  const std::int64_t ns = now - it->begun_ns;
  ++region.passages;
  region.ns += ns;
  region.longest_ns = std::max(region.longest_ns, ns);
  region.mpi_ns += mpi_ns - it->mpi_ns;
  const Counters::Values values = counters_.read();
  for (std::size_t i = 0; i < values.size(); ++i)
    region.counters[i] = values[i] < 0 ? -1 : region.counters[i] + values[i] - it->counters[i];
  opened.erase(std::next(it).base());
}

std::map<Regions::Identity, Region> Regions::all() {
  const std::lock_guard lock(mutex_);
  std::map<Identity, Region> result = regions_;
  for (const Open& o : open())
    if (o.meant) ++result[o.identity].unended;
  return result;
}

std::vector<std::string> Regions::unbegun() {
  const std::lock_guard lock(mutex_);
  return unbegun_;
}

// The kernel looks at the memory for us: a write to a pipe fails where there is none.
std::optional<std::string> text_at(const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) < 4096) return std::nullopt;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  std::string text;
  bool ended = false;
  for (const char* at = static_cast<const char*>(address); text.size() <= 200 && !ended; ++at) {
    char c = 0;
    if (write(ends[1], at, 1) != 1 || read(ends[0], &c, 1) != 1) break;
    if (!(ended = c == '\0')) text += c;
  }
  close(ends[0]);
  close(ends[1]);
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!ended || text.empty() || !printable) return std::nullopt;
  return text;
}

} // namespace kumihimo::record
