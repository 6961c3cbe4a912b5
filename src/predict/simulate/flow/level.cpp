// What a level costs: the messages whose two ends have started, their shares of the network, and their times.
#include "simulate/flow/sweep.hpp"
#include "simulate/flow/symmetry.hpp"
#include "simulate/program_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kumihimo::simulation {

void Sweep::take_messages() {
  messages_.clear();
  flows_.clear();
  shortest_ = std::numeric_limits<double>::infinity(), longest_ = 0;
  messages_.reserve(matching_.ready().size() + local_.size());
  for (const auto& [order, entry] : matching_.ready()) {
    Message m;
    const Posted &send = matching_.head(*entry, Matching::sends), &receive = matching_.head(*entry, Matching::receives);
    m.instance = send.instance, m.sender = send.frame, m.receiver = receive.frame;
    m.times = std::min(send.times, receive.times), m.weight = send.weight, m.gap = send.gap;
    m.whole_loop = m.times > 1 && m.times == send.times && send.frame >= 0;
    m.entry = entry;
    m.channel = entry->first;
    m.moved = send.bytes;
    if (send.exact && receive.exact && send.bytes != receive.bytes) check_lengths(*entry);
    if (receive.kind == StepKind::receive_reduce) m.reduced = send.bytes;
    const std::size_t before = flows_.resources.size();
    const auto& [lane, from, to] = entry->first;
    const auto& many = compiled_.many_peers;
    const bool many_peers = !many.empty() && (many[from] != 0 || many[to] != 0);
    const bool summed = m.reduced > 0;
    const Transfer transfer{from, to, m.moved, compiled_.concurrency, many_peers, summed};
    m.path = network_.append_path(transfer, flows_.resources);
    if (!send.exact) loads_.some_straddle = loads_.some_straddle || straddles(transfer);
    if (m.moved <= 0) flows_.resources.resize(before); // a signal
    if (compiled_.symmetry) fold_path(m, before);
    const bool is_short = network_.leaves_early(m.moved);
    loads_.some_early = loads_.some_early || is_short;
    m.early = is_short || (m.path.eager && m.times == 1);
    const PathTime& both = later(matching_.since(send), matching_.since(receive));
    const PathTime& start = m.early ? matching_.since(send) : both;
    const Occupied& occupied = entry->second.occupied;
    m.behind = std::max(0.0, occupied.until + loops_.rest(occupied.loop) - start.seconds);
    if (m.path.eager && both.seconds > start.seconds)
      m.behind = std::max(m.behind, room_from(m, before) - start.seconds);
    m.start = start.seconds + m.behind, m.start_doubt = start.doubt;
    add_flow(m);
  }
  matching_.clear_ready();
  for (const Message& m : local_) {
    if (m.moved > 0) network_.append_copy(m.channel.from, flows_.resources);
    add_flow(m);
  }
  local_.clear();
}

// Whether a limit lies between the lengths that have this mean.
bool Sweep::straddles(const Transfer& mean) const {
  Transfer shorter = mean, longer = mean;
  shorter.bytes = std::floor(mean.bytes / element_) * element_;
  longer.bytes = std::ceil(mean.bytes / element_) * element_;
  return network_.is_eager(shorter) != network_.is_eager(longer) ||
         network_.leaves_early(shorter.bytes) != network_.leaves_early(longer.bytes);
}

// Of messages that are known one by one: a loop that is collapsed at one end alone meets rounds as they come, and of a
// sampled loop not all are walked.
void Sweep::check_lengths(Matching::Entry& entry) {
  const Posted &send = matching_.head(entry, Matching::sends), &receive = matching_.head(entry, Matching::receives);
  const bool whole = send.frame >= 0 && receive.frame >= 0 && send.times == receive.times;
  if (!whole || send.weight != 1 || receive.weight != 1 || !wrong_) return;
  const auto& [lane, from, to] = entry.first;
  const auto elements = [&](double bytes) { return static_cast<std::int64_t>(bytes / element_); };
  wrong_ = unequal_lengths({from, to, compiled_.lanes[lane].id.value, elements(send.bytes), elements(receive.bytes)});
}

