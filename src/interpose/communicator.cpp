#include "interpose/communicator.hpp"

#include "base/hash.hpp"
#include "execute/reduction.hpp"
#include "interpose/exact.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/neighbours.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace kumihimo::interpose {
namespace {

// Of the process that gives it, and of no other process of the job.
std::int64_t next_number() {
  static std::atomic<std::uint64_t> given = 0;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::uint64_t mine = mixed(hash_of(std::string_view(host.data())), static_cast<std::uint64_t>(getpid()));
  return static_cast<std::int64_t>(mixed(mine, ++given) >> 1);
}

} // namespace

Communicator::Communicator(const mpi::Library& library, mpi::Handle handle, const Agreed& agreed)
    : library_(library), handle_(handle), timeout_seconds_(agreed.timeout_seconds), kept_(agreed.kept) {
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
  choices_ = choices_on(on, agreed.wisdom, agreed.hash, reproducible_);
  const bool asks_neighbours = std::any_of(taken_over.begin(), taken_over.end(), [this](CollectiveKind kind) {
    return is_of_neighbours(kind) && (*choices_)[kind].for_local_counts;
  });
  if (asks_neighbours) neighbours_ = neighbours_of(library, handle);
  if (takes_any()) inherit();
}

Communicator::~Communicator() = default;

const std::string& Communicator::note() const { return note_; }

// All have the same hash where the largest is the smallest: the largest complement is the smallest's.
bool Communicator::agree(const Agreed& agreed) {
  const auto mine = static_cast<std::int64_t>(agreed.hash >> 1);
  const std::int64_t ends[4] = {mine, -mine, agreed.completion_is_caught ? 0 : 1, rank_ == 0 ? next_number() : -1};
  std::int64_t most[4] = {};
  const int code = library_.call.Allreduce(ends, most, 4, library_.datatype(DataType::int64),
                                           library_.operation(Operation::max), handle_);
  number_ = most[3];
  completion_is_caught_ = code == 0 && most[2] == 0;
  return code == 0 && most[0] == mine && most[1] == -mine && agreed.hash != 0; // which stands for none
}

bool Communicator::all(bool mine) const {
  const std::int32_t so = mine;
  std::int32_t everywhere = 0;
  const int code = library_.call.Allreduce(&so, &everywhere, 1, library_.datatype(DataType::int32),
                                           library_.operation(Operation::min), handle_);
  return code == 0 && everywhere != 0;
}

plan::RankCounts Communicator::recognise(const Agreed& agreed) {
  const Shape* const machine = agreed.machine;
  std::array<char, 1024> name{};
  int length = 0;
  library_.call.Get_processor_name(name.data(), &length);
  // Of its node, and where the job stands: processes of several jobs (MPI_Comm_spawn) have no place in one shape.
  const std::int64_t mine[3] = {static_cast<std::int64_t>(hash_of({name.data(), static_cast<std::size_t>(length)})),
                                agreed.world_rank, agreed.world_ranks};
  std::vector<std::int64_t> all(3 * static_cast<std::size_t>(ranks()));
  const mpi::Handle type = library_.datatype(DataType::int64);
  library_.call.Allgather(mine, 3, type, all.data(), 3, type, handle_);
  std::vector<std::int64_t> names;
  std::set<std::int64_t> places;
  bool one_job = true;
  for (std::size_t r = 0; r < all.size(); r += 3) {
    names.push_back(all[r]);
    one_job &= places.insert(all[r + 1]).second && all[r + 2] == all[2];
  }
  if (one_job)
    of_ranks_ = hash_of({reinterpret_cast<const char*>(all.data()), all.size() * sizeof all[0]}) | 1; // never 0
  const plan::RankCounts counts = plan::count_ranks(names);
  node_ranks_ = counts.ranks_per_node > 0 ? counts.ranks_per_node : counts.ranks - counts.nodes + 1;
  if (machine && one_job && all[2] % machine->places() == 0) {
    const auto ranks_per_node = static_cast<std::int32_t>(all[2] / machine->places());
    std::vector<NodeId> node_of_rank;
    for (std::size_t r = 1; r < all.size(); r += 3)
      node_of_rank.push_back(NodeId{static_cast<std::int32_t>(all[r]) / ranks_per_node});
    space_ = RankSpace::recognise(*machine, node_of_rank);
  } else {
    space_ = RankSpace::on_nodes(names); // as tune looked at them (bench_driver/task.cpp)
  }
  return counts;
}

