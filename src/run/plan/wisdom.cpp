#include "plan/wisdom.hpp"

#include "base/hash.hpp"
#include "problem/wisdom_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace kumihimo::plan {
namespace {

using problem::Entry;

bool read(const nlohmann::json& value, std::optional<std::int64_t>& to) {
  if (value.is_number_integer()) to = value.get<std::int64_t>();
  return value.is_number_integer();
}
template <class Flag> // bool, or an optional one
bool read(const nlohmann::json& value, Flag& to) {
  if (value.is_boolean()) to = value.get<bool>();
  return value.is_boolean();
}
bool read(const nlohmann::json& value, std::optional<std::string>& to) {
  if (value.is_string()) to = value.get<std::string>();
  return value.is_string();
}

// The parameters of an entry, by the names that every algorithm's `parameters` go by.
Result<Parameters> parameters_of(const Entry& entry) {
  Parameters p = on_real_ranks();
  const nlohmann::json given = TRY(entry.parameters());
  for (const auto& [name, value] : given.items()) {
    const ParameterDeclaration* const q = find_parameter(name);
    if (!q || !std::visit([&, &value = value](auto member) { return read(value, p.*member); }, q->value))
      return wrong_value(entry.where() + (q ? ": the parameter has another type" : ": unknown parameter"),
                         fmt::format("{} = {}", name, value.dump()));
  }
  return p;
}

void set_variant(WisdomChoice& choice, const Variant* variant, const Registry& registry) {
  const auto all = registry.variants(choice.kind);
  choice.variant = variant;
  choice.place = static_cast<std::size_t>(std::find(all.begin(), all.end(), variant) - all.begin());
}

Result<Determinism> determinism_of(const Entry& entry) {
  if (!entry.has("determinism")) return Determinism::any;
  const std::string given = TRY(entry.word("determinism"));
  if (given == "any") return Determinism::any;
  if (given == "fixed_order") return Determinism::fixed_order;
  return wrong_value(entry.where() + ": determinism must be any or fixed_order", given);
}

Result<bool> is_of_unequal_blocks(const Entry& entry, CollectiveKind kind) {
  if (!entry.has("blocks")) return false;
  const std::string given = TRY(entry.word("blocks"));
  if (given == "unequal" && kind->irregular != Counts::Known::uniform) return true;
  if (given == "equal") return false;
  return wrong_value(entry.where() + ": blocks must be equal, or unequal if the collective has such calls", given);
}

Result<bool> is_of_non_blocking(const Entry& entry) {
  if (!entry.has("start")) return false;
  const std::string given = TRY(entry.word("start"));
  if (given == "blocking" || given == "non-blocking") return given == "non-blocking";
  return wrong_value(entry.where() + ": start must be blocking or non-blocking", given);
}

Result<RankCounts> ranks_of(const Entry& entry) {
  RankCounts on;
  for (auto [name, field] : {std::pair{"ranks", &on.ranks}, std::pair{"nodes", &on.nodes},
                             std::pair{"ranks_per_node", &on.ranks_per_node}}) {
    const std::int64_t n = TRY(entry.number(name, 0, std::numeric_limits<std::int32_t>::max()));
    *field = static_cast<std::int32_t>(n);
  }
  if (entry.has("shape")) on.shape = TRY(Shape::parse(TRY(entry.word("shape")))).text();
  return on;
}

// Parameters that no call can be run with are an error here: otherwise every call would be forwarded.
Status check_choice(const WisdomChoice& choice, const std::string& where) {
  if (!choice.variant) return Nothing{};
  const Status s = choice.variant->check(choice.parameters);
  if (s) return s;
  Error wrong = located(where, s.error());
  wrong.kind = Error::Kind::bad_input;
  return wrong;
}

Result<WisdomChoice> choice_of(const Entry& entry, const Registry& registry) {
  const std::string collective = TRY(entry.word("collective"));
  const std::string algorithm = TRY(entry.word("algorithm"));
  const CollectiveKind kind = TRY(parse_collective(collective));
  WisdomChoice choice;
  choice.kind = kind;
  if (algorithm != "library") {
    const Variant* const variant = TRY(registry.find(kind, algorithm));
    set_variant(choice, variant, registry);
  }
  choice.parameters = TRY(parameters_of(entry));
  if (const Status s = check_choice(choice, entry.where()); !s) return s.error();
  choice.bytes = TRY(entry.sizes());
  choice.on = TRY(ranks_of(entry));
  choice.determinism = TRY(determinism_of(entry));
  choice.most_of_library = TRY(entry.ratio_high());
  choice.of_unequal_blocks = TRY(is_of_unequal_blocks(entry, kind));
  if (choice.of_unequal_blocks && choice.determinism == Determinism::fixed_order)
    return wrong_value(entry.where() + ": choices for unequal blocks must have determinism any", "fixed_order");
  choice.of_user_operations = TRY(entry.flag("user_operations"));
  choice.of_non_blocking = TRY(is_of_non_blocking(entry));
  if (choice.of_non_blocking && (choice.of_unequal_blocks || choice.determinism == Determinism::fixed_order))
    return wrong_value(entry.where() + ": choices for non-blocking calls must be for equal blocks, in any order",
                       choice.of_unequal_blocks ? "blocks unequal" : "determinism fixed_order");
  return choice;
}

std::vector<WisdomChoice> take(std::vector<WisdomChoice>& choices, bool WisdomChoice::*is_taken) {
  const auto first = std::stable_partition(choices.begin(), choices.end(),
                                           [&](const WisdomChoice& choice) { return !(choice.*is_taken); });
  std::vector<WisdomChoice> taken(std::make_move_iterator(first), std::make_move_iterator(choices.end()));
  choices.erase(first, choices.end());
  return taken;
}

} // namespace