// An eager message whose receive was posted later flowed beside those of earlier levels, which its own level does not
// share with. As all together take as long as one behind the other, it starts behind them: returns when it may.
double Sweep::room_from(const Message& m, std::size_t first_resource) const {
  double room = 0;
  for (std::size_t r = first_resource; r < flows_.resources.size(); ++r)
    room = std::max(room, carried_until_[flows_.resources[r]] - m.path.cost);
  return room;
}

// Until when a resource is busy with the eager messages that it has carried, one behind the other.
void Sweep::carry() {
  if (carried_until_.empty()) return;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    if (!m.path.eager || m.times > 1) continue;
    for (const Resource r : flows_.of(i))
      carried_until_[r] = std::max(carried_until_[r], flowing_from(m)) + m.moved / network_.capacities()[r];
  }
}

// The message stands for its images, which load those of its links and of its receiver: one of each stands for all.
void Sweep::fold_path(Message& m, std::size_t first_resource) {
  for (std::size_t r = first_resource; r < flows_.resources.size(); ++r)
    flows_.resources[r] = compiled_.symmetry->first_resource(flows_.resources[r]);
  m.channel.to = compiled_.symmetry->first(m.channel.to);
}

void Sweep::add_flow(const Message& m) {
  flows_.end.push_back(static_cast<std::uint32_t>(flows_.resources.size()));
  flows_.limit.push_back(m.path.limit);
  messages_.push_back(m);
  if (m.moved <= 0) return;
  if (m.moved < element_) loads_.some_empty = true;
  const double bytes = m.moved * m.times;
  shortest_ = std::min(shortest_, bytes), longest_ = std::max(longest_, bytes);
}

// Bytes on links and resources, and links where messages meet: in this level or, in a pipeline, in any.
void Sweep::account() {
  const auto segments = static_cast<double>(compiled_.segments);
  const std::int32_t links = network_.link_bound();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    const Channel& channel = m.channel;
    const double bytes = m.moved * m.times * m.weight;
    auto& load = loads_.bytes[pipeline_[channel.lane]];
    const auto flow = static_cast<std::uint32_t>(ChannelHash{}(channel) | 1U);
    for (const Resource r : flows_.of(i)) {
      if (!load.empty()) load[r] += bytes;
      traffic_.bytes[r] += bytes * segments;
      if (r >= links) continue;
      if (shares_.users(r) > 1) traffic_.waiting[r] = 1;
      if (last_flow_.empty()) continue;
      if (last_flow_[r] != 0 && last_flow_[r] != flow) traffic_.waiting[r] = 1;
      last_flow_[r] = flow;
    }
    if (m.reduced > 0) account_sum(m);
    if (!load.empty() && m.entry != nullptr) account_queues(m);
  }
}

void Sweep::account_sum(const Message& m) {
  const double slowdown = m.computes ? 1 : network_.slowdown(m.reduced);
  const double bytes = m.reduced * m.times * m.weight;
  traffic_.reduced[m.channel.to] += slowdown * bytes * static_cast<double>(compiled_.segments);
  auto& load = loads_.bytes[pipeline_[m.channel.lane]];
  if (load.empty()) return;
  sum_resources_.clear();
  if (m.computes)
    sum_resources_.push_back(network_.reducer(m.channel.to));
  else
    network_.append_sum(m.channel.to, sum_resources_);
  for (const Resource r : sum_resources_) load[r] += r == network_.reducer(m.channel.to) ? slowdown * bytes : bytes;
  if (m.computes) return;
  const std::int32_t rank = m.channel.to;
  load[network_.reducer(rank)] += network_.reduction_cost(rank) * network_.reduction_rate(rank) * m.times * m.weight;
}

