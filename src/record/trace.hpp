// The events of this rank, in a bounded buffer, written to one file at the end of MPI. The command makes OTF2 from the
// files of all ranks. A non-blocking receive is an event of the call that completes it.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace kumihimo::record {

// An event as in the file: 40 bytes.
struct Event {
  enum class Kind : std::uint8_t { enter, leave, send, receive, collective };
  std::int64_t at_ns = 0;
  std::int64_t bytes = 0;
  Kind kind{};
  std::uint8_t call = 0;
  std::uint16_t thread = 0;
  std::int32_t partner = -1; // in the world; of a collective: the root in its communicator
  std::uint32_t communicator = 0;
  std::int32_t tag = -1;
  std::int64_t began_ns = 0; // of a collective
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
    std::uint32_t kind = 0; // of its communicator
    InWorld world_rank_of_source;
  };
  Ended ended(const mpi::StatusWords& status) const;
  // Note a non-blocking receive; prepare a wait or test whose requests are noted; and return the receives that it
  // completed.
  void begin_receive(mpi::Handle request, std::uint32_t kind, InWorld in_world);
  void forget(mpi::Handle request);
  void before_completion(mpi_hooks::Call& call);
  std::vector<Ended> after_completion(const mpi_hooks::Call& call);

  struct Counts {
    std::size_t events = 0;
    std::int64_t left_out = 0;
  };
  Counts counts() const;
  // False if the file cannot be written.
  bool write(const std::string& path, const class Clock& clock);

 private:
  struct Receive {
    std::uint32_t kind = 0;
    InWorld in_world;
  };

  const mpi::Library& library_;
  bool wanted_;
  std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::int64_t left_out_ = 0;
  std::unordered_map<mpi::Handle, Receive> receives_;
};

} // namespace kumihimo::record
