// Places of long messages that a receiver tells its senders once, and opens in each call. Pure: the two halves of the
// protocol know no network and no memory.
//
// A receiver names the messages of a call that may come early: a list for each sender. A list that a sender knows, and
// that no running call uses, is opened by its number; another one is described first. A sender puts a message when its
// place was opened for that call, so no put arrives before the receiver's call has begun; each place takes one message
// of each opening. A list is forgotten only when all messages of all its openings have come, so the sender has read
// them all. Messages of the protocol may overtake each other.
#pragma once

#include "fabric/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::fabric {

// Where the bytes of a message go, as its sender needs it: behind the header of a message `open`.
struct WirePlace {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0, key = 0; // of the receiver's memory, as its provider counts
  std::uint32_t chunk_bytes = 0;      // of a put: the message comes in several
  std::uint32_t ordinal = 0, segment = 0;
  std::uint16_t lane = 0;
  std::uint16_t number = 0; // of the receive
};
static_assert(sizeof(WirePlace) == 40);

// A message that may come early, as its receiver knows it.
struct ExpectedPlace {
  std::uint16_t lane = 0;
  std::uint32_t ordinal = 0, segment = 0;
  const std::byte* target = nullptr; // null: a buffer of the transport
  std::int64_t bytes = 0, element_bytes = 1;
  bool operator==(const ExpectedPlace&) const = default;

  WireKey key(std::int32_t peer, std::uint64_t instance) const {
    return {peer, lane, false, ordinal, segment, instance};
  }
};

struct PlaceList {
  std::uint64_t number = 0; // never used again
  std::int32_t peer = 0;
  std::vector<ExpectedPlace> places;
  bool is_described = false; // to the sender
  std::size_t open = 0;      // messages of the running call that have not come
};

// The receiver's half.
class PlaceLists {
 public:
  // The list of these places that no running call uses; null: there is none.
  PlaceList* find(std::int32_t peer, std::span<const ExpectedPlace> places);
  PlaceList& add(std::int32_t peer, std::span<const ExpectedPlace> places);
  void open(PlaceList& list); // for a call
  static void take(PlaceList& list) { --list.open; }
  // The one that has been unused longest; null: all are in use. Its sender must be told, if it was described.
  PlaceList* oldest_unused();
  void erase(PlaceList& list);

  std::size_t lists() const { return lists_.size(); }
  std::size_t places() const { return places_; }
  // Everything that decides about the future, for comparing states.
  void append_state(std::vector<std::uint64_t>& words) const;

 private:
  using Lists = std::list<PlaceList>;
  Lists lists_; // in the order of their last use
  std::unordered_map<std::int32_t, std::vector<Lists::iterator>> of_peer_;
  std::size_t places_ = 0;
  std::uint64_t last_number_ = 0;
};

// The sender's half.
class OpenedPlaces {
 public:
  // A peer's message: `described` is empty where it described the list before. `once`: no other opening of it follows.
  void open(std::int32_t peer, std::uint64_t list, std::uint64_t instance, std::span<const WirePlace> described,
            bool once);
  void forget(std::int32_t peer, std::uint64_t list) { lists_.erase({peer, list}); }
  // The place of a message, each time it was opened for the message's call; nullopt: it was not, or not yet.
  std::optional<WirePlace> take(const WireKey& key);
  std::size_t lists() const { return lists_.size(); }
  bool is_open() const { return !open_.empty(); } // for some message
  void append_state(std::vector<std::uint64_t>& words) const;

 private:
  struct List {
    std::vector<WirePlace> places;
    std::unordered_map<WireKey, std::size_t, WireKeyHash> at; // without peer and instance
  };
  struct Opening {
    std::uint64_t list = 0;
    std::size_t taken = 0;
    bool once = false;
  };
  std::map<std::pair<std::int32_t, std::uint64_t>, List> lists_;   // by peer and list
  std::map<std::pair<std::int32_t, std::uint64_t>, Opening> open_; // by peer and instance
};

} // namespace kumihimo::fabric
