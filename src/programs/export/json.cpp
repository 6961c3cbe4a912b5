#include "export/json.hpp"

#include "base/int128.hpp"
#include "export/text.hpp"
#include "program/binding.hpp"
#include "program/cursor.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace kumihimo {
namespace {

using Json = nlohmann::ordered_json;

// Steps, rounds and what lanes wait for are written alike in both forms. A view says how its form writes expressions
// and chunks.
template <class View>
typename View::Json json_of(const Step& step, const View& view) {
  typename View::Json j{{"kind", name_of(step.kind)}};
  const auto put = [&](const char* name, const Chunk& chunk) {
    if (chunk.exists()) j[name] = view.of(chunk);
  };
  if (step.sends() || step.receives()) j["peer"] = view.of(step.peer);
  if (step.kind == StepKind::compute)
    j["work"] = {{"seconds", step.work.seconds}, {"flops", step.work.flops}, {"bytes", step.work.bytes}};
  put("target", step.target);
  const bool arriving = step.kind == StepKind::receive_reduce;
  if (arriving) j[step.arriving_left ? "left" : "right"] = "arriving";
  put(arriving                        ? (step.arriving_left ? "right" : "left")
      : step.kind == StepKind::reduce ? "left"
                                      : "source",
      step.source);
  if (step.kind == StepKind::reduce) put("right", step.right);
  return j;
}

template <class View>
typename View::Json json_of(const Round& round, const View& view) {
  auto steps = View::Json::array();
  for (const Step& step : round.steps) steps.push_back(json_of(step, view));
  typename View::Json j{{"steps", std::move(steps)}};
  if (auto gap = view.of(round.gap); gap != view.of(Expression(0))) j["gap_bytes"] = std::move(gap);
  return j;
}

template <class J>
J json_of(const std::vector<After>& after) {
  J list = J::array();
  for (const After& a : after) {
    J ids = J::array();
    for (const LaneId id : a.lanes) ids.push_back(id.value);
    list.push_back({{"lanes", std::move(ids)}, {"scope", a.scope == Scope::segment ? "segment" : "all"}});
  }
  return list;
}

// As it is written: expressions are texts.
struct Written {
  using Json = nlohmann::ordered_json;
  const DataLayout& data;

  std::string of(const Expression& e) const { return e.text(); }
  Json of(const Chunk& chunk) const {
    Json j{{"buffer", text_of(chunk.buffer)}, {"extent", text_of(chunk.extent, data)}};
    if (chunk.buffer.kind == Buffer::Kind::scratch) j["cell"] = chunk.at.text();
    return j;
  }
};

Json json_of(const Body& body, const Written& view) {
  Json list = Json::array();
  for (const Node& node : body) {
    const Loop* loop = std::get_if<Loop>(&node);
    if (loop && loop->together)
      list.push_back({{"together", json_of(loop->body, view)}});
    else if (loop)
      list.push_back({{"trip", loop->trip}, {"in_flight", loop->in_flight}, {"body", json_of(loop->body, view)}});
    else
      list.push_back(json_of(std::get<Round>(node), view));
  }
  return list;
}

Json json_of(const Lane& lane, const DataLayout& data) {
  return {{"lane", lane.id.value},
          {"role", lane.role},
          {"window", lane.window},
          {"after", json_of<Json>(lane.after)},
          {"body", json_of(lane.body, Written{data})}};
}

std::string layout_name(Layout layout) {
  constexpr std::array names{"vector", "input_blocks", "output_blocks"};
  const auto index = static_cast<std::size_t>(layout);
  return is_declared(layout) ? fmt::format("declared{}", index - names.size()) : names[index];
}

Json json_of(const Scratch& s) {
  Json j{{"lane", s.lane.value}, {"shared", s.shared}, {"layout", layout_name(s.layout)},
         {"named", s.named},     {"parts", s.parts},   {"units", s.units},
         {"cells", s.cells}};
  if (s.named) j["first"] = s.first;
  return j;
}

Json json_of(const Claims& claims) {
  Json j{{"in_place_safe", claims.in_place_safe},       {"same_on_all_ranks", claims.same_on_all_ranks},
         {"keeps_rank_order", claims.keeps_rank_order}, {"neighbours_only", claims.neighbours_only},
         {"link_disjoint", claims.link_disjoint},       {"offloads", claims.offloads}};
  if (claims.height >= 0) j["height"] = claims.height;
  return j;
}

// Members that the programs of every set have.
void add_program(const ProgramSet& set, Rank rank, Json& j) {
  const Program program = set.program(rank);
  j["rank"] = rank.value;
  j["scratch"] = j["lanes"] = Json::array();
  for (const Scratch& s : program.scratch) j["scratch"].push_back(json_of(s));
  for (const Lane& lane : program.lanes) j["lanes"].push_back(json_of(lane, *set.data));
}

using nlohmann::json;

class ProgramExpander {
 public:
  ProgramExpander(const ProgramSet& set, Rank rank) : program_(set.program(rank)), binding_(set, rank) {}

