#include "interpose/communicator.hpp"

#include "base/hash.hpp"
#include "execute/engine.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/neighbours.hpp"
#include "kernels/exact_sum.hpp"
#include "mpi/own_place.hpp"
#include "mpi_transport/open_transport.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace kumihimo::interpose {
namespace {

// A number that no other process of the job returns.
std::int64_t next_number() {
  static std::atomic<std::uint64_t> given = 0;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::uint64_t mine = mixed(hash_of(std::string_view(host.data())), static_cast<std::uint64_t>(getpid()));
  return static_cast<std::int64_t>(mixed(mine, ++given) >> 1);
}

// Exact sums are of a floating type and the operation `user` (exact_sums.hpp).
bool is_exact_sum(const Collective& collective) {
  return collective.operation == Operation::user && collective.type != DataType::opaque;
}
bool is_user_operation(const Collective& collective) {
  return collective.operation == Operation::user && !is_exact_sum(collective);
}

// The reduction of a plan; none for a user-defined operation, which each run brings.
Result<transport::Reduction> reduction_of(const Collective& collective) {
  if (collective.operation != Operation::user) return plan::find_reduction(collective);
  if (!is_exact_sum(collective)) return transport::Reduction{};
  const kernels::ExactKernels* const kernels = kernels::find_exact_kernels(collective.type);
  if (!kernels) return wrong_value("the type has no exact sums", name_of(collective.type));
  return transport::Reduction{nullptr, kernels->merge, nullptr};
}

} // namespace

Communicator::Communicator(const mpi::Library& library, mpi::Handle handle, const Agreed& agreed)
    : library_(library), handle_(handle), is_first_of_job_(agreed.world_rank == 0),
      timeout_seconds_(agreed.timeout_seconds), cache_(agreed.cache) {
  std::int32_t ranks = 1;
  library.call.Comm_rank(handle, &rank_);
  library.call.Comm_size(handle, &ranks);
  space_ = RankSpace::row(ranks);
  if (ranks == 1) return;
  lost_ = !agreed.everyone_is_here;
  agrees_ = !lost_ && agree(agreed);
  if (!agrees_) return;
  const plan::RankCounts on = recognise(agreed);
  reproducible_ = agreed.reproducible;
  choices_ = communicator_choices(on, agreed.wisdom, agreed.hash, reproducible_);
  const bool asks_neighbours = std::any_of(all_collectives.begin(), all_collectives.end(), [this](CollectiveKind kind) {
    return kind->of_neighbours() && (*choices_)[kind].for_local_counts;
  });
  if (asks_neighbours) neighbours_ = neighbours_of(library, handle);
  if (takes_any()) reuse_resources();
}

Communicator::~Communicator() = default;

const std::string& Communicator::note() const { return note_.empty() ? misfit_ : note_; }

// The hashes are equal if the largest is the smallest; the largest negative one is the smallest's.
bool Communicator::agree(const Agreed& agreed) {
  const auto mine = static_cast<std::int64_t>(agreed.hash >> 1);
  const std::int64_t ends[5] = {mine, -mine, agreed.completes_requests ? 0 : 1, agreed.has_device_driver,
                                rank_ == 0 ? next_number() : -1};
  std::int64_t most[5] = {};
  const int code = library_.call.Allreduce(ends, most, 5, library_.datatype(DataType::int64),
                                           library_.operation(Operation::max), handle_);
  number_ = most[4];
  completes_requests_ = code == 0 && most[2] == 0;
  has_device_driver_ = most[3] != 0;
  return code == 0 && most[0] == mine && most[1] == -mine && agreed.hash != 0; // 0: none
}

std::int32_t Communicator::least(std::int32_t mine) const {
  std::int32_t least = 0;
  const int code = library_.call.Allreduce(&mine, &least, 1, library_.datatype(DataType::int32),
                                           library_.operation(Operation::min), handle_);
  return code == 0 ? least : 0;
}

