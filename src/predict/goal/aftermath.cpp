#include "goal/aftermath.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kumihimo::goal {
namespace {

using State = Aftermath::State;

// Operations of a living rank that may start and never end: sends and receives, since all others end by themselves.
// `sends_wait`: such sends have not started.
std::vector<std::uint32_t> waiting_operations(const Graph& graph, std::int32_t rank, const Ends& ends,
                                              bool sends_wait) {
  const auto& operations = graph.operations;
  std::vector<std::uint32_t> left(operations.size()), started, waiting;
  for (std::uint32_t i = 0; i < operations.size(); ++i)
    if ((left[i] = operations[i].waits_for) == 0) started.push_back(i);
  for (std::size_t at = 0; at < started.size(); ++at) {
    const std::uint32_t i = started[at];
    const GraphOperation& of = operations[i];
    const bool ended = ends.of(rank, i) != never;
    if (!ended && of.kind != Kind::join) waiting.push_back(i);
    const std::uint32_t from = of.first + (ended ? 0 : of.after_end); // those that wait for the start come last
    const bool starts = ended || of.kind == Kind::receive || (of.kind != Kind::join && !sends_wait);
    const std::uint32_t to = of.first + of.after_end + (starts ? of.after_start : 0);
    for (std::uint32_t d = from; d < to; ++d)
      if (--left[graph.dependents[d]] == 0) started.push_back(graph.dependents[d]);
  }
  return waiting;
}

class WaitsForDead {
 public:
  WaitsForDead(const Graphs& graphs, const Deaths& deaths, const Ends& ends, bool sends_wait, Aftermath& result)
      : graphs_(graphs), deaths_(deaths), ends_(ends), sends_wait_(sends_wait), result_(result),
        by_(result.ranks.size()), waits_for_(result.ranks.size()) {}

  // The number of waits from each rank to one that died, the fewest, breadth first.
  void find() {
    for (std::int32_t rank = 0; rank < graphs_.ranks(); ++rank)
      if (of(rank).state == State::waits) look_at(rank);
    for (std::size_t at = 0; at < found_.size(); ++at)
      for (const Wait& wait : waits_for_[static_cast<std::size_t>(found_[at])])
        reach(wait.rank, wait.operation, found_[at], of(found_[at]).waits + 1);
  }

  void describe_first() {
    const auto first = std::find_if(result_.ranks.begin(), result_.ranks.end(),
                                    [](const Aftermath::OfRank& each) { return each.waits > 0; });
    if (first == result_.ranks.end()) return;
    auto rank = static_cast<std::int32_t>(first - result_.ranks.begin());
    for (; of(rank).state == State::waits; rank = by_[static_cast<std::size_t>(rank)].rank) {
      const std::uint32_t operation = by_[static_cast<std::size_t>(rank)].operation;
      result_.chain.push_back(graphs_.name_of(rank, operation));
      result_.chain_at.push_back({rank, operation});
    }
    result_.chain_end = rank;
  }

 private:
  struct Wait {
    std::int32_t rank = -1;
    std::uint32_t operation = 0;
  };
  Aftermath::OfRank& of(std::int32_t rank) { return result_.ranks[static_cast<std::size_t>(rank)]; }

  void look_at(std::int32_t rank) {
    const Graph& graph = graphs_.of(rank);
    std::set<std::uint32_t> tags; // of receives from any rank: those of one tag wait for the same
    for (const std::uint32_t i : waiting_operations(graph, rank, ends_, sends_wait_)) {
      const std::int32_t peer = graphs_.peer(rank, graph.operations[i].peer);
      if (peer != any_peer) {
        waits(rank, i, peer);
        continue;
      }
      if (!tags.insert(graph.operations[i].tag).second) continue;
      for (const auto& [sender, tag] : senders_to(rank))
        if (tag == graph.operations[i].tag || tag == any_tag || graph.operations[i].tag == any_tag)
          waits(rank, i, sender);
    }
  }
  void waits(std::int32_t rank, std::uint32_t operation, std::int32_t peer) {
    if (dies(peer)) // if it had completed: its message had not left when it died
      reach(rank, operation, peer, 1);
    else if (of(peer).state == State::waits)
      waits_for_[static_cast<std::size_t>(peer)].push_back({rank, operation});
  }
  void reach(std::int32_t rank, std::uint32_t operation, std::int32_t peer, std::int32_t waits) {
    if (of(rank).waits > 0) return;
    of(rank).waits = waits;
    by_[static_cast<std::size_t>(rank)] = {peer, operation};
    found_.push_back(rank);
  }

