// Reads machine files (docs/machines.md). Strict on purpose: a misspelt key that is passed over is a wrong prediction.
// The first error found is the one reported.

#include "base/text_parsing.hpp"
#include "machine/families.hpp"
#include "machine/host_list.hpp"
#include "machine/internal.hpp"
#include "machine/library_collectives.hpp"
#include "machine/numbers.hpp"
#include "machine/software_states.hpp"
#include "machine/toml_keys.hpp"
#include "machine/toml_reader.hpp"
#include "topology/single_node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <limits>

namespace kumihimo {
namespace {

constexpr std::int64_t largest_count = std::numeric_limits<std::int32_t>::max();

constexpr int most_key_parts = 64;

// toml++ throws; nothing else of this project sees that.
Result<toml::table> parse_toml(std::string_view text, std::string_view file) {
  if (const std::int64_t line = line_of_long_key(text, most_key_parts); line > 0)
    return wrong_value(fmt::format("{}:{}: a key must have at most {} parts", file, line, most_key_parts), "more",
                       "correct this line");
  if (!is_utf8(text)) return wrong_value(fmt::format("{}: the file must be UTF-8", file), "other bytes", "convert it");
  if (const std::int64_t line = line_of_stray_letter(text); line > 0)
    return wrong_value(fmt::format("{}:{}: letters outside ASCII must be in quotes or comments", file, line),
                       "one elsewhere, or after a backslash at the end of a line", "correct this line");
  if (const std::int64_t line = line_of_header_without_key(text); line > 0)
    return wrong_value(fmt::format("{}:{}: a header must begin with a key, as [network] does", file, line),
                       "another character", "correct this line");
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    return wrong_value(fmt::format("{}:{}: not TOML: {}", file, e.source().begin.line, e.description()), {},
                       "correct this line or the one before it");
  }
}

Result<Bytes> parse_as(std::string_view text, Bytes) { return parse_bytes(text); }
// Simulated times are whole picoseconds of 64 bits, 213 days: far longer than any run of such messages.
constexpr Seconds longest_time{1000};
constexpr BytesPerSecond lowest_rate{1000};

Result<Seconds> parse_as(std::string_view text, Seconds) {
  const Seconds time = TRY(parse_seconds(text));
  if (time > longest_time)
    return wrong_value(fmt::format("must be a time of at most {}", text_of(longest_time)), std::string(text),
                       "correct its number or its unit");
  return time;
}
Result<BytesPerSecond> parse_as(std::string_view text, BytesPerSecond) {
  const BytesPerSecond rate = TRY(parse_rate(text));
  if (rate < lowest_rate)
    return wrong_value(fmt::format("must be a rate of at least {}", text_of(lowest_rate)), std::string(text),
                       "correct its number or its unit");
  return rate;
}
Result<FlopsPerSecond> parse_as(std::string_view text, FlopsPerSecond) { return parse_flop_rate(text); }
Result<OperationSet> parse_as(std::string_view text, OperationSet) { return parse_operations(text); }

constexpr std::string_view example_of(Bytes) { return "\"1 MiB\""; }
constexpr std::string_view example_of(Seconds) { return "\"100 ns\""; }
constexpr std::string_view example_of(BytesPerSecond) { return "\"5 GB/s\""; }
constexpr std::string_view example_of(FlopsPerSecond) { return "\"16 Gflop/s\""; }
constexpr std::string_view example_of(std::int64_t) { return "4"; }
constexpr std::string_view example_of(OperationSet) { return "\"sum max\""; }

class MachineReader : TomlReader {
 public:
  MachineReader(toml::table root, std::string_view file, std::string_view software)
      : TomlReader(file), root_(std::move(root)), states_(*this, root_), software_(software) {}

  Result<Machine> machine() {
    states_.read(software_, machine_);
    if (!error()) read_head();
    if (!error()) check_keys();
    if (!error()) read_numbers();
    if (!error()) check_numbers();
    if (!error()) read_prediction_errors(*this, root_, machine_);
    if (!error()) read_library_collectives(*this, root_, machine_);
    if (!error()) read_slow_nodes();
    if (!error()) read_slow_links();
    if (error()) return *error();
    return std::move(machine_);
  }

