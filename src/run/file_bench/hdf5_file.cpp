// Files by HDF5, opened at run time: one dataset of bytes. A file that all ranks share needs a parallel HDF5 that is
// built for the MPI library of this process; a file of one rank needs any.
#include "file_bench/byte_file.hpp"
#include "file_bench/system_error.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace kumihimo::file_bench {
namespace {

using Id = std::int64_t;      // hid_t, since HDF5 1.10
using Length = std::uint64_t; // hsize_t
constexpr Id by_default = 0;  // H5P_DEFAULT
constexpr unsigned read_only = 0, truncate_file = 2;
constexpr int never = 1; // H5D_FILL_TIME_NEVER
constexpr const char* dataset_name = "data";

#define KUMIHIMO_HDF5_FUNCTIONS(X)                                                                                     \
  X(int, H5open, ())                                                                                                   \
  X(int, H5Eset_auto2, (Id, void*, void*))                                                                             \
  X(int, H5get_libversion, (unsigned*, unsigned*, unsigned*))                                                          \
  X(Id, H5Pcreate, (Id))                                                                                               \
  X(int, H5Pclose, (Id))                                                                                               \
  X(int, H5Pset_fill_time, (Id, int))                                                                                  \
  X(Id, H5Fcreate, (const char*, unsigned, Id, Id))                                                                    \
  X(Id, H5Fopen, (const char*, unsigned, Id))                                                                          \
  X(int, H5Fclose, (Id))                                                                                               \
  X(int, H5Fflush, (Id, int))                                                                                          \
  X(Id, H5Screate_simple, (int, const Length*, const Length*))                                                         \
  X(int, H5Sselect_hyperslab, (Id, int, const Length*, const Length*, const Length*, const Length*))                   \
  X(int, H5Sclose, (Id))                                                                                               \
  X(Id, H5Dcreate2, (Id, const char*, Id, Id, Id, Id, Id))                                                             \
  X(Id, H5Dopen2, (Id, const char*, Id))                                                                               \
  X(int, H5Dwrite, (Id, Id, Id, Id, Id, const void*))                                                                  \
  X(int, H5Dread, (Id, Id, Id, Id, Id, void*))                                                                         \
  X(int, H5Dclose, (Id))

struct Hdf5Library {
#define KUMIHIMO_HDF5_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
  KUMIHIMO_HDF5_FUNCTIONS(KUMIHIMO_HDF5_DECLARE)
#undef KUMIHIMO_HDF5_DECLARE
  int (*H5Pset_fapl_mpio)(Id, mpi::Handle, mpi::Handle) = nullptr; // of a parallel library alone
  int (*H5Pset_dxpl_mpio)(Id, int) = nullptr;
  Id bytes = 0, of_access = 0, of_creation = 0, of_transfer = 0; // a type and three classes of properties
};

constexpr std::array serial_names = {
    "libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5_serial.so", "libhdf5.so.103",
    "libhdf5.so.200",        "libhdf5.so.310",        "libhdf5.so"};
constexpr std::array open_mpi_names = {
    "libhdf5_openmpi.so.103", "libhdf5_openmpi.so.310", "libhdf5_openmpi.so", "libhdf5.so.103",
    "libhdf5.so.200",         "libhdf5.so.310",         "libhdf5.so"};
constexpr std::array mpich_names = {
    "libhdf5_mpich.so.103", "libhdf5_mpich.so.310", "libhdf5_mpich.so", "libhdf5.so.103",
    "libhdf5.so.200",       "libhdf5.so.310",       "libhdf5.so"};

std::vector<std::string> names_of(mpi::LibraryFamily family, bool is_parallel, const std::string& asked) {
  if (!asked.empty()) return {asked};
  if (!is_parallel) return {serial_names.begin(), serial_names.end()};
  if (family == mpi::LibraryFamily::open_mpi) return {open_mpi_names.begin(), open_mpi_names.end()};
  return {mpich_names.begin(), mpich_names.end()};
}

// Whether the MPI that a parallel library calls is the one of this process; a second one beside it would not work.
bool calls_library(void* image, const mpi::Library& library) {
  return dlsym(image, "MPI_File_open") == dlsym(library.image, "MPI_File_open");
}

template <class Value>
bool find(void* image, const char* name, Value& into) {
  void* const found = dlsym(image, name);
  if (found) into = *static_cast<Value*>(found);
  return found != nullptr;
}

Result<Hdf5Library> open_hdf5(const mpi_job::MpiJob& job, const ByteFileOptions& options) {
  void* image = nullptr;
  std::string opened;
  for (const std::string& name : names_of(job.library().family, options.is_shared, options.hdf5_library)) {
    image = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    opened = name;
    if (image && (!options.is_shared || dlsym(image, "H5Pset_fapl_mpio"))) break;
    image = nullptr;
  }
  if (!image)
    return not_applicable(
        options.hdf5_library.empty()
            ? fmt::format("no {} library is on this machine",
                          options.is_shared ? fmt::format("parallel HDF5 ({})", mpi::name_of(job.library().family))
                                            : "HDF5")
            : fmt::format("{} is no {}HDF5 library", options.hdf5_library, options.is_shared ? "parallel " : ""),
        {}, "install one, or name it with --hdf5");
  Hdf5Library library;
  std::string missing;
#define KUMIHIMO_HDF5_FIND(result, name, arguments)                                                                    \
  library.name = reinterpret_cast<result(*) arguments>(dlsym(image, #name));                                           \
  if (!library.name && missing.empty()) missing = #name;
  KUMIHIMO_HDF5_FUNCTIONS(KUMIHIMO_HDF5_FIND)
#undef KUMIHIMO_HDF5_FIND
  if (!missing.empty())
    return not_applicable(opened + " is too old", "no function " + missing, "use HDF5 1.10 or later");
  if (options.is_shared && !calls_library(image, job.library()))
    return not_applicable(opened + " is built for another MPI library", {},
                          "name one with --hdf5 that is built for " + job.library().path);
  library.H5Pset_fapl_mpio = reinterpret_cast<int (*)(Id, mpi::Handle, mpi::Handle)>(dlsym(image, "H5Pset_fapl_mpio"));
  library.H5Pset_dxpl_mpio = reinterpret_cast<int (*)(Id, int)>(dlsym(image, "H5Pset_dxpl_mpio"));
  if (library.H5open() < 0) return failed(opened + " does not start");
  library.H5Eset_auto2(0, nullptr, nullptr); // errors are returned, not printed
  if (!find(image, "H5T_NATIVE_UCHAR_g", library.bytes) ||
      !find(image, "H5P_CLS_FILE_ACCESS_ID_g", library.of_access) ||
      !find(image, "H5P_CLS_DATASET_CREATE_ID_g", library.of_creation) ||
      !find(image, "H5P_CLS_DATASET_XFER_ID_g", library.of_transfer))
    return not_applicable(opened + " is no HDF5 library", {}, "name another with --hdf5");
  return library;
}

class Hdf5File final : public ByteFile {
 public:
  Hdf5File(const mpi_job::MpiJob& job, const ByteFileOptions& options, const Hdf5Library& library)
      : job_(job), options_(options), library_(library) {}
  ~Hdf5File() override { static_cast<void>(close().ok()); }

  Status open(const std::string& path, OpenFor what) override {
    path_ = path;
    const Id access = library_.H5Pcreate(library_.of_access);
    transfer_ = library_.H5Pcreate(library_.of_transfer);
    if (options_.is_shared) {
      library_.H5Pset_fapl_mpio(access, job_.world(), job_.library().constants.info_null);
      library_.H5Pset_dxpl_mpio(transfer_, is_collective(options_.interface) ? 1 : 0);
    }
    file_ = what == OpenFor::writing ? library_.H5Fcreate(path.c_str(), truncate_file, by_default, access)
                                     : library_.H5Fopen(path.c_str(), read_only, access);
    library_.H5Pclose(access);
    const auto length = static_cast<Length>(options_.bytes);
    space_ = library_.H5Screate_simple(1, &length, nullptr);
    if (file_ < 0) return refused("opened");
    if (what == OpenFor::reading) {
      dataset_ = library_.H5Dopen2(file_, dataset_name, by_default);
    } else {
      const Id creation = library_.H5Pcreate(library_.of_creation);
      library_.H5Pset_fill_time(creation, never); // else HDF5 writes every byte twice
      dataset_ = library_.H5Dcreate2(file_, dataset_name, library_.bytes, space_, by_default, creation, by_default);
      library_.H5Pclose(creation);
    }
    return dataset_ < 0 ? refused("opened") : Status(Nothing{});
  }

  Status write(std::int64_t position, std::span<const std::byte> bytes) override {
    const Id memory = selected(position, bytes.size());
    const int code = library_.H5Dwrite(dataset_, library_.bytes, memory, space_, transfer_, bytes.data());
    library_.H5Sclose(memory);
    return code < 0 ? refused("written") : Status(Nothing{});
  }

  Status read(std::int64_t position, std::span<std::byte> bytes) override {
    const Id memory = selected(position, bytes.size());
    const int code = library_.H5Dread(dataset_, library_.bytes, memory, space_, transfer_, bytes.data());
    library_.H5Sclose(memory);
    return code < 0 ? refused("read") : Status(Nothing{});
  }

  // HDF5 hands its data to the system; that these reach the disk is asked of the system.
  Status sync() override {
    if (library_.H5Fflush(file_, 1) < 0) return refused("brought to the disk");
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_synced = file >= 0 && fsync(file) == 0;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (is_synced) return Nothing{};
    return refused_by_system(fmt::format("{} cannot be brought to the disk (fsync)", path_), error);
  }

  Status close() override {
    if (dataset_ >= 0) library_.H5Dclose(dataset_);
    if (space_ >= 0) library_.H5Sclose(space_);
    if (transfer_ >= 0) library_.H5Pclose(transfer_);
    const bool is_closed = file_ < 0 || library_.H5Fclose(file_) >= 0;
    dataset_ = space_ = transfer_ = file_ = -1;
    return is_closed ? Status(Nothing{}) : refused("closed");
  }

 private:
  Id selected(std::int64_t position, std::size_t bytes) {
    const Length begin = static_cast<Length>(position), count = bytes;
    library_.H5Sselect_hyperslab(space_, 0, &begin, nullptr, &count, nullptr);
    return library_.H5Screate_simple(1, &count, nullptr);
  }
  Status refused(std::string_view what) const {
    return failed(fmt::format("{} cannot be {} by HDF5", path_, what), {}, advice_without_errno);
  }

  const mpi_job::MpiJob& job_;
  ByteFileOptions options_;
  Hdf5Library library_;
  Id file_ = -1, dataset_ = -1, space_ = -1, transfer_ = -1;
  std::string path_;
};

} // namespace

Result<std::unique_ptr<ByteFile>> make_hdf5_file(const mpi_job::MpiJob& job, const ByteFileOptions& options) {
  const Hdf5Library library = TRY(open_hdf5(job, options));
  return std::unique_ptr<ByteFile>(std::make_unique<Hdf5File>(job, options, library));
}

} // namespace kumihimo::file_bench