// All messages of a segment count, whichever level they are in. Of fewer elements than segments some have none, and are
// not sent.
void Sweep::account_queues(const Message& m) {
  const double sent = m.moved > 0 ? std::min(1.0, m.moved / element_) : 1;
  for (QueueLoad* served : {&loads_.between[m.channel], &loads_.issued[m.instance]}) {
    served->instance = m.instance;
    const double times = m.times * m.weight;
    served->messages += times * sent;
    served->cost += times * sent * m.path.cost;
    served->transfer += times * (m.moved + m.gap) / m.path.limit;
  }
  if (m.receiver >= 0) loads_.taken[frames_[m.receiver].instance] += m.times * m.weight * sent * m.path.taking;
}

void Sweep::count_reductions() {
  for (const Message& m : messages_)
    if (m.reduced > 0) ++reductions_[m.channel.to], sums_on(m.channel.to) += !m.computes;
}

void Sweep::deliver() {
  count_reductions();
  for (Message& m : messages_) m.wait = issue(m);
  carry();
  constexpr double unequal = 1.1;
  if (longest_ > unequal * shortest_) share_by_length();
  share_processors();
  find_doubts();
  const bool keeps_level = find_overlaps();
  find_busy_processors();
  for (std::size_t i = 0; i < messages_.size(); ++i) deliver_one(i);
  for (const Message& m : messages_)
    if (m.reduced > 0) reductions_[m.channel.to] = sums_on(m.channel.to) = 0;
  if (keeps_level) std::swap(flows_, kept_flows_);
}

// Of unequal messages the shorter ones end first and leave what they share to the longer ones. At a single resource, a
// message waits for min(its own bytes, the other's bytes) of each other message. Its rate is at least the fair rate.
void Sweep::share_by_length() {
  by_length_.clear();
  for (std::uint32_t i = 0; i < messages_.size(); ++i)
    if (messages_[i].moved > 0) by_length_.push_back({messages_[i].moved * messages_[i].times, i});
  std::sort(by_length_.begin(), by_length_.end());
  alone_.assign(messages_.size(), 0);
  for (const auto& [bytes, i] : by_length_) {
    for (const Resource r : flows_.of(i)) {
      if (shares_.users(r) <= 1) continue;
      if (place_of_[r] < 0) {
        place_of_[r] = static_cast<std::int32_t>(shortest_first_.size());
        shortest_first_.push_back({r, shares_.users(r), 0});
      }
      Sharing& s = shortest_first_[place_of_[r]];
      alone_[i] = std::max(alone_[i], (s.shorter + bytes * s.left) / network_.capacities()[r]);
      --s.left, s.shorter += bytes;
    }
  }
  for (const Sharing& s : shortest_first_) place_of_[s.resource] = -1;
  shortest_first_.clear();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (alone_[i] <= 0) continue;
    const Message& m = messages_[i];
    double rate = std::min(m.path.limit, m.moved * m.times / alone_[i]);
    for (const Resource r : flows_.of(i)) rate = std::min(rate, network_.capacities()[r]);
    flows_.rate[i] = std::max(flows_.rate[i], rate);
  }
}

// Whether it stands for a message in each iteration of a loop of several rounds: from the second iteration on ranks may
// be in different rounds.
bool Sweep::alternates(const Message& m) const {
  const auto has_rounds = [&](std::int32_t f) { return f >= 0 && frames_[f].end - frames_[f].begin > 1; };
  return m.times > 1 && (has_rounds(m.sender) || has_rounds(m.receiver));
}