 private:
  using Found = std::string;

  void read_head() {
    machine_.name = text(root_, "name", "name", "\"my-machine\"");
    machine_.summary = text(root_, "summary", "summary", "\"one line about the machine\"");
    const toml::table* topology = section("topology");
    if (!topology) return;
    const std::string family = text(*topology, "family", "topology.family", "\"torus\"");
    if (error()) return;
    const auto* const known = std::find(family_names.begin(), family_names.end(), family);
    if (known == family_names.end())
      return fail(line_of(*topology->get("family")), "topology.family",
                  wrong_value("unknown family of topologies", fmt::format("\"{}\"", family),
                              fmt::format("write one of \"{}\"", fmt::join(family_names, "\", \""))));
    machine_.family = static_cast<Family>(known - family_names.begin());
    if (const FamilyRow* row = find_row(machine_.family))
      read_row(*topology, *row);
    else if (machine_.family == Family::tofu)
      read_tofu(*topology);
    else if (machine_.family == Family::torus)
      read_torus(*topology);
    else
      read_single_node(*topology);
    if (!error()) read_node_names(*topology);
    if (root_.contains("offload")) machine_.offload.emplace();
    if (root_.contains("loggops")) machine_.loggops.emplace();
    if (root_.contains("copies")) machine_.node.copies.emplace();
  }

  void read_node_names(const toml::table& topology) {
    constexpr std::string_view key = "node_names", what = "topology.node_names";
    if (!topology.contains(key)) return;
    const std::string list = text(topology, key, what, "\"cn[001-128]\"");
    if (error()) return;
    auto names = parse_host_list(list);
    const std::size_t nodes = static_cast<std::size_t>(machine_.topology->nodes());
    const auto refuse = [&](const Error& error) { fail(line_of(*topology.get(key)), what, error); };
    if (!names) return refuse(names.error());
    if (names->size() != nodes)
      return refuse(wrong_value(fmt::format("must name each of the {} nodes, in order", nodes),
                                fmt::format("{} names", names->size())));
    std::vector<std::string> sorted = *names;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      return refuse(wrong_value("must name each node once", fmt::format("'{}' twice", *twice)));
    machine_.node_names = *std::move(names);
  }

  Shape read_shape(const toml::table& topology, std::string_view key, std::string_view example) {
    const std::string what = fmt::format("topology.{}", key);
    const std::string shape = text(topology, key, what, example);
    if (error()) return {};
    const auto parsed = Shape::parse(shape);
    if (!parsed) return fail(line_of(*topology.get(key)), what, parsed.error()), Shape{};
    return *parsed;
  }

  void read_torus(const toml::table& topology) {
    machine_.shape = read_shape(topology, "shape", "\"48x54x32\"");
    TorusMachine torus;
    read_jobs(topology, torus);
    if (error()) return;
    if (torus.nodes_per_router > 1) {
      std::vector<Axis> axes = machine_.shape.axes();
      if (std::int64_t{machine_.shape.places()} * torus.nodes_per_router > largest_count)
        return fail(line_of(topology), "topology",
                    wrong_value("the machine has at most 2^31-1 nodes", {}, "write a smaller shape"));
      axes.push_back({torus.nodes_per_router, true});
      machine_.shape = Shape(std::move(axes));
    }
    torus.shape = machine_.shape;
    machine_.set_topology(torus.network(torus.shape));
    machine_.torus = std::make_shared<TorusMachine>(std::move(torus));
  }