RankCounts count_ranks(std::span<const std::int64_t> node_of_rank) {
  std::map<std::int64_t, std::int32_t> on_node;
  for (const std::int64_t node : node_of_rank) ++on_node[node];
  RankCounts counts{static_cast<std::int32_t>(node_of_rank.size()), static_cast<std::int32_t>(on_node.size()), 0, ""};
  const auto like_the_first = [&](const auto& node) { return node.second == on_node.begin()->second; };
  if (!on_node.empty() && std::all_of(on_node.begin(), on_node.end(), like_the_first))
    counts.ranks_per_node = on_node.begin()->second;
  return counts;
}

std::string shape_of(const RankSpace& space) { return space.has_shape() ? space.between_nodes().shape().text() : ""; }

bool WisdomChoice::fits(CollectiveKind wanted, const RankCounts& ranks, Determinism asked) const {
  const auto one = [](std::int32_t chosen_for, std::int32_t there) { return chosen_for == 0 || chosen_for == there; };
  return kind == wanted && one(on.ranks, ranks.ranks) && one(on.nodes, ranks.nodes) &&
         one(on.ranks_per_node, ranks.ranks_per_node) && (on.shape.empty() || on.shape == ranks.shape) &&
         determinism == asked;
}

bool WisdomChoice::is_sound_for(std::int64_t shortest_bytes, std::int64_t longest_bytes) const {
  if (!is_for(shortest_bytes) || !is_for(longest_bytes)) return false;
  return shortest_bytes == longest_bytes ||
         most_of_library * static_cast<double>(longest_bytes) <= static_cast<double>(shortest_bytes);
}

ChoiceMap by_size(std::vector<WisdomChoice> choices) {
  ChoiceMap map;
  for (WisdomChoice& choice : choices) {
    const SizeRange bytes = choice.bytes;
    map.give(bytes, std::make_shared<const WisdomChoice>(std::move(choice)));
  }
  return map;
}

const WisdomChoice* choice_for(const ChoiceMap& choices, const Collective& collective, bool at_any_price) {
  std::int64_t shortest = collective.bytes().value, longest = shortest;
  if (collective.counts.irregular()) {
    const auto [least, most] = std::minmax_element(collective.counts.table->begin(), collective.counts.table->end());
    shortest = *least * collective.type_bytes, longest = *most * collective.type_bytes;
  }
  const WisdomChoice* const c = choices.at(longest).get();
  return c && c->variant && (at_any_price || c->is_sound_for(shortest, longest)) ? c : nullptr;
}

const WisdomChoice* choice_of_longest(const ChoiceMap& choices, const Collective& irregular) {
  const auto& table = *irregular.counts.table;
  return choices.at(*std::max_element(table.begin(), table.end()) * irregular.type_bytes).get();
}

std::vector<WisdomChoice> take_choices_of_unequal_blocks(std::vector<WisdomChoice>& choices) {
  return take(choices, &WisdomChoice::of_unequal_blocks);
}

std::vector<WisdomChoice> take_choices_of_non_blocking(std::vector<WisdomChoice>& choices) {
  return take(choices, &WisdomChoice::of_non_blocking);
}

std::shared_ptr<const WisdomChoice> choice_for_local_counts(std::vector<WisdomChoice> choices) {
  std::erase_if(choices, [](const WisdomChoice& c) { // of equal blocks alone, or of lengths that all ranks know
    return c.variant && !(c.variant->equal_counts.empty() && c.variant->all_counts.empty());
  });
  const ChoiceMap map = by_size(std::move(choices));
  std::shared_ptr<const WisdomChoice> first = map.at(0);
  const bool is_for_all = map.classes().size() == 1 && first;
  return is_for_all && first->variant && (first->of_unequal_blocks || first->most_of_library == 0) ? first : nullptr;
}

Result<Wisdom> Wisdom::parse(std::string_view text, const Registry& registry, const ThisProcess& here, Found found) {
  const Result<problem::WisdomFile> file =
      problem::WisdomFile::parse(text, {here.machine, {{"mpi", "MPI library", here.mpi}}}, found);
  if (!file) return file.error();
  Wisdom wisdom;
  wisdom.hash_ = hash_of(text);
  for (const Entry& entry : file->entries()) {
    if (entry.has("kernel")) continue;
    WisdomChoice choice = TRY(choice_of(entry, registry));
    wisdom.choices_.push_back(std::move(choice));
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
    kind = TRY(parse_collective(item.substr(0, equals)));
    item.remove_prefix(equals + 1);
    if (const auto variant = registry.find(*kind, item); !variant) return variant.error();
  }
  const std::size_t before = choices_.size();
  for (const Variant& variant : registry.variants()) {
    if (variant.name != item || (kind && variant.kind != *kind)) continue;
    WisdomChoice choice;
    choice.kind = variant.kind;
    set_variant(choice, &variant, registry);
    for (const Determinism each : {Determinism::any, Determinism::fixed_order}) { // who names one wants it always
      choice.determinism = each;
      choices_.push_back(choice);
    }
  }
  if (choices_.size() == before) return registry.find(CollectiveKind::allreduce, item).error();
  return Nothing{};
}

std::vector<WisdomChoice> Wisdom::choices(CollectiveKind kind, const RankCounts& ranks, Determinism asked) const {
  std::vector<WisdomChoice> fitting;
  for (const WisdomChoice& c : choices_)
    if (c.fits(kind, ranks, asked)) fitting.push_back(c);
  return fitting;
}

} // namespace kumihimo::plan