// Messages that share something are taken to share it from first to last. Where they begin or end apart, a message may
// have it more to itself: by at most what sharing costs it, and no longer than they are apart.
void Sweep::find_doubts() {
  slowed_.clear();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    const double sum = m.reduced > 0 ? sum_seconds(m) : 0;
    double slowed = m.moved * (1 / flows_.rate[i] - 1 / m.path.limit);
    if (m.reduced > 0) slowed += sum - sum_alone(m);
    if (slowed <= 1e-6 * std::max(m.moved, m.reduced) / m.path.limit) continue;
    slowed_.push_back({static_cast<std::uint32_t>(i), slowed * m.times});
    const double start = m.start + m.wait, left = end_of(i);
    const double arrived = left + m.times * m.path.latency;
    for_each_shared(i, [&](ActiveInterval& p, bool is_sum) {
      if (is_sum)
        p.add(arrived, arrived + m.times * sum, m.start_doubt);
      else
        p.add(start, left, m.start_doubt);
    });
  }
  for (const auto& [message, seconds] : slowed_) {
    double apart = 0;
    for_each_shared(message, [&](const ActiveInterval& p, bool) { apart = std::max(apart, p.apart()); });
    Message& m = messages_[message];
    m.doubt = alternates(m) ? seconds : std::min(seconds, apart);
  }
  for (const ActiveInterval& p : presence_) place_of_[p.resource] = -1;
  presence_.clear();
}

// Messages of earlier levels may still be under way. Where both together want more of a resource than there is, each is
// as much slower while both last: the later one says so itself, and meeting_ says it for the earlier one, which is
// delivered. Of several segments the steady period says what they wait for.
//
// Most levels begin when all before them have ended, or nearly: what meets for a fiftieth of a level is neglected. Such
// a level is only kept, since what starts in a later level waits for a step of this one, and so meets none of those
// before it. Returns whether it is kept. Without messages it is not: then the level before stays so.
bool Sweep::find_overlaps() {
  if (under_way_.empty()) return false;
  double first = std::numeric_limits<double>::infinity(), last = 0;
  uses_.clear();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    const double start = flowing_from(m);
    first = std::min(first, start);
    if (m.moved <= 0) {
      uses_.push_back({});
      continue;
    }
    const double end = end_of(i);
    last = std::max(last, end);
    uses_.push_back({static_cast<float>(m.moved * m.times / (end - start)), static_cast<float>(end)});
  }
  if (longest_ <= 0) return false;
  constexpr double neglected = 0.02;
  const double until = std::exchange(under_way_until_, std::max(under_way_until_, last));
  if (until - first <= neglected * (last - first)) {
    std::swap(uses_, kept_uses_), level_is_kept_ = true;
    return true;
  }
  if (std::exchange(level_is_kept_, false)) add_uses(kept_flows_, kept_uses_, {});
  add_uses(flows_, uses_, until);
  double longest = 0;
  for (const std::uint32_t i : meeting_messages_) {
    Message& m = messages_[i];
    const double start = flowing_from(m);
    for (const Resource r : flows_.of(i)) {
      const Levels& both = under_way_[r];
      if (both.before.end <= start) continue;
      const double excess = (both.before.rate + both.here.rate) / network_.capacities()[r] - 1;
      if (excess <= 0) continue;
      const double both_last = std::min(uses_[i].end, both.before.end) - start;
      m.meeting = std::max(m.meeting, std::min(1.0, excess) * both_last);
    }
    longest = std::max(longest, m.meeting);
  }
  meeting_ += longest;
  return false;
}

// The processor of a rank may still sum or compute for an earlier level. Both together take as much longer as they
// overlap.
void Sweep::find_busy_processors() {
  if (processors_.empty()) return;
  ++sums_level_;
  double longest = 0;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& m = messages_[i];
    if (m.reduced <= 0) continue;
    const std::int32_t rank = m.channel.to;
    auto& [before, here, level] = processors_[rank];
    if (level != sums_level_) {
      before.add(here);
      here = {}, level = sums_level_;
    }
    Busy sum;
    sum.begin = end_of(i) + m.times * m.path.latency;
    sum.end = sum.begin + m.times * sum_seconds(m);
    const double both = std::max(0.0, before.overlap(sum));
    m.meeting += both, longest = std::max(longest, both);
    if (here.end > 0) sum = {std::min(here.begin, sum.begin), std::max(here.end, sum.end)};
    here = sum;
  }
  meeting_ += longest;
}

