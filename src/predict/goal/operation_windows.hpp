// The operations of ranks while a model comes to them: those that may start soon, have started, or have messages under
// way. They are made a few at a time, and leave the memory when nothing refers to them any more.
#pragma once

#include "base/link_pool.hpp"
#include "base/result.hpp"
#include "goal/graph.hpp"
#include "goal/unmatched.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::goal {

// Those of one rank.
class OperationWindow {
 public:
  // For makers, as GraphBuilder has them. What a maker refers to must wait for the calc that it told last, or be kept:
  // other operations may be gone.
  std::uint32_t add(const GraphOperation& operation);
  void after_end(std::uint32_t operation, std::uint32_t on);
  void after_start(std::uint32_t operation, std::uint32_t on) { after(operation, on, &Slot::start); }
  std::size_t size() const { return size_; }
  // `operation` may be named by after_end until it is let go.
  void keep(std::uint32_t operation) { slot(operation).kept = true; }
  void let_go(std::uint32_t operation);

 private:
  friend class OperationWindows;
  struct Link {
    std::uint32_t operation = 0, next = no_link;
  };
  struct Moment { // the start or the end of an operation
    bool past = false;
    Time time = 0;
    std::uint32_t first = no_link, last = no_link; // dependents, in the order in which they were named
  };
  struct Slot {
    GraphOperation operation;
    Moment start, end;
    Time ready = 0;         // when it may start, as far as is known
    std::uint32_t left = 0; // of the operations that it waits for
    bool kept = false;
  };
  static constexpr std::uint32_t in_piece = 16;
  struct Piece {
    std::array<Slot, in_piece> slots;
    std::uint32_t left = in_piece; // slots that are not done
  };
  struct Shared { // by all ranks
    LinkPool<Link> links;
    std::vector<std::unique_ptr<Piece>> spare;
  };

  explicit OperationWindow(Shared& shared) : shared_(&shared) {}
  Slot& slot(std::uint32_t i) {
    assert(i < size_ && pieces_[i / in_piece - first_piece_]);
    return pieces_[i / in_piece - first_piece_]->slots[i % in_piece];
  }
  void after(std::uint32_t operation, std::uint32_t on, Moment Slot::*moment);
  void done(std::uint32_t operation);

  Shared* shared_;
  std::deque<std::unique_ptr<Piece>> pieces_; // null: all of it is done
  std::uint32_t first_piece_ = 0, size_ = 0;
  std::unordered_map<std::uint32_t, Time> ended_; // of those that are kept and done: when
};

// Makes the operations of a rank in their order. All but the first wait, if over others, for the calc that was told
// before them.
class OperationMaker {
 public:
  virtual ~OperationMaker() = default;
  // Adds operations up to another calc, and tells it: before it ends, more are asked for. None: there are no more.
  virtual Result<std::optional<std::uint32_t>> extend(OperationWindow& window) = 0;
};

// As WholeOperations has them for a model.
class OperationWindows {
 public:
  static constexpr bool is_whole = false;

  // `makers`: by rank. Processors and interfaces: of a rank.
  OperationWindows(std::vector<std::unique_ptr<OperationMaker>> makers, std::int32_t cpus, std::int32_t nics);

  std::int32_t ranks() const { return static_cast<std::int32_t>(ranks_.size()); }
  std::int32_t cpus() const { return cpus_; }
  std::int32_t nics() const { return nics_; }
  std::int32_t peer(std::int32_t rank, std::int32_t distance) const {
    const std::int32_t left = ranks() - rank;
    return distance < left ? rank + distance : distance - left;
  }
  const GraphOperation& of(std::int32_t rank, std::uint32_t i) { return slot(rank, i).operation; }

  // fn(operation, time from which it may start)
  template <class Fn>
  void begin(std::int32_t rank, Fn&& fn) {
    extend(rank, fn);
  }
  // What is told of an operation in this order; of a send `done` also comes after its message has met its receive.
  template <class Fn>
  void released(std::int32_t rank, std::uint32_t i, Fn&& fn) {
    if (ranks_[static_cast<std::size_t>(rank)].last == i) extend(rank, fn);
  }
  template <class Fn>
  void started(std::int32_t rank, std::uint32_t i, Time time, Fn&& fn) {
    happened(rank, slot(rank, i).start, time, fn);
  }
  template <class Fn>
  void ended(std::int32_t rank, std::uint32_t i, Time time, Fn&& fn) {
    OperationWindow::Slot& of = slot(rank, i);
    happened(rank, of.end, time, fn);
    if (of.operation.kind == Kind::join) happened(rank, of.start, time, fn);
  }
  void done(std::int32_t rank, std::uint32_t i) { ranks_[static_cast<std::size_t>(rank)].window.done(i); }

  std::uint64_t wanted() const { return wanted_; } // sends, receives and calcs so far
  const Status& status() const { return status_; } // of the makers
  // The messages and receives of all operations match, so that what is left waits for ranks that wait for it.
  Error error(const Unmatched& unmatched, std::uint64_t left);

 private:
  struct OfRank {
    std::unique_ptr<OperationMaker> maker;
    OperationWindow window;
    std::uint32_t last = no_link; // the calc that was told last
  };
  OperationWindow::Slot& slot(std::int32_t rank, std::uint32_t i) {
    return ranks_[static_cast<std::size_t>(rank)].window.slot(i);
  }
  template <class Fn>
  void extend(std::int32_t rank, Fn&& fn) {
    const auto [first, end] = extended(rank);
    for (std::uint32_t i = first; i < end; ++i)
      if (const OperationWindow::Slot& of = slot(rank, i); of.left == 0) fn(i, of.ready);
  }
  std::pair<std::uint32_t, std::uint32_t> extended(std::int32_t rank); // the operations that were added
  template <class Fn>
  void happened(std::int32_t rank, OperationWindow::Moment& moment, Time time, Fn&& fn) {
    moment.past = true, moment.time = time;
    for (std::uint32_t at = std::exchange(moment.first, no_link); at != no_link;) {
      const OperationWindow::Link link = shared_->links[at];
      shared_->links.give_back(at);
      at = link.next;
      OperationWindow::Slot& of = slot(rank, link.operation);
      of.ready = std::max(of.ready, time);
      if (--of.left == 0) fn(link.operation, of.ready);
    }
  }

  std::unique_ptr<OperationWindow::Shared> shared_;
  std::vector<OfRank> ranks_;
  std::int32_t cpus_, nics_;
  std::uint64_t wanted_ = 0;
  Status status_ = Nothing{};
};

} // namespace kumihimo::goal
