#include "application/checkpoints.hpp"

#include "measure/clock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <system_error>

namespace kumihimo::application {
namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// All of the state in memory becomes noise, as if it had never been computed.
void overwrite(const StateList& list) {
  constexpr std::byte noise{0xff}; // of floating numbers: NaN
  for (const StatePart& part : list.parts()) {
    std::ranges::fill(part.bytes, noise);
    if (!part.pack) continue;
    std::vector<std::byte> bytes = part.pack();
    std::ranges::fill(bytes, noise);
    static_cast<void>(part.unpack(bytes).ok()); // a part may refuse noise
  }
}

// The state that is there is then the run's own.
bool goes_on_in_its_folder(const CheckpointOptions& options) {
  std::error_code none;
  return !options.restart.empty() && std::filesystem::equivalent(options.restart, options.folder, none);
}

} // namespace

std::unique_ptr<Checkpoints> Checkpoints::none(Processes& processes) {
  return std::unique_ptr<Checkpoints>(new Checkpoints({}, {}, processes));
}

Result<std::unique_ptr<Checkpoints>> Checkpoints::make(CheckpointOptions asked, RunIdentity identity,
                                                       Processes& processes, UnderWay* under_way, KeptCopies* kept) {
  std::unique_ptr<Checkpoints> made(new Checkpoints(std::move(asked), std::move(identity), processes));
  const CheckpointOptions& options = made->asked_;
  if (!options.any()) return made;
  if (made->identity_.restart_on == RestartOn::nothing)
    return not_applicable(fmt::format("this run of {} saves no state", made->identity_.application), {},
                          "leave out --checkpoint and --restart");
  if (options.lost_rank >= processes.ranks())
    return wrong_value(fmt::format("the rank that is lost must be below {}", processes.ranks()), options.lost_rank);
  if (!options.restart.empty()) made->found_ = TRY(SavedRun::find(options.restart, made->identity_, processes));
  const bool goes_on = goes_on_in_its_folder(options) || (kept && kept->begun_again > 0);
  if (options.saves()) made->writer_ = TRY(StateWriter::open(options.folder, made->identity_, goes_on, processes));
  if (options.partner > 0) made->partner_ = TRY(PartnerCopies::make(processes, under_way, kept));
  return made;
}

Error nothing_left(std::int64_t saved, std::int64_t end) {
  return wrong_value(fmt::format("the run must end after iteration {}, of which the state is", saved), end,
                     "use a larger --max-iterations");
}

AtIteration Checkpoints::hook() {
  if (!asked_.any()) return {};
  return [this](std::int64_t iteration, const FillState& fill) { return at_iteration(iteration, fill); };
}

void Checkpoints::begin_at(std::int64_t iteration) {
  has_begun_ = true;
  began_at_ = last_saved_ = last_copied_ = iteration;
  next_look_ = iteration + 1;
  last_saved_ns_ = measure::now_ns();
}

Result<bool> Checkpoints::at_iteration(std::int64_t iteration, const FillState& fill) {
  if (!asked_.any()) return false;
  StateList list;
  fill(list);
  if (!has_begun_ && partner_ && partner_->kept().begun_again > 0)
    if (const bool went_back = TRY(recover(list)); went_back) return true;
  if (!has_begun_ && found_) {
    const std::int64_t begin = measure::now_ns();
    if (Status s = found_->load(list); !s) return s.error();
    if (writer_) writer_->go_on_from(found_->iteration());
    load_seconds_ = measure::seconds_since(begin);
    went_on_at_ = clock_seconds();
    restarted_from_ = found_->iteration();
    begin_at(found_->iteration());
    return true;
  }
  if (!has_begun_) begin_at(iteration);
  if (partner_) partner_->kept().reached = iteration;
  if (asked_.lost_rank >= 0 && !has_lost_ && iteration >= asked_.lost_at) {
    if (Status s = lose_and_restore(iteration, list); !s) return s.error();
    return true;
  }
  if (writer_ && is_due(iteration))
    if (Status s = save(iteration, list); !s) return s.error();
  if (partner_ && iteration >= last_copied_ + asked_.partner)
    if (Status s = copy(iteration, list); !s) return s.error();
  return false;
}

// By time, the ranks agree on it in an iteration that all know beforehand: about when the time is over at the pace so
// far, and at most twice as far from the last state as the look before.
bool Checkpoints::is_due(std::int64_t iteration) {
  if (iteration <= last_saved_) return false;
  if (asked_.every > 0) return iteration >= last_saved_ + asked_.every;
  if (iteration < next_look_) return false;
  const double seconds = processes_.largest({measure::seconds_since(last_saved_ns_)})[0];
  const auto made = static_cast<double>(iteration - last_saved_);
  const bool is_over = seconds >= asked_.every_seconds;
  const double left = (is_over ? asked_.every_seconds : asked_.every_seconds - seconds) * made / seconds;
  next_look_ = iteration + static_cast<std::int64_t>(std::clamp(left, 1.0, std::max(1.0, made)));
  return is_over;
}

