#include "plan/wisdom.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace kumihimo::plan {
namespace {

using Json = nlohmann::json;

// The parameters of an entry, by the names that every algorithm's `parameters` go by.
Result<Parameters> parameters_of(const Json& entry, const std::string& where) {
  Parameters p;
  const auto given = entry.find("parameters");
  if (given == entry.end()) return p;
  if (!given->is_object()) return bad_input("parameters as an object in " + where, given->dump());
  for (const auto& [name, value] : given->items()) {
    if (name == "overlap" && value.is_boolean()) {
      p.overlap = value.get<bool>();
      continue;
    }
    if ((name == "single_copy" || name == "past_caches") && value.is_boolean()) {
      (name == "single_copy" ? p.single_copy : p.past_caches) = value.get<bool>();
      continue;
    }
    if ((name == "inner" || name == "outer") && value.is_string()) {
      (name == "inner" ? p.inner : p.outer) = value.get<std::string>();
      continue;
    }
    const auto* const q = std::find_if(std::begin(number_parameters), std::end(number_parameters),
                                       [&name = name](const NumberParameter& each) { return each.name == name; });
    if (q == std::end(number_parameters) || !value.is_number_integer() || value.get<std::int64_t>() < q->least)
      return bad_input(
          fmt::format("a known parameter of at least {} in {}", q == std::end(number_parameters) ? 1 : q->least, where),
          fmt::format("{} = {}", name, value.dump()));
    p.*q->value = value.get<std::int64_t>();
  }
  return p;
}

// A whole number from 0 to `most`.
Result<std::int64_t> number(const Json& entry, const char* name, std::int64_t initial, const std::string& where,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto it = entry.find(name);
  if (it == entry.end()) return initial;
  if (!it->is_number_integer() || it->get<std::int64_t>() < 0 || it->get<std::int64_t>() > most)
    return bad_input(fmt::format("{} as a whole number from 0 to {} in {}", name, most, where), it->dump());
  return it->get<std::int64_t>();
}

Result<std::string> word(const Json& entry, const char* name, const std::string& where) {
  const auto it = entry.find(name);
  if (it == entry.end() || !it->is_string())
    return bad_input(fmt::format("{} as a word in {}", name, where), it == entry.end() ? "none" : it->dump());
  return it->get<std::string>();
}

void set_variant(Choice& choice, const Variant* variant, const Registry& registry) {
  const auto all = registry.variants(choice.kind);
  choice.variant = variant;
  choice.place = static_cast<std::size_t>(std::find(all.begin(), all.end(), variant) - all.begin());
}

Result<Determinism> determinism_of(const Json& entry, const std::string& where) {
  if (!entry.contains("determinism")) return Determinism::any;
  const Result<std::string> said = word(entry, "determinism", where);
  if (!said) return said.error();
  if (*said == "any") return Determinism::any;
  if (*said == "fixed_order") return Determinism::fixed_order;
  return bad_input("determinism of any or fixed_order in " + where, *said);
}

Result<RankCounts> ranks_of(const Json& entry, const std::string& where) {
  RankCounts on;
  for (auto [name, field] : {std::pair{"ranks", &on.ranks}, std::pair{"nodes", &on.nodes},
                             std::pair{"ranks_per_node", &on.ranks_per_node}}) {
    const Result<std::int64_t> n = number(entry, name, 0, where, std::numeric_limits<std::int32_t>::max());
    if (!n) return n.error();
    *field = static_cast<std::int32_t>(*n);
  }
  return on;
}

// What no call can be run with is said at once, rather than every call handed on.
Status check_choice(const Choice& choice, const std::string& where) {
  if (!choice.variant) return Nothing{};
  const Status s = choice.variant->check(choice.parameters);
  if (s) return s;
  Error wrong = s.error();
  if (wrong.kind == Error::Kind::not_applicable)
    return bad_input("parameters that the algorithm takes in " + where, "that " + wrong.expected);
  wrong.expected += " in " + where;
  return wrong;
}

Result<Choice> choice_of(const Json& entry, const Registry& registry, const std::string& where) {
  if (!entry.is_object()) return bad_input("an object as " + where, entry.dump());
  const Result<std::string> collective = word(entry, "collective", where), algorithm = word(entry, "algorithm", where);
  if (!collective) return collective.error();
  if (!algorithm) return algorithm.error();
  const Result<CollectiveKind> kind = parse_collective(*collective);
  if (!kind) return kind.error();
  Choice choice;
  choice.kind = *kind;
  if (*algorithm != "library") {
    const Result<const Variant*> variant = registry.find(*kind, *algorithm);
    if (!variant) return variant.error();
    set_variant(choice, *variant, registry);
  }
  Result<Parameters> parameters = parameters_of(entry, where);
  if (!parameters) return parameters.error();
  choice.parameters = *parameters;
  if (const Status s = check_choice(choice, where); !s) return s.error();
  const Result<std::int64_t> from = number(entry, "from_bytes", 0, where),
                             to = number(entry, "to_bytes", std::numeric_limits<std::int64_t>::max(), where);
  for (const Result<std::int64_t>* each : {&from, &to})
    if (!*each) return each->error();
  if (*from > *to) return bad_input("from_bytes of at most to_bytes in " + where, fmt::format("{} and {}", *from, *to));
  choice.from_bytes = *from, choice.to_bytes = *to;
  const Result<RankCounts> on = ranks_of(entry, where);
  if (!on) return on.error();
  choice.on = *on;
  const Result<Determinism> determinism = determinism_of(entry, where);
  if (!determinism) return determinism.error();
  choice.determinism = *determinism;
  if (const auto most = entry.find("ratio_high"); most != entry.end() && !most->is_null()) {
    if (!most->is_number() || most->get<double>() <= 0)
      return bad_input("ratio_high as a number above 0 in " + where, most->dump());
    choice.most_of_library = most->get<double>();
  }
  return choice;
}

// Whether the figures behind a choice are of processes on nodes as the choice names them.
bool measured(const Json& entry) {
  for (const char* const other : {"simulated", "emulated"})
    if (const auto it = entry.find(other); it != entry.end() && *it != Json(false)) return false;
  return true;
}

// Choices made elsewhere may be slow here, or wrong to trust.
Status check_place(const Json& file, const Wisdom::Here& here) {
  if (const auto machine = file.find("machine"); machine != file.end() && !machine->is_null()) {
    if (!machine->is_object()) return bad_input("machine as an object in the wisdom file", machine->dump());
    const Result<std::string> processor = word(*machine, "processor", "the machine of the wisdom file");
    const Result<std::int64_t> processors = number(*machine, "processors", 0, "the machine of the wisdom file");
    if (!processor) return processor.error();
    if (!processors) return processors.error();
    const Fingerprint of{*processor, *processors};
    if (of != here.machine)
      return bad_input(fmt::format("wisdom of this machine ({})", here.machine.text()), "that of " + of.text(),
                       "run kumihimo tune here");
  }
  if (const auto mpi = file.find("mpi"); mpi != file.end() && !mpi->is_null()) {
    const Result<std::string> library = word(file, "mpi", "the wisdom file");
    if (!library) return library.error();
    if (*library != here.mpi)
      return bad_input(fmt::format("wisdom of this MPI library ({})", here.mpi), "that of " + *library,
                       "run kumihimo tune with it");
  }
  return Nothing{};
}

} // namespace

