// The counts of one thread. No other thread writes here, so there are no locks, and nothing is allocated after a call
// site's first call. At the end of the process another thread reads them, if the CountingFlag is clear.
#pragma once

#include "base/datatype.hpp"
#include "mpi_hooks/call.hpp"
#include "record/per_thread.hpp"
#include "record/timed_calls.hpp"
#include "record/trace.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kumihimo::record {

// Sizes by powers of two: 0, 1, 2-3, 4-7 ... bytes.
using Histogram = std::array<std::int64_t, 65>;
constexpr std::size_t class_of(std::int64_t bytes) {
  return bytes <= 0 ? 0 : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}
constexpr std::uint64_t least_of_class(std::size_t size_class) {
  return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
}

// What a collective is asked for, as far as the choice of its algorithm may depend on it. One word, since each call
// compares it.
struct ChoiceKey {
  static constexpr std::uint8_t none = 0xff;
  std::uint8_t size_class = 0;   // of the vector, or of one block
  std::uint8_t type = none;      // DataType; none: a derived type, several types, or no data
  std::uint8_t operation = none; // Operation; user: the program's
  std::uint8_t in_place = 0;     // at this rank
  std::uint32_t word() const { return std::bit_cast<std::uint32_t>(*this); }
  bool operator==(const ChoiceKey& other) const { return word() == other.word(); }
};

// The call site and the communicator of a call. A site is a return address, or the number of a place in a Python file.
struct Key {
  std::uintptr_t site = 0;
  std::uint32_t communicator = 0; // its number in Communicators, 0 for none
  mpi_hooks::Name name{};
  bool python = false;
  ChoiceKey question = {}; // of collectives
  bool operator==(const Key&) const = default;
};

struct alignas(64) Row {
  Row() : Row(Key{}) {}
  explicit Row(const Key& of) : key(of), timed(mixed(of.site, static_cast<std::uint64_t>(of.name))) {}

  Key key;
  std::int64_t calls = 0, bytes = 0; // in the cache line of the key, with the beginning of `timed`
  TimedCalls timed;                  // of rows that may have untimed calls; the times below are then estimated by them
  std::int64_t ns = 0, longest_ns = 0;
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  // Of collectives: the time since the end of the thread's MPI call before each, of so many; and of the others, whose
  // call before was not timed, since the last timed one.
  std::int64_t apart_ns = 0, apart_calls = 0, most_apart_ns = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max(), largest = 0; // of collectives: vector or block
  bool collective = false, blocking_collective = false, non_blocking_collective = false;
  // Of non-blocking collectives: in the calls that complete them, and from their beginning until these. Any thread
  // adds.
  std::atomic<std::int64_t> completion_ns = 0, overlap_ns = 0;
  // Of collectives: sampled calls with separated waiting, and their times (of non-blocking ones: of their completion),
  // weighted by the calls they represent.
  std::int64_t split_calls = 0, split_ns = 0, waiting_ns = 0, transferring_ns = 0;

  bool times_next_call() const { return timed.times(calls); }
  // Of all calls, where the call before was timed for some only.
  std::int64_t apart_ns_of_all() const {
    if (apart_calls == 0) return most_apart_ns;
    return static_cast<std::int64_t>(static_cast<double>(apart_ns) * static_cast<double>(calls) /
                                     static_cast<double>(apart_calls));
  }
};

// Rows by their keys. The address of a row never changes.
class Rows {
 public:
  Rows() : slots_(64) {}
  Row& at(const Key& key) {
    if (last_ && last_->key == key) [[likely]]
      return *last_;
    return *(last_ = &find(key));
  }
  const std::deque<Row>& all() const { return rows_; }

 private:
  static std::size_t hash(const Key& key) {
    std::uint64_t h = key.site * 0x9e3779b97f4a7c15u;
    h ^= (std::uint64_t{key.communicator} << 9 | static_cast<std::uint64_t>(key.name) << 1 | key.python) *
         0xc2b2ae3d27d4eb4fu;
    h += key.question.word() * 0x165667b19e3779f9u;
    return h ^ (h >> 29);
  }
  Row& find(const Key& key) {
    for (std::size_t i = hash(key);; ++i) {
      Row*& slot = slots_[i & (slots_.size() - 1)];
      if (!slot) break;
      if (slot->key == key) return *slot;
    }
    if (2 * (rows_.size() + 1) > slots_.size()) grow();
    rows_.emplace_back(key);
    return *put(&rows_.back());
  }
  Row* put(Row* row) {
    std::size_t i = hash(row->key);
    while (slots_[i & (slots_.size() - 1)]) ++i;
    return slots_[i & (slots_.size() - 1)] = row;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), nullptr);
    for (Row& row : rows_) put(&row);
  }

  std::deque<Row> rows_;
  std::vector<Row*> slots_; // a power of two
  Row* last_ = nullptr;
};

