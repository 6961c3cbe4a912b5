// kumihimo._traffic: who sends how much to whom.
#include "traffic/traffic.hpp"

#include "border.hpp"
#include "program/named_programs.hpp"
#include "schedule/schedule.hpp"
#include "traffic/metis.hpp"
#include "traffic/pattern.hpp"
#include "traffic/programs.hpp"
#include "traffic/scotch.hpp"
#include "traffic/text.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

using Numbers = std::vector<std::int64_t>;
using Row = std::tuple<std::vector<std::int32_t>, Numbers, Numbers>; // receivers, bytes, messages

Status check_rank(const Traffic& traffic, std::int32_t rank) {
  if (rank >= 0 && rank < traffic.ranks()) return Nothing{};
  return wrong_value("the rank must be below the number of ranks", rank);
}

Row row_of(const Traffic& traffic, std::int32_t rank) {
  unwrap(check_rank(traffic, rank));
  Row row;
  auto& [to, bytes, messages] = row;
  for (const Traffic::Flow& flow : traffic.from(Rank{rank})) {
    to.push_back(flow.to.value);
    bytes.push_back(flow.bytes);
    messages.push_back(flow.messages);
  }
  return row;
}

Traffic renumbered(const Traffic& traffic, const std::vector<std::int32_t>& new_of_old) {
  std::vector<Rank> ranks;
  std::vector<bool> taken(static_cast<std::size_t>(traffic.ranks()));
  for (const std::int32_t rank : new_of_old) {
    unwrap(check_rank(traffic, rank));
    taken[static_cast<std::size_t>(rank)] = true;
    ranks.push_back(Rank{rank});
  }
  if (ranks.size() != taken.size() || std::find(taken.begin(), taken.end(), false) != taken.end())
    raise(wrong_value("new numbers must be a permutation of the ranks", {}));
  return traffic.renumbered(ranks);
}

void add_row(TrafficBuilder& builder, std::int32_t from, const std::vector<std::int32_t>& to, const Numbers& bytes,
             const Numbers& messages) {
  if (to.size() != bytes.size() || to.size() != messages.size())
    raise(wrong_value("a row must have bytes and messages for each receiver", {}));
  for (std::size_t i = 0; i < to.size(); ++i) unwrap(builder.add(Rank{from}, Rank{to[i]}, bytes[i], messages[i]));
}

Traffic built(TrafficBuilder& builder) {
  TrafficBuilder taken = std::move(builder);
  builder = unwrap(TrafficBuilder::make(std::nullopt));
  return unwrap(std::move(taken).build());
}

void bind_traffic(nb::module_& m) {
  nb::class_<Traffic>(m, "Traffic", "How many bytes and messages each rank sends to each other rank.")
      .def_prop_ro("ranks", &Traffic::ranks)
      .def_prop_ro("flows", &Traffic::flows, "Pairs of sender and receiver.")
      .def_prop_ro("bytes", &Traffic::bytes, "Of all flows.")
      .def_prop_ro("messages", &Traffic::messages)
      .def_prop_ro("self_bytes", &Traffic::self_bytes, "What ranks send to themselves; bytes does not include it.")
      .def("row", &row_of, "rank"_a, "Receivers in ascending order, the bytes and the messages of each.")
      .def("renumbered", &renumbered, "new_of_old"_a, "The same traffic with other rank numbers.")
      .def("__eq__", [](const Traffic& a, const Traffic& b) { return a == b; });
  nb::class_<TrafficBuilder>(m, "Builder", "Collects rows of traffic in any order; equal pairs are summed.")
      .def(
          "__init__",
          [](TrafficBuilder* self, std::optional<std::int32_t> ranks) {
            new (self) TrafficBuilder(unwrap(TrafficBuilder::make(ranks)));
          },
          "ranks"_a = nb::none(), "None: one more than the greatest rank of a row.")
      .def(
          "add",
          [](TrafficBuilder& b, std::int32_t from, std::int32_t to, std::int64_t bytes, std::int64_t messages) {
            unwrap(b.add(Rank{from}, Rank{to}, bytes, messages));
          },
          "from_"_a, "to"_a, "bytes"_a, "messages"_a = 1)
      .def("add_row", &add_row, "from_"_a, "to"_a, "bytes"_a, "messages"_a, "Lists of the same length.")
      .def("build", &built, "The traffic; the builder is empty afterwards.");
}

auto unlocked_reader(Result<Traffic> (*parse)(std::string_view text, std::string_view file)) {
  return [parse](std::string_view text, std::string_view file) {
    return unwrap(unlocked([&] { return parse(text, file); }));
  };
}

void bind_sources(nb::module_& m) {
  m.def("parse_traffic", unlocked_reader(&parse_traffic), "text"_a, "file"_a,
        "Lines of sender, receiver, bytes and, if known, messages.");
  m.def("parse_metis", unlocked_reader(&parse_metis), "text"_a, "file"_a, "A graph of METIS.");
  m.def("parse_scotch_graph", unlocked_reader(&parse_scotch_graph), "text"_a, "file"_a, "A source graph of Scotch.");
  m.def(
      "of_pattern",
      [](std::string_view text) {
        const GridPattern pattern = unwrap(GridPattern::parse(text));
        return unlocked([&] { return traffic_of(pattern); });
      },
      "text"_a, "A halo exchange of a grid of ranks: 16x16x16:27, 8x8mx4:7,face=32KiB.");
  m.def(
      "of_programs",
      [](const NamedPrograms& programs) { return unwrap(unlocked([&] { return traffic_of(programs.set); })); },
      "programs"_a, "What all ranks send.");
  m.def(
      "of_programs",
      [](const Schedule& schedule) {
        return unwrap(unlocked([&] { return traffic_of(static_cast<const ProgramSet&>(schedule)); }));
      },
      "schedule"_a);
  m.def(
      "programs_of",
      [](const Traffic& traffic, double share) {
        if (!(share > 0 && share <= 1))
          raise(wrong_value("the share of the traffic must be above 0 and at most 1", fmt::format("{}", share)));
        NamedPrograms programs;
        programs.name = "traffic";
        programs.set = programs_of(traffic, share);
        return programs;
      },
      "traffic"_a, "share"_a = 1.0, "One round in which each rank exchanges this share of all its flows at once.");
}

} // namespace
} // namespace kumihimo

NB_MODULE(_traffic, m) {
  m.doc() = "Who sends how much to whom.";
  for (const char* const module : {"kumihimo._programs", "kumihimo._schedule"}) nb::module_::import_(module);
  kumihimo::bind_traffic(m);
  kumihimo::bind_sources(m);
}