plan::RankCounts Communicator::recognise(const Agreed& agreed) {
  const std::string name = mpi::processor_name(library_);
  // Node, rank and ranks of the job: processes of several jobs (MPI_Comm_spawn) have no place in one shape.
  const std::int64_t mine[4] = {static_cast<std::int64_t>(hash_of(name)), agreed.world_rank, agreed.world_ranks,
                                agreed.place ? agreed.place->node.value : -1};
  std::vector<std::int64_t> all(4 * static_cast<std::size_t>(ranks()));
  const mpi::Handle type = library_.datatype(DataType::int64);
  library_.call.Allgather(mine, 4, type, all.data(), 4, type, handle_);
  std::vector<std::int64_t> names;
  std::set<std::int64_t> places;
  std::vector<NodeId> node_of_rank;
  bool one_job = true;
  for (std::size_t r = 0; r < all.size(); r += 4) {
    names.push_back(all[r]);
    node_of_rank.push_back(NodeId{static_cast<std::int32_t>(all[r + 3])});
    one_job &= places.insert(all[r + 1]).second && all[r + 2] == all[2];
  }
  if (one_job)
    of_ranks_ = hash_of({reinterpret_cast<const char*>(all.data()), all.size() * sizeof all[0]}) | 1; // never 0
  plan::RankCounts counts = plan::count_ranks(names);
  node_ranks_ = counts.ranks_per_node > 0 ? counts.ranks_per_node : counts.ranks - counts.nodes + 1;
  if (agreed.place && one_job) {
    space_ = RankSpace::recognise(agreed.place->nodes, node_of_rank);
    counts.shape = plan::shape_of(space_);
  } else {
    space_ = RankSpace::on_nodes(names); // as tune looked at them (bench_driver/task.cpp)
  }
  return counts;
}

const WisdomChoice* Communicator::choice(const Collective& collective) const {
  const bool fixed = is_fixed(reproducible_, collective);
  const CommunicatorChoices::OfCollective& chosen = (*choices_)[collective.kind];
  const bool by_user = is_user_operation(collective);
  const auto for_these = [&](const WisdomChoice* found) {
    return found && found->variant && (!by_user || found->is_for_user_operations()) ? found : nullptr;
  };
  if (!fixed && collective.counts.irregular())
    if (const WisdomChoice* const unequal = plan::choice_of_longest(chosen.unequal, collective))
      return for_these(unequal);
  return for_these(plan::choice_for(fixed ? chosen.fixed : chosen.any, collective, fixed));
}

const WisdomChoice* Communicator::choice_alone(const Collective& collective) const {
  if (!is_fixed(reproducible_, collective) && !collective.counts.irregular())
    if (const WisdomChoice* const own = (*choices_)[collective.kind].non_blocking.at(collective.bytes().value).get())
      return own->variant ? own : nullptr;
  return choice(collective);
}

Communicator::Answer Communicator::plan(const Collective& collective, bool on_device) {
  if (!agrees_) return why_not();
  const plan::CallKey key = plan::key_of(collective);
  const WisdomChoice* chosen = choice(collective);
  if (!chosen) return is_user_operation(collective) ? Reason::op_not_chosen : Reason::not_chosen;
  if (plan::Plan* known = resources_->plans.find(key); known && known->is_agreed())
    return Ready{known, chosen->place, {}};
  return make_plan(collective, key, *chosen, on_device);
}

namespace {

// Of the plan by a choice.
plan::CallKey key_by(const Collective& collective, const WisdomChoice& choice) {
  plan::CallKey key = plan::key_of(collective);
  key.non_blocking = choice.of_non_blocking;
  return key;
}

} // namespace

Communicator::Answer Communicator::plan_alone(const Collective& collective) {
  if (!agrees_) return why_not();
  const WisdomChoice* chosen = choice_alone(collective);
  if (!chosen) return Reason::not_chosen;
  const plan::CallKey key = key_by(collective, *chosen);
  if (const auto reason = declines_nonblocking(is_fixed(reproducible_, collective))) return *reason;
  if (plan::Plan* known = resources_->plans.find(key)) return Ready{known, chosen->place, {}};
  return make_plan_alone(collective, key, *chosen);
}