  // How many nodes a router has, and what a job gets of the torus.
  void read_jobs(const toml::table& topology, TorusMachine& torus) {
    if (const toml::node* node = topology.get("nodes_per_router"); node && !error()) {
      std::int64_t each = 1;
      read_value(*node, "topology.nodes_per_router", "write nodes_per_router = 2", each);
      torus.nodes_per_router = static_cast<std::int32_t>(each);
    }
    if (error() || !topology.contains("jobs")) return;
    const std::string jobs = text(topology, "jobs", "topology.jobs", "\"part\"");
    const auto block = Shape::parse(jobs);
    if (jobs == "part")
      torus.jobs = TorusMachine::Jobs::part;
    else if (block && block->dimensions() == machine_.shape.dimensions() && jobs.find('m') == std::string::npos)
      torus.jobs = TorusMachine::Jobs::blocks, torus.block = *block;
    else if (jobs != "own" && !error())
      fail(line_of(*topology.get("jobs")), "topology.jobs",
           wrong_value("must be own, part or the shape of a block", fmt::format("\"{}\"", jobs),
                       "write \"own\" (a torus of its own), \"part\" (a box, closed where it has all of an axis) or "
                       "the smallest block that is a torus, such as \"8x8x8\""));
  }

  void read_single_node(const toml::table& topology) {
    machine_.topology = std::make_shared<SingleNode>();
    const toml::node* node = topology.get("levels");
    if (!node || error()) return;
    const auto wrong = [&](const toml::node& found) {
      fail(line_of(found), "topology.levels",
           wrong_value("must be levels of cores with names in small letters, outermost first", described(found),
                       "write levels = [\"package 16\", \"l3 4\"], with the cores in each"));
    };
    if (!node->is_array()) return wrong(*node);
    std::vector<Level> levels;
    for (const toml::node& entry : *node->as_array()) {
      const std::string level = entry.value_or(std::string());
      const std::size_t space = level.find(' ');
      if (space == std::string::npos || space == 0) return wrong(entry);
      std::int32_t cores = 0;
      if (!read_number(std::string_view(level).substr(space + 1), cores) || cores < 2) return wrong(entry);
      const std::string name = level.substr(0, space); // a part of keys
      if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) return wrong(entry);
      levels.push_back({name, cores});
    }
    if (const Status set = machine_.set_levels(std::move(levels)); !set)
      fail(line_of(*node), "topology.levels", set.error());
  }

  void read_row(const toml::table& topology, const FamilyRow& row) {
    TopologyDescription description;
    for (const FamilyRow::Key& key : row.keys)
      if (!error() && (key.needed || topology.contains(key.name))) read_key(topology, key, description);
    if (error()) return;
    const auto made = row.make(description);
    if (!made) return fail(line_of(topology), "topology", made.error());
    machine_.set_topology(*made);
  }

  void read_key(const toml::table& topology, const FamilyRow::Key& key, TopologyDescription& description) {
    const std::string what = fmt::format("topology.{}", key.name);
    if (key.kind == FamilyRow::Kind::word)
      return description.add(key.name, text(topology, key.name, what, key.example));
    const auto advice = fmt::format("write {} = {}", key.name, key.example);
    const toml::node* node = topology.get(key.name);
    if (!node) return miss(line_of(topology), what, advice);
    if (key.kind == FamilyRow::Kind::words) {
      std::vector<std::string> words;
      const auto* array = node->as_array();
      const bool all = array && std::all_of(array->begin(), array->end(), [&](const toml::node& word) {
                         words.push_back(word.value_or(std::string()));
                         return word.is_string();
                       });
      if (!all) return fail(line_of(*node), what, wrong_value("must be a list of strings", described(*node), advice));
      return description.add(key.name, std::move(words));
    }
    if (key.kind == FamilyRow::Kind::count) {
      std::int64_t count = 0;
      read_value(*node, what, advice, count);
      return description.add(key.name, count);
    }
    const auto* written = node->as_string();
    const auto no_counts = [&] {
      fail(line_of(*node), what, wrong_value("must be counts of at least 1 joined by x", described(*node), advice));
    };
    if (!written || written->get().find('m') != std::string::npos) return no_counts();
    const auto parsed = Shape::parse(written->get());
    if (!parsed) return no_counts();
    std::vector<std::int32_t> counts;
    for (const Axis& axis : parsed->axes()) counts.push_back(axis.length);
    description.add(key.name, std::move(counts));
  }

