#include "replay/recorded_ranks.hpp"

#include "base/int128.hpp"
#include "goal/graph.hpp"
#include "replay/record_again.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kumihimo::replay {
namespace {

constexpr const char* outside = "outside regions"; // the region of computing in no region of the program

// Whether all numbers are below.
bool all_below(const std::vector<std::uint32_t>& numbers, std::size_t end) {
  return std::all_of(numbers.begin(), numbers.end(), [&](std::uint32_t each) { return each < end; });
}

} // namespace

RecordedRanks::RecordedRanks(RecordedNames names, Open open)
    : names_(std::move(names)), open_(std::move(open)), ranks_(names_.ranks.size()),
      numbers_of_regions_(names_.regions.size(), none), numbers_of_communicators_(names_.communicators.size(), none) {
  numbers_of_communicators_[0] = 0;
}

Result<std::unique_ptr<RecordedRanks>> RecordedRanks::make(RecordedNames names, Open open) {
  for (const NumbersOfRank& each : names.ranks)
    if (!all_below(each.sites, names.sites.size()) || !all_below(each.regions, names.regions.size()) ||
        !all_below(each.communicators, names.communicators.size()))
      return failed("numbers in a trace must stand for names");
  if (names.sites.empty() || names.communicators.empty()) return failed("a trace must have a world");
  return std::unique_ptr<RecordedRanks>(new RecordedRanks(std::move(names), std::move(open)));
}

std::uint32_t RecordedRanks::number_of_site(std::uint8_t call, std::uint32_t site) {
  const auto [it, is_new] =
      numbers_of_sites_.try_emplace({call, site}, static_cast<std::uint32_t>(numbers_of_sites_.size()));
  if (is_new) sites_.emplace_back(call, site);
  return it->second;
}

std::uint32_t RecordedRanks::number_of_region(std::uint32_t region) {
  std::uint32_t& number = numbers_of_regions_[region];
  if (number == none) {
    regions_.push_back(region);
    number = static_cast<std::uint32_t>(regions_.size()); // 0 is outside all
  }
  return number;
}

std::uint32_t RecordedRanks::number_of_communicator(std::uint32_t communicator) {
  std::uint32_t& number = numbers_of_communicators_[communicator];
  if (number != none) return number;
  std::vector<std::int32_t> all(ranks_.size());
  std::iota(all.begin(), all.end(), 0);
  const auto& members = names_.communicators[communicator];
  communicators_.push_back(members ? *members : std::move(all));
  return number = static_cast<std::uint32_t>(communicators_.size());
}

std::uint32_t RecordedRanks::number_of_parts(std::span<const std::int64_t> parts) {
  std::vector<std::int64_t> list(parts.begin(), parts.end());
  const auto [it, is_new] =
      numbers_of_parts_.try_emplace(std::move(list), static_cast<std::uint32_t>(parts_.size() + 1));
  if (is_new) parts_.push_back(it->first);
  return it->second;
}

std::string RecordedRanks::name_of_site(std::uint32_t site) const {
  const auto [call, place] = sites_[site];
  const std::string &name = names_.calls[call].name, &where = names_.sites[place];
  return where.empty() ? name : fmt::format("{} at {}", name, where);
}

std::vector<std::string> RecordedRanks::sites() const {
  std::vector<std::string> names;
  for (std::uint32_t site = 0; site < sites_.size(); ++site) names.push_back(name_of_site(site));
  return names;
}

std::vector<std::string> RecordedRanks::regions() const {
  std::vector<std::string> names{outside};
  for (const std::uint32_t region : regions_) names.push_back(names_.regions[region]);
  return names;
}

// The events of one rank. Its file is open while some of them are read.
class RecordedRanks::Reading : public EventStream {
 public:
  Reading(RecordedRanks& of, std::int32_t rank, const AtOnce& at_once)
      : of_(of), rank_(rank), at_once_(at_once), numbers_(of.names_.ranks[static_cast<std::size_t>(rank)]),
        sites_(numbers_.sites.size() + 1) {}

