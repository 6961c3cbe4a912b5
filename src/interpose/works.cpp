#include "interpose/works.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::interpose {
namespace {

constexpr std::size_t most_given_up = 16;

} // namespace

std::size_t AskedOfAll::operator()(const plan::CallKey& k) const {
  std::uint64_t h = mixed(static_cast<std::uint64_t>(k.count), static_cast<std::uint64_t>(k.root));
  h = mixed(h, static_cast<std::uint64_t>(k.kind) << 16 | static_cast<std::uint64_t>(k.type) << 8 |
                   static_cast<std::uint64_t>(k.operation));
  return static_cast<std::size_t>(h);
}

Works::~Works() {
  if (transport) Room::of_process().give_back(room);
}

std::unique_ptr<Works> Kept::take(std::uint64_t of_ranks, std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(works_.begin(), works_.end(), [&](const auto& works) { return works->of_ranks == of_ranks; });
  if (found == works_.end()) return nullptr;
  std::unique_ptr<Works> works = std::move(*found);
  works_.erase(found);
  if (Room::of_process().has_better(works->room, node_ranks, must)) return nullptr;
  works->recur = true;
  return works;
}

void Kept::keep(std::unique_ptr<Works> works) {
  if (works->of_ranks == 0 || !works->transport || !works->transport->is_near() || works->transport->has_failed())
    return;
  const std::lock_guard lock(mutex_);
  works->recur |= std::find(given_up_.begin(), given_up_.end(), works->of_ranks) != given_up_.end();
  if (works_.size() >= most) give_up_one(true);
  works_.push_back(std::move(works));
}

std::optional<Room::Part> Kept::room_for(std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  Room& room = Room::of_process();
  std::optional<Room::Part> part = room.take(node_ranks, must);
  while ((!part || part->is_small()) && give_up_one(!part)) {
    if (part) room.give_back(*part);
    part = room.take(node_ranks, must);
  }
  return part;
}

void Kept::clear() {
  std::vector<std::unique_ptr<Works>> all;
  const std::lock_guard lock(mutex_);
  all.swap(works_);
  given_up_.clear();
}

bool Kept::give_up_one(bool any) {
  const auto found =
      std::find_if(works_.begin(), works_.end(), [&](const auto& works) { return any || !works->recur; });
  if (found == works_.end()) return false;
  given_up_.push_back((*found)->of_ranks);
  if (given_up_.size() > most_given_up) given_up_.pop_front();
  works_.erase(found);
  return true;
}

} // namespace kumihimo::interpose
