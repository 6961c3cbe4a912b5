// What the readers of the parts of a machine file share: the name of the file, and the first error found.
#pragma once

#include "base/result.hpp"

#include <toml++/toml.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

class TomlReader {
 public:
  using Keys = std::set<std::string_view>;
  using SectionKeys = std::map<std::string_view, Keys>; // by the name of a section

  explicit TomlReader(std::string_view file) : file_(file) {}

  const std::optional<Error>& error() const { return error_; }
  // Keep the first error. `what` starts with the key or section concerned.
  void fail(std::uint32_t line, std::string_view what, const Error& error);
  void miss(std::uint32_t line, std::string_view what, std::string advice);

  static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }
  // For errors: "a table", or the value.
  static std::string described(const toml::node& node);

  // A string that is not empty; empty after an error.
  std::string text(const toml::table& table, std::string_view key, std::string_view what, std::string_view example);
  // A section of the file; null if it has none, or after an error.
  const toml::table* section_of(const toml::table& root, std::string_view name);
  // The tables of the array `rows` of a section; none after an error. `example`: of a row, for errors.
  std::vector<const toml::table*> rows_of(const toml::table& section, std::string_view name, std::string_view example);
  // Rejects other keys than those of `known`. `where`: of whom the table is.
  void check_known(const toml::table& table, const Keys& known, std::string_view where);

 private:
  std::string_view file_;
  std::optional<Error> error_;
};

} // namespace kumihimo