  Result<std::span<const Event>> next() override {
    was_given_ = !events_.empty();
    events_.clear();
    if (is_whole_) return std::span<const Event>();
    if (times_ == 0) {
      opened_ = TRY(of_.opened(rank_));
      parts_.resize(file_->list_ends.size());
    }
    first_piece_ = 0;
    for (; at_ < file_->events.size() && !is_enough(); ++at_)
      if (Status s = take(file_->events[at_]); !s) return s.error();
    if (at_ == file_->events.size())
      if (Status s = end(); !s) return s.error();
    if (++times_ == at_once_.times) opened_ = {}, times_ = 0;
    return std::span<const Event>(events_);
  }

 private:
  // Between two calls, since computing before a call may become shorter, and names of events are those of calls.
  bool is_enough() const { return after_call_ && events_.size() >= at_once_.events && at_ >= begin_within; }

  Status take(const Event& event) {
    after_call_ = false;
    if (event.thread != 0) {
      if (has_message(event.kind) || (has_collective(event.kind) && !of_neighbours(event)))
        return located(name(), not_applicable("a replay takes one thread of each process that calls MPI",
                                              fmt::format("thread {} sends or receives", event.thread),
                                              "record with one such thread"));
      return Nothing{};
    }
    if (ended_) return Nothing{};
    if (event.at_ns < 0) return wrong("a time must be at least 0", event.at_ns);
    now_ = std::max(now_, event.at_ns);
    if (!std::exchange(seen_, true)) last_ = begun_ = now_;
    return add(event);
  }

  Status end() {
    is_whole_ = true;
    if (!ended_)
      return wrong_value("the trace of each rank must have an end", fmt::format("rank {} was cut off", rank_),
                         record_again);
    rank_summary_.events = file_->events.size(), rank_summary_.left_out = file_->left_out;
    rank_summary_.ns = last_ - begun_;
    of_.ranks_[static_cast<std::size_t>(rank_)] = std::move(rank_summary_);
    return Nothing{};
  }

  Status add(const Event& event) {
    switch (event.kind) {
    case EventKind::enter: return enter(event);
    case EventKind::leave: return leave(event);
    case EventKind::begin_region:
    case EventKind::end_region: return region(event);
    case EventKind::begin_program: return last_ = begun_ = now_, Nothing{};
    case EventKind::end_program:
      ended_ = true;
      if (Status s = compute(); !s) return s;
      return shorten_by(event.end_program()), Nothing{};
    default: break;
    }
    if (has_message(event.kind)) return message(event);
    if (has_collective(event.kind)) return collective(event);
    return wrong("an event must be of a known kind", static_cast<int>(event.kind));
  }

  // --- computing and calls ---

  // The time since the last event that was not computing.
  Status compute() {
    const std::int64_t ns = now_ - last_;
    if (ns <= 0) return Nothing{};
    if (constexpr std::int64_t most = goal::most_nanoseconds; ns > most)
      return wrong(fmt::format("computing must be from 0 to {} ns", most), ns);
    Event computed(0, EventKind::compute, trace::Compute{ns, regions_.empty() ? 0 : regions_.back()});
    events_.push_back(computed);
    rank_summary_.computing_ns += ns;
    last_ = now_;
    return Nothing{};
  }

  // Computing since the last call took so long. Whether it is shorter.
  bool shorten(std::int64_t ns) {
    std::int64_t wall = 0;
    for (std::size_t i = first_piece_; i < events_.size(); ++i) wall += events_[i].compute().ns;
    if (ns >= wall) return false;
    for (std::size_t i = first_piece_; i < events_.size(); ++i) {
      std::int64_t& piece = events_[i].compute().ns;
      const auto own = static_cast<std::int64_t>(Wide{static_cast<std::uint64_t>(piece)} *
                                                 static_cast<std::uint64_t>(ns) / static_cast<std::uint64_t>(wall));
      rank_summary_.computing_ns -= piece - own;
      piece = own;
    }
    return true;
  }
  // The recorder has no part in the processor time.
  void shorten_by(const trace::Elapsed& since_leave) {
    if (since_leave.processor_ns > 0) {
      rank_summary_.shared |= shorten(since_leave.processor_ns);
    } else if (since_leave.recorder_ns > 0) {
      std::int64_t wall = 0;
      for (std::size_t i = first_piece_; i < events_.size(); ++i) wall += events_[i].compute().ns;
      shorten(std::max<std::int64_t>(0, wall - since_leave.recorder_ns));
    }
  }