Status Checkpoints::save(std::int64_t iteration, const StateList& list) {
  const std::int64_t begin = measure::now_ns();
  saved_bytes_ += static_cast<double>(TRY(writer_->save(iteration, list)));
  last_saved_ = iteration;
  last_saved_ns_ = measure::now_ns();
  save_seconds_ += measure::seconds_since(begin);
  ++saved_;
  return Nothing{};
}

Status Checkpoints::copy(std::int64_t iteration, const StateList& list) {
  const std::int64_t begin = measure::now_ns();
  copied_bytes_ += static_cast<double>(TRY(partner_->copy(iteration, list)));
  last_copied_ = iteration;
  copy_seconds_ += measure::seconds_since(begin);
  ++copied_;
  return Nothing{};
}

Status Checkpoints::lose_and_restore(std::int64_t iteration, const StateList& list) {
  has_lost_ = true;
  if (!partner_->has_copies())
    return wrong_value(fmt::format("rank {} must be lost after its first copy, of iteration {}", asked_.lost_rank,
                                   last_copied_ + asked_.partner),
                       fmt::format("iteration {}", iteration), "give a later lose=RANK@ITERATION");
  if (processes_.rank() == asked_.lost_rank) overwrite(list);
  const std::int64_t begin = measure::now_ns();
  if (Status s = partner_->restore(list, static_cast<std::int32_t>(asked_.lost_rank)); !s) return s;
  restore_seconds_ += measure::seconds_since(begin);
  ++restored_;
  repeated_.emplace_back(last_copied_, iteration);
  next_look_ = std::min(next_look_, last_copied_ + 1);
  return Nothing{};
}

// New copies at once: those that the dead ranks held are gone.
Result<bool> Checkpoints::recover(const StateList& list) {
  KeptCopies& kept = partner_->kept();
  recovered_from_ = TRY(partner_->recover(list));
  const std::int64_t from = recovered_from_.value_or(0);
  kept.repeated += std::max<std::int64_t>(0, kept.reached - from);
  kept.reached = from;
  if (writer_) writer_->go_on_from(from);
  if (recovered_from_) {
    begin_at(from);
    if (Status s = copy(from, list); !s) return s.error();
  }
  // A spare rank noticed the death when the others told it.
  recovery_seconds_ = measure::seconds_since(kept.noticed_ns);
  went_on_at_ = clock_seconds();
  return recovered_from_.has_value();
}

std::int64_t Checkpoints::steps_to_next(std::int64_t iteration) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  if (!asked_.any()) return next;
  if (asked_.every > 0) next = std::min(next, last_saved_ + asked_.every);
  if (asked_.every_seconds > 0) next = std::min(next, next_look_);
  if (asked_.partner > 0) next = std::min(next, last_copied_ + asked_.partner);
  if (asked_.lost_rank >= 0 && !has_lost_) next = std::min(next, asked_.lost_at);
  return std::max<std::int64_t>(1, next - iteration);
}

nlohmann::json Checkpoints::json() const {
  std::int64_t repeated = 0;
  for (const auto& [from, to] : repeated_) repeated += to - from;
  const KeptCopies none;
  const KeptCopies& kept = partner_ ? partner_->kept() : none;
  const std::vector<double> seconds =
      processes_.largest({save_seconds_, load_seconds_, copy_seconds_, restore_seconds_, recovery_seconds_, went_on_at_,
                          static_cast<double>(kept.repeated), static_cast<double>(kept.deaths)});
  const std::vector<double> bytes = processes_.total({saved_bytes_, copied_bytes_});
  nlohmann::json found = {
      {"every", asked_.every > 0 ? nlohmann::json(asked_.every) : nlohmann::json()},
      {"every_seconds", asked_.every_seconds > 0 ? nlohmann::json(asked_.every_seconds) : nlohmann::json()},
      {"folder", asked_.saves() ? nlohmann::json(asked_.folder) : nlohmann::json()},
      {"saved", saved_},
      {"bytes", bytes[0]},
      {"seconds", seconds[0]},
      {"restarted_from", restarted_from_ ? nlohmann::json(*restarted_from_) : nlohmann::json()},
      {"load_seconds", seconds[1]},
      {"went_on_at", seconds[5] > 0 ? nlohmann::json(seconds[5]) : nlohmann::json()},
      {"partner", nullptr}};
  if (partner_)
    found["partner"] = {{"every", asked_.partner},
                        {"copies", copied_},
                        {"bytes", bytes[1]},
                        {"seconds", seconds[2]},
                        {"on_other_nodes", partner_->on_other_nodes()},
                        {"never_lost", asked_.lost_rank >= 0 && !has_lost_},
                        {"restored", restored_},
                        {"restore_seconds", seconds[3]},
                        {"repeated_iterations", repeated + static_cast<std::int64_t>(seconds[6])},
                        {"deaths", static_cast<std::int64_t>(seconds[7])}};
  if (kept.begun_again > 0)
    found["partner"].update({{"went_on_from", recovered_from_ ? nlohmann::json(*recovered_from_) : nlohmann::json()},
                             {"recovery_seconds", seconds[4]}});
  return found;
}

} // namespace kumihimo::application