struct RecordedCommunicator;

// The communicator or window of a handle as a program gives it. Valid until `epoch` ends.
struct alignas(32) KnownHandle {
  mpi_hooks::Word given = 0;
  std::uint64_t epoch = 0; // of Communicators
  RecordedCommunicator* communicator = nullptr;
  std::uint32_t kind = 0; // of the communicator; 0: none
  bool window = false;
  mpi_hooks::Language language{};

  bool is(mpi_hooks::Word handle, std::uint64_t now, bool is_window, mpi_hooks::Language from) const {
    return given == handle && epoch == now && window == is_window && language == from;
  }
};

// The calls of one function that return to one address, on communicators of one kind: they have one row, if they are no
// collectives.
struct alignas(32) CallSite {
  const void* address = nullptr;
  Row* row = nullptr; // the last one; null: not known yet, or may be that of a place in Python
  std::uint32_t kind = 0;
  mpi_hooks::Name name{};

  bool is(const void* returns_to, std::uint32_t of_kind, mpi_hooks::Name called) const {
    return address == returns_to && kind == of_kind && name == called;
  }
};

// What a thread has found. Two entries that have the same place take it from each other.
template <class Entry>
class Found {
 public:
  Entry& place_of(std::uint64_t key) { return entries_[key * 0x9e3779b97f4a7c15u >> 56]; }

 private:
  std::array<Entry, 256> entries_;
};

// Traffic to one rank of the world.
struct PeerTraffic {
  std::int64_t messages = 0, bytes = 0;                     // point-to-point, sent by this rank
  std::int64_t one_sided_messages = 0, one_sided_bytes = 0; // put, got or accumulated by this rank
};

struct ThreadRecord {
  // The thread's number in the trace. A thread that starts after another's end may have the same.
  const std::uint16_t number = [] {
    static std::atomic<std::uint16_t> made = 0;
    return made++;
  }();
  CountingFlag counting; // set while its thread changes what follows
  std::int64_t mpi_ns = 0;
  std::int64_t last_exit_ns = 0; // of the last timed MPI call; 0: none
  bool last_was_timed = true;    // the call before this one
  std::int64_t sync_ns = 0;
  // Its processor time as the recorder was last entered and left, in traces of processes that share processors.
  std::int64_t entry_processor_ns = 0, exit_processor_ns = 0;
  // In traces: of the recorder itself since the last exit; and when it was entered.
  std::int64_t recorder_ns = 0, hooked_ns = 0;
  // Tests in a row that completed nothing: programs poll millions of times, and a trace needs to know how long only.
  struct Polls {
    std::int64_t calls = 0, ns = 0; // and in them
    trace::Elapsed since_leave;     // between them
    Event enter, leave;             // of the last one
  };
  Polls polls;
  Found<KnownHandle> handles;
  Found<CallSite> sites;
  Rows rows;
  std::unordered_map<int, PeerTraffic> partners; // by rank of the world
  std::array<std::unique_ptr<Histogram>, mpi_hooks::names> sizes;
  // The last handles, which most calls have again. No handle of a derived type ever becomes that of a predefined one.
  struct LastHandle {
    mpi::Handle handle = 0;
    bool known = false;
  };
  LastHandle last_type, last_operation;
  std::uint8_t its_type = ChoiceKey::none, its_operation = ChoiceKey::none; // as in Question
  // The last partners, by communicator and rank in it: translating a rank costs two calls of the library.
  struct Recent {
    std::uint64_t communicator = 0; // its serial number
    int rank = -1;
    PeerTraffic* traffic = nullptr;
  };
  std::array<Recent, 256> recent{};
  mpi::StatusWords status; // for calls with MPI_STATUS_IGNORE

  void note_size(mpi_hooks::Name name, std::int64_t bytes) {
    auto& histogram = sizes[static_cast<std::size_t>(name)];
    if (!histogram) histogram = std::make_unique<Histogram>();
    ++(*histogram)[class_of(bytes)];
  }
};

} // namespace kumihimo::record
