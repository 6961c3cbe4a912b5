#include "interpose/wisdom.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace kumihimo::interpose {
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
    std::optional<std::int64_t>* const field = name == "trees"           ? &p.trees
                                               : name == "segment_bytes" ? &p.segment_bytes
                                               : name == "segments"      ? &p.segments
                                               : name == "window"        ? &p.window
                                                                         : nullptr;
    if (!field || !value.is_number_integer() || value.get<std::int64_t>() < 1)
      return bad_input("a known parameter of at least 1 in " + where, fmt::format("{} = {}", name, value.dump()));
    *field = value.get<std::int64_t>();
  }
  return p;
}

Result<std::int64_t> number(const Json& entry, const char* name, std::int64_t initial, const std::string& where) {
  const auto it = entry.find(name);
  if (it == entry.end()) return initial;
  if (!it->is_number_integer() || it->get<std::int64_t>() < 0)
    return bad_input(fmt::format("{} as a whole number of at least 0 in {}", name, where), it->dump());
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
  const Result<std::int64_t> from = number(entry, "from_bytes", 0, where),
                             to = number(entry, "to_bytes", std::numeric_limits<std::int64_t>::max(), where),
                             ranks = number(entry, "ranks", 0, where), nodes = number(entry, "nodes", 0, where);
  for (const Result<std::int64_t>* each : {&from, &to, &ranks, &nodes})
    if (!*each) return each->error();
  choice.from_bytes = *from, choice.to_bytes = *to;
  choice.ranks = static_cast<std::int32_t>(*ranks), choice.nodes = static_cast<std::int32_t>(*nodes);
  return choice;
}

} // namespace

std::size_t index_of(CollectiveKind kind) {
  return static_cast<std::size_t>(std::find(taken_over.begin(), taken_over.end(), kind) - taken_over.begin());
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = text.size();
  for (const char c : text) h = mixed(h, static_cast<unsigned char>(c));
  return h;
}

Result<Wisdom> Wisdom::parse(std::string_view text, const Registry& registry) {
  const Json file = Json::parse(text, nullptr, false);
  if (file.is_discarded() || !file.is_object())
    return bad_input("a wisdom file (JSON, as kumihimo tune writes it)", "text that is not whole JSON", "tune again");
  const Result<std::int64_t> version = number(file, "kumihimo_wisdom", 0, "the wisdom file");
  if (!version) return version.error();
  if (*version != wisdom_version)
    return bad_input(fmt::format("wisdom of version {}", wisdom_version), fmt::format("version {}", *version),
                     "tune again with this kumihimo");
  const auto entries = file.find("choices");
  if (entries == file.end() || !entries->is_array())
    return bad_input("a list of choices in the wisdom file", "none", "tune again");
  Wisdom wisdom;
  wisdom.hash_ = hash_of(text);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    Result<Choice> choice = choice_of((*entries)[i], registry, fmt::format("choice {}", i + 1));
    if (!choice) return choice.error();
    wisdom.choices_.push_back(std::move(*choice));
  }
  return wisdom;
}

Result<Wisdom> Wisdom::of_algorithm(std::string_view name, const Registry& registry) {
  Wisdom wisdom;
  wisdom.hash_ = hash_of(name);
  std::optional<Error> unknown;
  for (const CollectiveKind kind : taken_over) {
    const Result<const Variant*> variant = registry.find(kind, name);
    if (!variant) {
      unknown = variant.error();
      continue;
    }
    Choice choice;
    choice.kind = kind;
    set_variant(choice, *variant, registry);
    choice.to_bytes = std::numeric_limits<std::int64_t>::max();
    wisdom.choices_.push_back(choice);
  }
  if (wisdom.choices_.empty()) return *unknown;
  return wisdom;
}

std::vector<Choice> Wisdom::choices(CollectiveKind kind, std::int32_t ranks, std::int32_t nodes) const {
  std::vector<Choice> fitting;
  for (const Choice& c : choices_)
    if (c.kind == kind && (c.ranks == 0 || c.ranks == ranks) && (c.nodes == 0 || c.nodes == nodes))
      fitting.push_back(c);
  return fitting;
}

} // namespace kumihimo::interpose
