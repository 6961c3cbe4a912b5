#include "fluid/peers.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace kumihimo::simulation {
namespace {

struct Peers {
  std::set<std::int64_t> constant;
  std::int64_t varying = 0;
};

class Count {
 public:
  void add(const Body& body) {
    for (const Node& node : body) {
      if (const Loop* loop = std::get_if<Loop>(&node)) {
        trips_.push_back(loop->trip);
        add(loop->body);
        trips_.pop_back();
        continue;
      }
      for (const Step& step : std::get<Round>(node).steps) {
        if (step.sends()) add(step.peer, sent_);
        if (step.receives()) add(step.peer, received_);
      }
    }
  }
  std::int64_t most() const {
    const auto all = [](const Peers& p) { return p.varying + static_cast<std::int64_t>(p.constant.size()); };
    return std::max(all(sent_), all(received_));
  }

 private:
  void add(const Expression& peer, Peers& peers) const {
    std::int64_t iterations = 1;
    bool varies = false;
    for (std::size_t loop = 0; loop < trips_.size(); ++loop) // the variable of the outermost loop has depth 1
      if (peer.depends_on(Variable{static_cast<std::int32_t>(loop + 1)})) iterations *= trips_[loop], varies = true;
    if (varies)
      peers.varying += iterations;
    else
      peers.constant.insert(peer.evaluate(LoopValues{}));
  }

  std::vector<std::int64_t> trips_; // of the loops around
  Peers sent_, received_;
};

bool sums_up(const Body& body) {
  return std::ranges::any_of(body, [](const Node& node) {
    if (const Loop* loop = std::get_if<Loop>(&node)) return sums_up(loop->body);
    return std::ranges::any_of(std::get<Round>(node).steps, [](const Step& step) { return step.reduces(); });
  });
}

} // namespace

std::int64_t peers_of(const Program& program) {
  Count count;
  for (const Lane& lane : program.lanes) count.add(lane.body);
  return count.most();
}

bool sums_up(const Program& program) {
  return std::ranges::any_of(program.lanes, [](const Lane& lane) { return sums_up(lane.body); });
}

} // namespace kumihimo::simulation
