// The events of this rank, in a bounded buffer, written to one file at the end of MPI. The command makes OTF2 from the
// files of all ranks.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::record {

// An event as in the file: 40 bytes.
struct Event {
  // start_*: a non-blocking call, or the start of a persistent request; end_*: in the call that completes it. part: of
  // the collective that follows, what goes to one rank. program: the end of MPI_Init and the beginning of MPI_Finalize.
  enum class Kind : std::uint8_t {
    enter,
    leave,
    send,
    receive,
    collective,
    start_send,
    start_receive,
    start_collective,
    end_send,
    end_receive,
    end_collective,
    part,
    begin_region,
    end_region,
    begin_program,
    end_program,
  };
  std::int64_t at_ns = 0;
  std::int64_t bytes = 0; // of enter and end_program: nanoseconds of the recorder itself since the last leave
  Kind kind{};
  std::uint8_t call = 0;
  std::uint16_t thread = 0;
  // In the world; of a collective the root, and of a part the rank, in its communicator. Of enter: the number of the
  // call site; of a region: the number of its name.
  std::int32_t partner = -1;
  std::uint32_t communicator = 0;
  std::int32_t tag = -1;
  // Of a collective: when it began; of start_* and end_*: the number of the request; of enter and end_program: the
  // processor time of the program since the last leave, 0: not measured.
  std::int64_t more = 0;
};
static_assert(sizeof(Event) == 40);

class Trace {
 public:
  Trace(const mpi::Library& library, bool wanted, std::int64_t most)
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
  // A persistent request, and one start of it with its parts before it; none: it is unknown.
  void keep(mpi::Handle request, const Event& event, InWorld in_world = {}, std::vector<Event> parts = {});
  std::vector<Event> start(mpi::Handle request);
  void forget(mpi::Handle request);
  // Prepare a wait or test whose requests are noted; and return the events (end_*) of those that it completed, without
  // their time and thread.
  void before_completion(mpi_hooks::Call& call);
  std::vector<Event> after_completion(const mpi_hooks::Call& call);

  // The number of a call site, from 0, and of the name of a region.
  using Site = std::pair<std::uintptr_t, bool>; // an address, or a place in a Python file
  std::int32_t number_of(Site site) { return number_in(sites_, site); }
  std::int32_t number_of(const std::string& region) { return number_in(regions_, region); }
  std::vector<Site> sites() const { return in_order(sites_); }
  std::vector<std::string> regions() const { return in_order(regions_); }

  struct Counts {
    std::size_t events = 0;
    std::int64_t left_out = 0;
  };
  Counts counts() const;
  // The events, between those of the program. Error: the file cannot be written.
  Status write(const std::string& path, const class Clock& clock, std::int64_t begun_ns, const Event& end);

 private:
  struct Request {
    Event start; // its number is 0 while a persistent request is not started
    InWorld in_world;
    bool persistent = false;
    std::vector<Event> parts = {}; // of each start
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
  std::int64_t requests_begun_ = 0;
  std::unordered_map<mpi::Handle, Request> requests_;
  Numbers<Site> sites_;
  Numbers<std::string> regions_;
};

} // namespace kumihimo::record
