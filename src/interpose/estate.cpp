#include "interpose/estate.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::interpose {
namespace {

constexpr std::size_t most_given_up = 16;

} // namespace

std::size_t KeyHash::operator()(const plan::CallKey& k) const {
  std::uint64_t h = mixed(static_cast<std::uint64_t>(k.count), static_cast<std::uint64_t>(k.root));
  h = mixed(h, static_cast<std::uint64_t>(k.kind) << 16 | static_cast<std::uint64_t>(k.type) << 8 |
                   static_cast<std::uint64_t>(k.operation));
  return static_cast<std::size_t>(h);
}

Estate::~Estate() {
  if (transport) Room::of_process().give_back(room);
}

std::unique_ptr<Estate> Estates::take(std::uint64_t of_ranks, std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  const std::thread::id here = std::this_thread::get_id();
  const auto is_of_them = [&](const auto& estate) { return estate->of_ranks == of_ranks; };
  auto found = std::find_if(estates_.begin(), estates_.end(),
                            [&](const auto& estate) { return is_of_them(estate) && estate->kept_by == here; });
  if (found == estates_.end()) found = std::find_if(estates_.begin(), estates_.end(), is_of_them);
  if (found == estates_.end()) return nullptr;
  std::unique_ptr<Estate> estate = std::move(*found);
  estates_.erase(found);
  if (Room::of_process().has_better(estate->room, node_ranks, must)) return nullptr;
  estate->recurs = true;
  return estate;
}

void Estates::keep(std::unique_ptr<Estate> estate) {
  if (estate->of_ranks == 0 || !estate->transport || !estate->transport->is_near() || estate->transport->has_failed())
    return;
  estate->refused.clear();
  if (2 * estate->planned() > Estate::most_plans || 2 * estate->irregular > Estate::most_irregular) return;
  const std::lock_guard lock(mutex_);
  estate->kept_by = std::this_thread::get_id();
  estate->recurs |= std::find(given_up_.begin(), given_up_.end(), estate->of_ranks) != given_up_.end();
  if (estates_.size() >= most) give_up_one(true);
  estates_.push_back(std::move(estate));
}

std::optional<Room::Part> Estates::room_for(std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  Room& room = Room::of_process();
  std::optional<Room::Part> part = room.take(node_ranks, must);
  while ((!part || part->is_small()) && give_up_one(!part)) {
    if (part) room.give_back(*part);
    part = room.take(node_ranks, must);
  }
  return part;
}

void Estates::clear() {
  std::vector<std::unique_ptr<Estate>> all;
  const std::lock_guard lock(mutex_);
  all.swap(estates_);
  given_up_.clear();
}

bool Estates::give_up_one(bool any) {
  const auto found =
      std::find_if(estates_.begin(), estates_.end(), [&](const auto& estate) { return any || !estate->recurs; });
  if (found == estates_.end()) return false;
  given_up_.push_back((*found)->of_ranks);
  if (given_up_.size() > most_given_up) given_up_.pop_front();
  estates_.erase(found);
  return true;
}

} // namespace kumihimo::interpose
