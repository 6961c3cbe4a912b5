#include "bench_driver/task.hpp"

#include "bench_driver/library_call.hpp"
#include "collectives/named_neighbours.hpp"
#include "placement/placement.hpp"
#include "program_file/program_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;
using Order = std::vector<std::int32_t>; // BenchTask::process_of_rank

template <class T>
void read(const json& from, const char* name, T& value) {
  if (const auto it = from.find(name); it != from.end() && !it->is_null()) value = it->get<T>();
}
template <class T>
void read(const json& from, const char* name, std::optional<T>& value) {
  if (const auto it = from.find(name); it != from.end() && !it->is_null()) value = it->get<T>();
}

// The ranks of each emulated node: one number, with the rest on the last node; or a list. Empty: no emulated nodes.
Result<std::vector<std::int32_t>> emulated_sizes(const json& given, std::int32_t ranks) {
  const auto it = given.find("ranks_per_node");
  if (it == given.end() || it->is_null() || *it == json(0)) return std::vector<std::int32_t>();
  auto sizes = it->is_array() ? it->get<std::vector<std::int32_t>>() : std::vector{it->get<std::int32_t>()};
  for (const std::int32_t size : sizes)
    if (size < 1) return wrong_value("a node has at least 1 rank", size);
  if (!it->is_array()) {
    for (std::int32_t left = ranks - sizes[0]; left > 0; left -= sizes[0]) sizes.push_back(std::min(left, sizes[0]));
    sizes[0] = std::min(sizes[0], ranks);
    return sizes;
  }
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (all != ranks) return wrong_value(fmt::format("the nodes must have {} ranks together", ranks), all);
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
  Parameters p = on_real_ranks();
  for (const ParameterDeclaration& q : declared_parameters)
    std::visit([&](auto member) { read(given, std::string(q.name).c_str(), p.*member); }, q.value);
  read(given, "default_segment_bytes", p.default_segment_bytes);
  return p;
}

// Processes in slots: those of a node are consecutive. None: in block order.
Result<std::optional<Placement>> placement_of(const std::vector<std::int32_t>& sizes, const Order& order) {
  if (order.empty()) return std::optional<Placement>();
  auto slots = TRY(Slots::of_nodes(sizes));
  std::vector<Slot> of_rank;
  for (const std::int32_t process : order) of_rank.push_back(slots.at(process));
  const auto placed = TRY(Placement::make(slots, of_rank));
  return std::optional<Placement>(placed);
}

// The ranks as the algorithms see them. Nodes without a shape, emulated or real, stand in a row.
Result<RankSpace> space_of(const TaskCase& c, std::int32_t ranks, const Nodes& real, const Order& order) {
  if (c.shape == "none") return RankSpace::row(ranks);
  if (c.shape == "node" && !c.emulates) return real.are_several() ? real.space() : RankSpace::node(ranks);
  const std::vector<std::int32_t> sizes =
      c.emulates ? c.node_sizes : std::vector<std::int32_t>(static_cast<std::size_t>(ranks), 1);
  const auto placed = TRY(placement_of(sizes, order));
  if (c.shape == "node") {
    const Shape row({Axis{static_cast<std::int32_t>(sizes.size()), false}});
    return placed ? placed->rank_space(row) : RankSpace::of_nodes(sizes);
  }
  const Shape nodes = TRY(Shape::parse(c.shape));
  if (static_cast<std::size_t>(nodes.places()) != sizes.size())
    return wrong_value(fmt::format("the shape must have as many places as there are {} ({})",
                                   c.emulates ? "nodes" : "ranks",
                                   c.emulates ? static_cast<std::int64_t>(sizes.size()) : ranks),
                       fmt::format("{} with {}", c.shape, nodes.places()),
                       "give a shape whose lengths multiply to ranks / ranks per node");
  if (placed) return placed->rank_space(nodes);
  return are_alike(sizes) ? RankSpace::box(nodes, sizes[0]) : RankSpace::of_nodes(sizes);
}

// Of the ranks: the first processes are on the first node, and so on.
std::vector<std::int32_t> emulated_node_of_rank(const std::vector<std::int32_t>& sizes, const Order& order) {
  std::vector<std::int32_t> of_process, of_rank;
  for (std::size_t node = 0; node < sizes.size(); ++node)
    of_process.insert(of_process.end(), static_cast<std::size_t>(sizes[node]), static_cast<std::int32_t>(node));
  for (const std::int32_t process : order) of_rank.push_back(of_process[static_cast<std::size_t>(process)]);
  return order.empty() ? of_process : of_rank;
}

// An emulated node shares memory, which ranks of different real ones do not.
Status check_emulated(const std::vector<std::int32_t>& node_of_rank, const Nodes& real) {
  std::map<std::int32_t, std::size_t> first; // rank of each emulated node
  for (std::size_t r = 0; r < node_of_rank.size() && real.are_several(); ++r)
    if (const std::size_t other = first.try_emplace(node_of_rank[r], r).first->second;
        real.node_of_rank[r] != real.node_of_rank[other])
      return wrong_value("all ranks of an emulated node must run on one real node",
                         fmt::format("ranks {} and {} run on two", other, r), "leave --ranks-per-node out");
  return Nothing{};
}