// As those of a new level. `until`: when all earlier ones have left, if the flows are those of messages_; lists which
// of these begin before an earlier one has left a resource of theirs.
void Sweep::add_uses(const FlowSet& flows, const std::vector<UnderWay>& uses, std::optional<double> until) {
  ++level_;
  meeting_messages_.clear();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].end == 0) continue; // a signal
    double start = std::numeric_limits<double>::infinity(), last = 0;
    if (until) start = flowing_from(messages_[i]);
    for (const Resource r : flows.of(i)) {
      auto& [before, here, level] = under_way_[r];
      if (level != level_) {
        if (here.end > before.end) before = here;
        here = uses[i], level = level_;
      } else {
        here.rate += uses[i].rate, here.end = std::max(here.end, uses[i].end);
      }
      last = std::max<double>(last, before.end);
    }
    if (start < std::min(last, until.value_or(0))) meeting_messages_.push_back(static_cast<std::uint32_t>(i));
  }
}

// When its two ends have both started, of an early one its sender, and the queue is free; of a local step, when the
// step started.
PathTime Sweep::start_of(const Message& m) const {
  if (m.entry == nullptr) return frames_[m.sender].now;
  const Posted &send = matching_.head(*m.entry, Matching::sends),
               &receive = matching_.head(*m.entry, Matching::receives);
  const PathTime& start = m.early ? matching_.since(send) : later(matching_.since(send), matching_.since(receive));
  return start.plus_latency(m.behind);
}

// When a message has left, with all that it stands for.
double Sweep::end_of(std::size_t at) const {
  const Message& m = messages_[at];
  return m.start + m.wait + m.times * (m.path.cost + m.moved / flows_.rate[at]);
}

void Sweep::connect_loops(std::int32_t a, std::int32_t b) {
  if (loops_.count() == 0) return;
  while (a >= 0 && b >= 0) {
    while (a >= 0 && frames_[a].loop_set < 0) a = frames_[a].parent;
    while (b >= 0 && frames_[b].loop_set < 0) b = frames_[b].parent;
    if (a < 0 || b < 0) return;
    loops_.connect(frames_[a].loop_set, frames_[b].loop_set);
    a = frames_[a].parent, b = frames_[b].parent;
  }
}

// A lane issues one message after another; returns how long this one waits for those that started before it.
double Sweep::issue(const Message& m) {
  if (m.path.cost <= 0) return 0;
  BusyInterval& busy = issuing_[m.instance];
  const double start = m.start, cost = m.path.cost;
  double wait = 0;
  if (start >= busy.end)
    busy = {start, start + cost};
  else if (start + cost > busy.begin) // a level is no instant: this one was not first
    wait = busy.end - start, busy.end += cost;
  if (m.path.taking > 0) occupy(taking_[m.instance], start + wait, cost);
  return wait;
}

// The lane's processor issues messages and takes them, one after another. Returns when that of this one begins.
double Sweep::occupy(BusyInterval& busy, double start, double seconds) {
  constexpr double same = 1e-9; // what follows at once is no gap
  if (start > busy.end * (1 + same)) {
    busy = {start, start + seconds};
  } else if (start + seconds > busy.begin) {
    start = std::max(start, busy.end);
    busy.end = start + seconds;
  }
  return start;
}

// The time from its arrival until the receiving lane has taken it.
double Sweep::take(const Message& m, double arrived) {
  const double begin = m.receiver < 0 ? arrived : occupy(taking_[frames_[m.receiver].instance], arrived, m.path.taking);
  return begin - arrived + m.path.taking;
}

