#include "base/datatype.hpp"

#include <cctype>
#include <span>
#include <string>
#include <utility>

namespace kumihimo {
namespace {

constexpr std::array<std::string_view, datatype_count> datatype_names = {
    "int8",        "uint8",       "int16",         "uint16",        "int32",           "uint32",
    "int64",       "uint64",      "float32",       "float64",       "opaque",          "int16_int32",
    "int32_int32", "int64_int32", "float32_int32", "float64_int32", "float32_float32", "float64_float64"};
constexpr std::array<std::string_view, operation_count> operation_names = {
    "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor", "user", "minloc", "maxloc"};
// What people name: single numbers and the operations on them.
constexpr std::size_t named_datatypes = static_cast<std::size_t>(DataType::opaque) + 1;
constexpr std::size_t named_operations = static_cast<std::size_t>(Operation::user) + 1;

// The sizes of an LP64 system, the only kind on which this library is built.
constexpr std::array<std::pair<std::string_view, DataType>, 7> aliases = {{{"char", DataType::int8},
                                                                           {"short", DataType::int16},
                                                                           {"int", DataType::int32},
                                                                           {"long", DataType::int64},
                                                                           {"float", DataType::float32},
                                                                           {"double", DataType::float64},
                                                                           {"byte", DataType::uint8}}};
static_assert(sizeof(long) == 8 && sizeof(int) == 4);

std::string lower(std::string_view text) {
  std::string s(text);
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

std::string joined(std::span<const std::string_view> names) {
  std::string s;
  for (std::string_view name : names) (s += s.empty() ? "" : ", ") += name;
  return s;
}

} // namespace

std::string_view name_of(DataType type) { return datatype_names[static_cast<std::size_t>(type)]; }
std::string_view name_of(Operation op) { return operation_names[static_cast<std::size_t>(op)]; }

Result<DataType> parse_datatype(std::string_view name) {
  const std::string wanted = lower(name);
  for (std::size_t i = 0; i < named_datatypes; ++i)
    if (wanted == datatype_names[i]) return static_cast<DataType>(i);
  for (const auto& [alias, type] : aliases)
    if (wanted == alias) return type;
  return wrong_value("unknown element type", "'" + std::string(name) + "'",
                     "use one of " + joined(std::span(datatype_names).first(named_datatypes)) +
                         " (or char, short, int, long, float, double, byte)");
}

Result<Operation> parse_operation(std::string_view name) {
  std::string wanted = lower(name);
  if (wanted.starts_with("mpi_")) wanted.erase(0, 4);
  for (std::size_t i = 0; i < named_operations; ++i)
    if (wanted == operation_names[i]) return static_cast<Operation>(i);
  return wrong_value("unknown reduction operation", "'" + std::string(name) + "'",
                     "use one of " + joined(std::span(operation_names).first(named_operations)));
}

} // namespace kumihimo
