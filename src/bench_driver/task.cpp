#include "bench_driver/task.hpp"

#include "bench_driver/library_calls.hpp"
#include "collectives/named_neighbours.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

template <class T>
void read(const json& from, const char* name, T& value) {
  if (const auto it = from.find(name); it != from.end() && !it->is_null()) value = it->get<T>();
}
template <class T>
void read(const json& from, const char* name, std::optional<T>& value) {
  if (const auto it = from.find(name); it != from.end() && !it->is_null()) value = it->get<T>();
}

// How many ranks each emulated node has: so many, and the last one the rest; or those listed. None: none are emulated.
Result<std::vector<std::int32_t>> emulated_sizes(const json& given, std::int32_t ranks) {
  const auto it = given.find("ranks_per_node");
  if (it == given.end() || it->is_null() || *it == json(0)) return std::vector<std::int32_t>();
  auto sizes = it->is_array() ? it->get<std::vector<std::int32_t>>() : std::vector{it->get<std::int32_t>()};
  for (const std::int32_t size : sizes)
    if (size < 1) return bad_input("a node has at least 1 rank", std::to_string(size));
  if (!it->is_array()) return execute::nodes_of(ranks, sizes[0]);
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (all != ranks) return bad_input(fmt::format("nodes of {} ranks together", ranks), std::to_string(all));
  return sizes;
}

std::vector<std::int32_t> real_sizes(std::int32_t ranks, const Nodes& real) {
  if (!real.are_several()) return {ranks};
  std::vector<std::int32_t> sizes(real.names.size());
  for (const std::int64_t node : real.node_of_rank) ++sizes[static_cast<std::size_t>(node)];
  return sizes;
}

bool are_alike(const std::vector<std::int32_t>& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [&](std::int32_t size) { return size == sizes[0]; });
}

Parameters parameters_of(const json& given) {
  Parameters p;
  p.default_segment_bytes = std::int64_t{64} << 10; // of one node's channels
  for (const NumberParameter& q : number_parameters) read(given, std::string(q.name).c_str(), p.*q.value);
  read(given, "overlap", p.overlap);
  read(given, "single_copy", p.single_copy);
  read(given, "past_caches", p.past_caches);
  read(given, "inner", p.inner);
  read(given, "outer", p.outer);
  read(given, "default_segment_bytes", p.default_segment_bytes);
  return p;
}

// The ranks as the algorithms see them. Nodes without a shape, emulated or real, stand in a row.
Result<RankSpace> space_of(const Case& c, std::int32_t ranks, const Nodes& real) {
  if (c.shape == "none") return RankSpace::row(ranks);
  if (c.shape == "node" && c.emulates) return RankSpace::of_nodes(c.node_sizes);
  if (c.shape == "node") return real.are_several() ? RankSpace::on_nodes(real.node_of_rank) : RankSpace::node(ranks);
  const Result<Shape> nodes = Shape::parse(c.shape);
  if (!nodes) return nodes.error();
  const std::vector<std::int32_t> sizes = c.emulates ? c.node_sizes : execute::nodes_of(ranks, 1);
  if (static_cast<std::size_t>(nodes->places()) != sizes.size())
    return bad_input(c.emulates ? fmt::format("a shape of the {} nodes", sizes.size())
                                : fmt::format("a shape of {} ranks", ranks),
                     fmt::format("{} with {} places", c.shape, nodes->places()),
                     "give a shape whose lengths multiply to ranks / ranks per node");
  return are_alike(sizes) ? RankSpace::box(*nodes, sizes[0]) : RankSpace::of_nodes(sizes);
}

// An emulated node shares memory, which ranks of different real ones do not.
Status check_emulated(const std::vector<std::int32_t>& sizes, const Nodes& real) {
  if (!real.are_several()) return Nothing{};
  std::size_t first = 0;
  for (const std::int32_t size : sizes) {
    for (std::size_t r = first + 1; r < first + static_cast<std::size_t>(size); ++r)
      if (real.node_of_rank[r] != real.node_of_rank[r - 1])
        return bad_input("emulated nodes that lie on one real node each",
                         fmt::format("ranks {} and {} on two", r - 1, r), "leave --ranks-per-node out");
    first += static_cast<std::size_t>(size);
  }
  return Nothing{};
}

Result<Collective> collective_of(const json& given, std::int32_t ranks) {
  const Result<CollectiveKind> kind = parse_collective(given.value("collective", "allreduce"));
  if (!kind) return kind.error();
  const Result<DataType> type = parse_datatype(given.value("type", "float64"));
  if (!type) return type.error();
  const Result<Operation> operation = parse_operation(given.value("operation", "sum"));
  if (!operation) return operation.error();
  if (*operation == Operation::user)
    return bad_input("one of MPI's own operations, which the bench driver has",
                     "the user's, of which it has no function");
  std::int64_t count = 0;
  std::int32_t root = 0;
  bool in_place = false;
  read(given, "count", count);
  read(given, "root", root);
  read(given, "in_place", in_place);
  Result<Collective> made = make_collective(*kind, ranks, count, *type, *operation, Rank{root}, in_place);
  std::optional<std::string> neighbours;
  read(given, "neighbours", neighbours);
  if (neighbours) {
    auto named = named_neighbours(*neighbours, ranks);
    if (!named) return named.error();
    made = with_neighbours(*made, std::move(*named));
  }
  std::optional<std::vector<std::int64_t>> counts;
  read(given, "counts", counts);
  return made && counts ? with_counts(*made, std::move(*counts)) : made;
}

