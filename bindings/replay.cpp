// kumihimo._replay: recorded programs, run again in a model.
#include "border.hpp"
#include "goal/text.hpp"
#include "replay/extrapolate.hpp"
#include "replay/graphs.hpp"
#include "replay/program_sends.hpp"
#include "replay/recorded_ranks.hpp"
#include "replay/recording.hpp"
#include "replay/times.hpp"
#include "sent_rows.hpp"
#include "trace/rank_files.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::replay {
namespace {

constexpr double second = 1e12; // in picoseconds
double seconds(Time time) { return static_cast<double>(time) / second; }

void set(Recording& recording, std::int32_t rank, const nb::bytes& rows) {
  if (rank < 0 || rank >= recording.ranks() || rows.size() % sizeof(Event) != 0)
    raise(wrong_value("events must be whole rows of a rank of the recording", rank));
  std::vector<Event> events(rows.size() / sizeof(Event));
  if (!events.empty()) std::memcpy(events.data(), rows.data(), rows.size());
  for (const Event& each : events)
    if (static_cast<std::size_t>(each.kind) >= trace::kinds)
      raise(wrong_value("an event must be of a known kind", rank));
  recording.set(rank, std::move(events));
}

using Call = std::tuple<std::uint8_t, std::string, bool, bool>;
using Numbers = std::tuple<std::vector<std::uint32_t>, std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

Recorded read_recorded(std::vector<std::string> files, const std::vector<Call>& calls, std::vector<std::string> sites,
                       std::vector<std::string> regions,
                       std::vector<std::optional<std::vector<std::int32_t>>> communicators,
                       const std::vector<Numbers>& ranks) {
  RecordedNames names;
  for (const auto& [number, name, initialises, sends_locally] : calls)
    names.calls[number] = {name, initialises, sends_locally};
  names.sites = std::move(sites), names.regions = std::move(regions), names.communicators = std::move(communicators);
  for (const auto& [of_sites, of_regions, of_communicators] : ranks)
    names.ranks.push_back({of_sites, of_regions, of_communicators});
  if (files.size() != ranks.size()) raise(wrong_value("there must be a file for each rank", files.size()));
  auto open = [all = trace::RankFiles(std::move(files))](std::int32_t rank) mutable -> Result<RecordedRanks::Opened> {
    const auto opened = TRY(all.open(rank));
    return RecordedRanks::Opened{opened.file, opened.map};
  };
  return unwrap(unlocked([&] { return recorded(std::move(names), std::move(open)); }));
}

void check_below(const char* what, std::int64_t number, std::int64_t end) {
  if (number < 0 || number >= end) raise(wrong_value(fmt::format("{} must be from 0 to {}", what, end - 1), number));
}

std::int32_t checked_ranks(std::int32_t ranks) {
  if (ranks < 1 || ranks > goal::most_ranks)
    raise(wrong_value(fmt::format("a recording must have from 1 to {} ranks", goal::most_ranks), ranks));
  return ranks;
}

std::int64_t count_of(const Source& source, std::int64_t call) {
  check_below("a call", call, static_cast<std::int64_t>(source.calls().size()));
  return source.count_of(static_cast<std::uint32_t>(call));
}

std::vector<std::int32_t> members_of(const Source& source, std::int64_t call) {
  check_below("a call", call, static_cast<std::int64_t>(source.calls().size()));
  const std::uint32_t communicator = source.calls()[static_cast<std::size_t>(call)].communicator;
  std::vector<std::int32_t> members;
  for (std::int32_t r = 0; r < source.size_of(communicator); ++r) members.push_back(source.member(communicator, r));
  return members;
}

void check_grid(const Grid& grid) {
  std::int64_t ranks = 1;
  for (const std::int32_t length : grid)
    if (length < 1 || (ranks *= length) > goal::most_ranks)
      raise(wrong_value(fmt::format("a grid must have axes from 1 on and at most {} ranks", goal::most_ranks), length));
  if (grid.empty()) raise(wrong_value("a grid must have an axis"));
}

Grid checked_scaled_grid(const Grid& grid, std::int32_t ranks) {
  check_grid(grid);
  return scaled_grid(grid, checked_ranks(ranks));
}

Extrapolation extrapolated(const Recording& recording, const Grid& from, const Grid& to, bool strong) {
  check_grid(from), check_grid(to);
  return unwrap(Extrapolation::make(recording, from, to, strong));
}

using Site = std::optional<std::uint32_t>;
template <Site (ReplayProgram::*of)(std::int32_t, std::uint32_t) const>
Site site(const ReplayProgram& program, std::int32_t rank, std::int64_t operation) {
  check_below("a rank", rank, program.graphs.ranks());
  check_below("an operation", operation, static_cast<std::int64_t>(program.graphs.of(rank).operations.size()));
  return (program.*of)(rank, static_cast<std::uint32_t>(operation));
}

using Chosen = std::optional<std::tuple<const Variant*, Parameters, double>>; // none: the call sends nothing

std::vector<Choice> choices_of(const std::vector<Chosen>& chosen) {
  std::vector<Choice> choices;
  for (const Chosen& each : chosen) {
    Choice choice;
    if (each) std::tie(choice.variant, choice.parameters, choice.more_seconds) = *each;
    if (each && choice.variant == nullptr) raise(wrong_value("a choice must have an algorithm", "None"));
    choices.push_back(choice);
  }
  return choices;
}

ReplayProgram program(const Source& source, const std::vector<Chosen>& chosen, const goal::WorkRates& rates,
                      double speed, std::vector<double> region_speed, bool balanced,
                      const std::optional<RankSpace>& space, std::optional<std::int64_t> windowed_from) {
  const std::vector<Choice> choices = choices_of(chosen);
  ReplayOptions options{speed, std::move(region_speed), balanced, rates, space};
  options.windowed_from = windowed_from;
  return unwrap(unlocked([&] { return program_of(source, choices, options); }));
}

ReplayProgram program_of_goal(const goal::Graphs& graphs, double speed, bool balanced) {
  ReplayOptions options;
  options.speed = speed, options.balanced = balanced;
  return unwrap(unlocked([&] { return program_of(graphs, options); }));
}

void make_sends(ProgramSends* self, const Source& source, const std::vector<Chosen>& chosen,
                const std::optional<RankSpace>& space) {
  std::vector<Choice> choices = choices_of(chosen);
  if (choices.size() != source.calls().size()) raise(failed("there must be a choice for each collective"));
  new (self) ProgramSends(source, std::move(choices), space);
}

SentRow sends_of(ProgramSends& sends, std::int32_t rank) {
  check_below("a rank", rank, sends.ranks());
  return sent_row(unwrap(unlocked([&] { return sends.of(rank); })));
}

using Row = std::tuple<std::int64_t, double, double, std::int32_t, std::int32_t>;
std::vector<Row> rows_of(const std::vector<PlaceTimes>& places) {
  std::vector<Row> rows;
  for (const PlaceTimes& p : places)
    rows.emplace_back(p.count, seconds(p.time), seconds(p.longest_of_rank), p.longest_rank, p.ranks);
  return rows;
}

std::vector<double> all_seconds(const std::vector<Time>& all) {
  std::vector<double> values;
  for (const Time each : all) values.push_back(seconds(each));
  return values;
}

void bind_recording(nb::module_& m) {
  nb::class_<Source>(m, "Source", "A program of so many ranks.")
      .def_prop_ro("ranks", &Source::ranks)
      .def("count_of", &count_of, "call"_a, "How often one of `calls` is performed.")
      .def("members", &members_of, "call"_a, "The ranks of the program that perform one of `calls`, in their order.")
      .def_prop_ro(
          "calls",
          [](const Source& source) {
            std::vector<std::tuple<std::string, std::int32_t, std::int64_t, bool, bool>> calls;
            for (const RecordedCollective& c : source.calls())
              calls.emplace_back(all_collectives[c.collective]->name, source.size_of(c.communicator), c.bytes,
                                 !c.table.empty(), is_like_world(source, c.communicator));
            return calls;
          },
          "The different collectives: name, ranks, bytes of the vector or a block, whether blocks differ, whether it "
          "is of all ranks in their order.");
  nb::class_<Recording, Source>(m, "Recording", "What each rank of a program did.")
      .def(
          "__init__", [](Recording* self, std::int32_t ranks) { new (self) Recording(checked_ranks(ranks)); },
          "ranks"_a)
      .def("add_communicator", &Recording::add_communicator, "members"_a, "Its number; 0 is the world.")
      .def("add_parts", &Recording::add_parts, "bytes"_a, "The number of this list, from 1.")
      .def("set", &set, "rank"_a, "rows"_a, "The events of a rank, as they lie in memory.")
      .def(
          "name_places",
          [](Recording& recording, std::vector<std::string> names) {
            recording.name_places([names = std::move(names)](std::uint32_t place) {
              return place < names.size() ? names[place] : std::string("an unknown call");
            });
          },
          "names"_a, "Of call sites, for errors.")
      .def("complete", [](Recording& r) { unwrap(unlocked([&] { return r.complete(); })); });
  nb::class_<Recorded>(m, "Recorded", "A recording of the recorder's files.")
      .def_prop_ro(
          "recording", [](Recorded& of) -> Recording& { return of.recording; }, nb::rv_policy::reference_internal)
      .def_ro("sites", &Recorded::sites)
      .def_ro("regions", &Recorded::regions)
      .def_prop_ro("seconds", [](const Recorded& of) { return static_cast<double>(of.ns) / 1e9; })
      .def_prop_ro("computing",
                   [](const Recorded& of) {
                     std::vector<double> all;
                     for (const std::int64_t ns : of.computing_ns) all.push_back(static_cast<double>(ns) * 1e-9);
                     return all;
                   })
      .def_ro("events", &Recorded::events)
      .def_ro("left_out", &Recorded::left_out, "Events that the recorder had no room for.")
      .def_ro("shared", &Recorded::shared)
      .def_ro("silent", &Recorded::silent, "Calls that were left out, and how often.");
  m.def("read_recorded", &read_recorded, "files"_a, "calls"_a, "sites"_a, "regions"_a, "communicators"_a, "ranks"_a,
        "`files`: by rank. `calls`: number, name, whether the program begins when it leaves, whether its send ends "
        "before it is received. `communicators`: members, the first one is the world; None: unknown. `ranks`: of each, "
        "places in these lists by its numbers of sites, regions and communicators.");
  nb::class_<Extrapolation, Source>(m, "Extrapolation", "A recording of another number of ranks.")
      .def(
          "model_of",
          [](const Extrapolation& source, std::int32_t rank) {
            check_below("a rank", rank, source.ranks());
            return source.model_of(rank);
          },
          "rank"_a, "The recorded rank that does the same.");
  m.def("grid_of", border(&grid_of), "recording"_a, "The grid on which its messages go the least distance.");
  m.def("scaled_grid", &checked_scaled_grid, "grid"_a, "ranks"_a, "A grid of so many ranks with as many axes.");
  m.def("extrapolated", &extrapolated, nb::keep_alive<0, 1>(), "recording"_a, "from_"_a, "to"_a, "strong"_a,
        "A program like the recording on a larger or smaller grid.");
  m.def("collectives", [] {
    std::vector<std::string> names;
    for (const CollectiveKind& each : all_collectives) names.emplace_back(each->name);
    return names;
  });
}

void bind_times(nb::module_& m) {
  nb::class_<Times>(m, "Times", "Seconds of a replayed program.")
      .def_prop_ro("total", [](const Times& t) { return seconds(t.total); })
      .def_ro("last_rank", &Times::last_rank)
      .def_prop_ro("end", [](const Times& t) { return all_seconds(t.end); })
      .def_prop_ro("computing", [](const Times& t) { return all_seconds(t.computing); })
      .def_prop_ro("lost_to_noise", [](const Times& t) { return seconds(t.lost_to_noise); })
      .def_ro("operations", &Times::operations)
      .def_ro("messages", &Times::messages)
      .def_ro("bytes", &Times::bytes)
      .def_prop_ro(
          "sites", [](const Times& t) { return rows_of(t.sites); },
          "By call site: calls, time of all ranks, of the rank with most, this rank, ranks.")
      .def_prop_ro("regions", [](const Times& t) { return rows_of(t.regions); })
      .def_prop_ro(
          "intervals",
          [](const Times& t) {
            std::vector<std::tuple<std::int32_t, std::uint32_t, bool, double, double>> all;
            for (const PlaceInterval& i : t.intervals)
              all.emplace_back(i.rank, i.place, i.is_call, seconds(i.start), seconds(i.end));
            return all;
          },
          "Rank, place, whether it is a call, start, end.");
}

} // namespace
} // namespace kumihimo::replay

