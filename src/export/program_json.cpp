#include "export/program_json.hpp"

#include "export/chunk_text.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace kumihimo {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Chunk& chunk, const DataLayout& data) {
  Json j{{"buffer", text_of(chunk.buffer)}, {"extent", text_of(chunk.extent, data)}};
  if (chunk.buffer.kind == Buffer::Kind::scratch) j["cell"] = chunk.at.text();
  return j;
}

Json json_of(const Step& step, const DataLayout& data) {
  Json j{{"kind", name_of(step.kind)}};
  if (step.sends() || step.receives()) j["peer"] = step.peer.text();
  if (step.kind == StepKind::compute)
    j["work"] = {{"seconds", step.work.seconds}, {"flops", step.work.flops}, {"bytes", step.work.bytes}};
  if (step.target.exists()) j["target"] = json_of(step.target, data);
  if (step.kind == StepKind::receive_reduce) {
    j[step.arriving_left ? "left" : "right"] = "arriving";
    j[step.arriving_left ? "right" : "left"] = json_of(step.source, data);
  } else if (step.kind == StepKind::reduce) {
    j["left"] = json_of(step.source, data);
    j["right"] = json_of(step.right, data);
  } else if (step.source.exists()) {
    j["source"] = json_of(step.source, data);
  }
  return j;
}

Json json_of(const Body& body, const DataLayout& data) {
  Json list = Json::array();
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      list.push_back({{"trip", loop->trip}, {"in_flight", loop->in_flight}, {"body", json_of(loop->body, data)}});
      continue;
    }
    const Round& round = std::get<Round>(node);
    Json steps = Json::array();
    for (const Step& step : round.steps) steps.push_back(json_of(step, data));
    Json j;
    j["steps"] = std::move(steps);
    if (round.gap != Expression(0)) j["gap_bytes"] = round.gap.text();
    list.push_back(std::move(j));
  }
  return list;
}

Json json_of(const Lane& lane, const DataLayout& data) {
  Json after = Json::array();
  for (const After& a : lane.after) {
    Json ids = Json::array();
    for (LaneId id : a.lanes) ids.push_back(id.value);
    after.push_back({{"lanes", ids}, {"scope", a.scope == Scope::segment ? "segment" : "all"}});
  }
  return {{"lane", lane.id.value},
          {"role", lane.role},
          {"window", lane.window},
          {"after", std::move(after)},
          {"body", json_of(lane.body, data)}};
}

Json json_of(const Scratch& s) {
  Json j{{"lane", s.lane.value}, {"shared", s.shared}, {"parts", s.parts}, {"units", s.units}, {"cells", s.cells}};
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

// What the programs of a set have, whatever they are for.
void add_program(const ProgramSet& set, Rank rank, Json& j) {
  const Program program = set.program(rank);
  j["rank"] = rank.value;
  j["scratch"] = j["lanes"] = Json::array();
  for (const Scratch& s : program.scratch) j["scratch"].push_back(json_of(s));
  for (const Lane& lane : program.lanes) j["lanes"].push_back(json_of(lane, *set.data));
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

} // namespace kumihimo