const Choice* Communicator::choice(const Collective& question) const {
  const bool fixed = is_fixed(reproducible_, question);
  const Choices::Of& chosen = (*choices_)[question.kind];
  return plan::choice_for(fixed ? chosen.fixed : chosen.any, question, fixed);
}

Communicator::Answer Communicator::plan(const Collective& question) {
  if (!agrees_) return why_not();
  const plan::CallKey key = plan::key_of(question);
  const Choice* chosen = choice(question);
  if (!chosen) return Reason::not_chosen;
  if (plan::Plan* known = resources_->plans.find(key); known && known->is_agreed()) return Ready{known, chosen->place};
  return make_plan(question, key, *chosen);
}

Communicator::Answer Communicator::plan_alone(const Collective& question) {
  if (!agrees_) return why_not();
  const plan::CallKey key = plan::key_of(question);
  const Choice* chosen = choice(question);
  if (!chosen) return Reason::not_chosen;
  if (!completion_is_caught_) return Reason::unseen;
  if (resources_->transport && !resources_->transport->is_single_node()) return Reason::far;
  if (plan::Plan* known = resources_->plans.find(key)) return Ready{known, chosen->place};
  return make_plan_alone(question, key, *chosen);
}

namespace {

// What is asked of all ranks alike.
plan::CallKey apart(plan::CallKey key) {
  key.in_place = key.kind == CollectiveKind::bcast;
  return key;
}

} // namespace

// Why no plan is made, on all ranks alike.
std::optional<Reason> Communicator::obstacle(const plan::CallKey& key) const {
  if (crowded_out_) return Reason::crowded_out;
  if (transport_failed_ || resources_->refused.contains(apart(key))) return Reason::no_plan;
  if (resources_->plans.find(key)) return std::nullopt; // share it has
  if (key.table && resources_->irregular >= CommunicatorResources::most_irregular) return Reason::too_many;
  if (resources_->planned() >= CommunicatorResources::most_plans) return Reason::too_many;
  return std::nullopt;
}

Communicator::Answer Communicator::make_plan(const Collective& question, const plan::CallKey& key,
                                             const Choice& choice) {
  const bool made_alone = resources_->plans.find(key) != nullptr; // counted then
  const auto reason = obstacle(key);
  // What must keep its order is not left to the library for want of room: made for this call, and anew for the next.
  const bool brief = reason == Reason::too_many && is_fixed(reproducible_, question);
  if (reason && !brief) return *reason;
  if (!resources_->transport && !open_transport()) return crowded_out_ ? Reason::crowded_out : Reason::no_plan;
  auto made = attempted([&] { return make_both(question, choice, Asking::all_ranks); },
                        [] { return Result<std::vector<Made>>(out_of_memory()); });
  if (!made && note_.empty() && !made.error().elsewhere && made.error().kind == Error::Kind::failed)
    note_ = made.error().sentence();
  resources_->irregular += key.table && !brief && !made_alone;
  if (!brief) resources_->refused.insert(apart(key)); // before it is agreed on: nothing may fail after it
  resources_->plans.make_room(2);
  if (!all(made.ok())) return Reason::no_plan;
  if (!brief) resources_->refused.erase(apart(key));
  if (brief) {
    std::swap(brief_[0], brief_[1]);
    brief_[0] = std::move(*made);
    for (const Made& m : brief_[0])
      if (m.key == key) return Ready{m.plan.get(), choice.place};
  }
  for (Made& m : *made) resources_->plans.keep(m.key, std::move(m.plan));
  plan::CallKey each = key;
  for (const bool in_place : {false, true}) {
    each.in_place = in_place;
    if (plan::Plan* const known = resources_->plans.find(each)) known->set_agreed();
  }
  return Ready{resources_->plans.find(key), choice.place};
}

// An algorithm that does not fit is refused on all ranks alike; what is left is a lack of memory, which nobody else can
// be told of here.
Communicator::Answer Communicator::make_plan_alone(const Collective& question, const plan::CallKey& key,
                                                   const Choice& choice) {
  if (const auto reason = obstacle(key)) return *reason;
  if (!resources_->transport) return Reason::not_connected;
  Result<std::vector<Made>> made = make_both(question, choice, Asking::nobody);
  if (!made && made.error().kind == Error::Kind::failed) return made.error();
  resources_->irregular += key.table != nullptr;
  if (!made) {
    resources_->refused.insert(apart(key));
    return Reason::no_plan;
  }
  for (Made& m : *made) resources_->plans.keep(m.key, std::move(m.plan));
  return Ready{resources_->plans.find(key), choice.place};
}