Result<Case> case_of(const json& given, std::int32_t ranks, const Nodes& real) {
  Case c;
  Result<Collective> collective = collective_of(given, ranks);
  if (!collective) return collective.error();
  c.collective = std::move(*collective);
  c.algorithm = given.value("algorithm", "");
  c.parameters = parameters_of(given.value("parameters", json::object()));
  Result<std::vector<std::int32_t>> emulated = emulated_sizes(given, ranks);
  if (!emulated) return emulated.error();
  if (const Status s = check_emulated(*emulated, real); !s) return s.error();
  c.emulates = !emulated->empty();
  c.node_sizes = c.emulates ? std::move(*emulated) : real_sizes(ranks, real);
  c.shape = given.value("shape", "node");
  Result<RankSpace> space = space_of(c, ranks, real);
  if (!space) return space.error();
  c.space = std::move(*space);
  return c;
}

Result<Task::Kind> kind_of(const std::string& name) {
  if (name == "check") return Task::Kind::check;
  if (name == "measure") return Task::Kind::measure;
  if (name == "rehearse") return Task::Kind::rehearse;
  if (name == "calibrate") return Task::Kind::calibrate;
  if (name == "library") return Task::Kind::library;
  return bad_input("a task is check, measure, rehearse, calibrate or library", "'" + name + "'");
}

Result<LibraryQuestion> library_question_of(const json& given) {
  LibraryQuestion question;
  read(given, "count", question.count);
  read(given, "calls", question.calls);
  if (question.count < 1) return bad_input("a question of at least 1 element", std::to_string(question.count));
  if (question.calls.empty()) return bad_input("a question with calls", "none");
  for (const std::string& name : question.calls)
    if (const Result<LibraryCall> call = parse_library_call(name); !call) return call.error();
  return question;
}

Result<Task> task_of(const json& given, std::int32_t ranks, const Nodes& real) {
  Task task;
  const Result<Task::Kind> kind = kind_of(given.value("task", ""));
  if (!kind) return kind.error();
  task.kind = *kind;
  task.pins = given.value("pinning", "auto") != "none";
  read(given, "tag_upper_bound", task.transport.tag_upper_bound);
  read(given, "shared_memory_limit_bytes", task.transport.shared_memory_limit_bytes);
  read(given, "repeats", task.repeats);
  read(given, "case_seconds", task.case_seconds);
  read(given, "turns_at_least", task.turns_at_least);
  read(given, "turns_at_most", task.turns_at_most);
  read(given, "compare", task.compares);
  read(given, "bound", task.wants_bound);
  read(given, "measures", task.measures);
  read(given, "delay_seconds", task.delay_seconds);
  read(given, "controls", task.controls);
  for (const json& each : given.value("questions", json::array())) {
    Result<LibraryQuestion> question = library_question_of(each);
    if (!question) return question.error();
    task.questions.push_back(std::move(*question));
  }
  for (const json& each : given.value("cases", json::array())) {
    Result<Case> c = case_of(each, ranks, real);
    if (!c) return c.error();
    task.cases.push_back(std::move(*c));
  }
  return task;
}

Error not_readable(const json::exception& e) { return bad_input("a task that can be read", e.what()); }

} // namespace

Result<std::string> library_of_task(const std::string& text) {
  try {
    return json::parse(text).at("library").get<std::string>();
  } catch (const json::exception& e) {
    return not_readable(e);
  }
}

Result<Task> parse_task(const std::string& text, std::int32_t ranks, const Nodes& nodes) {
  try {
    return task_of(json::parse(text), ranks, nodes);
  } catch (const json::exception& e) {
    return not_readable(e);
  }
}

json to_json(const Case& c, const Schedule& schedule) {
  const Collective& q = c.collective;
  const bool alike = are_alike(c.node_sizes);
  json result = {{"collective", name_of(q.kind)},
                 {"algorithm", schedule.algorithm},
                 {"parameters_text", schedule.parameters},
                 {"shape", c.shape},
                 {"space", c.space.name()},
                 {"ranks", q.ranks},
                 {"nodes", c.node_sizes.size()},
                 {"ranks_per_node", alike ? c.node_sizes[0] : 0},
                 {"count", q.counts.each},
                 {"bytes", q.bytes().value},
                 {"type", name_of(q.type)},
                 {"in_place", q.in_place}};
  if (!alike) result["node_sizes"] = c.node_sizes;
  if (q.reduces()) result["operation"] = name_of(q.operation);
  if (q.has_root()) result["root"] = q.root.value;
  if (q.neighbours) result["neighbours"] = q.neighbours->name();
  if (q.counts.irregular()) result["counts"] = *q.counts.table;
  return result;
}

} // namespace kumihimo::bench_driver