  json lanes() const {
    json lanes = json::array();
    for (const Lane& lane : program_.lanes) {
      json segments = json::array();
      for (std::int64_t s = 0; s < binding_.segments().count; ++s) segments.push_back(rounds(lane, s));
      lanes.push_back({{"lane", lane.id.value},
                       {"window", lane.window},
                       {"after", json_of<json>(lane.after)},
                       {"segments", std::move(segments)}});
    }
    return lanes;
  }

 private:
  json rounds(const Lane& lane, std::int64_t segment) const {
    LoopValues values{};
    values[0] = segment;
    json items = json::array();
    append(lane.body, values, 1, items);
    return items;
  }

  // Rounds and loops in program order; loops of which one iteration follows another are the rounds of all.
  void append(const Body& body, LoopValues& values, std::size_t depth, json& items) const {
    for (const Node& node : body) {
      if (const Round* round = std::get_if<Round>(&node)) {
        items.push_back(json_of(*round, Bound{*this, Values(values.data(), depth)}));
        continue;
      }
      const Loop& loop = std::get<Loop>(node);
      if (loop.together) {
        json parts = json::array();
        for (const Node& each : loop.body) append({each}, values, depth + 1, parts.emplace_back(json::array()));
        items.push_back({{"together", std::move(parts)}});
        continue;
      }
      json iterations = json::array();
      for (values[depth] = 0; values[depth] < loop.trip; ++values[depth]) {
        if (loop.in_flight <= 1) {
          append(loop.body, values, depth + 1, items);
          continue;
        }
        json iteration = json::array();
        append(loop.body, values, depth + 1, iteration);
        iterations.push_back(std::move(iteration));
      }
      if (!iterations.empty()) items.push_back({{"in_flight", loop.in_flight}, {"iterations", std::move(iterations)}});
    }
  }

  // Values in one iteration: expressions are numbers.
  struct Bound {
    using Json = nlohmann::json;
    const ProgramExpander& whole;
    Values values;

    std::int64_t of(const Expression& e) const { return e.evaluate(values); }
    json of(const Chunk& c) const { return whole.chunk(c, values); }
  };

  json chunk(const Chunk& c, Values values) const {
    std::vector<ElementRun> elements;
    binding_.append_chunk(program_, c, values, elements);
    const bool scratch = c.buffer.kind == Buffer::Kind::scratch, input = c.buffer.kind == Buffer::Kind::input;
    // Where input and output are one memory, places in it are those of the larger of the two.
    const std::int64_t shift = binding_.one_memory() ? binding_.input_within_output() : 0;
    const std::int64_t moved = scratch ? 0
                               : input ? std::max<std::int64_t>(shift, 0)
                                       : std::max<std::int64_t>(-shift, 0);
    json runs = json::array();
    for (const ElementRun& run : elements) runs.push_back({run.first + moved, run.count});
    return {scratch ? fmt::format("scratch{}", c.buffer.index) : input ? "input" : "output", runs};
  }

  Program program_;
  Binding binding_;
};

Status check_size(const ProgramSet& schedule, std::int64_t most_steps) {
  Wide steps = 0;
  for (std::int32_t r = 0; r < schedule.ranks(); ++r) {
    const Program program = schedule.program(Rank{r});
    for (const Lane& lane : program.lanes)
      steps += static_cast<Wide>(expanded_steps(lane.body)) * schedule.segments.count;
    if (steps > most_steps)
      return wrong_value(fmt::format("an expanded schedule has at most {} steps", most_steps), "more",
                         "take fewer ranks or segments, or leave --expand out");
  }
  return Nothing{};
}

// For each block of each rank's output: the rank that it comes from, the number of the block there, and its length.
json sources_of(const Collective& c) {
  json all = json::array();
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    json sources = json::array();
    for (const Neighbourhood::End from : c.neighbours->sources(Rank{r})) {
      const auto k = static_cast<std::int64_t>(sources.size());
      sources.push_back({from.rank, from.block, elements_from(c, Rank{r}, k)});
    }
    all.push_back(std::move(sources));
  }
  return all;
}

