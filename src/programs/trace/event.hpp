// An event of one rank of a recorded program: the one type that the recorder, its files and replays have.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kumihimo::trace {

// The events of an MPI call stand between its enter and its leave. What happens within a call is complete when it
// leaves, but for what a start_* begins, which is complete when the call leaves that has the end_* of its request.
//
//   start_*, end_*   a non-blocking call, or the start of a persistent request; and its completion
//   *_program        the end of MPI_Init, and the beginning of MPI_Finalize
//   compute          the program's own time between two calls: replays make it of the times of a recording, so no file
//                    has it
enum class EventKind : std::uint8_t {
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
  begin_region,
  end_region,
  begin_program,
  end_program,
  compute,
};
inline constexpr std::size_t kinds = 16;

constexpr bool is_collective(EventKind kind) {
  return kind == EventKind::collective || kind == EventKind::start_collective;
}
constexpr bool is_send(EventKind kind) { return kind == EventKind::send || kind == EventKind::start_send; }
constexpr bool is_receive(EventKind kind) { return kind == EventKind::receive || kind == EventKind::start_receive; }
constexpr bool starts(EventKind kind) { return kind >= EventKind::start_send && kind <= EventKind::start_collective; }
constexpr bool ends(EventKind kind) { return kind >= EventKind::end_send && kind <= EventKind::end_collective; }
constexpr bool has_message(EventKind kind) {
  return is_send(kind) || is_receive(kind) || kind == EventKind::end_send || kind == EventKind::end_receive;
}
constexpr bool has_collective(EventKind kind) { return is_collective(kind) || kind == EventKind::end_collective; }
constexpr bool has_region(EventKind kind) { return kind == EventKind::begin_region || kind == EventKind::end_region; }
// The end of a start_*, and the other way round.
constexpr EventKind end_of(EventKind start) { return static_cast<EventKind>(static_cast<int>(start) + 3); }
constexpr EventKind start_of(EventKind end) { return static_cast<EventKind>(static_cast<int>(end) - 3); }

inline constexpr std::uint32_t no_site = 0xFFFFFFFFU;
inline constexpr std::int32_t no_rank = -1;

// Nanoseconds since the last leave of the thread: of the recorder's own work; and of a processor that the program had,
// 0: not measured.
struct Elapsed {
  std::int64_t recorder_ns = 0, processor_ns = 0;
};
struct Enter {
  Elapsed since_leave;
  std::uint32_t site = no_site; // the number of the call site
  std::uint32_t zero = 0;       // these members fill gaps, so that equal events have equal bytes
};
// A send has its partner where it starts, a receive where it ends.
struct MessageEvent {
  std::int64_t bytes = 0;
  std::int32_t peer = no_rank; // in the world
  std::int32_t tag = 0;
  std::uint32_t communicator = 0;
  std::uint32_t zero = 0;
};
struct CollectiveEvent {
  std::int64_t bytes = 0;      // this rank's part, as in a profile
  std::int32_t root = no_rank; // in the communicator; no_rank: it has none
  std::uint32_t communicator = 0;
  std::uint32_t parts = 0; // of an alltoall: 1 + the number of its list of bytes to each rank; 0: equal ones
  std::uint8_t row = 0;    // of collectives.def
  std::array<std::uint8_t, 3> zero{};
};
struct RegionEvent {
  std::uint32_t number = 0, zero = 0; // the number of its name
};
struct Compute {
  std::int64_t ns = 0;
  std::uint32_t region = 0, zero = 0;
};

class Event {
 public:
  std::int64_t at_ns = 0;
  EventKind kind = EventKind::leave;
  std::uint8_t call = 0;     // the number of the hooked MPI call
  std::uint16_t thread = 0;  // 0: the main one
  std::uint32_t request = 0; // that the event starts or completes, from 1 on; 0: none

  Event() = default;
  Event(std::int64_t at, EventKind what) : at_ns(at), kind(what) {}
  template <class What>
  Event(std::int64_t at, EventKind kind_of, const What& what) : at_ns(at) {
    become(kind_of, what);
  }
  template <class What>
  void become(EventKind kind_of, const What& what) {
    kind = kind_of;
    what_.all = {};
    put(what);
  }

  const Enter& enter() const { return assert(kind == EventKind::enter), what_.enter; }
  Enter& enter() { return assert(kind == EventKind::enter), what_.enter; }
  const Elapsed& end_program() const { return assert(kind == EventKind::end_program), what_.end_program; }
  const MessageEvent& message() const { return assert(has_message(kind)), what_.message; }
  MessageEvent& message() { return assert(has_message(kind)), what_.message; }
  const CollectiveEvent& collective() const { return assert(has_collective(kind)), what_.collective; }
  CollectiveEvent& collective() { return assert(has_collective(kind)), what_.collective; }
  const RegionEvent& region() const { return assert(has_region(kind)), what_.region; }
  const Compute& compute() const { return assert(kind == EventKind::compute), what_.compute; }
  Compute& compute() { return assert(kind == EventKind::compute), what_.compute; }

  bool operator==(const Event& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }

 private:
  void put(const Enter& what) { what_.enter = what, assert(kind == EventKind::enter); }
  void put(const Elapsed& what) { what_.end_program = what, assert(kind == EventKind::end_program); }
  void put(const MessageEvent& what) { what_.message = what, assert(has_message(kind)); }
  void put(const CollectiveEvent& what) { what_.collective = what, assert(has_collective(kind)); }
  void put(const RegionEvent& what) { what_.region = what, assert(has_region(kind)); }
  void put(const Compute& what) { what_.compute = what, assert(kind == EventKind::compute); }

  union Payload {
    constexpr Payload() : all{} {}
    std::array<std::byte, 24> all;
    Enter enter;
    Elapsed end_program;
    MessageEvent message;
    CollectiveEvent collective;
    RegionEvent region;
    Compute compute;
  };
  Payload what_;
};
static_assert(sizeof(Event) == 40 && std::is_trivially_copyable_v<Event>);

} // namespace kumihimo::trace