  void read_tofu(const toml::table& topology) {
    const Shape axes = read_shape(topology, "axes", "\"24x18mx17x2mx3x2m\"");
    if (error()) return;
    auto network = Tofu::make(axes);
    if (!network) return fail(line_of(*topology.get("axes")), "topology.axes", network.error());
    TofuMachine tofu{std::move(*network), topology.contains("relays")};
    if (tofu.relays && text(topology, "relays", "topology.relays", "\"z=0\"") != "z=0")
      return fail(line_of(*topology.get("relays")), "topology.relays",
                  wrong_value("must be z=0, where nodes only relay", described(*topology.get("relays")),
                              "write relays = \"z=0\", or leave it out"));
    if (tofu.relays && axes.length(Tofu::z) < 2)
      return fail(line_of(*topology.get("axes")), "topology.axes",
                  wrong_value("the relays at z=0 leave no nodes for jobs", axes.text(), "write a longer z axis"));
    read_dead_parts(tofu);
    if (error()) return;
    machine_.tofu = std::make_shared<TofuMachine>(std::move(tofu));
    const auto whole = lay_whole(*machine_.tofu);
    if (!whole) return fail(line_of(topology), "topology", whole.error());
    if (const Status reached = whole->connected(); !reached) machine_.whole_machine_error = reached.error();
    machine_.shape = whole->shape();
    machine_.set_topology(std::make_shared<VirtualTorus>(*whole));
  }

  void read_dead_parts(TofuMachine& tofu) {
    std::vector<NodeId> nodes;
    std::vector<LinkId> links;
    const auto node = [&](const toml::table& part, std::string_view section, std::string_view key) {
      const std::string what = fmt::format("{}.{}", section, key);
      const std::string given = text(part, key, what, "\"3,0,1,0,2,1\"");
      const auto found = error() ? NodeId{} : parse_node(tofu.network, given);
      if (!found)
        fail(line_of(part), what,
             wrong_value(fmt::format("must be the six coordinates of a node of {}", tofu.network.name()),
                         fmt::format("\"{}\"", given), fmt::format("write {} = \"3,0,1,0,2,1\"", key)));
      return found.value_or(NodeId{});
    };
    for_each_part("dead_node", [&](const toml::table& part) {
      check_known(part, {"at"}, "[[dead_node]]");
      nodes.push_back(node(part, "dead_node", "at"));
    });
    for_each_part("dead_link", [&](const toml::table& part) {
      check_known(part, {"from", "to"}, "[[dead_link]]");
      const NodeId from = node(part, "dead_link", "from"), to = node(part, "dead_link", "to");
      if (error()) return;
      const auto link = find_link(tofu.network, from, to);
      if (!link)
        return fail(line_of(part), "dead_link",
                    wrong_value(fmt::format("must join two neighbours in {}", tofu.network.name()),
                                fmt::format("{} and {}", tofu.network.text(from), tofu.network.text(to)),
                                "name nodes one hop apart"));
      links.push_back(*link);
    });
    if (!error()) tofu.network = tofu.network.without(nodes, links);
  }

  // A section that must be there, as a table.
  const toml::table* section(std::string_view name) {
    const toml::node* node = root_.get(name);
    if (!node) return miss(line_of(root_), name, fmt::format("write [{}]", name)), nullptr;
    if (!node->is_table())
      fail(line_of(*node), name, wrong_value("must be a section", described(*node), fmt::format("write [{}]", name)));
    return node->as_table();
  }