RankCounts count_ranks(std::span<const std::int64_t> node_of_rank) {
  std::map<std::int64_t, std::int32_t> on_node;
  for (const std::int64_t node : node_of_rank) ++on_node[node];
  RankCounts counts{static_cast<std::int32_t>(node_of_rank.size()), static_cast<std::int32_t>(on_node.size()), 0};
  const auto like_the_first = [&](const auto& node) { return node.second == on_node.begin()->second; };
  if (!on_node.empty() && std::all_of(on_node.begin(), on_node.end(), like_the_first))
    counts.ranks_per_node = on_node.begin()->second;
  return counts;
}

bool Choice::fits(CollectiveKind wanted, const RankCounts& ranks, Determinism asked) const {
  const auto one = [](std::int32_t chosen_for, std::int32_t there) { return chosen_for == 0 || chosen_for == there; };
  return kind == wanted && one(on.ranks, ranks.ranks) && one(on.nodes, ranks.nodes) &&
         one(on.ranks_per_node, ranks.ranks_per_node) && determinism == asked;
}

bool Choice::is_sound_for(std::int64_t shortest_bytes, std::int64_t longest_bytes) const {
  if (!is_for(shortest_bytes) || !is_for(longest_bytes)) return false;
  return shortest_bytes == longest_bytes ||
         most_of_library * static_cast<double>(longest_bytes) <= static_cast<double>(shortest_bytes);
}

