#include "problem/fingerprint.hpp"

#include "base/hash.hpp"
#include "base/text_parsing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <fstream>

namespace kumihimo::problem {
namespace {

constexpr std::size_t first_processor_bytes = 4096; // of /proc/cpuinfo; to read all of it takes long on many processors

std::string_view value_of(std::string_view cpuinfo, std::string_view key) {
  while (!cpuinfo.empty()) {
    const std::string_view line = take_until(cpuinfo, '\n');
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return {};
}

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

std::string processor_of(std::string_view cpuinfo) {
  for (const std::string_view key : {"model name", "cpu model", "cpu"}) // x86; others; POWER
    if (const std::string_view name = value_of(cpuinfo, key); !name.empty()) return std::string(name);
  const std::string_view implementer = value_of(cpuinfo, "CPU implementer"), part = value_of(cpuinfo, "CPU part");
  if (implementer.empty() && part.empty()) return {};
  return fmt::format("Arm implementer {}, part {}, variant {}", implementer, part, value_of(cpuinfo, "CPU variant"));
}

Fingerprint this_machine() {
  std::array<char, first_processor_bytes> text{};
  std::ifstream file("/proc/cpuinfo");
  file.read(text.data(), text.size());
  return {processor_of({text.data(), static_cast<std::size_t>(file.gcount())}), sysconf(_SC_NPROCESSORS_ONLN)};
}

std::string wisdom_file_name(const Fingerprint& machine, std::string_view subject) {
  const std::uint64_t hash =
      mixed(hash_of(machine.text()), hash_of(subject)); // different names may give the same words
  return fmt::format("{}-{}-{}-{:08x}.json", slug_of(machine.processor, 40), machine.processors, slug_of(subject, 20),
                     static_cast<std::uint32_t>(hash));
}

} // namespace kumihimo::problem