  // Rejects what nothing would read. Before anything is missed, since a misspelt key is both unknown and missing.
  void check_keys() {
    Keys root = {
        "name", "summary", "topology", "slow_node", "default_software", "prediction_errors", "library_collectives"};
    SectionKeys sections = {{"topology", {"family", "node_names"}}};
    if (machine_.family == Family::torus) sections["topology"].insert({"shape", "nodes_per_router", "jobs"});
    if (machine_.family == Family::single_node) sections["topology"].insert("levels");
    if (const FamilyRow* row = find_row(machine_.family))
      for (const FamilyRow::Key& key : row->keys) sections["topology"].insert(key.name);
    if (machine_.family == Family::tofu) {
      sections["topology"].insert({"axes", "relays"});
      root.insert({"dead_node", "dead_link"});
    }
    if (machine_.family != Family::single_node && !machine_.switched()) root.insert("slow_link");
    visit_numbers(machine_, [&](std::string_view name, std::string_view key, const auto&) {
      root.insert(name);
      sections[name].insert(key);
    });
    root.insert({"offload", "loggops", "copies"});
    sections["prediction_errors"] = {"source", "fewest_nodes", "most_nodes",          "day_to_day",
                                     "rows",   "correlation",  "correlation_in_class"};
    sections["library_collectives"] = {"source", "rows"};
    const std::string_view family = name_of(machine_.family);
    check_known(root_, root, fmt::format("the file of a {} machine", family));
    states_.check_keys(sections, family);
    for (const auto& [name, keys] : sections)
      if (const toml::node* node = root_.get(name); node && node->is_table())
        check_known(*node->as_table(), keys, fmt::format("[{}] of a {} machine", name, family));
  }

  void read_numbers() {
    visit_numbers(machine_, [&](std::string_view name, std::string_view key, auto& number) {
      if (error()) return;
      if (const toml::table* table = section(name)) read(*table, name, key, number);
    });
    auto& network = machine_.network;
    if (machine_.family != Family::single_node && network.injection_bandwidth.source.empty())
      network.injection_bandwidth = {
          {static_cast<double>(network.engines.value) * network.engine_bandwidth.value.value},
          network.engine_bandwidth.provenance,
          "all engines together: engines x engine_bandwidth"};
  }

  template <class T>
  void read(const toml::table& table, std::string_view name, std::string_view key, std::optional<Quantity<T>>& number) {
    if (table.contains(key)) read(table, name, key, number.emplace());
  }

  // key = { value = ..., published | measured | fitted | assumed = "source" }
  template <class T>
  void read(const toml::table& table, std::string_view name, std::string_view key, Quantity<T>& number) {
    const std::string what = fmt::format("{}.{}", name, key);
    const std::string form =
        fmt::format("write {} = {{ value = {}, published = \"where\" }}, or measured, fitted or assumed = "
                    "\"why\"",
                    key, example_of(T{}));
    const toml::node* node = table.get(key);
    if (!node) {
      if (key == "injection_bandwidth") return; // all engines together, unless the file knows better
      return miss(line_of(table), what, form);
    }
    const toml::table* entry = node->as_table();
    if (!entry)
      return fail(line_of(*node), what, wrong_value("must be a number with its source", described(*node), form));
    check_known(*entry, {"value", "published", "measured", "fitted", "assumed"}, what);
    read_source(*entry, what, form, number.provenance, number.source);
    if (error()) return;
    const toml::node* value = entry->get("value");
    if (!value) return miss(line_of(*node), fmt::format("{}.value", what), form);
    read_value(*value, what, form, number.value);
  }

  void read_source(const toml::table& entry, std::string_view what, const std::string& form, Provenance& provenance,
                   std::string& source) {
    int sources = 0;
    for (const Provenance p : provenances) {
      if (!entry.contains(name_of(p))) continue;
      ++sources;
      provenance = p;
      source = text(entry, name_of(p), what, "\"where the number comes from\"");
    }
    if (sources != 1)
      fail(line_of(entry), what,
           wrong_value("must have exactly one of published, measured, fitted and assumed",
                       fmt::format("{} of them", sources), form));
  }

