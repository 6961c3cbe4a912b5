#include "traffic/traffic.hpp"

#include <fmt/format.h>

namespace kumihimo {

Result<TrafficBuilder> TrafficBuilder::make(std::optional<std::int32_t> ranks) {
  if (ranks && (*ranks < 1 || *ranks > most_traffic_ranks))
    return wrong_value(fmt::format("the number of ranks must be 1 to {}", most_traffic_ranks), *ranks);
  return TrafficBuilder(ranks);
}

Status TrafficBuilder::add(Rank from, Rank to, std::int64_t bytes, std::int64_t messages) {
  const std::int32_t end = ranks_.value_or(most_traffic_ranks);
  for (const Rank rank : {from, to})
    if (rank.value < 0 || rank.value >= end)
      return wrong_value(end == 1 ? "the rank must be 0" : fmt::format("the rank must be 0 to {}", end - 1), rank.value,
                         ranks_ && rank.value >= end ? fmt::format("the number of ranks is {}", end) : "");
  if (bytes < 0) return wrong_value("bytes must be 0 or more", bytes);
  if (messages < 0) return wrong_value("messages must be 0 or more", messages);
  if (bytes > most_traffic - bytes_ - self_bytes_)
    return wrong_value("all lines together must have at most 2^62 bytes", fmt::format("{} more", bytes));
  if (messages > most_traffic - messages_ - self_messages_)
    return wrong_value("all lines together must have at most 2^62 messages", fmt::format("{} more", messages));
  greatest_ = std::max({greatest_, from.value, to.value});
  const bool to_itself = from == to;
  (to_itself ? self_bytes_ : bytes_) += bytes;
  (to_itself ? self_messages_ : messages_) += messages;
  if (!to_itself && (bytes > 0 || messages > 0)) lines_.push_back({from.value, to.value, bytes, messages});
  return Nothing{};
}

Result<Traffic> TrafficBuilder::build() && {
  if (bytes_ == 0) {
    const std::string got = messages_ > 0        ? fmt::format("{} messages without bytes", messages_)
                            : self_messages_ > 0 ? fmt::format("{} messages of ranks to themselves", self_messages_)
                            : self_bytes_ > 0    ? fmt::format("{} bytes of ranks to themselves", self_bytes_)
                                                 : "none";
    return wrong_value("the traffic must have a line with bytes between two ranks", got);
  }
  return std::move(*this).sorted();
}

Traffic TrafficBuilder::sorted() && {
  const auto before = [](const Line& a, const Line& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; };
  if (!std::is_sorted(lines_.begin(), lines_.end(), before)) std::sort(lines_.begin(), lines_.end(), before);
  std::size_t pairs = 0; // the lines of a pair become its first one
  for (const Line& line : lines_) {
    if (pairs > 0 && lines_[pairs - 1].from == line.from && lines_[pairs - 1].to == line.to) {
      lines_[pairs - 1].bytes += line.bytes;
      lines_[pairs - 1].messages += line.messages;
    } else {
      lines_[pairs++] = line;
    }
  }
  lines_.resize(pairs);

  Traffic traffic;
  traffic.bytes_ = bytes_, traffic.messages_ = messages_, traffic.self_bytes_ = self_bytes_;
  traffic.first_.assign(static_cast<std::size_t>(ranks_.value_or(greatest_ + 1)) + 1, 0);
  traffic.flows_.reserve(pairs);
  for (const Line& line : lines_) {
    ++traffic.first_[static_cast<std::size_t>(line.from) + 1];
    traffic.flows_.push_back({Rank{line.to}, line.bytes, line.messages});
  }
  for (std::size_t rank = 1; rank < traffic.first_.size(); ++rank) traffic.first_[rank] += traffic.first_[rank - 1];
  return traffic;
}

Traffic Traffic::renumbered(std::span<const Rank> new_of_old) const {
  TrafficBuilder builder(ranks());
  builder.lines_.reserve(flows_.size());
  for (std::int32_t r = 0; r < ranks(); ++r)
    for (const Flow& flow : from(Rank{r}))
      builder.lines_.push_back({new_of_old[r].value, new_of_old[flow.to.value].value, flow.bytes, flow.messages});
  builder.bytes_ = bytes_, builder.messages_ = messages_, builder.self_bytes_ = self_bytes_;
  return std::move(builder).sorted();
}

} // namespace kumihimo