  Status enter(const Event& event) {
    if (inside_) return wrong("a call must end before the next one begins");
    if (of_.names_.calls[event.call].name.empty())
      return wrong("a call must be one that the profile names", event.call);
    if (Status s = compute(); !s) return s;
    const trace::Enter& entered = event.enter();
    shorten_by(entered.since_leave);
    std::size_t site = numbers_.sites.size(); // unknown
    if (entered.site != trace::no_site) {
      if (entered.site >= site) return wrong(fmt::format("a call site must be below {}", site), entered.site);
      site = entered.site;
    }
    inside_ = true;
    events_.emplace_back(0, EventKind::enter, trace::Enter{{}, number_of_site(event.call, site)});
    return Nothing{};
  }
  // Most sites have one call.
  std::uint32_t number_of_site(std::uint8_t call, std::size_t site) {
    Site& known = sites_[site];
    if (known.number == none || known.call != call)
      known = {call, of_.number_of_site(call, site == numbers_.sites.size() ? 0 : numbers_.sites[site])};
    return known.number;
  }

  Status leave(const Event& event) {
    if (!inside_) return wrong("a call must begin before it ends");
    inside_ = false;
    after_call_ = true;
    if (of_.names_.calls[event.call].initialises) {
      if (was_given_) return wrong(fmt::format("the program must begin within {} events", begin_within));
      events_.clear();
      silent_ = {}, rank_summary_ = {};
      begun_ = now_;
    } else if (events_.back().kind == EventKind::enter) { // nothing is known of it
      events_.pop_back();
      count_silent(event.call);
    } else {
      events_.emplace_back(0, EventKind::leave);
    }
    last_ = now_;
    first_piece_ = events_.size();
    return Nothing{};
  }
  void count_silent(std::uint8_t call) {
    auto& all = rank_summary_.silent;
    std::uint16_t& at = silent_[call]; // 1 + its place
    if (at == 0) all.emplace_back(call, 0), at = static_cast<std::uint16_t>(all.size());
    ++all[at - 1u].second;
  }

  // What a region that ends has within it ends, too; one that has not begun does not.
  Status region(const Event& event) {
    const std::uint32_t own = event.region().number;
    if (inside_) return wrong("a region must not begin or end within a call");
    if (own >= numbers_.regions.size())
      return wrong(fmt::format("a region must be below {}", numbers_.regions.size()), own);
    const std::uint32_t place = numbers_.regions[own];
    const auto open = std::find(regions_.rbegin(), regions_.rend(), of_.numbers_of_regions_[place]);
    const bool begins = event.kind == EventKind::begin_region;
    if (!begins && open == regions_.rend()) return Nothing{};
    if (Status s = compute(); !s) return s;
    if (begins)
      regions_.push_back(of_.number_of_region(place));
    else
      regions_.erase(open.base() - 1, regions_.end());
    return Nothing{};
  }

  // --- messages and collectives ---

  Result<std::uint32_t> communicator(std::uint32_t own) {
    if (own == 0) return 0; // unknown
    if (own > numbers_.communicators.size())
      return wrong(fmt::format("a communicator must be at most {}", numbers_.communicators.size()), own);
    return of_.number_of_communicator(numbers_.communicators[own - 1]);
  }

  Status message(const Event& event) {
    Event told = event;
    told.at_ns = 0, told.call = 0;
    if (event.kind == EventKind::start_receive || event.kind == EventKind::end_send) {
      told.become(event.kind, trace::MessageEvent{});
    } else {
      told.message().communicator = TRY(communicator(event.message().communicator));
      if (event.kind == EventKind::send && of_.names_.calls[event.call].sends_locally)
        told.kind = EventKind::start_send;
    }
    events_.push_back(told);
    return Nothing{};
  }

