#include "record/regions.hpp"

#include "record/clock.hpp"
#include "record/per_thread.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace kumihimo::record {

std::vector<Regions::Open>& Regions::open() { return PerThread<std::vector<Open>>::mine(); }

void Regions::begin(std::string name, std::string expectation, std::int64_t mpi_ns, const RegionPlace& place,
                    bool meant) {
  Open begun{{std::move(name), std::move(expectation)}, nullptr, 0, mpi_ns, counters_.read(), meant};
  {
    const std::lock_guard lock(mutex_);
    const auto [it, is_new] = regions_.try_emplace(begun.identity);
    begun.counts = &it->second;
    if (is_new) it->second.file = place.file ? place.file : "", it->second.line = place.line;
    if (is_new) it->second.address = place.address;
  }
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
  RegionCounts& region = *it->counts;
  const std::int64_t ns = now - it->begun_ns;
  ++region.passages;
  region.ns += ns;
  region.longest_ns = std::max(region.longest_ns, ns);
  region.sample.add(ns);
  region.mpi_ns += mpi_ns - it->mpi_ns;
  const Counters::Values values = counters_.read();
  for (std::size_t i = 0; i < values.size(); ++i)
    region.counters[i] = values[i] < 0 ? -1 : region.counters[i] + values[i] - it->counters[i];
  opened.erase(std::next(it).base());
}

std::map<Regions::Identity, RegionCounts> Regions::all() {
  const std::lock_guard lock(mutex_);
  std::map<Identity, RegionCounts> result = regions_;
  for (const Open& o : open())
    if (o.meant) ++result[o.identity].unended;
  std::erase_if(result, [](const auto& each) { return each.second.passages == 0 && each.second.unended == 0; });
  return result;
}

std::vector<RegionCounts*> Regions::around() const {
  std::vector<RegionCounts*> result;
  for (const Open& o : open()) result.push_back(o.counts);
  return result;
}

std::vector<std::string> Regions::unbegun() {
  const std::lock_guard lock(mutex_);
  return unbegun_;
}

namespace {

// Reads up to `wanted` bytes, which may be in two pages, the second of them unmapped. The kernel reads the memory, so
// an invalid address is an error and no signal.
std::size_t copied(const char* address, char* to, std::size_t wanted) {
  constexpr std::uintptr_t page = 4096;                        // the smallest there is
  const auto from = reinterpret_cast<std::uintptr_t>(address); // a number: it may be none of our objects', and wrap
  const std::size_t first = std::min<std::size_t>(wanted, page - from % page);
  const iovec local{to, wanted};
  const std::array<iovec, 2> remote{
      {{const_cast<char*>(address), first}, {reinterpret_cast<void*>(from + first), wanted - first}}};
  const ssize_t n = process_vm_readv(getpid(), &local, 1, remote.data(), remote.size(), 0);
  if (n >= 0 || errno == EFAULT) return n < 0 ? 0 : static_cast<std::size_t>(n);
  // If that call is forbidden: a write to a pipe fails at an invalid address.
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return 0;
  std::size_t done = 0;
  for (const iovec& part : remote) {
    const auto bytes = static_cast<ssize_t>(part.iov_len);
    if (write(ends[1], part.iov_base, part.iov_len) != bytes || read(ends[0], to + done, part.iov_len) != bytes) break;
    done += part.iov_len;
  }
  close(ends[0]);
  close(ends[1]);
  return done;
}

} // namespace

std::optional<std::string> text_at(const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) < 4096) return std::nullopt;
  std::array<char, 201> text; // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as it is read
  const std::size_t there = copied(static_cast<const char*>(address), text.data(), text.size());
  const char* const begin = text.data();
  const char* const past = begin + there;
  const char* const end = std::find(begin, past, '\0');
  const bool printable = std::all_of(begin, end, [](char c) { return c >= ' ' && c <= '~'; });
  if (end == past || end == begin || !printable) return std::nullopt;
  return std::string(begin, end);
}

} // namespace kumihimo::record
