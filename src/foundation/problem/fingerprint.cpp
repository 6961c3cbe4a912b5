#include "problem/fingerprint.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>
#include <kumihimo/kernel/machine.hpp>

#include <cctype>

namespace kumihimo::problem {
namespace {

// Words of small letters and digits, joined by dashes.
std::string slug_of(std::string_view text, std::size_t longest) {
  std::string words;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u))
      words += static_cast<char>(std::tolower(u));
    else if (!words.empty() && words.back() != '-')
      words += '-';
    if (words.size() >= longest) break;
  }
  while (!words.empty() && words.back() == '-') words.pop_back();
  return words;
}

} // namespace

std::string Fingerprint::text() const {
  return fmt::format("{}, {} processor{}", processor.empty() ? "unknown processor" : processor, processors,
                     processors == 1 ? "" : "s");
}

Fingerprint this_machine() {
  const kernel::MachineIdentity machine = kernel::this_machine();
  return {machine.processor, machine.processors};
}

std::string wisdom_file_name(const Fingerprint& machine, std::string_view subject) {
  const std::uint64_t hash =
      mixed(hash_of(machine.text()), hash_of(subject)); // different names may give the same words
  return fmt::format("{}-{}-{}-{:08x}.json", slug_of(machine.processor, 40), machine.processors, slug_of(subject, 20),
                     static_cast<std::uint32_t>(hash));
}

} // namespace kumihimo::problem