const Choice* choice_for(std::span<const Choice> choices, const Collective& question, bool at_any_price) {
  std::int64_t shortest = question.bytes().value, longest = shortest;
  if (question.counts.irregular()) {
    const auto [least, most] = std::minmax_element(question.counts.table->begin(), question.counts.table->end());
    shortest = *least * question.type_bytes, longest = *most * question.type_bytes;
  }
  for (const Choice& c : choices)
    if (c.is_for(longest)) return c.variant && (at_any_price || c.is_sound_for(shortest, longest)) ? &c : nullptr;
  return nullptr;
}

const Choice* choice_for_local_counts(std::span<const Choice> choices) {
  for (const Choice& c : choices) {
    // Of equal blocks alone, or of lengths that all ranks know.
    if (c.variant && !(c.variant->equal_counts.empty() && c.variant->all_counts.empty())) continue;
    const bool for_all = c.is_for(0) && c.is_for(std::numeric_limits<std::int64_t>::max());
    return c.variant && for_all && c.most_of_library == 0 ? &c : nullptr;
  }
  return nullptr;
}

Result<Wisdom> Wisdom::parse(std::string_view text, const Registry& registry, const Here& here, Found found) {
  bool too_deep = false; // whose end would take the stack, level by level
  const auto shallow = [&](int depth, Json::parse_event_t, const Json&) {
    too_deep |= depth > 16;
    return depth <= 16;
  };
  const Json file = Json::parse(text, shallow, false);
  if (too_deep || file.is_discarded() || !file.is_object())
    return bad_input("a wisdom file (JSON, as kumihimo tune writes it)", "text that is not whole JSON", "tune again");
  const Result<std::int64_t> version = number(file, "kumihimo_wisdom", 0, "the wisdom file");
  if (!version) return version.error();
  if (*version != wisdom_version)
    return bad_input(fmt::format("wisdom of version {}", wisdom_version), fmt::format("version {}", *version),
                     "tune again with this kumihimo");
  if (const Status s = check_place(file, here); !s) return s.error();
  const auto entries = file.find("choices");
  if (entries == file.end() || !entries->is_array())
    return bad_input("a list of choices in the wisdom file", "none", "tune again");
  Wisdom wisdom;
  wisdom.hash_ = hash_of(text);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    Result<Choice> choice = choice_of((*entries)[i], registry, fmt::format("choice {}", i + 1));
    if (!choice) return choice.error();
    if (found == Found::by_itself && !measured((*entries)[i])) continue;
    wisdom.choices_.push_back(std::move(*choice));
  }
  return wisdom;
}

Result<Wisdom> Wisdom::of_algorithm(std::string_view text, const Registry& registry) {
  Wisdom wisdom;
  wisdom.hash_ = hash_of(text);
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    if (Status s = wisdom.add_named(text.substr(first, end - first), registry); !s) return s.error();
    first = end + 1;
  }
  return wisdom;
}

Status Wisdom::add_named(std::string_view item, const Registry& registry) {
  std::optional<CollectiveKind> kind;
  if (const std::size_t equals = item.find('='); equals != std::string_view::npos) {
    const Result<CollectiveKind> named = parse_collective(item.substr(0, equals));
    if (!named) return named.error();
    kind = *named;
    item.remove_prefix(equals + 1);
    if (const auto variant = registry.find(*kind, item); !variant) return variant.error();
  }
  const std::size_t before = choices_.size();
  for (const Variant& variant : registry.variants()) {
    if (variant.name != item || (kind && variant.kind != *kind)) continue;
    Choice choice;
    choice.kind = variant.kind;
    set_variant(choice, &variant, registry);
    choice.to_bytes = std::numeric_limits<std::int64_t>::max();
    for (const Determinism each : {Determinism::any, Determinism::fixed_order}) { // who names one wants it always
      choice.determinism = each;
      choices_.push_back(choice);
    }
  }
  if (choices_.size() == before) return registry.find(CollectiveKind::allreduce, item).error();
  return Nothing{};
}

std::vector<Choice> Wisdom::choices(CollectiveKind kind, const RankCounts& ranks, Determinism asked) const {
  std::vector<Choice> fitting;
  for (const Choice& c : choices_)
    if (c.fits(kind, ranks, asked)) fitting.push_back(c);
  return fitting;
}

} // namespace kumihimo::plan