void Communicator::connect() {
  if (agrees_ && completion_is_caught_ && !resources_->transport && !transport_failed_ && !crowded_out_)
    open_transport();
}

void Communicator::bury() {
  if (queue_.calls.load(std::memory_order_acquire) > 0) return;
  resources_->plans = {};
  brief_ = {};
  resources_->pools.clear();
  resources_->refused.clear();
}

// On all ranks or on none: each may have given up what another kept.
void Communicator::inherit() {
  std::unique_ptr<CommunicatorResources> left;
  if (kept_ && of_ranks_ != 0) left = kept_->take(of_ranks_, node_ranks_, reproducible_ != Reproducible::off);
  const std::int64_t mine = left ? left->number : -1, ends[2] = {mine, -mine};
  std::int64_t most[2] = {};
  const int code = library_.call.Allreduce(ends, most, 2, library_.datatype(DataType::int64),
                                           library_.operation(Operation::max), handle_);
  if (code != 0 || most[0] < 0 || most[0] != -most[1]) return;
  resources_ = std::move(left);
  resources_->transport->move_to(handle_);
}

// Plans for neighbours of one's own are of use to nobody else.
void Communicator::bequeath() {
  brief_ = {};
  if (kept_ && !neighbours_) kept_->keep(std::move(resources_));
  resources_ = std::make_unique<CommunicatorResources>();
}

bool Communicator::open_transport() {
  const bool must = reproducible_ != Reproducible::off;
  const auto share = kept_ ? kept_->share_for(node_ranks_, must) : MemoryBudget::of_process().take(node_ranks_, must);
  crowded_out_ = !all(share.has_value() && MemoryReserve::is_there()); // the ranks' may differ
  if (crowded_out_) {
    if (share) MemoryBudget::of_process().give_back(*share);
    return false;
  }
  execute::MpiTransportOptions options;
  options.timeout_seconds = timeout_seconds_;
  options.single_copies = choices_->hint_single_copies;                 // on which all ranks have agreed
  options.shared_memory_limit_bytes = share->shared_memory_limit_bytes; // the smallest of the ranks' holds for all
  Result<std::unique_ptr<execute::MpiTransport>> made = execute::MpiTransport::create(library_, handle_, options);
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

// What must keep its order is asked of ranks of which nothing is known but their numbers.
Result<Schedule> Communicator::schedule_of(const Collective& question, const Choice& choice) const {
  const RankSpace space = is_fixed(reproducible_, question) ? RankSpace::row(ranks()) : space_;
  return choice.variant->build(question, space, choice.parameters);
}

// In place and not at once, since each is as collective as the other, and the next call may be either on any rank.
Result<std::vector<Communicator::Made>> Communicator::make_both(Collective question, const Choice& choice,
                                                                Asking asking) {
  std::vector<Made> both;
  std::optional<Error> error;
  for (const bool in_place : {false, true}) {
    if (in_place && !may_be_in_place(question.kind)) break;
    if (!in_place && question.operation == Operation::user) continue; // exact sums always are
    question.in_place = in_place || question.kind == CollectiveKind::bcast;
    const Result<Schedule> schedule = schedule_of(question, choice);
    if (!schedule) return schedule.error(); // on all ranks alike: it is asked of the question
    const Result<transport::Reduction> reduction =
        question.operation == Operation::user ? exact_reduction(question) : execute::find_reduction(question);
    if (!reduction) return reduction.error(); // so is this
    if (asking == Asking::all_ranks && resources_->transport->has_failed()) resources_->transport->refuse();
    plan::Plan* const alone = asking == Asking::all_ranks ? resources_->plans.find(plan::key_of(question)) : nullptr;
    if (alone) { // a non-blocking call has made it
      if (Status s = alone->join(); !s && !error) error = s.error();
      continue;
    }
    const auto make = asking == Asking::all_ranks ? &plan::Plan::make : &plan::Plan::make_alone;
    Result<std::unique_ptr<plan::Plan>> made = 
        make(*schedule, Rank{rank_}, *resources_->transport, *reduction, choice.parameters.hints());
    if (made)
      both.push_back({plan::key_of(question), std::move(*made)});
    else if (!error)
      error = made.error();
  }
  if (error) return *error;
  return both;
}

} // namespace kumihimo::interpose
