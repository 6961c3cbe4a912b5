#include "distributed_fft/leader_exchange.hpp"

#include "application/shared_window.hpp"
#include "distributed_fft/point_buffer.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::ProcessGroup, application::ProgramRun, application::Runtime, application::UnderWay;
using fft::Complex, fft::PointPointer, fft::SingleComplex;

using Members = std::vector<std::int32_t>;

// The ranks of each group.
std::vector<Members> members_of(const std::vector<std::int32_t>& group_of_rank) {
  std::vector<Members> members;
  for (std::size_t rank = 0; rank < group_of_rank.size(); ++rank) {
    const auto group = static_cast<std::size_t>(group_of_rank[rank]);
    if (group == members.size()) members.emplace_back();
    members[group].push_back(static_cast<std::int32_t>(rank));
  }
  return members;
}

// Points of the blocks from a group to a part of the ranks of another, or from a part of its ranks to one of those.
std::int64_t points_of(const BlockTable& table, std::span<const std::int32_t> from, std::span<const std::int32_t> to) {
  std::int64_t points = 0;
  for (const std::int32_t source : from)
    for (const std::int32_t target : to) points += table.at(source, target);
  return points;
}

// A leader's messages. Blocks within its group need none.
BlockTable between_leaders(const BlockTable& table, const std::vector<Members>& groups) {
  BlockTable leaders{static_cast<std::int32_t>(groups.size()), {}};
  for (const Members& from : groups)
    for (const Members& to : groups) leaders.points.push_back(&from == &to ? 0 : points_of(table, from, to));
  return leaders;
}

class LeaderExchange final : public BlockExchange {
 public:
  static Result<std::unique_ptr<BlockExchange>> make(const BlockTable& table, const TransformWay& way,
                                                     Runtime& runtime) {
    auto made = std::make_unique<LeaderExchange>();
    made->single_precision_ = way.single_precision;
    const std::vector<std::int32_t> group_of_rank = groups_of_ranks(runtime.processes().node_of_rank(), way.group);
    const std::vector<Members> groups = members_of(group_of_rank);
    const std::int32_t own = group_of_rank[static_cast<std::size_t>(runtime.rank())];
    const Members& members = groups[static_cast<std::size_t>(own)];
    made->leader_ = members[0];
    made->leads_ = made->leader_ == runtime.rank();
    const Result<BlockTable> messages = blocks_for(way, between_leaders(table, groups));
    if (Status s = runtime.agree_on(messages); !s) return s.error();
    const std::int64_t points = made->lay_out(table, *messages, groups, own, runtime.rank());
    const std::int64_t bytes = made->leads_ ? points * point_bytes(way.single_precision) : 0;
    made->window_ = TRY(application::SharedWindow::make(runtime.processes(), bytes, group_of_rank));
    if (groups.size() > 1)
      if (Status s = made->connect(*messages, way, own, runtime); !s) return s.error();
    made->window_->arrive(); // nobody reads at first
    return std::unique_ptr<BlockExchange>(std::move(made));
  }

  PointPointer block_to(std::int32_t rank) override { return at(first_to_[static_cast<std::size_t>(rank)]); }
  PointPointer block_from(std::int32_t rank) override { return at(first_from_[static_cast<std::size_t>(rank)]); }

  Status reserve() override { return window_->wait(); }
  Status start() override {
    window_->arrive();
    if (!run_) return Nothing{};
    if (Status s = window_->wait(); !s) return s; // all members have written
    return passed_on(run_->start({pointer(0), pointer(received_)}));
  }
  Status finish() override {
    if (Status s = run_ ? passed_on(run_->wait()) : window_->wait(); !s) return s;
    window_->arrive(); // the leader has what others sent
    return window_->wait();
  }
  void release() override { window_->arrive(); }
  double bytes_sent() const override { return bytes_; }
  double bytes_counted() const override { return run_ ? static_cast<double>(run_->bytes_sent()) : 0; }

 private:
  // Members wait in the window for a leader that will not come.
  Status passed_on(Status status) {
    if (!status) window_->fail();
    return status;
  }