std::optional<Reason> Communicator::declines_nonblocking(bool must) const {
  if (!completes_requests_) return Reason::unseen;
  if (resources_->transport && !resources_->transport->is_single_node()) return Reason::far;
  if (has_device_driver_ && !must) return Reason::device;
  if (over_memory_budget_) return Reason::crowded_out;
  if (transport_failed_) return Reason::no_plan;
  if (!resources_->transport) return Reason::not_connected;
  return std::nullopt;
}

namespace {

// What is asked of all ranks alike.
plan::CallKey apart(plan::CallKey key) {
  key.in_place = key.kind->has_one_buffer();
  return key;
}

} // namespace

// Why no plan is made, on all ranks alike; else there is a transport.
std::optional<Reason> Communicator::obstacle(const plan::CallKey& key) {
  if (const auto it = resources_->refused.find(apart(key)); it != resources_->refused.end()) return it->second;
  if (!resources_->transport && !over_memory_budget_ && !transport_failed_) open_transport();
  if (over_memory_budget_) return Reason::crowded_out;
  return transport_failed_ || decides_no_more_ ? std::optional(Reason::no_plan) : std::nullopt;
}

// What the ranks decide together on a call: each whether it has the plans, and where its data are. Nothing may fail
// after it, nor before it keep a rank from it.
std::optional<Reason> Communicator::decide(const plan::CallKey& key, const std::optional<Error>& error,
                                           bool on_device) {
  enum PlanVote : std::int32_t { unkept, failed, device, ours };
  const auto nothing = [] { return unkept; };
  const auto keep_note = [&] { return note_ = error->sentence(), failed; };
  const auto keep_answer = [&] {
    resources_->refused.emplace(apart(key), Reason::no_plan);
    return error || !MemoryReserve::is_there() ? failed : on_device ? device : ours;
  };
  if (error && note_.empty() && !error->elsewhere && error->kind == Error::Kind::failed) attempted(keep_note, nothing);
  const std::int32_t least = this->least(attempted(keep_answer, nothing));
  if (least == device) return resources_->refused[apart(key)] = Reason::device;
  if (least == failed) return Reason::no_plan;
  resources_->refused.erase(apart(key)); // which no rank keeps, or all
  decides_no_more_ |= least == unkept;
  return least == ours ? std::nullopt : std::optional(Reason::no_plan);
}

Communicator::Answer Communicator::make_plan(const Collective& collective, const plan::CallKey& key,
                                             const WisdomChoice& choice, bool on_device) {
  if (const auto reason = obstacle(key)) return *reason;
  const bool fixed = is_fixed(reproducible_, collective), is_full = resources_->by_all.is_full(key);
  if (is_full && resources_->transport->is_single_node()) return recent_plan(collective, key, choice);
  if (is_full && !fixed) return Reason::too_many;
  std::optional<Error> error;
  Both made = make_both(collective, choice, !resources_->transport->is_single_node(), error);
  if (!attempted([&] { return resources_->plans.make_room(2), true; }, [] { return false; })) error = out_of_memory();
  if (!is_full) resources_->by_all.count(key);
  if (const auto reason = decide(key, error, on_device && !fixed)) return *reason;
  // What must keep its order is not left to the library for want of room: made for this call, and anew for the next.
  if (is_full) {
    const std::shared_ptr<plan::Plan> brief =
        std::move(made[collective.in_place && collective.kind->may_be_in_place()]);
    return Ready{brief.get(), choice.place, brief};
  }
  keep(collective, choice, std::move(made));
  plan::CallKey each = key;
  for (const bool in_place : {false, true}) {
    each.in_place = in_place;
    if (plan::Plan* const known = resources_->plans.find(each)) known->set_agreed();
  }
  return Ready{resources_->plans.find(key), choice.place, {}};
}

