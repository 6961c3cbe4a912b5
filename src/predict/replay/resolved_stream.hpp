// Events of a rank whose receives and collectives say at once what they turn out to be when their request ends.
#pragma once

#include "replay/pending_requests.hpp"
#include "replay/source.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::replay {

class ResolvedStream : public EventStream {
 public:
  // For errors: an event of these, before which so many came.
  using NameOf = std::function<std::string(std::span<const Event> events, std::size_t event, std::size_t before)>;
  ResolvedStream(std::unique_ptr<EventStream> events, NameOf name_of)
      : stream_(std::move(events)), name_of_(std::move(name_of)) {}

  // Errors: a request that ends as what it did not begin as, or a collective that never ends.
  Result<std::span<const Event>> next() override;

 private:
  Status append(std::span<const Event> events);
  Status start(std::uint64_t number, const Event& event);
  Status end(std::uint64_t number, const Event& event);
  Status end_all();
  PendingRequests& begun(EventKind start) {
    return begun_[static_cast<std::size_t>(start) - static_cast<std::size_t>(EventKind::start_send)];
  }
  std::size_t resolved() const; // events at the beginning of the buffer, up to the end of a call
  Error wrong(std::uint64_t number, std::string rule, const Got& got = {}) const;

  std::unique_ptr<EventStream> stream_;
  NameOf name_of_;
  std::vector<Event> events_; // that were not given away, and those that were last
  std::uint64_t first_ = 0;   // the number of the first of them
  std::size_t given_ = 0;     // of them, last
  bool ended_ = false;
  std::array<PendingRequests, 3> begun_; // by what starts them
  struct Open {
    std::uint64_t number = 0;
    bool ended = false;
  };
  std::deque<Open> open_; // receives and collectives that have started, from the first that has not ended on
};

} // namespace kumihimo::replay
