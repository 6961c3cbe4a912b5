// Scotch's objects, ended with their owners.
#pragma once

#include "mapping_run/scaled.hpp"
#include "mapping_run/scotch_functions.hpp"

namespace kumihimo::mapping_run {

// A context with a random state of its own, one thread, and the graph bound to it.
class BoundGraph {
 public:
  BoundGraph(const ScotchFunctions& scotch, std::uint64_t seed, const ScaledGraph& graph) : scotch_(scotch) {
    using Number = ScotchFunctions::Number;
    constexpr int option_deterministic = 0;
    if (scotch.context_init(context_.get()) != 0) return;
    has_context_ = true;
    scotch.context_option_set_num(context_.get(), option_deterministic, 1);
    scotch.context_random_seed(context_.get(), static_cast<Number>(seed & 0x7fffffff));
    scotch.context_random_reset(context_.get());
    if (scotch.context_thread_spawn(context_.get(), 1, nullptr) != 0) return;
    if (scotch.graph_init(graph_.get()) != 0) return;
    has_graph_ = true;
    const auto vertices = static_cast<Number>(graph.first.size() - 1);
    if (scotch.graph_build(graph_.get(), 0, vertices, graph.first.data(), nullptr, nullptr, nullptr,
                           static_cast<Number>(graph.to.size()), graph.to.data(), graph.weights.data()) != 0)
      return;
    if (scotch.graph_init(bound_.get()) != 0) return;
    has_bound_ = true;
    is_usable_ = scotch.context_bind_graph(context_.get(), graph_.get(), bound_.get()) == 0;
  }
  ~BoundGraph() {
    if (has_bound_) scotch_.graph_exit(bound_.get());
    if (has_graph_) scotch_.graph_exit(graph_.get());
    if (has_context_) scotch_.context_exit(context_.get());
  }
  BoundGraph(const BoundGraph&) = delete;
  BoundGraph& operator=(const BoundGraph&) = delete;

  bool is_usable() const { return is_usable_; }
  void* get() { return bound_.get(); }

 private:
  const ScotchFunctions& scotch_;
  ScotchObject context_, graph_, bound_;
  bool has_context_ = false, has_graph_ = false, has_bound_ = false, is_usable_ = false;
};

// An architecture or a strategy.
class Owned {
 public:
  Owned(int (*init)(void*), void (*exit)(void*)) : exit_(exit) { is_usable_ = init(object_.get()) == 0; }
  ~Owned() {
    if (is_usable_) exit_(object_.get());
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  bool is_usable() const { return is_usable_; }
  void* get() { return object_.get(); }

 private:
  ScotchObject object_;
  void (*exit_)(void*);
  bool is_usable_ = false;
};

} // namespace kumihimo::mapping_run