  // What a receive from any rank may wait for: sends of ranks that died, and those of waiting ranks that did not end.
  using Sender = std::pair<std::int32_t, std::uint32_t>; // and its tag
  const std::vector<Sender>& senders_to(std::int32_t receiver) {
    if (senders_.empty()) {
      senders_.resize(result_.ranks.size());
      for (std::int32_t rank = 0; rank < graphs_.ranks(); ++rank) {
        if (of(rank).state == State::complete && !dies(rank)) continue;
        const auto& operations = graphs_.of(rank).operations;
        for (std::uint32_t i = 0; i < operations.size(); ++i)
          if (operations[i].kind == Kind::send && (dies(rank) || ends_.of(rank, i) == never))
            senders_[static_cast<std::size_t>(graphs_.peer(rank, operations[i].peer))].emplace_back(rank,
                                                                                                    operations[i].tag);
      }
      for (std::vector<Sender>& each : senders_) {
        std::sort(each.begin(), each.end());
        each.erase(std::unique(each.begin(), each.end()), each.end());
      }
    }
    return senders_[static_cast<std::size_t>(receiver)];
  }

  bool dies(std::int32_t rank) const { return is_dead(deaths_, rank, never - 1); }

  const Graphs& graphs_;
  const Deaths& deaths_;
  const Ends& ends_;
  const bool sends_wait_;
  Aftermath& result_;
  std::vector<Wait> by_;                     // of a waiting rank: its operation, and the rank for which it waits
  std::vector<std::vector<Wait>> waits_for_; // by the rank waited for, which waits itself
  std::vector<std::int32_t> found_;          // ranks with a way to one that died, the shortest ways first
  std::vector<std::vector<Sender>> senders_;
};

void count_rank(const Graphs& graphs, const Deaths& deaths, const Ends& ends, std::int32_t rank, Aftermath& result) {
  Aftermath::OfRank& of = result.ranks[static_cast<std::size_t>(rank)];
  const auto& operations = graphs.of(rank).operations;
  std::uint64_t all = 0, done = 0;
  Time computing = 0, computed = 0;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Time end = ends.of(rank, i);
    if (end != never) of.last = std::max(of.last, end);
    if (operations[i].kind == Kind::join) continue;
    const Time work = operations[i].kind == Kind::calc ? operations[i].size : 0;
    ++all, computing += work;
    if (end != never) ++done, computed += work;
  }
  if (done < all) of.state = is_dead(deaths, rank, never - 1) ? State::died : State::waits;
  result.operations += all, result.operations_done += done;
  result.computing += computing, result.computing_done += computed;
  result.last_progress = std::max(result.last_progress, of.last);
  switch (of.state) {
  case State::complete:
    ++result.complete;
    result.complete_until = std::max(result.complete_until, of.last);
    break;
  case State::died:
    ++result.died;
    result.operations_lost += done, result.computing_lost += computed;
    break;
  case State::waits: result.stuck_from = std::max(result.stuck_from, of.last); break;
  }
}

} // namespace

Aftermath aftermath_of(const Graphs& graphs, const Deaths& deaths, const Ends& ends, bool sends_wait) {
  Aftermath result;
  result.ranks.resize(static_cast<std::size_t>(graphs.ranks()));
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) count_rank(graphs, deaths, ends, rank, result);
  WaitsForDead waiting(graphs, deaths, ends, sends_wait, result);
  waiting.find();
  waiting.describe_first();
  for (const Aftermath::OfRank& each : result.ranks)
    if (each.state == State::waits) ++(each.waits == 1 ? result.waiting_directly : result.waiting_indirectly);
  return result;
}

} // namespace kumihimo::goal