void Communicator::keep(Collective collective, const WisdomChoice& choice, Both made) {
  for (const bool in_place : {false, true}) {
    if (!made[in_place]) continue;
    collective.in_place = in_place || collective.kind->has_one_buffer();
    resources_->plans.keep(key_by(collective, choice), std::move(made[in_place]));
  }
}

// An algorithm that does not fit is refused on all ranks alike; what is left is a lack of memory, which nobody else can
// be told of here.
Communicator::Answer Communicator::make_plan_alone(const Collective& collective, const plan::CallKey& key,
                                                   const WisdomChoice& choice) {
  const auto refused = resources_->refused.find(apart(key));
  if (refused != resources_->refused.end() && refused->second != Reason::device) return refused->second;
  if (resources_->by_this_rank.is_full(key)) return recent_plan(collective, key, choice);
  std::optional<Error> error;
  Both made = make_both(collective, choice, false, error);
  if (error && error->kind == Error::Kind::failed) return *error;
  resources_->by_this_rank.count(key);
  if (error) return resources_->refused.emplace(apart(key), Reason::no_plan), Reason::no_plan;
  keep(collective, choice, std::move(made));
  return Ready{resources_->plans.find(key), choice.place, {}};
}

// Beyond those that are kept, by this rank alone.
Communicator::Answer Communicator::recent_plan(const Collective& collective, const plan::CallKey& key,
                                               const WisdomChoice& choice) {
  if (plan::Plan* const known = resources_->plans.find(key)) return Ready{known, choice.place, {}};
  auto& recent = resources_->recent;
  auto found = std::find_if(recent.begin(), recent.end(), [&](const auto& each) { return each.first == key; });
  if (found == recent.end()) {
    Result<std::unique_ptr<plan::Plan>> made = make_one(collective, choice, false);
    if (!made && made.error().kind == Error::Kind::failed) return made.error();
    if (!made) return note_misfit(collective, choice, made.error()), Reason::no_plan;
    if (recent.size() == CommunicatorResources::most_recent) recent.erase(recent.begin());
    found = recent.emplace(recent.end(), key, std::move(*made));
  }
  return Ready{found->second.get(), choice.place, found->second};
}

void Communicator::connect() {
  if (takes_any() && completes_requests_ && !resources_->transport && !transport_failed_) open_transport();
}

void Communicator::discard_without_communication() {
  if (queue_.calls.load(std::memory_order_acquire) > 0) return;
  resources_->plans = {};
  resources_->recent.clear();
  resources_->pools.clear();
  resources_->refused.clear();
}

// Reuses resources on all ranks or on none: a rank may have given up what another kept.
void Communicator::reuse_resources() {
  std::unique_ptr<CommunicatorResources> left;
  if (of_ranks_ != 0) left = cache_.take(of_ranks_, node_ranks_, reproducible_ != Reproducible::off);
  const std::int64_t mine = left ? left->number : -1, ends[2] = {mine, -mine};
  std::int64_t most[2] = {};
  const int code = library_.call.Allreduce(ends, most, 2, library_.datatype(DataType::int64),
                                           library_.operation(Operation::max), handle_);
  if (code != 0 || most[0] < 0 || most[0] != -most[1]) return;
  resources_ = std::move(left);
}

// Plans for the neighbours of one communicator do not serve another.
void Communicator::keep_resources_for_reuse() {
  if (!neighbours_) cache_.keep(std::move(resources_));
  resources_ = std::make_unique<CommunicatorResources>();
}

bool Communicator::open_transport() {
  const bool must = reproducible_ != Reproducible::off;
  const auto share = attempted([&] { return cache_.share_for(node_ranks_, must); },
                               [] { return std::optional<MemoryBudget::Share>(); });
  over_memory_budget_ = least(share.has_value() && MemoryReserve::is_there()) == 0; // the ranks' may differ
  if (over_memory_budget_) {
    if (share) MemoryBudget::of_process().give_back(*share);
    return false;
  }
  mpi_transport::TransportOptions options;
  options.timeout_seconds = timeout_seconds_;
  options.single_copies = choices_->hint_single_copies;                 // on which all ranks have agreed
  options.shared_memory_limit_bytes = share->shared_memory_limit_bytes; // the smallest of the ranks' holds for all
  Result<std::unique_ptr<transport::Transport>> made = mpi_transport::open_transport(library_, handle_, options);
  if (made && note_.empty()) note_ = (*made)->note();
  if (!made && note_.empty() && !made.error().elsewhere) note_ = made.error().sentence();
  if (made) {
    resources_->transport = std::move(*made), resources_->share = *share;
    resources_->of_ranks = of_ranks_, resources_->number = number_;
  } else {
    MemoryBudget::of_process().give_back(*share);
  }
  transport_failed_ = !resources_->transport;
  return !transport_failed_;
}