  template <class T>
  void read_value(const toml::node& node, std::string_view what, const std::string& form, T& value) {
    const auto* written = node.as_string();
    if (!written) return fail(line_of(node), what, wrong_value("must be a string with a unit", described(node), form));
    const auto parsed = parse_as(written->get(), T{});
    if (!parsed) return fail(line_of(node), what, parsed.error());
    value = *parsed;
  }
  void read_value(const toml::node& node, std::string_view what, const std::string& form, std::int64_t& value) {
    const auto* written = node.as_integer();
    if (!written || written->get() < 1 || written->get() > largest_count)
      return fail(line_of(node), what, wrong_value("must be a whole number from 1 to 2^31-1", described(node), form));
    value = written->get();
  }

  // What no unit can tell: numbers that contradict each other.
  void check_numbers() {
    const auto& [network, node] = std::tie(machine_.network, machine_.node);
    if (machine_.family != Family::single_node) {
      at_most("network.link_bandwidth", network.link_bandwidth.value, "link_peak", network.link_peak.value);
      const double engines = static_cast<double>(network.engines.value) * network.engine_bandwidth.value.value;
      at_most("network.injection_bandwidth", network.injection_bandwidth.value, "engines x engine_bandwidth",
              BytesPerSecond{engines});
    }
    at_most("node.reduction_rate_scalar", node.reduction_rate_scalar.value, "reduction_rate",
            node.reduction_rate.value);
    const auto& software = machine_.software;
    both_or_none("software", "eager_bytes", software.eager_bytes, "rendezvous_latency", software.rendezvous_latency);
    both_or_none("node", "cached_bytes", node.cached_bytes, "reduction_rate_uncached", node.reduction_rate_uncached);
    both_or_none("node", "scratch_kept", node.scratch_kept, "scratch_rate", node.scratch_rate);
    both_or_none("network", "exchange_bytes", network.exchange_bytes, "exchange_bandwidth", network.exchange_bandwidth);
    both_or_none("software", "short_put_bytes", software.short_put_bytes, "short_put_latency",
                 software.short_put_latency);
    both_or_none("software", "register_bytes", software.register_bytes, "register_latency", software.register_latency);
    both_or_none("software", "inline_bytes", software.inline_bytes, "fetch_latency", software.fetch_latency);
    both_or_none("software", "pack_cost", software.pack_cost, "pack_piece_cost", software.pack_piece_cost);
    if (software.register_bytes && !software.put_setup)
      miss(line_of(*root_.get("software")), "software.put_setup", "register_bytes needs it");
    if (software.short_put_bytes && !software.put_setup)
      miss(line_of(*root_.get("software")), "software.put_setup", "short_put_bytes needs it");
    if (node.reduction_rate_uncached)
      at_most("node.reduction_rate_uncached", node.reduction_rate_uncached->value, "reduction_rate",
              node.reduction_rate.value);
    both_or_none("software", "processors", software.processors, "processor_time", software.processor_time);
    both_or_none("software", "eager_peers", software.eager_peers, "eager_bytes_beyond", software.eager_bytes_beyond);
    if (software.eager_bytes_beyond && !software.eager_bytes)
      miss(line_of(*root_.get("software")), "software.eager_bytes", "eager_bytes_beyond needs it");
    else if (software.eager_bytes_beyond)
      at_most("software.eager_bytes_beyond", software.eager_bytes_beyond->value, "eager_bytes",
              software.eager_bytes->value);
    at_most("node.ranks_per_node", node.default_ranks_per_node.value, "2^31-1 ranks over all nodes",
            largest_count / machine_.topology->nodes());
  }

  template <class Size, class Other>
  void both_or_none(std::string_view section, std::string_view size_key, const Size& size, std::string_view other_key,
                    const Other& other) {
    if (size.has_value() == other.has_value()) return;
    miss(line_of(*root_.get(section)), fmt::format("{}.{}", section, size ? other_key : size_key),
         fmt::format("give both {} and {}, or none of them", size_key, other_key));
  }

  template <class T>
  void at_most(std::string_view path, T value, std::string_view limit_name, T limit) {
    if (value <= limit) return;
    const auto* node = root_.at_path(path).node();
    fail(node ? line_of(*node) : 1, path,
         wrong_value(fmt::format("must be at most {}, {}", limit_name, text_of(limit)), text_of(value),
                     "correct one of the two"));
  }

