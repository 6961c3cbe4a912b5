// Places of early receives (fabric/place_lists.hpp): their memory, and what both ends do with it.
#include "fabric/messages.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace kumihimo::fabric {

std::int64_t FabricMessages::early_bytes() const {
  return port_->options().opens_places ? eager_bytes() + 1 : std::numeric_limits<std::int64_t>::max();
}

// The program may map other memory at a buffer's address between two calls, which pinned pages would not follow.
bool FabricMessages::forgets_at_once() const { return port_->rules().pins || port_->options().forgets_places; }

// One list for each sender. What has no place in it is told when its receive starts.
void FabricMessages::expect(std::span<const transport::EarlyReceive> receives) {
  if (error_ || receives.empty()) return;
  const std::lock_guard lock(port_->mutex());
  struct OfSender {
    std::vector<ExpectedPlace> places;
    std::int64_t buffer_bytes = 0;
  };
  const std::size_t most = std::min(most_places_of_list, // of one message
                                    static_cast<std::size_t>(port_->body_bytes()) / sizeof(WirePlace));
  std::map<std::int32_t, OfSender> senders;
  std::int64_t pinned_bytes = 0;
  for (const transport::EarlyReceive& each : receives) {
    OfSender& from = senders[each.key.peer.value];
    if (from.places.size() == most || each.bytes % each.element_bytes != 0) continue;
    if (!each.target && from.buffer_bytes + each.bytes > most_list_buffer_bytes) continue;
    if (!each.target) from.buffer_bytes += each.bytes;
    if (each.target && forgets_at_once()) { // what is registered message by message may fit where all at once do not
      if (pinned_bytes + each.bytes > port_->options().most_pinned_bytes) continue;
      pinned_bytes += each.bytes;
    }
    const WireKey key = wire_key(each.key);
    from.places.push_back({key.lane, key.ordinal, key.segment, each.target, each.bytes, each.element_bytes});
  }
  for (const auto& [rank, from] : senders)
    if (!from.places.empty() && !error_) open_places(rank, receives.front().key.instance, from.places);
}

void FabricMessages::open_places(std::int32_t rank, std::uint64_t instance, std::span<const ExpectedPlace> places) {
  Peer* const peer = peer_of(rank);
  if (!peer) return;
  std::vector<WirePlace> described;
  PlaceList* list = lists_.find(rank, places);
  if (!list) list = add_list(rank, places, described);
  if (!list) return;
  lists_.open(*list);
  std::deque<Landing>& landings = landings_.at(list->number);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Landing& landing = landings[i];
    landing.left = landing.chunks;
    landing.delivered = 0;
    landing.arrived.assign(landing.arrived.size(), false);
    landing.was_announced = false;
    early_.emplace(places[i].key(rank, instance), &landing);
  }
  WireHeader header = header_of(WireKind::open, {});
  header.instance = instance;
  header.address = list->number;
  header.signal = forgets_at_once();
  header.bytes = described.size();
  const transport::Piece body{reinterpret_cast<std::byte*>(described.data()),
                              static_cast<std::int64_t>(described.size() * sizeof(WirePlace))};
  post(rank, header, std::span(&body, described.empty() ? 0 : 1), nullptr, {}, false);
}

// Null: there is no room for it.
PlaceList* FabricMessages::add_list(std::int32_t rank, std::span<const ExpectedPlace> places,
                                    std::vector<WirePlace>& described) {
  if (!has_room_for(places)) return nullptr;
  PlaceList& list = lists_.add(rank, places);
  std::deque<Landing>& landings = landings_[list.number];
  for (const ExpectedPlace& each : places) {
    Landing& landing = landings.emplace_back();
    landing.list = &list;
    const std::optional<std::uint16_t> number = port_->take_number(*this, &landing);
    if (number) landing.number = *number;
    const Result<WirePlace> place = number ? prepare(landing, const_cast<std::byte*>(each.target), each.bytes,
                                                     each.element_bytes, each.key(rank, 0))
                                           : Result<WirePlace>(failed("no number is left"));
    if (!place) { // the provider registers no more
      if (!number) landings.pop_back();
      return drop(list), nullptr;
    }
    if (!each.target) keep(each.bytes);
    described.push_back(*place);
  }
  ++descriptions_;
  return &list;
}

void FabricMessages::keep(std::int64_t bytes) {
  buffer_bytes_ += bytes;
  port_->keep(bytes);
}

// Lists that no call uses are forgotten for it, those unused longest first; none where what other communicators keep
// leaves no room.
bool FabricMessages::has_room_for(std::span<const ExpectedPlace> places) {
  std::int64_t buffers = 0;
  for (const ExpectedPlace& each : places) buffers += each.target ? 0 : each.bytes;
  const PortOptions& limits = port_->options();
  if (port_->kept_bytes() - buffer_bytes_ + buffers > limits.most_kept_bytes ||
      port_->numbers_taken() - lists_.places() + places.size() > most_numbers)
    return false;
  while (lists_.places() + places.size() > limits.most_places ||
         port_->kept_bytes() + buffers > limits.most_kept_bytes ||
         port_->numbers_taken() + places.size() > most_numbers) {
    PlaceList* const list = lists_.oldest_unused();
    if (!list) return false;
    forget(*list);
  }
  return true;
}

void FabricMessages::forget(PlaceList& list) {
  WireHeader header = header_of(WireKind::forget, {});
  header.address = list.number;
  post(list.peer, header, {}, nullptr, {}, false);
  drop(list);
}

// No message to its places is under way.
void FabricMessages::drop(PlaceList& list) {
  const auto landings = landings_.find(list.number);
  for (Landing& landing : landings->second) {
    port_->give_number(landing.number);
    if (landing.range) port_->registrations().release(landing.range, false);
  }
  for (std::size_t i = 0; i < landings->second.size(); ++i)
    if (!list.places[i].target && landings->second[i].range) keep(-list.places[i].bytes);
  landings_.erase(landings);
  lists_.erase(list);
}

// Some sends may wait for it.
void FabricMessages::take_opening(const WireHeader& header, const std::byte* data, std::int64_t bytes) {
  std::vector<WirePlace> described(header.bytes);
  if (static_cast<std::size_t>(bytes) != described.size() * sizeof(WirePlace)) return;
  if (bytes > 0) std::memcpy(described.data(), data, static_cast<std::size_t>(bytes));
  const auto source = static_cast<std::int32_t>(header.source);
  opened_.open(source, header.address, header.instance, described, header.signal != 0);
  for (auto next = sends_.begin(); next != sends_.end() && !error_;) {
    Sending& sending = *next++;
    if (!sending.is_waiting || sending.key.peer != source) continue;
    if (const std::optional<WirePlace> place = opened_.take(sending.key)) put(sending, *place);
  }
}

void FabricMessages::attach(Receiving& receiving, Landing& landing) {
  landing.receiving = &receiving;
  assert(!receiving.message->direct() || receiving.message->direct() == landing.target);
  deliver(receiving);
}

} // namespace kumihimo::fabric
