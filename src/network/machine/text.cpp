#include "base/wrapped_text.hpp"
#include "machine/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

constexpr std::size_t columns = 80;

// A number and how it is known; its source below it.
struct TextWriter {
  Page& page;
  std::size_t width; // of the keys
  template <class T>
  void operator()(std::string_view, std::string_view key, const Quantity<T>& number) {
    page.line(2, fmt::format("{:<{}} {:>14}  {}", key, width, text_of(number.value), name_of(number.provenance)));
    page.line(6, number.source, 0);
  }
  template <class T>
  void operator()(std::string_view section, std::string_view key, const std::optional<Quantity<T>>& number) {
    if (number) (*this)(section, key, *number);
  }
};

std::string cores_of(const Level& level) { return "cores a " + level.name; }

// Of the longest key of a machine's numbers; those that all machines have take 24.
std::size_t width_of_keys(const Machine& machine) {
  std::size_t width = 24;
  for (const Level& level : machine.levels) width = std::max(width, cores_of(level).size());
  visit_numbers(machine, [&](std::string_view, std::string_view key, const auto& number) {
    if constexpr (requires { number.has_value(); })
      if (!number) return;
    width = std::max(width, key.size());
  });
  return width;
}

// key = { value = ..., assumed = "why" }, as parse_machine reads it.
struct TomlWriter {
  std::string& text;
  std::string_view section = {};

  static std::string quoted(std::string_view words) {
    std::string out = "\"";
    for (const char c : words) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + "\"";
  }
  template <class T>
  void operator()(std::string_view name, std::string_view key, const Quantity<T>& number) {
    if (name != section) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", name);
    section = name;
    std::string value = text_of(number.value);
    if constexpr (!std::is_integral_v<T>) value = quoted(value);
    text +=
        fmt::format("{} = {{ value = {}, {} = {} }}\n", key, value, name_of(number.provenance), quoted(number.source));
  }
  template <class T>
  void operator()(std::string_view name, std::string_view key, const std::optional<Quantity<T>>& number) {
    if (number) (*this)(name, key, *number);
  }
};

} // namespace

std::string numbers_to_toml(const Machine& machine) {
  Machine plain = machine;
  plain.network.classes.clear(); // another network has others
  std::string text;
  visit_numbers(std::as_const(plain), TomlWriter{text});
  return text;
}

std::string to_text(const Machine& machine) {
  Page page(columns);
  const std::size_t width = width_of_keys(machine);
  page.line(0, fmt::format("{}: {}", machine.name, machine.summary));
  page.line(2, fmt::format("{:<{}} {}, {} node{}, {} links", "topology", width, machine.topology->name(),
                           machine.topology->nodes(), machine.topology->nodes() == 1 ? "" : "s",
                           machine.topology->links()));
  for (const Level& level : machine.levels)
    page.line(2, fmt::format("{:<{}} {:>14}", cores_of(level), width, level.size));
  if (const Switched* network = machine.switched()) {
    std::string levels = fmt::format("{}", network->switches());
    for (const Level& level : network->levels()) levels += fmt::format(", {} nodes a {}", level.size, level.name);
    page.line(2, fmt::format("{:<{}} {}", "switches", width, levels));
  }
  if (machine.tofu) {
    page.line(2, fmt::format("{:<{}} Tofu {}, {} nodes{}", "physical network", width,
                             text_of(machine.tofu->job_lengths(), "x"), machine.tofu->nodes(),
                             machine.tofu->relays ? "; nodes at z = 0 relay messages but run no ranks" : ""));
    if (const std::string losses = machine.losses(); !losses.empty())
      page.line(2, fmt::format("{:<{}} {}", "dead parts", width, losses), width + 3);
  }
  for (const SoftwareState& state : machine.software_states) {
    const bool in_force = state.name == machine.software_state;
    page.line(2, fmt::format("{:<{}} {}{}", "software state", width, state.name, in_force ? ", in force" : ""));
    std::string about;
    for (const std::string* words : {&state.library, &state.version, &state.transport, &state.rails, &state.settings})
      if (!words->empty()) about += (about.empty() ? "" : ", ") + *words;
    if (!about.empty()) page.line(6, about, 0);
  }
  visit_numbers(machine, TextWriter{page, width});
  if (const auto& errors = machine.prediction_errors) {
    page.line(2, fmt::format("{:<{}} nine of ten measured times are within", "prediction errors", width));
    for (const auto& row : errors->rows)
      page.line(6, fmt::format("{} x {:.3g} to {:.3g}", row.algorithms + ", " + row.lengths, row.low, row.high), 0);
    page.line(6, errors->source, 0);
  }
  if (const auto& library = machine.library_collectives) {
    page.line(2, fmt::format("{:<{}} {} times of the MPI library's own", "collectives", width, library->rows.size()));
    page.line(6, library->source, 0);
  }
  for (const SlowNode& slow : machine.slow_nodes)
    page.line(2, fmt::format("slow node {}: {} of full speed", slow.node.value, slow.factor));
  for (const SlowLink& slow : machine.slow_links)
    page.line(2, fmt::format("slow link from {} to {} ({}): {} of full speed", slow.from.value, slow.to.value,
                             machine.topology->describe(slow.link).name, slow.factor));
  return page.take();
}

} // namespace kumihimo
