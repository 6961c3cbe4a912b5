#include "mpi/own_place.hpp"

#include "base/text_file.hpp"

#include <array>
#include <cstdlib>

namespace kumihimo::mpi {
namespace {

constexpr TextFileRule hosts_rule{"the file of KUMIHIMO_HOSTS", 64 << 20, "check the variable"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

} // namespace

std::string processor_name(const Library& library) {
  std::array<char, 1024> name{};
  int length = 0;
  library.call.Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

Result<std::optional<PlaceInShape>> own_place(const Library& library, std::int32_t rank, std::int32_t ranks) {
  const std::string shape = variable(shape_variable), path = variable(hosts_variable);
  const std::string hosts = shape.empty() || path.empty() ? "" : TRY(read_text(path, hosts_rule));
  return place_in_shape(shape, hosts, {rank, ranks, processor_name(library)});
}

} // namespace kumihimo::mpi