NB_MODULE(_replay, m) {
  using namespace kumihimo::replay;
  m.doc() = "Recorded programs, run again in a model.";
  for (const char* const module : {"kumihimo._collectives", "kumihimo._goal"}) nb::module_::import_(module);
  bind_recording(m);
  bind_times(m);
  nb::class_<NetworkFactors>(m, "NetworkFactors", "Of latency of a hop, cost of a message, and bandwidth.")
      .def(
          "__init__",
          [](NetworkFactors* self, double latency, double cost, double bandwidth) {
            new (self) NetworkFactors{latency, cost, bandwidth};
          },
          "latency"_a = 1.0, "cost"_a = 1.0, "bandwidth"_a = 1.0);
  nb::class_<ProgramSends>(m, "ProgramSends", "What each rank of a recording sends, with its collectives.")
      .def("__init__", &make_sends, "source"_a, "chosen"_a, "space"_a = nb::none(), nb::keep_alive<1, 2>())
      .def_prop_ro("ranks", &ProgramSends::ranks)
      .def("sends", &sends_of, "rank"_a,
           "Of all sends of a rank: receivers in ascending order, bytes and messages of each.");
  nb::class_<ReplayProgram>(m, "Program", "A recording as graphs of operations.")
      .def_prop_ro(
          "different",
          [](const ReplayProgram& p) {
            return p.windowed ? static_cast<std::size_t>(p.windowed->source->ranks()) : p.graphs.different();
          },
          "Graphs that ranks share.")
      .def("site_of_wait", &site<&ReplayProgram::site_of_wait>, "rank"_a, "operation"_a,
           "Of the first call that leaves when the operation ends; None: of none.")
      .def("site_of", &site<&ReplayProgram::site_of>, "rank"_a, "operation"_a,
           "Of the call that it is a part of; None: of none.")
      .def_ro("graphs", &ReplayProgram::graphs);
  m.def("program_of", &program, "source"_a, "choices"_a, "rates"_a, "speed"_a = 1.0,
        "region_speed"_a = std::vector<double>{}, "balanced"_a = false, "space"_a = nb::none(),
        "windowed_from"_a = nb::none(), nb::keep_alive<0, 1>(),
        "`choices`: algorithm and parameters of each of source.calls, and seconds that each of its ranks takes beyond "
        "them; None: the call sends nothing. `windowed_from`: with more operations there are no "
        "graphs; times() makes them as it comes to them. None: there must be graphs.");
  m.def("program_of_goal", &program_of_goal, "graphs"_a, "speed"_a = 1.0, "balanced"_a = false,
        "The graphs of a GOAL file as a program without call sites.");
}