Result<Collective> collective_of(const json& given, std::int32_t ranks) {
  const CollectiveKind kind = TRY(parse_collective(given.value("collective", "allreduce")));
  const DataType type = TRY(parse_datatype(given.value("type", "float64")));
  const Operation operation = TRY(parse_operation(given.value("operation", "sum")));
  if (operation == Operation::user)
    return wrong_value("the bench driver supports only MPI's predefined operations", "a user's operation");
  std::int64_t count = 0;
  std::int32_t root = 0;
  bool in_place = false;
  read(given, "count", count);
  read(given, "root", root);
  read(given, "in_place", in_place);
  Result<Collective> made = make_collective(kind, ranks, count, type, operation, Rank{root}, in_place);
  std::optional<std::string> neighbours;
  read(given, "neighbours", neighbours);
  if (neighbours) {
    auto named = TRY(named_neighbours(*neighbours, ranks));
    made = with_neighbours(*made, std::move(named));
  }
  std::optional<std::vector<std::int64_t>> counts;
  read(given, "counts", counts);
  return made && counts ? with_counts(*made, std::move(*counts)) : made;
}

Result<TaskCase> case_of(const json& given, std::int32_t ranks, const Nodes& real, const Order& order) {
  TaskCase c;
  c.collective = TRY(collective_of(given, ranks));
  c.algorithm = given.value("algorithm", "");
  c.parameters = parameters_of(given.value("parameters", json::object()));
  std::vector<std::int32_t> emulated = TRY(emulated_sizes(given, ranks));
  c.emulates = !emulated.empty();
  if (c.emulates) c.node_of_rank = emulated_node_of_rank(emulated, order);
  if (const Status s = check_emulated(c.node_of_rank, real); !s) return s.error();
  c.node_sizes = c.emulates ? std::move(emulated) : real_sizes(ranks, real);
  read(given, "overlap_seconds", c.overlap_seconds);
  if (c.is_non_blocking() && c.collective.counts.irregular())
    return not_applicable("non-blocking calls are measured with blocks of one length", "blocks of different lengths");
  c.shape = given.value("shape", "node");
  c.space = TRY(space_of(c, ranks, real, order));
  return c;
}

Result<NamedPrograms> programs_of(const json& given, ProgramTaskCase& c) {
  constexpr std::string_view halo = "halo:", file = "file:";
  const auto text = given.at("programs").get<std::string>();
  if (text.starts_with(file)) return open_program_file(text.substr(file.size()));
  if (!text.starts_with(halo)) return wrong_value("programs are halo:XxYxZ or file:PATH", "'" + text + "'");
  const Halo parsed = TRY(Halo::parse(std::string_view(text).substr(halo.size())));
  if (parsed.layers != Halo::Box{1, 1, 1} || parsed.type != DataType::float64)
    return not_applicable("bench compares halo exchanges of one layer of float64", {}, "leave out layers and type");
  const Halo placed = TRY(on_ranks(parsed, given.at("lengths").get<std::vector<std::int32_t>>(),
                                   given.at("wraps").get<std::vector<bool>>()));
  c.halo = placed;
  return programs_of(placed);
}

Result<ProgramTaskCase> program_case_of(const json& given, std::int32_t ranks, const Nodes& real,
                                        const BenchTask& task) {
  ProgramTaskCase c;
  Result<NamedPrograms> programs = programs_of(given, c);
  if (!programs) return programs.error();
  c.programs = std::move(*programs);
  if (c.programs.set.ranks() != ranks)
    return wrong_value(fmt::format("the programs must be for {} ranks", ranks), c.programs.set.ranks());
  const Parameters parameters = parameters_of(given.value("parameters", json::object()));
  c.hints = parameters.hints();
  c.parameters_text = with_hints({}, parameters);
  c.flop_rate = given.value("flop_rate", 0.0);
  c.memory_bandwidth = given.value("memory_bandwidth", 0.0);
  c.transport = task.transport;
  const std::vector<std::int32_t> emulated = TRY(emulated_sizes(given, ranks));
  if (emulated.empty()) return c;
  c.transport.node_of_rank = emulated_node_of_rank(emulated, task.process_of_rank);
  if (const Status s = check_emulated(c.transport.node_of_rank, real); !s) return s.error();
  return c;
}

Result<BenchTask::Kind> kind_of(const std::string& name) {
  if (name == "check") return BenchTask::Kind::check;
  if (name == "measure") return BenchTask::Kind::measure;
  if (name == "rehearse") return BenchTask::Kind::rehearse;
  if (name == "calibrate") return BenchTask::Kind::calibrate;
  if (name == "library") return BenchTask::Kind::library;
  if (name == "files") return BenchTask::Kind::files;
  if (name == "one_sided") return BenchTask::Kind::one_sided;
  return wrong_value("a task is check, measure, rehearse, calibrate, library, files or one_sided", "'" + name + "'");
}