void Sweep::deliver_one(std::size_t at) {
  Message& m = messages_[at];
  PathTime left = start_of(m).plus_latency(m.wait + m.path.cost).plus_transfer(m.moved / flows_.rate[at]);
  left.doubt += m.doubt, left.meeting += m.meeting;
  PathTime arrived = left.plus_latency_in_flight(m.path.latency);
  double kept = 0; // seconds until it is asked for
  if (m.early && m.entry != nullptr) {
    const PathTime& asked = matching_.since(matching_.head(*m.entry, Matching::receives));
    kept = std::max(0.0, asked.seconds - arrived.seconds);
    arrived = later(arrived, asked);
  }
  if (m.path.taking > 0) arrived = arrived.plus_latency(take(m, arrived.seconds));
  if (m.reduced > 0) add_sum(m, arrived);
  if (m.entry == nullptr) return complete(m.sender, arrived, arrived.seconds - m.start);
  if (m.sender >= 0 && m.receiver >= 0) connect_loops(m.sender, m.receiver);
  const double idle = m.gap / m.path.limit, free = left.seconds + idle;
  Occupied occupied{free, idle > 0};
  if (occupied.gap && m.whole_loop) occupied.loop = loop_around(m.sender);
  matching_.consume(*m.entry, m.times, occupied);
  if (m.sender >= 0) complete(m.sender, left, free - m.start);
  if (m.receiver < 0) return;
  const double passed = arrived.seconds - m.start - kept;
  if (const std::int32_t member = loop_around(m.receiver); member >= 0) loops_.pass(member, passed, m.early);
  complete(m.receiver, arrived, passed);
}

double Sweep::sum_rate(const Message& m, std::int32_t here, std::int32_t on_node) const {
  if (m.computes) return network_.reduction_rate(m.channel.to) / here;
  return network_.sum_rate(m.channel.to, here, on_node, m.reduced);
}

double Sweep::sum_alone(const Message& m) const {
  return (m.computes ? 0 : network_.reduction_cost(m.channel.to)) + m.reduced / sum_rate(m, 1, 1);
}

double Sweep::sum_seconds(const Message& m) {
  const std::int32_t rank = m.channel.to;
  const double own = m.computes ? 0 : network_.reduction_cost(rank);
  if (m.shared_sum > 0) return sum_alone(m) * m.shared_sum;
  return own * reductions_[rank] + m.reduced / sum_rate(m, reductions_[rank], sums_on(rank));
}

// A compute step beside sums may be much longer than they. On a processor that all share alike, each waits for
// min(its own time, the other's) of each other one: `shared_sum` times as long as alone.
void Sweep::share_processors() {
  sums_by_rank_.clear();
  for (std::uint32_t i = 0; i < messages_.size(); ++i)
    if (const Message& m = messages_[i]; m.reduced > 0 && reductions_[m.channel.to] > 1)
      sums_by_rank_.push_back({m.channel.to, i});
  std::sort(sums_by_rank_.begin(), sums_by_rank_.end());
  const auto alone = [&](std::uint32_t i) { return messages_[i].times * sum_alone(messages_[i]); };
  for (std::size_t begin = 0, end = 0; begin < sums_by_rank_.size(); begin = end) {
    bool any_computes = false;
    for (end = begin; end < sums_by_rank_.size() && sums_by_rank_[end].first == sums_by_rank_[begin].first; ++end)
      any_computes = any_computes || messages_[sums_by_rank_[end].second].computes;
    for (std::size_t a = begin; any_computes && a < end; ++a) {
      const double own = alone(sums_by_rank_[a].second);
      double together = 0;
      for (std::size_t b = begin; b < end; ++b) together += std::min(own, alone(sums_by_rank_[b].second));
      messages_[sums_by_rank_[a].second].shared_sum = together / own;
    }
  }
}

void Sweep::add_sum(const Message& m, PathTime& arrived) {
  const std::int32_t rank = m.channel.to;
  arrived = arrived.plus_reduction(sum_seconds(m));
  if (crowd_.empty()) return;
  const double all = crowd_[rank], others = std::max(0.0, all - m.reduced * reductions_[rank]);
  arrived.crowding += others / network_.reduction_rate(rank) * all * crowding_scale_;
}

} // namespace kumihimo::simulation
