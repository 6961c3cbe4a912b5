#include "replay/resolved_stream.hpp"

#include "replay/record_again.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::replay {

Error ResolvedStream::wrong(std::uint64_t number, std::string rule, const Got& got) const {
  return located(name_of_(events_, number - first_, first_), wrong_value(std::move(rule), got, record_again));
}

Result<std::span<const Event>> ResolvedStream::next() {
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(given_));
  first_ += given_, given_ = 0;
  while ((given_ = resolved()) == 0 && !ended_) {
    const auto events = TRY(stream_->next());
    if (Status s = events.empty() ? end_all() : append(events); !s) return s.error();
  }
  return std::span<const Event>(events_).first(given_);
}

std::size_t ResolvedStream::resolved() const {
  std::size_t end = open_.empty() ? events_.size() : open_.front().number - first_;
  while (!open_.empty() && end > 0 && events_[end - 1].kind != EventKind::leave) --end;
  return end;
}

Status ResolvedStream::append(std::span<const Event> events) {
  std::uint64_t number = first_ + events_.size();
  events_.insert(events_.end(), events.begin(), events.end());
  for (const Event& event : events) {
    const bool starts = trace::starts(event.kind), ends = trace::ends(event.kind);
    if (starts || ends)
      if (Status s = starts ? start(number, event) : end(number, event); !s) return s;
    ++number;
  }
  return Nothing{};
}

Status ResolvedStream::start(std::uint64_t number, const Event& event) {
  const bool of_send = event.kind == EventKind::start_send; // which may be one that nothing waits for
  if (event.request == 0 && !of_send) return wrong(number, "a request must have a number from 1 on", 0);
  if (event.request > 0) begun(event.kind).put(event.request, static_cast<std::uint32_t>(number));
  if (!of_send) open_.push_back({number});
  return Nothing{};
}

Status ResolvedStream::end(std::uint64_t number, const Event& event) {
  const EventKind start = trace::start_of(event.kind);
  const std::optional<std::uint32_t> at = begun(start).take(event.request);
  if (!at) return wrong(number, fmt::format("request {} ends, which began as no such request", event.request));
  if (start == EventKind::start_send) return Nothing{};
  Event& started = events_[*at - first_];
  started = event;
  started.kind = start;
  const auto before = [](const Open& each, std::uint64_t of) { return each.number < of; };
  std::lower_bound(open_.begin(), open_.end(), *at, before)->ended = true;
  while (!open_.empty() && open_.front().ended) open_.pop_front();
  return Nothing{};
}

// What never ended: a receive that was cancelled got nothing, and what a collective was is unknown.
Status ResolvedStream::end_all() {
  ended_ = true;
  for (const Open& each : open_) {
    if (each.ended) continue;
    Event& event = events_[each.number - first_];
    if (event.kind == EventKind::start_collective) return wrong(each.number, "a collective must end");
    event.message().peer = trace::no_rank;
  }
  open_.clear();
  return Nothing{};
}

} // namespace kumihimo::replay
