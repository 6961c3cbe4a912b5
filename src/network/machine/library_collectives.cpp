#include "machine/library_collectives.hpp"

#include "base/collective_kind.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

constexpr std::string_view section = "library_collectives";

class RowReader {
 public:
  RowReader(TomlReader& in, const toml::table& row) : in_(in), row_(row) {}

  LibraryCollectives::Row row() {
    in_.check_known(row_, {"collective", "ranks", "bytes", "time"}, "a row of library_collectives");
    LibraryCollectives::Row found;
    found.collective = in_.text(row_, "collective", what("collective"), "\"allreduce\"");
    const auto is_it = [&](const CollectiveKind& kind) { return kind->name == found.collective; };
    if (!in_.error() && std::none_of(all_collectives.begin(), all_collectives.end(), is_it))
      fail("collective", "must name a collective", "write one of `kumihimo list`, such as \"allreduce\"");
    found.ranks = count("ranks", 1);
    found.bytes = count("bytes", 0);
    const std::string time = in_.text(row_, "time", what("time"), "\"12.5 us\"");
    if (in_.error()) return found;
    if (const auto seconds = parse_seconds(time))
      found.time = *seconds;
    else
      in_.fail(TomlReader::line_of(*row_.get("time")), what("time"), seconds.error());
    return found;
  }

 private:
  static std::string what(std::string_view key) { return fmt::format("{}.{}", section, key); }

  void fail(std::string_view key, const char* rule, const char* advice) {
    const toml::node& node = *row_.get(key);
    in_.fail(TomlReader::line_of(node), what(key), wrong_value(rule, TomlReader::described(node), advice));
  }

  std::int64_t count(std::string_view key, std::int64_t least) {
    if (in_.error()) return least;
    const toml::node* node = row_.get(key);
    if (!node) return in_.miss(TomlReader::line_of(row_), what(key), fmt::format("write {} = 8", key)), least;
    const auto found = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (found && *found >= least) return *found;
    return fail(key, least > 0 ? "must be a whole number above 0" : "must be a whole number, 0 or more", "write 8"),
           least;
  }

  TomlReader& in_;
  const toml::table& row_;
};

} // namespace

// rows = [{ collective = "allreduce", ranks = 2, bytes = 65536, time = "26 us" }]
void read_library_collectives(TomlReader& in, const toml::table& root, Machine& machine) {
  const toml::node* node = root.get(section);
  if (!node) return;
  const toml::table* table = node->as_table();
  if (!table)
    return in.fail(TomlReader::line_of(*node), section,
                   wrong_value("must be a section", TomlReader::described(*node), "write [library_collectives]"));
  LibraryCollectives found;
  found.source = in.text(*table, "source", "library_collectives.source", "\"how they were measured\"");
  const toml::array* rows = table->get("rows") ? table->get("rows")->as_array() : nullptr;
  if (!rows && !in.error())
    return in.miss(TomlReader::line_of(*table), "library_collectives.rows",
                   "write rows = [{ collective = \"allreduce\", ... }]");
  for (std::size_t i = 0; i < (rows ? rows->size() : 0) && !in.error(); ++i) {
    const toml::table* row = (*rows)[i].as_table();
    if (!row)
      return in.fail(TomlReader::line_of((*rows)[i]), "library_collectives.rows",
                     wrong_value("must be tables", TomlReader::described((*rows)[i])));
    found.rows.push_back(RowReader(in, *row).row());
  }
  machine.library_collectives = std::move(found);
}

} // namespace kumihimo
