// The events of this rank, in a bounded buffer, written to one file at the end of MPI.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "trace/event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::record {

using trace::Event;

class TraceBuffer {
 public:
  TraceBuffer(const mpi::Library& library, bool wanted, std::int64_t most)
      : library_(library), wanted_(wanted), most_(static_cast<std::size_t>(most)) {}
  explicit operator bool() const { return wanted_; }

  // Adds the events of one call, or none if the buffer is full, so that no call has a beginning only.
  void add(const std::vector<Event>& events);
  using InWorld = std::function<int(int)>; // a rank of a communicator
  // A completed receive.
  struct Ended {
    int source = -1, tag = -1;
    std::int64_t bytes = 0;
  };
  Ended ended(const mpi::StatusWords& status) const;

  // Numbers the request that the event (start_*) begins. `in_world`: of a receive, for the source that it will have.
  void begin(mpi::Handle request, Event& event, InWorld in_world = {});
  // A persistent request, and one start of it; none: it is unknown.
  void keep(mpi::Handle request, const Event& event, InWorld in_world = {});
  std::optional<Event> start(mpi::Handle request);
  void forget(mpi::Handle request);
  // Prepare a wait or test whose requests are noted; and return the events (end_*) of those that it completed, without
  // their time and thread.
  void before_completion(mpi_hooks::HookedCall& call);
  std::vector<Event> after_completion(const mpi_hooks::HookedCall& call);

  // The number of a call site, from 0, and of the name of a region.
  using Site = std::pair<std::uintptr_t, bool>; // an address, or a place in a Python file
  std::int32_t number_of(Site site) { return number_in(sites_, site); }
  std::int32_t number_of(const std::string& region) { return number_in(regions_, region); }
  // For Collective::parts, of the bytes to each rank; of none 0.
  std::uint32_t parts(const std::vector<std::int64_t>& bytes);
  std::vector<Site> sites() const { return in_order(sites_); }
  std::vector<std::string> regions() const { return in_order(regions_); }

  struct Counts {
    std::size_t events = 0;
    std::int64_t left_out = 0;
  };
  Counts counts() const;
  // The events, between those of the program. Error: the file cannot be written.
  struct Whole {
    std::int32_t rank = 0, ranks = 0;
    Event begin, end; // of the program
  };
  Status write(const std::string& path, const class Clock& clock, const Whole& whole);

 private:
  struct Request {
    Event start; // its number is 0 while a persistent request is not started
    InWorld in_world;
    bool persistent = false;
  };
  template <class T>
  using Numbers = std::map<T, std::int32_t>;
  template <class T>
  std::int32_t number_in(Numbers<T>& numbers, const T& value) {
    const std::lock_guard lock(mutex_);
    return numbers.try_emplace(value, static_cast<std::int32_t>(numbers.size())).first->second;
  }
  template <class T>
  std::vector<T> in_order(const Numbers<T>& numbers) const {
    const std::lock_guard lock(mutex_);
    std::vector<T> values(numbers.size());
    for (const auto& [value, number] : numbers) values[static_cast<std::size_t>(number)] = value;
    return values;
  }

  const mpi::Library& library_;
  bool wanted_;
  std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::int64_t left_out_ = 0;
  std::uint32_t requests_begun_ = 0;
  std::unordered_map<mpi::Handle, Request> requests_;
  Numbers<Site> sites_;
  Numbers<std::string> regions_;
  Numbers<std::vector<std::int64_t>> parts_;
  std::size_t sizes_in_parts_ = 0; // which count as events
};

} // namespace kumihimo::record
