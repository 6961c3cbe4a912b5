#include "fabric/place_lists.hpp"

#include <algorithm>
#include <iterator>

namespace kumihimo::fabric {

// --- receiver

PlaceList* PlaceLists::find(std::int32_t peer, std::span<const ExpectedPlace> places) {
  const auto known = of_peer_.find(peer);
  if (known == of_peer_.end()) return nullptr;
  for (const Lists::iterator list : known->second)
    if (list->open == 0 && std::equal(places.begin(), places.end(), list->places.begin(), list->places.end()))
      return &*list;
  return nullptr;
}

PlaceList& PlaceLists::add(std::int32_t peer, std::span<const ExpectedPlace> places) {
  lists_.push_back({++last_number_, peer, {places.begin(), places.end()}});
  of_peer_[peer].push_back(std::prev(lists_.end()));
  places_ += places.size();
  return lists_.back();
}

void PlaceLists::open(PlaceList& list) {
  list.open = list.places.size();
  list.is_described = true;
  const std::vector<Lists::iterator>& of_peer = of_peer_.at(list.peer);
  const auto found = std::find_if(of_peer.begin(), of_peer.end(), [&](auto each) { return &*each == &list; });
  lists_.splice(lists_.end(), lists_, *found);
}

PlaceList* PlaceLists::oldest_unused() {
  const auto found = std::find_if(lists_.begin(), lists_.end(), [](const PlaceList& list) { return list.open == 0; });
  return found == lists_.end() ? nullptr : &*found;
}

void PlaceLists::erase(PlaceList& list) {
  std::vector<Lists::iterator>& of_peer = of_peer_.at(list.peer);
  const auto found = std::find_if(of_peer.begin(), of_peer.end(), [&](auto each) { return &*each == &list; });
  places_ -= list.places.size();
  const Lists::iterator gone = *found;
  of_peer.erase(found);
  lists_.erase(gone);
}

void PlaceLists::append_state(std::vector<std::uint64_t>& words) const {
  for (const PlaceList& list : lists_) {
    for (const std::uint64_t word : {list.number, static_cast<std::uint64_t>(list.peer), std::uint64_t{list.open},
                                     std::uint64_t{list.places.size()}})
      words.push_back(word);
    for (const ExpectedPlace& place : list.places)
      words.push_back(place.segment), words.push_back(reinterpret_cast<std::uint64_t>(place.target));
  }
  words.push_back(last_number_);
}

// --- sender

void OpenedPlaces::open(std::int32_t peer, std::uint64_t list, std::uint64_t instance,
                        std::span<const WirePlace> described, bool once) {
  open_[{peer, instance}] = {list, 0, once};
  if (described.empty()) return;
  List& known = lists_[{peer, list}];
  known.places.assign(described.begin(), described.end());
  for (std::size_t i = 0; i < known.places.size(); ++i) {
    const WirePlace& place = known.places[i];
    known.at.emplace(WireKey{0, place.lane, false, place.ordinal, place.segment, 0}, i);
  }
}

std::optional<WirePlace> OpenedPlaces::take(const WireKey& key) {
  if (key.signal) return std::nullopt;
  const auto opening = open_.find({key.peer, key.instance});
  if (opening == open_.end()) return std::nullopt;
  const auto list = lists_.find({key.peer, opening->second.list});
  if (list == lists_.end()) return std::nullopt; // its description comes
  WireKey name = key;
  name.peer = 0, name.instance = 0;
  const auto at = list->second.at.find(name);
  if (at == list->second.at.end()) return std::nullopt;
  const WirePlace place = list->second.places[at->second];
  if (++opening->second.taken < list->second.places.size()) return place;
  if (opening->second.once) lists_.erase(list);
  open_.erase(opening);
  return place;
}

void OpenedPlaces::append_state(std::vector<std::uint64_t>& words) const {
  for (const auto& [name, list] : lists_) {
    words.push_back(static_cast<std::uint64_t>(name.first)), words.push_back(name.second);
    for (const WirePlace& place : list.places) words.push_back(place.address), words.push_back(place.number);
  }
  words.push_back(lists_.size());
  for (const auto& [name, opening] : open_)
    for (const std::uint64_t word : {static_cast<std::uint64_t>(name.first), name.second, opening.list,
                                     std::uint64_t{opening.taken}, std::uint64_t{opening.once}})
      words.push_back(word);
}

} // namespace kumihimo::fabric
