// The operations of graphs that are in memory as a whole, for a model.
#pragma once

#include "goal/graph.hpp"
#include "goal/unmatched.hpp"
#include "goal/waits.hpp"

#include <cstdint>

namespace kumihimo::goal {

class WholeOperations {
 public:
  static constexpr bool is_whole = true;

  explicit WholeOperations(const Graphs& graphs) : graphs_(graphs), waits_(graphs.ranks()) {}

  const Graphs& graphs() const { return graphs_; }
  const Waits& waits() const { return waits_; }
  std::int32_t ranks() const { return graphs_.ranks(); }
  std::int32_t cpus() const { return graphs_.cpus(); }
  std::int32_t nics() const { return graphs_.nics(); }
  std::int32_t peer(std::int32_t rank, std::int32_t distance) const { return graphs_.peer(rank, distance); }
  const GraphOperation& of(std::int32_t rank, std::uint32_t i) const { return graphs_.of(rank).operations[i]; }

  // fn(operation, time from which it may start), of those that wait for none.
  template <class Fn>
  void begin(std::int32_t rank, Fn&& fn) {
    const Graph& graph = graphs_.of(rank);
    for (std::uint32_t i = 0; i < graph.operations.size(); ++i) {
      if (graph.operations[i].kind != Kind::join) ++wanted_;
      if (graph.operations[i].waits_for == 0) fn(i, Time{0});
    }
  }
  template <class Fn>
  void released(std::int32_t, std::uint32_t, Fn&&) {}
  // fn: of those that wait for nothing else any more.
  template <class Fn>
  void started(std::int32_t rank, std::uint32_t i, Time time, Fn&& fn) {
    const GraphOperation& operation = of(rank, i);
    if (operation.after_start > 0)
      waits_.less(rank, graphs_.of(rank), operation.first + operation.after_end, operation.after_start, time, fn);
  }
  template <class Fn>
  void ended(std::int32_t rank, std::uint32_t i, Time time, Fn&& fn) {
    const GraphOperation& operation = of(rank, i);
    const std::uint32_t at_start = operation.kind == Kind::join ? operation.after_start : 0;
    waits_.less(rank, graphs_.of(rank), operation.first, operation.after_end + at_start, time, fn);
  }
  void done(std::int32_t, std::uint32_t) {}

  std::uint64_t wanted() const { return wanted_; } // sends, receives and calcs
  Status status() const { return Nothing{}; }
  Error error(const Unmatched& unmatched, std::uint64_t left) const { return unmatched.error(graphs_, left); }

 private:
  const Graphs& graphs_;
  Waits waits_;
  std::uint64_t wanted_ = 0;
};

} // namespace kumihimo::goal
