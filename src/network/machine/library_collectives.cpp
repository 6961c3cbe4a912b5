#include "machine/library_collectives.hpp"

#include "base/collective_kind.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

constexpr std::string_view section = "library_collectives";
constexpr std::string_view add_nodes = "older files have none: add to each row on how many nodes its ranks were, as in "
                                       "nodes = 1 on a single machine, or measure again with kumihimo machine measure";

class RowReader {
 public:
  RowReader(TomlReader& in, const toml::table& row) : in_(in), row_(row) {}

  LibraryCollectives::Row row() {
    in_.check_known(row_, {"collective", "ranks", "nodes", "bytes", "time"}, "a row of library_collectives");
    LibraryCollectives::Row found;
    found.collective = in_.text(row_, "collective", what("collective"), "\"allreduce\"");
    const auto is_it = [&](const CollectiveKind& kind) { return kind->name == found.collective; };
    if (!in_.error() && std::none_of(all_collectives.begin(), all_collectives.end(), is_it))
      fail("collective", "must name a collective", "write one of `kumihimo list`, such as \"allreduce\"");
    found.ranks = count<std::int32_t>("ranks", 1), found.nodes = count<std::int32_t>("nodes", 1, add_nodes);
    if (!in_.error() && found.nodes > found.ranks)
      fail("nodes", "must be at most ranks", "write how many nodes these ranks were on");
    found.bytes = count<std::int64_t>("bytes", 0);
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

  template <class Number>
  Number count(std::string_view key, Number least, std::string_view advice = "write a number, such as 8") {
    if (in_.error()) return least;
    const toml::node* node = row_.get(key);
    if (!node)
      return in_.miss(TomlReader::line_of(row_), what(key), std::string(advice)), least;
    const auto found = node->is_integer() ? node->value<Number>() : std::nullopt;
    if (found && *found >= least) return *found;
    return fail(key, least > 0 ? "must be a whole number above 0" : "must be a whole number, 0 or more", "write 8"),
           least;
  }

  TomlReader& in_;
  const toml::table& row_;
};

} // namespace

// rows = [{ collective = "allreduce", ranks = 4, nodes = 2, bytes = 65536, time = "26 us" }]
void read_library_collectives(TomlReader& in, const toml::table& root, Machine& machine) {
  const toml::table* table = in.section_of(root, section);
  if (!table) return;
  LibraryCollectives found;
  found.source = in.text(*table, "source", "library_collectives.source", "\"how they were measured\"");
  for (const toml::table* row : in.rows_of(*table, section, "{ collective = \"allreduce\", ... }"))
    found.rows.push_back(RowReader(in, *row).row());
  machine.library_collectives = std::move(found);
}

} // namespace kumihimo
