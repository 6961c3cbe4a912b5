#include "program/round_graph.hpp"

#include <cassert>

namespace kumihimo {
namespace {

constexpr std::int32_t nothing = -1; // to wait for

class RoundGraphBuilder {
 public:
  explicit RoundGraphBuilder(std::int64_t most) : most_(most) {}

  std::optional<RoundGraph> run(const Lane& lane) {
    add(lane.body, 1, nothing);
    if (is_full()) return std::nullopt;
    return std::move(graph_);
  }

 private:
  bool is_full() const { return static_cast<std::int64_t>(graph_.vertices.size()) > most_; }

  // Adds a body that starts when vertex `before` is complete; answers the vertex at which the body is complete.
  std::int32_t add(const Body& body, std::int32_t depth, std::int32_t before) {
    for (const Node& node : body) {
      before = add(node, depth, before);
      if (is_full()) break;
    }
    return before;
  }

  std::int32_t add(const Node& node, std::int32_t depth, std::int32_t before) {
    if (const Round* round = std::get_if<Round>(&node)) return add(round, before);
    const Loop& loop = std::get<Loop>(node);
    return loop.together ? add_together(loop.body, depth + 1, before) : add(loop, depth, before);
  }

  std::int32_t add_together(const Body& body, std::int32_t depth, std::int32_t before) {
    assert(depth <= max_depth);
    graph_.is_chain &= body.size() <= 1;
    std::vector<std::int32_t> ends;
    for (const Node& node : body)
      if (!is_full()) ends.push_back(add(node, depth, before));
    if (ends.size() <= 1) return ends.empty() ? before : ends.front();
    const std::int32_t end = add(nullptr, ends.front());
    for (std::size_t i = 1; i < ends.size(); ++i) wait(end, ends[i]);
    return end;
  }

  // Iteration i starts when all up to i - in_flight are complete: joins[i] is complete when all up to i are.
  std::int32_t add(const Loop& loop, std::int32_t depth, std::int32_t before) {
    assert(depth < max_depth);
    const bool joins_iterations = loop.in_flight > 1 && loop.trip > 1;
    graph_.is_chain &= !joins_iterations;
    std::vector<std::int32_t> joins;
    std::int32_t end = before;
    for (std::int64_t i = 0; i < loop.trip && !is_full(); ++i) {
      values_[static_cast<std::size_t>(depth)] = i;
      if (joins_iterations) end = i < loop.in_flight ? before : joins[static_cast<std::size_t>(i - loop.in_flight)];
      end = add(loop.body, depth + 1, end);
      if (!joins_iterations) continue;
      if (i > 0) {
        end = add(nullptr, end);
        wait(end, joins.back());
      }
      joins.push_back(end);
    }
    values_[static_cast<std::size_t>(depth)] = 0;
    return end;
  }

  std::int32_t add(const Round* round, std::int32_t before) {
    const auto vertex = static_cast<std::int32_t>(graph_.vertices.size());
    graph_.vertices.push_back({round, values_});
    wait(vertex, before);
    return vertex;
  }

  void wait(std::int32_t vertex, std::int32_t before) {
    if (before != nothing) graph_.edges.push_back({before, vertex});
  }

  std::int64_t most_;
  RoundGraph graph_;
  LoopValues values_{};
};

} // namespace

std::optional<RoundGraph> round_graph(const Lane& lane, std::int64_t most) { return RoundGraphBuilder(most).run(lane); }

} // namespace kumihimo