json counts_of_neighbours(const Collective& c) {
  json all = json::array();
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    std::vector<std::int64_t> row;
    for (std::size_t k = 0; k < c.neighbours->destinations(Rank{r}).size(); ++k)
      row.push_back(elements_to(c, Rank{r}, static_cast<std::int64_t>(k)));
    if (c.kind->sends_to_each())
      all.push_back(std::move(row));
    else
      all.push_back(elements_to(c, Rank{r}, 0));
  }
  return all;
}

json counts_of(const Collective& c) {
  if (c.neighbours) return counts_of_neighbours(c);
  if (c.counts.known == Counts::Known::local) {
    json rows = json::array();
    for (std::int32_t r = 0; r < c.ranks; ++r) {
      const auto begin = c.counts.table->begin() + std::int64_t{r} * c.ranks;
      rows.push_back(std::vector<std::int64_t>(begin, begin + c.ranks));
    }
    return rows;
  }
  if (c.counts.known != Counts::Known::uniform) return *c.counts.table;
  if (!c.kind->sends_to_each() && !c.kind->receives_from_each()) return c.counts.each;
  const std::vector<std::int64_t> row(c.ranks, c.counts.each);
  if (c.kind->irregular == Known::local) return std::vector(c.ranks, row);
  return row;
}

json programs_of(const ProgramSet& set) {
  json programs = json::array();
  for (std::int32_t r = 0; r < set.ranks(); ++r) programs.push_back(ProgramExpander(set, Rank{r}).lanes());
  return programs;
}

} // namespace

std::string program_json(const ProgramSet& set, const std::string& name, Rank rank) {
  Json j{
      {"programs", name}, {"ranks", set.ranks()}, {"type", name_of(set.data->type)}, {"segments", set.segments.count}};
  add_program(set, rank, j);
  return j.dump();
}

std::string program_json(const Schedule& schedule, Rank rank) {
  const Collective& c = schedule.collective();
  Json j{{"collective", name_of(c.kind)}, {"ranks", c.ranks}};
  if (c.has_root()) j["root"] = c.root.value;
  if (c.neighbours) j["neighbours"] = c.neighbours->name();
  j["in_place"] = c.in_place;
  j["count"] = c.counts.each;
  if (c.counts.irregular()) j["counts"] = *c.counts.table;
  j["type"] = name_of(c.type);
  if (c.reduces()) j["operation"] = name_of(c.operation);
  j["algorithm"] = schedule.algorithm;
  j["parameters"] = schedule.parameters;
  j["segments"] = schedule.segments.count;
  j["claims"] = json_of(schedule.claims);
  add_program(schedule, rank, j);
  return j.dump();
}

Result<std::string> expanded_json(const ProgramSet& set, const std::string& name, std::int64_t most_steps) {
  if (Status fits = check_size(set, most_steps); !fits) return fits.error();
  json elements = json::array();
  for (std::int32_t r = 0; r < set.ranks(); ++r) {
    const Binding binding(set, Rank{r});
    elements.push_back({binding.input_elements(), binding.output_elements()});
  }
  const json j{
      {"form", "kumihimo-expanded-programs-1"}, {"programs_name", name},           {"ranks", set.ranks()},
      {"one_buffer", set.data->one_buffer},     {"elements", std::move(elements)}, {"programs", programs_of(set)}};
  return j.dump();
}

Result<std::string> expanded_json(const Schedule& schedule, std::int64_t most_steps) {
  if (Status fits = check_size(schedule, most_steps); !fits) return fits.error();
  const Collective& c = schedule.collective();
  json j{{"form", "kumihimo-expanded-schedule-2"},
         {"collective", name_of(c.kind)},
         {"ranks", c.ranks},
         {"root", c.root.value},
         {"in_place", c.in_place},
         {"algorithm", schedule.algorithm},
         {"count", counts_of(c)}};
  if (c.neighbours) j["sources"] = sources_of(c);
  j["programs"] = programs_of(schedule);
  return j.dump();
}

} // namespace kumihimo