  // The leader's memory: messages to groups, blocks within the group, messages from groups. Within a message blocks are
  // sorted by the rank that gets them and then by the one that sends them. Returns all points.
  std::int64_t lay_out(const BlockTable& table, const BlockTable& messages, const std::vector<Members>& groups,
                       std::int32_t own, std::int32_t rank) {
    const std::vector<std::int64_t> to = begins_of(messages, own, true), from = begins_of(messages, own, false);
    const Members& members = groups[static_cast<std::size_t>(own)];
    const std::int64_t within = to.back();
    received_ = within + points_of(table, members, members);
    first_to_.resize(static_cast<std::size_t>(table.ranks));
    first_from_.resize(static_cast<std::size_t>(table.ranks));
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const Members& others = groups[group];
      const bool is_own = static_cast<std::int32_t>(group) == own;
      std::int64_t next = is_own ? within : to[group];
      for (const std::int32_t target : others)
        for (const std::int32_t source : members) {
          if (source == rank) first_to_[static_cast<std::size_t>(target)] = next;
          if (is_own && target == rank) first_from_[static_cast<std::size_t>(source)] = next;
          next += table.at(source, target);
        }
      if (is_own) continue;
      next = received_ + from[group];
      for (const std::int32_t target : members)
        for (const std::int32_t source : others) {
          if (target == rank) first_from_[static_cast<std::size_t>(source)] = next;
          next += table.at(source, target);
        }
    }
    return received_ + from.back();
  }

  // Leaders have a transport of their own; each other rank is a group of its own there.
  Status connect(const BlockTable& messages, const TransformWay& way, std::int32_t own, Runtime& runtime) {
    leaders_ = TRY(runtime.processes().split(leads_ ? 0 : 1 + runtime.rank()));
    return runtime.agree(leads_ ? start_leading(messages, way, own) : Status(Nothing{}));
  }
  Status start_leading(const BlockTable& messages, const TransformWay& way, std::int32_t own) {
    bytes_ = static_cast<double>(point_bytes(single_precision_)) *
             static_cast<double>(begins_of(messages, own, true).back() - messages.at(own, own));
    const Schedule schedule = TRY(alltoall_of(messages, way, leaders_->space()));
    transport::Transport* const transport = TRY(leaders_->transport());
    under_way_ = std::make_unique<UnderWay>(*transport);
    run_ = TRY(ProgramRun::make(schedule, Rank{leaders_->rank()}, *under_way_));
    return Nothing{};
  }

  std::byte* pointer(std::int64_t place) const {
    return window_->part(leader_) + place * point_bytes(single_precision_);
  }
  PointPointer at(std::int64_t place) const {
    if (single_precision_) return reinterpret_cast<SingleComplex*>(pointer(place));
    return reinterpret_cast<Complex*>(pointer(place));
  }

  bool single_precision_ = false, leads_ = false;
  std::int32_t leader_ = 0;
  std::vector<std::int64_t> first_to_, first_from_; // of each rank's block, in the leader's memory
  std::int64_t received_ = 0;                       // where messages from groups begin
  double bytes_ = 0;
  std::unique_ptr<application::SharedWindow> window_;
  std::unique_ptr<ProcessGroup> leaders_;
  std::unique_ptr<UnderWay> under_way_;
  std::unique_ptr<ProgramRun> run_; // null: no leader, or one group alone
};

} // namespace

std::vector<std::int32_t> groups_of_ranks(std::span<const std::int64_t> node_of_rank, std::int64_t most) {
  struct OpenGroup {
    std::int32_t number = 0;
    std::int64_t ranks = 0;
  };
  std::map<std::int64_t, OpenGroup> open; // of each node
  std::vector<std::int32_t> groups;
  std::int32_t next = 0;
  for (const std::int64_t node : node_of_rank) {
    const auto [group, is_new] = open.try_emplace(node);
    if (is_new || (most > 0 && group->second.ranks == most)) group->second = {next++, 0};
    ++group->second.ranks;
    groups.push_back(group->second.number);
  }
  return groups;
}

Result<std::unique_ptr<BlockExchange>> exchange_by_leaders(const BlockTable& table, const TransformWay& way,
                                                           Runtime& runtime) {
  return LeaderExchange::make(table, way, runtime);
}

} // namespace kumihimo::distributed_fft