  // Calls read_one(table) for each entry of an array of tables.
  template <class ReadOne>
  void for_each_part(std::string_view name, ReadOne&& read_one) {
    const toml::node* node = root_.get(name);
    if (!node) return;
    const auto wrong = [&](const toml::node& at) {
      fail(line_of(at), name, wrong_value("must be sections", described(at), fmt::format("write [[{}]]", name)));
    };
    if (!node->is_array()) return wrong(*node);
    for (const toml::node& part : *node->as_array()) {
      if (error()) return;
      if (!part.is_table()) return wrong(part);
      read_one(*part.as_table());
    }
  }

  NodeId read_node(const toml::table& table, std::string_view what, std::string_view key) {
    const toml::node* node = table.get(key);
    const std::int32_t nodes = machine_.topology->nodes();
    const auto* number = node ? node->as_integer() : nullptr;
    if (number && number->get() >= 0 && number->get() < nodes) return NodeId{static_cast<std::int32_t>(number->get())};
    const std::string path = fmt::format("{}.{}", what, key), advice = fmt::format("write {} = 0", key);
    if (!node) return miss(line_of(table), path, advice), NodeId{};
    const std::string rule = fmt::format("must be a node of {}, 0 to {}", machine_.topology->name(), nodes - 1);
    fail(line_of(*node), path, wrong_value(rule, described(*node), advice));
    return {};
  }

  double read_factor(const toml::table& table, std::string_view what) {
    const toml::node* node = table.get("factor");
    const auto factor = node && node->is_number() ? node->value<double>() : std::nullopt;
    if (factor && *factor > 0 && *factor <= 1) return *factor;
    const std::string path = fmt::format("{}.factor", what), advice = "write factor = 0.5 for half the rate";
    if (!node) return miss(line_of(table), path, advice), 1;
    fail(line_of(*node), path, wrong_value("must be a factor above 0 and at most 1", described(*node), advice));
    return 1;
  }

  void read_slow_nodes() {
    for_each_part("slow_node", [&](const toml::table& part) {
      check_known(part, {"node", "factor"}, "[[slow_node]]");
      const SlowNode slow{read_node(part, "slow_node", "node"), read_factor(part, "slow_node")};
      for (const SlowNode& other : machine_.slow_nodes)
        if (other.node == slow.node) fail(line_of(part), "slow_node", twice(fmt::format("node {}", slow.node.value)));
      machine_.slow_nodes.push_back(slow);
    });
  }

  void read_slow_links() {
    for_each_part("slow_link", [&](const toml::table& part) {
      check_known(part, {"from", "to", "factor"}, "[[slow_link]]");
      SlowLink slow{read_node(part, "slow_link", "from"), read_node(part, "slow_link", "to"), {}, 1};
      slow.factor = read_factor(part, "slow_link");
      if (error()) return;
      const auto link = find_link(*machine_.topology, slow.from, slow.to);
      const auto ends = fmt::format("node {} to node {}", slow.from.value, slow.to.value);
      if (!link)
        return fail(line_of(part), "slow_link",
                    wrong_value(fmt::format("must join two neighbours in {}", machine_.topology->name()), ends,
                                "name nodes one hop apart"));
      slow.link = *link;
      for (const SlowLink& other : machine_.slow_links)
        if (other.link == slow.link) fail(line_of(part), "slow_link", twice(ends));
      machine_.slow_links.push_back(slow);
    });
  }

  static Error twice(std::string what) {
    return wrong_value("must name each part once", what + " twice", "keep one of the two");
  }

  toml::table root_;
  SoftwareStateReader states_;
  std::string_view software_;
  Machine machine_;
};

} // namespace

Result<Machine> parse_machine(std::string_view toml_text, std::string_view file_name, std::string_view software) {
  auto root = TRY(parse_toml(toml_text, file_name));
  return MachineReader(std::move(root), file_name, software).machine();
}

} // namespace kumihimo