  static bool of_neighbours(const Event& event) {
    const std::uint8_t row = event.collective().row;
    return row < collective_kinds && all_collectives[row]->of_neighbours();
  }
  Status collective(const Event& event) {
    if (of_neighbours(event)) return Nothing{}; // who they are is not known
    Event told = event;
    told.at_ns = 0, told.call = 0;
    if (event.kind == EventKind::start_collective) {
      told.become(event.kind, trace::CollectiveEvent{});
    } else {
      trace::CollectiveEvent& what = told.collective();
      if (what.parts > parts_.size())
        return wrong(fmt::format("a list of parts must be at most {}", parts_.size()), what.parts);
      const std::uint32_t own = what.communicator;
      what.communicator = TRY(communicator(own));
      if (own > 0 && !of_.names_.communicators[numbers_.communicators[own - 1]] && what.communicator > 0)
        what.root = std::min(what.root, 0); // a rank in an order that is unknown: the first one stands for it
      what.root = std::max(what.root, trace::no_rank);
      if (what.parts > 0) {
        std::uint32_t& known = parts_[what.parts - 1];
        if (known == 0) known = of_.number_of_parts(file_->parts(what.parts));
        what.parts = known;
      }
    }
    events_.push_back(told);
    return Nothing{};
  }

  std::string name() const {
    const std::string& call = of_.names_.calls[file_->events[at_].call].name;
    return fmt::format("rank {}, recorded event {}{}", rank_, at_, call.empty() ? "" : " of " + call);
  }
  Error wrong(std::string rule, const Got& got = {}) const {
    return located(name(), wrong_value(std::move(rule), got, record_again));
  }

  static constexpr std::size_t begin_within = 256; // events: what comes before the program is dropped
  struct Site {
    std::uint8_t call = 0;
    std::uint32_t number = none;
  };
  RecordedRanks& of_;
  std::int32_t rank_;
  AtOnce at_once_;
  const NumbersOfRank& numbers_;
  Opened opened_;
  const trace::File* const file_ = &opened_.file;
  std::size_t times_ = 0; // that events were read since it was opened; 0: it is closed
  std::size_t at_ = 0;    // the recorded event
  std::vector<Event> events_;
  std::vector<Site> sites_;          // by number in the events; the last one is unknown
  std::vector<std::uint32_t> parts_; // likewise, from 1 on; 0: not met yet
  std::array<std::uint16_t, 256> silent_{};
  std::vector<std::uint32_t> regions_; // that have begun, the innermost last
  Rank rank_summary_;
  std::int64_t now_ = 0;        // the latest time
  std::int64_t last_ = 0;       // the time up to which all is told
  std::int64_t begun_ = 0;      // of the program
  std::size_t first_piece_ = 0; // of computing since the last call; they lie one behind the other
  bool seen_ = false, inside_ = false, ended_ = false, is_whole_ = false;
  bool after_call_ = false; // the event before was its end
  bool was_given_ = false;  // there were events before these
};

Result<Recorded> recorded(RecordedNames names, RecordedRanks::Open open) {
  const auto ranks = static_cast<std::int32_t>(names.ranks.size());
  auto reader = TRY(RecordedRanks::make(std::move(names), std::move(open)));
  const RecordedRanks& read = *reader;
  Recorded found{Recording(ranks, std::move(reader))};
  found.recording.name_places([&read](std::uint32_t site) { return read.name_of_site(site); });
  if (Status s = found.recording.complete(); !s) return s.error();
  found.sites = read.sites(), found.regions = read.regions();
  for (const RecordedRanks::Rank& each : read.ranks()) {
    found.ns = std::max(found.ns, each.ns);
    found.computing_ns.push_back(each.computing_ns);
    found.events += each.events, found.left_out += each.left_out, found.shared |= each.shared;
    for (const auto& [call, count] : each.silent) {
      const std::string& name = read.name_of_call(call);
      const auto is_it = [&](const auto& known) { return known.first == name; };
      const auto at = std::find_if(found.silent.begin(), found.silent.end(), is_it);
      if (at == found.silent.end())
        found.silent.emplace_back(name, count);
      else
        at->second += count;
    }
  }
  return found;
}

Result<RecordedRanks::Opened> RecordedRanks::opened(std::int32_t rank) {
  auto found = TRY(open_(rank));
  const auto ranks = static_cast<std::int32_t>(ranks_.size());
  if (found.file.rank != rank || found.file.ranks != ranks)
    return wrong_value(fmt::format("the file of rank {} must be of {} ranks", rank, ranks),
                       fmt::format("one of rank {} of {}", found.file.rank, found.file.ranks), record_again);
  return found;
}

std::unique_ptr<EventStream> RecordedRanks::stream(std::int32_t rank, const AtOnce& at_once) {
  return std::make_unique<Reading>(*this, rank, at_once);
}

} // namespace kumihimo::replay
