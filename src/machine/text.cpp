#include "machine/numbers.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

struct Writer {
  std::string& table;
  template <class T>
  void operator()(std::string_view, std::string_view key, const Quantity<T>& number) {
    table += fmt::format("  {:<24} {:>14}  {:<9}  {}\n", key, text_of(number.value), name_of(number.provenance),
                         number.source);
  }
  template <class T>
  void operator()(std::string_view section, std::string_view key, const std::optional<Quantity<T>>& number) {
    if (number) (*this)(section, key, *number);
  }
};

} // namespace

std::string to_text(const Machine& machine) {
  std::string table = fmt::format("{}: {}\n", machine.name, machine.summary);
  table += fmt::format("  {:<24} {}, {} nodes, {} links\n", "topology", machine.topology->name(),
                       machine.topology->nodes(), machine.topology->links());
  visit_numbers(machine, Writer{table});
  for (const SlowNode& slow : machine.slow_nodes)
    table += fmt::format("  slow node {}: {} of full speed\n", slow.node.value, slow.factor);
  for (const SlowLink& slow : machine.slow_links)
    table += fmt::format("  slow link from {} to {} ({}): {} of full speed\n", slow.from.value, slow.to.value,
                         machine.topology->describe(slow.link).name, slow.factor);
  return table;
}

} // namespace kumihimo
