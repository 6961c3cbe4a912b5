#include "machine/toml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kumihimo {

void TomlReader::fail(std::uint32_t line, std::string_view what, const Error& error) {
  if (error_) return;
  error_ = located(fmt::format("{}:{}: {}", file_, std::max<std::uint32_t>(line, 1), what), error);
}

void TomlReader::miss(std::uint32_t line, std::string_view what, std::string advice) {
  if (!error_)
    error_ = missing(fmt::format("{}:{}: {}", file_, std::max<std::uint32_t>(line, 1), what), std::move(advice));
}

std::string TomlReader::described(const toml::node& node) {
  if (const auto* text = node.as_string()) return fmt::format("\"{}\"", text->get());
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (node.is_table()) return "a table";
  return node.is_array() ? "an array" : "a date or time";
}

std::string TomlReader::text(const toml::table& table, std::string_view key, std::string_view what,
                             std::string_view example) {
  const toml::node* node = table.get(key);
  const auto advice = fmt::format("write {} = {}", key, example);
  if (!node) return miss(line_of(table), what, advice), "";
  const auto* value = node->as_string();
  if (!value || value->get().empty())
    return fail(line_of(*node), what, wrong_value("must be a string that is not empty", described(*node), advice)), "";
  return value->get();
}

const toml::table* TomlReader::section_of(const toml::table& root, std::string_view name) {
  const toml::node* node = root.get(name);
  if (!node || node->is_table()) return node ? node->as_table() : nullptr;
  const auto advice = fmt::format("write [{}]", name);
  return fail(line_of(*node), name, wrong_value("must be a section", described(*node), advice)), nullptr;
}

std::vector<const toml::table*> TomlReader::rows_of(const toml::table& section, std::string_view name,
                                                    std::string_view example) {
  if (error_) return {};
  const std::string what = fmt::format("{}.rows", name);
  const toml::node* node = section.get("rows");
  const toml::array* rows = node ? node->as_array() : nullptr;
  if (!rows) {
    const std::string advice = fmt::format("write rows = [{}]", example);
    if (!node)
      miss(line_of(section), what, advice);
    else
      fail(line_of(*node), what, wrong_value("must be an array of tables", described(*node), advice));
    return {};
  }
  std::vector<const toml::table*> tables;
  for (const toml::node& row : *rows) {
    if (!row.is_table())
      return fail(line_of(row), what, wrong_value("must be tables", described(row))), std::vector<const toml::table*>{};
    tables.push_back(row.as_table());
  }
  return tables;
}

void TomlReader::check_known(const toml::table& table, const Keys& known, std::string_view where) {
  for (const auto& [key, value] : table)
    if (!known.contains(key.str()))
      fail(key.source().begin.line, key.str(),
           wrong_value(fmt::format("{} has no such key", where), fmt::format("'{}'", key.str()),
                       fmt::format("use one of {}", fmt::join(known, ", "))));
}

} // namespace kumihimo
