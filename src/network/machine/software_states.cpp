#include "machine/software_states.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kumihimo {
namespace {

// What software decides beside [software]: how many rails a message takes, say.
constexpr std::array<std::string_view, 6> sections_of_states = {"network", "node",    "copies",
                                                                "loggops", "offload", "prediction_errors"};
constexpr std::array<std::string_view, 5> words_of_states = {"library", "version", "transport", "rails", "settings"};

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

void SoftwareStateReader::read(std::string_view asked, Machine& machine) {
  toml::table* software = root_["software"].as_table();
  std::vector<std::string> names;
  if (software)
    for (const auto& [key, value] : *software)
      if (const auto* table = value.as_table(); table && !table->is_inline() && !table->contains("value"))
        names.emplace_back(key.str());
  for (const std::string& name : names) {
    states_.emplace(name, std::move(*(*software)[name].as_table()));
    software->erase(name);
    machine.software_states.push_back(words_of(name));
  }
  std::string wanted(asked);
  if (const toml::node* node = root_.get("default_software"); node && !in_.error()) {
    const std::string usual = in_.text(root_, "default_software", "default_software", "\"the name of a state\"");
    if (!in_.error() && !states_.contains(usual))
      return in_.fail(TomlReader::line_of(*node), "default_software", unknown(usual));
    if (wanted.empty()) wanted = usual;
  }
  if (in_.error() || wanted.empty() || wanted == no_software_state) return;
  const auto found = states_.find(wanted);
  if (found == states_.end()) return in_.fail(1, "--software", unknown(wanted));
  machine.software_state = wanted;
  put_over(found->second);
}

Error SoftwareStateReader::unknown(const std::string& name) const {
  std::vector<std::string> known{std::string(no_software_state)};
  for (const auto& [state, _] : states_) known.push_back(state);
  return wrong_value("must be a state of the machine's software", fmt::format("'{}'", name),
                     states_.empty() ? std::string("add a section [software.NAME], or leave it out")
                                     : fmt::format("use one of {}", fmt::join(known, ", ")));
}

SoftwareState SoftwareStateReader::words_of(const std::string& name) {
  const toml::table& table = states_.at(name);
  const std::string section = fmt::format("software.{}", name);
  SoftwareState state{name, {}, {}, {}, {}, {}};
  if (name == no_software_state)
    in_.fail(TomlReader::line_of(table), section,
             wrong_value("must have another name", name, "base is the machine without a state"));
  const auto word = [&](std::string_view key, std::string& value) {
    if (table.contains(key)) value = in_.text(table, key, fmt::format("{}.{}", section, key), "\"words\"");
  };
  word("library", state.library), word("version", state.version), word("transport", state.transport);
  word("rails", state.rails), word("settings", state.settings);
  check_values(table, section);
  return state;
}

// Also of states that are not in force, as a wrong value is best found when it is written.
void SoftwareStateReader::check_values(const toml::table& state, const std::string& section) {
  const auto must_be = [&](const toml::node& node, const std::string& what, const char* rule, std::string advice) {
    in_.fail(TomlReader::line_of(node), what, wrong_value(rule, TomlReader::described(node), std::move(advice)));
  };
  const auto check_number = [&](std::string_view key, const toml::node& node, const std::string& of) {
    if (!node.is_table())
      must_be(node, fmt::format("{}.{}", of, key), "must be a number with its source",
              fmt::format("write {} = {{ value = ..., measured = \"how\" }}", key));
  };
  for (const auto& [key, value] : state) {
    const std::string of = fmt::format("{}.{}", section, key.str());
    if (has(words_of_states, key.str())) continue;
    const toml::table* table = value.as_table();
    if (!has(sections_of_states, key.str()))
      check_number(key.str(), value, section);
    else if (!table)
      must_be(value, of, "must be a section", fmt::format("write [{}]", of));
    else if (key.str() != "prediction_errors")
      for (const auto& [name, number] : *table) check_number(name.str(), number, of);
  }
}

// Numbers of [software], and those of other sections under their names: [software.NAME.network]. Errors of predictions
// are those of the state alone, and the times of a library's collectives are of another state. Moved, as copies of
// toml++ have no lines.
void SoftwareStateReader::put_over(toml::table& state) {
  root_.erase("prediction_errors");
  root_.erase("library_collectives");
  for (auto&& [key, value] : state) {
    if (has(words_of_states, key.str())) continue;
    toml::table* table = value.as_table();
    if (key.str() == "prediction_errors")
      root_.insert_or_assign(key.str(), std::move(*table));
    else if (!has(sections_of_states, key.str()))
      root_["software"].as_table()->insert_or_assign(key.str(), std::move(*table));
    else
      put_over(key.str(), *table);
  }
}

void SoftwareStateReader::put_over(std::string_view section, toml::table& numbers) {
  if (!root_[section].is_table()) root_.insert_or_assign(section, toml::table{});
  for (auto&& [key, number] : numbers)
    root_[section].as_table()->insert_or_assign(key.str(), std::move(*number.as_table()));
}

void SoftwareStateReader::check_keys(const TomlReader::SectionKeys& sections, std::string_view family) const {
  const auto where = [&](const std::string& section) { return fmt::format("[{}] of a {} machine", section, family); };
  for (const auto& [name, state] : states_) {
    TomlReader::Keys known = sections.at("software");
    known.insert(words_of_states.begin(), words_of_states.end());
    for (const std::string_view section : sections_of_states) {
      const auto keys = sections.find(section);
      if (keys == sections.end()) continue;
      known.insert(section);
      if (const toml::table* table = state[section].as_table())
        in_.check_known(*table, keys->second, where(fmt::format("software.{}.{}", name, section)));
    }
    in_.check_known(state, known, where(fmt::format("software.{}", name)));
  }
}

// rows = [{ algorithms = "trees", lengths = "short", times = 24, low = 0.85, high = 1.3 }]
void read_prediction_errors(TomlReader& in, const toml::table& root, Machine& machine) {
  const toml::table* table = in.section_of(root, "prediction_errors");
  if (!table) return;
  PredictionErrors errors;
  errors.source = in.text(*table, "source", "prediction_errors.source", "\"from which times\"");
  const auto number = [&](const toml::table& of, std::string_view key, auto& value, std::string_view example) {
    const std::string what = fmt::format("prediction_errors.{}", key);
    const toml::node* node = in.error() ? nullptr : of.get(key);
    if (!node && !in.error()) return in.miss(TomlReader::line_of(of), what, fmt::format("write {} = {}", key, example));
    if (in.error()) return;
    using Value = std::remove_reference_t<decltype(value)>;
    const auto found = node->is_number() ? node->value<Value>() : std::nullopt;
    if (!found || !(*found > 0) || !std::isfinite(static_cast<double>(*found))) // NaN is not above 0
      return in.fail(
          TomlReader::line_of(*node), what,
          wrong_value("must be a number above 0", TomlReader::described(*node), fmt::format("write {}", example)));
    value = *found;
  };
  number(*table, "fewest_nodes", errors.fewest_nodes, "8");
  number(*table, "most_nodes", errors.most_nodes, "512");
  if (table->contains("day_to_day")) number(*table, "day_to_day", errors.day_to_day.emplace(), "1.05");
  if (errors.day_to_day && *errors.day_to_day < 1 && !in.error())
    in.fail(TomlReader::line_of(*table->get("day_to_day")), "prediction_errors.day_to_day",
            wrong_value("must be a factor of at least 1", fmt::format("{}", *errors.day_to_day)));
  const auto correlation = [&](std::string_view key, double& value, double least) {
    const toml::node* node = in.error() ? nullptr : table->get(key);
    if (!node) return;
    value = node->value<double>().value_or(-1);
    if (value >= least && value < 1) return;
    in.fail(TomlReader::line_of(*node), fmt::format("prediction_errors.{}", key),
            wrong_value(fmt::format("must be from {} to below 1", least), TomlReader::described(*node),
                        "leave it out, or write a number in this range"));
  };
  correlation("correlation", errors.correlation, 0);
  correlation("correlation_in_class", errors.correlation_in_class, errors.correlation);
  errors.correlation_in_class = std::max(errors.correlation_in_class, errors.correlation);
  const auto class_of = [&](const toml::table& row, std::string_view key, const auto& known) {
    const std::string what = fmt::format("prediction_errors.{}", key);
    std::string name = in.text(row, key, what, "\"all\"");
    if (!in.error() && !has(known, name))
      in.fail(TomlReader::line_of(*row.get(key)), what,
              wrong_value("must be a class", fmt::format("'{}'", name),
                          fmt::format("write one of {}", fmt::join(known, ", "))));
    return name;
  };
  for (const toml::table* row : in.rows_of(*table, "prediction_errors", "{ algorithms = \"all\", ... }")) {
    in.check_known(*row, {"algorithms", "lengths", "times", "low", "median", "high"}, "a row of prediction_errors");
    PredictionErrors::Row& found = errors.rows.emplace_back();
    found.algorithms = class_of(*row, "algorithms", PredictionErrors::classes_of_algorithms);
    found.lengths = class_of(*row, "lengths", PredictionErrors::classes_of_lengths);
    number(*row, "times", found.times, "40"), number(*row, "low", found.low, "0.8");
    number(*row, "high", found.high, "1.25");
    if (found.low > found.high && !in.error())
      in.fail(TomlReader::line_of(*row), "prediction_errors.low",
              wrong_value("must be at most high", fmt::format("{} and {}", found.low, found.high)));
    found.median = std::sqrt(found.low * found.high);
    if (row->contains("median")) number(*row, "median", found.median, "1.02");
    if ((found.median < found.low || found.median > found.high) && !in.error())
      in.fail(TomlReader::line_of(*row), "prediction_errors.median",
              wrong_value("must be from low to high", fmt::format("{}", found.median)));
  }
  machine.prediction_errors = std::move(errors);
}

} // namespace kumihimo
