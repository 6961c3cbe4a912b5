// The choices of wisdom files for this machine.
#ifndef KUMIHIMO_KERNEL_CHOICES_HPP
#define KUMIHIMO_KERNEL_CHOICES_HPP

#include "kumihimo/kernel/json.hpp"
#include "kumihimo/kernel/machine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::kernel {

// Empty where the environment names neither XDG_DATA_HOME nor HOME: then there are no choices.
inline std::string wisdom_folder() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  const char* const home = std::getenv("HOME");
  const bool has_data = data && *data == '/';
  if (!has_data && !(home && *home == '/')) return {};
  const std::string base = has_data ? std::string(data) : std::string(home) + "/.local/share";
  return base + "/kumihimo/wisdom/kernels";
}

struct Choice {
  std::string variant, source, object;
  std::int64_t from = 0, to = 0, multiple = 1;
  bool odd = false;
  int power_of_two = -1; // -1: any
  Json parameters;

  bool fits(std::int64_t size) const {
    if (size < from || size > to || size % multiple != 0 || (odd && size % 2 == 0)) return false;
    const bool is_power = size > 0 && (size & (size - 1)) == 0;
    return power_of_two < 0 || is_power == (power_of_two == 1);
  }
};

// The choices for this machine, compiler and golden copy; none where there is no file or a damaged one.
inline std::vector<Choice> read_choices(const std::string& kernel, const std::string& golden,
                                        const std::string& compiler) {
  std::vector<Choice> found;
  try {
    const std::string folder = wisdom_folder();
    if (folder.empty()) return found;
    std::ifstream file(folder + "/" + kernel + ".json");
    if (!file) return found;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Json whole = Json::parse(text);
    const Json* const choices = whole.find("choices");
    if (whole.whole("kumihimo_wisdom", 0) != 1 || !choices) return found;
    const MachineIdentity here = this_machine();
    for (const Json& each : choices->items) {
      const Json* const machine = each.find("machine");
      if (!machine || machine->word("processor") != here.processor ||
          machine->whole("processors", 0) != here.processors || machine->word("instructions") != here.instructions ||
          each.word("golden") != golden || each.word("language") != "c++" || each.word("compiler") != compiler)
        continue;
      Choice choice;
      choice.variant = each.word("variant");
      choice.source = each.word("source");
      choice.object = each.word("object");
      if (choice.object.find('/') != std::string::npos) continue; // a file beside the wisdom
      choice.from = each.whole("from_size", 0);
      choice.to = each.whole("to_size", std::numeric_limits<std::int64_t>::max());
      choice.multiple = std::max<std::int64_t>(1, each.whole("multiple", 1));
      if (const Json* odd = each.find("odd")) choice.odd = odd->number != 0;
      if (const Json* power = each.find("power_of_two")) choice.power_of_two = power->number != 0;
      if (const Json* parameters = each.find("parameters")) choice.parameters = *parameters;
      found.push_back(std::move(choice));
    }
  } catch (const std::exception&) {
    found.clear();
  }
  return found;
}

} // namespace kumihimo::kernel

#endif