// What must keep its order is asked of ranks of which nothing is known but their numbers. Segments were chosen for
// small elements: here they have one element at least.
Result<Schedule> Communicator::schedule_of(const Collective& collective, const WisdomChoice& choice) const {
  const RankSpace space = is_fixed(reproducible_, collective) ? RankSpace::row(ranks()) : space_;
  Parameters parameters = choice.parameters;
  if (parameters.segment_bytes) parameters.segment_bytes = std::max(*parameters.segment_bytes, collective.type_bytes);
  return choice.variant->build(collective, space, parameters);
}

// Where `asks`, as collective as the transport's prepare(): a rank that runs out of memory before takes part in it,
// too.
Result<std::unique_ptr<plan::Plan>> Communicator::make_one(const Collective& collective, const WisdomChoice& choice,
                                                           bool asks) {
  const auto asked = [&] { return std::pair(schedule_of(collective, choice), reduction_of(collective)); };
  const auto refused = [&] {
    if (asks) plan::Plan::refuse(*resources_->transport);
    return std::pair(Result<Schedule>(out_of_memory()), Result<transport::Reduction>(out_of_memory()));
  };
  const auto [schedule, reduction] = attempted(asked, refused);
  if (!schedule) return schedule.error();   // but for a lack of memory on all ranks alike: it depends on the call alone
  if (!reduction) return reduction.error(); // so is this
  const auto make = asks ? &plan::Plan::make : &plan::Plan::make_alone;
  return make(*schedule, Rank{rank_}, *resources_->transport, *reduction, choice.parameters.hints());
}

// In place and not at once, since each is as collective as the other, and the next call may be either on any rank.
// Those that a non-blocking call has made are not made again.
Communicator::Both Communicator::make_both(Collective collective, const WisdomChoice& choice, bool asks,
                                           std::optional<Error>& error) {
  Both both;
  for (const bool in_place : {false, true}) {
    if (in_place && !collective.kind->may_be_in_place()) break;
    if (!in_place && is_exact_sum(collective)) continue; // exact sums always are
    collective.in_place = in_place || collective.kind->has_one_buffer();
    if (!asks && resources_->plans.find(key_by(collective, choice))) continue;
    Result<std::unique_ptr<plan::Plan>> made =
        attempted([&] { return make_one(collective, choice, asks); },
                  [] { return Result<std::unique_ptr<plan::Plan>>(out_of_memory()); });
    if (note_.empty()) note_ = resources_->transport->note(); // of a network that it has opened for the plan
    if (made)
      both[in_place] = std::move(*made);
    else if (!error)
      error = attempted([&] { return made.error(); }, &out_of_memory);
  }
  if (error) note_misfit(collective, choice, *error);
  return both;
}

// All ranks of the communicator find it, and one of the job tells it.
void Communicator::note_misfit(const Collective& collective, const WisdomChoice& choice, const Error& error) {
  if (!is_first_of_job_ || !misfit_.empty() || error.kind == Error::Kind::failed) return;
  const auto sentence = [&] {
    return fmt::format("the MPI library runs {}, since {} does not fit a call of {} bytes on {} ranks: {}",
                       name_of(collective.kind), choice.variant->name, collective.bytes().value, ranks(),
                       error.sentence());
  };
  attempted([&] { return misfit_ = sentence(), true; }, [] { return false; });
}

} // namespace kumihimo::interpose
