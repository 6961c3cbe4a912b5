#include "topology/tofu_connectivity.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>

namespace kumihimo {
namespace {

constexpr std::int64_t most_pairs = 1 << 22; // that are looked at one by one, in seconds
using Ways = std::uint64_t;                  // a bit each

bool same(const TofuPlace& s, const TofuPlace& t, std::int32_t first, std::int32_t last) {
  for (std::int32_t axis = first; axis <= last; ++axis)
    if (s[axis] != t[axis]) return false;
  return true;
}

class ConnectivityProof {
 public:
  ConnectivityProof(const Tofu& tofu, const std::function<bool(const TofuPlace&)>& wanted)
      : tofu_(tofu), wanted_(wanted), ways_(tofu.ways()) {}

  bool holds() {
    if (ways_.size() > 64) return false;
    find_clean();
    std::set<Ways> out{clean_}, in{clean_};
    for (const TofuPlace& group : broken_groups_)
      for (const Tofu::Way& way : ways_) {
        const TofuPlace node = at(group, way);
        if (!tofu_.alive(tofu_.node(node)) || !wanted_(node)) continue;
        out.insert(clean_ & inside(node, true));
        in.insert(clean_ & inside(node, false));
      }
    for (const Ways leaving : out)
      for (const Ways arriving : in)
        if ((leaving & arriving) == 0) return false;
    return true;
  }

 private:
  static TofuPlace at(TofuPlace group, const Tofu::Way& way) {
    group[Tofu::a] = way.a, group[Tofu::b] = way.b, group[Tofu::c] = way.c;
    return group;
  }

  // The ways on which nothing is dead between groups, and the groups in which something is.
  void find_clean() {
    std::vector<TofuPlace> dead_places;
    for (const NodeId dead : tofu_.dead_nodes()) {
      broken_groups_.insert(at(tofu_.place(dead), {}));
      dead_places.push_back(tofu_.place(dead));
    }
    for (const LinkId dead : tofu_.dead_links()) {
      const TofuPlace from = tofu_.place(tofu_.torus().describe(dead).from);
      if (dead.value / 2 % Tofu::axes <= Tofu::z)
        dead_places.push_back(from);
      else
        broken_groups_.insert(at(from, {}));
    }
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      bool clean = true;
      for (const TofuPlace& dead : dead_places) clean &= !same(dead, at(dead, ways_[i]), Tofu::a, Tofu::c);
      clean_ |= Ways{clean} << i;
    }
  }

  // The ways to whose place a message gets inside the group of `node`, or from which it gets to it.
  Ways inside(const TofuPlace& node, bool leaving) const {
    Ways found = 0;
    std::vector<LinkId> moves;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      moves.clear();
      const TofuPlace there = at(node, ways_[i]);
      // As the end of its own way, b, c and a are walked alone; as the beginning of the normal way, a, c and b.
      if (leaving)
        tofu_.append_way(node, there, ways_[i], moves);
      else
        tofu_.append_way(there, node, ways_[i], moves);
      bool alive = true;
      for (const LinkId link : moves) alive &= tofu_.is_link(link);
      found |= Ways{alive} << i;
    }
    return found;
  }

  const Tofu& tofu_;
  const std::function<bool(const TofuPlace&)>& wanted_;
  std::vector<Tofu::Way> ways_;
  Ways clean_ = 0;
  std::set<TofuPlace> broken_groups_;
};

Status pair_by_pair(const Tofu& tofu, const std::function<bool(const TofuPlace&)>& wanted) {
  std::vector<TofuPlace> nodes;
  for (std::int32_t node = 0; node < tofu.nodes(); ++node)
    if (const TofuPlace at = tofu.place(NodeId{node}); tofu.alive(NodeId{node}) && wanted(at)) nodes.push_back(at);
  for (const TofuPlace& from : nodes)
    for (const TofuPlace& to : nodes)
      if (!tofu.live_way(from, to))
        return wrong_value("dead parts disconnect nodes of the job",
                           fmt::format("none of the {} paths from {} to {} is alive", tofu.ways().size(),
                                       tofu.text(tofu.node(from)), tofu.text(tofu.node(to))),
                           "take another box");
  return Nothing{};
}

} // namespace

Status check_connected(const Tofu& tofu, const std::function<bool(const TofuPlace&)>& wanted) {
  if (tofu.whole() || ConnectivityProof(tofu, wanted).holds()) return Nothing{};
  if (std::int64_t{tofu.nodes()} * tofu.nodes() <= most_pairs) return pair_by_pair(tofu, wanted);
  return wrong_value(
      fmt::format("too many parts are dead to prove that all nodes of {} still reach each other", tofu.name()),
      fmt::format("{} dead nodes and {} dead cables", tofu.dead_nodes().size(), tofu.dead_links().size() / 2),
      "take a box with fewer of them");
}

} // namespace kumihimo