Result<LibraryCalls> library_calls_of(const json& given) {
  LibraryCalls asked;
  read(given, "count", asked.count);
  read(given, "calls", asked.calls);
  if (asked.count < 1) return wrong_value("the count must be at least 1", asked.count);
  if (asked.calls.empty()) return missing("the list of library calls", "name at least one");
  for (const std::string& name : asked.calls)
    if (const Result<LibraryCall> call = parse_library_call(name); !call) return call.error();
  return asked;
}

Result<Order> order_of(const json& given, std::int32_t ranks) {
  Order order;
  read(given, "process_of_rank", order);
  std::vector<std::int32_t> sorted = order, all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  std::sort(sorted.begin(), sorted.end());
  if (order.empty() || sorted == all) return order;
  return wrong_value(fmt::format("process_of_rank must name each of the processes 0 to {} once", ranks - 1),
                     fmt::format("{}", fmt::join(order, ", ")));
}

constexpr std::array<std::string_view, 5> calibration_parts = {"engine", "copies", "switch", "library", "noise"};

Status check_calibration(const BenchTask& task) {
  constexpr double most_pieces = 1 << 26; // whose times a rank keeps, 8 bytes each
  for (const std::string& part : task.parts)
    if (std::find(calibration_parts.begin(), calibration_parts.end(), part) == calibration_parts.end())
      return wrong_value(fmt::format("a part of a calibration must be {}", fmt::join(calibration_parts, ", ")),
                         "'" + part + "'");
  if (!(task.quantum_seconds >= 1e-6 && task.quantum_seconds <= 1))
    return wrong_value("the quantum of noise must be from 1 us to 1 s", fmt::format("{} s", task.quantum_seconds));
  if (!(task.noise_seconds >= 100 * task.quantum_seconds && task.noise_seconds <= most_pieces * task.quantum_seconds))
    return wrong_value("noise must be measured for 100 to 2^26 quanta",
                       fmt::format("{} of them", task.noise_seconds / task.quantum_seconds));
  return Nothing{};
}

Result<BenchTask> task_of(const json& given, std::int32_t ranks, const Nodes& real) {
  BenchTask task;
  task.process_of_rank = TRY(order_of(given, ranks));
  task.kind = TRY(kind_of(given.value("task", "")));
  task.pins = given.value("pinning", "auto") != "none";
  if (task.kind == BenchTask::Kind::files) task.files = given.at("files").dump();
  read(given, "tag_upper_bound", task.transport.tag_upper_bound);
  read(given, "shared_memory_limit_bytes", task.transport.shared_memory_limit_bytes);
  read(given, "repeats", task.repeats);
  read(given, "case_seconds", task.case_seconds);
  read(given, "turns_at_least", task.turns_at_least);
  read(given, "turns_at_most", task.turns_at_most);
  read(given, "long_call_seconds", task.long_call_seconds);
  read(given, "compare", task.compares);
  read(given, "bound", task.wants_bound);
  read(given, "measures", task.measures);
  read(given, "controls", task.controls);
  read(given, "parts", task.parts);
  read(given, "noise_seconds", task.noise_seconds);
  read(given, "quantum_seconds", task.quantum_seconds);
  if (Status s = check_calibration(task); !s) return s.error();
  if (task.kind == BenchTask::Kind::one_sided) {
    one_sided::OneSidedTask asked = TRY(one_sided::one_sided_task_of(given, ranks));
    task.one_sided = std::move(asked);
  }
  for (const json& each : given.value("library_calls", json::array())) {
    LibraryCalls asked = TRY(library_calls_of(each));
    task.library_calls.push_back(std::move(asked));
  }
  for (const json& each : given.value("cases", json::array())) {
    TaskCase c = TRY(case_of(each, ranks, real, task.process_of_rank));
    task.cases.push_back(std::move(c));
  }
  for (const json& each : given.value("programs", json::array())) {
    ProgramTaskCase c = TRY(program_case_of(each, ranks, real, task));
    task.programs.push_back(std::move(c));
  }
  return task;
}

Error not_readable(const json::exception& e) { return failed("the task file cannot be read", e.what()); }

} // namespace

Result<std::string> library_of_task(const std::string& text) {
  try {
    return json::parse(text).at("library").get<std::string>();
  } catch (const json::exception& e) {
    return not_readable(e);
  }
}

Result<std::vector<std::int32_t>> order_of_task(const std::string& text, std::int32_t ranks) {
  try {
    return order_of(json::parse(text), ranks);
  } catch (const json::exception& e) {
    return not_readable(e);
  }
}

Result<BenchTask> parse_task(const std::string& text, std::int32_t ranks, const Nodes& nodes) {
  try {
    return task_of(json::parse(text), ranks, nodes);
  } catch (const json::exception& e) {
    return not_readable(e);
  }
}

json to_json(const TaskCase& c, const Schedule& schedule) {
  const Collective& q = c.collective;
  const bool alike = are_alike(c.node_sizes);
  json result = {{"collective", name_of(q.kind)},
                 {"algorithm", schedule.algorithm},
                 {"parameters_text", with_hints(schedule.parameters, c.parameters)},
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
  if (c.is_non_blocking()) result["overlap_seconds"] = *c.overlap_seconds;
  return result;
}

} // namespace kumihimo::bench_driver
