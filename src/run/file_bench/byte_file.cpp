#include "file_bench/byte_file.hpp"

#include <array>

namespace kumihimo::file_bench {
namespace {

constexpr std::array<std::string_view, 5> interfaces = {"posix", "mpiio", "mpiio-collective", "hdf5",
                                                        "hdf5-collective"};

} // namespace

std::string_view name_of(Interface interface) { return interfaces[static_cast<std::size_t>(interface)]; }

Result<Interface> interface_named(std::string_view name) {
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    if (interfaces[i] == name) return static_cast<Interface>(i);
  return wrong_value("an interface must be posix, mpiio, mpiio-collective, hdf5 or hdf5-collective",
                     "'" + std::string(name) + "'");
}

bool is_collective(Interface interface) {
  return interface == Interface::mpi_collective || interface == Interface::hdf5_collective;
}

Result<std::unique_ptr<ByteFile>> make_byte_file(const mpi_job::MpiJob& job, const ByteFileOptions& options) {
  switch (options.interface) {
  case Interface::posix: return make_posix_file(options.is_direct);
  case Interface::mpi_independent:
  case Interface::mpi_collective: return make_mpi_file(job, options);
  case Interface::hdf5:
  case Interface::hdf5_collective: return make_hdf5_file(job, options);
  }
  return make_posix_file(options.is_direct);
}

} // namespace kumihimo::file_bench
