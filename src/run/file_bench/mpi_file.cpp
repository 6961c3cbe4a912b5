// Files by MPI-IO, each call by one rank or by all together.
#include "file_bench/byte_file.hpp"
#include "file_bench/system_error.hpp"
#include "mpi/file_functions.hpp"

#include <fmt/format.h>

namespace kumihimo::file_bench {
namespace {

class MpiFile final : public ByteFile {
 public:
  MpiFile(const mpi_job::MpiJob& job, const ByteFileOptions& options, mpi::FileFunctions call)
      : library_(job.library()), call_(call), is_collective_(is_collective(options.interface)),
        communicator_(options.is_shared ? job.world() : job.library().constants.comm_self), hints_(options.hints) {}
  ~MpiFile() override { static_cast<void>(close().ok()); }

  Status open(const std::string& path, OpenFor what) override {
    path_ = path;
    mpi::Handle info = library_.constants.info_null;
    if (!hints_.empty()) call_.Info_create(&info);
    for (const auto& [name, value] : hints_) call_.Info_set(info, name.c_str(), value.c_str());
    const int mode = what == OpenFor::writing ? mpi::mode_create | mpi::mode_write : mpi::mode_read;
    const int code = call_.File_open(communicator_, path.c_str(), mode, info, &file_);
    if (!hints_.empty()) call_.Info_free(&info);
    is_open_ = code == 0;
    return checked(code, "cannot be opened");
  }

  Status write(std::int64_t position, std::span<const std::byte> bytes) override {
    const auto write_at = is_collective_ ? call_.File_write_at_all : call_.File_write_at;
    mpi::StatusWords status;
    const int code =
        write_at(file_, position, bytes.data(), static_cast<int>(bytes.size()), library_.constants.byte, &status);
    if (Status s = checked(code, "cannot be written"); !s) return s;
    return complete(status, bytes.size(), position, "written");
  }

  Status read(std::int64_t position, std::span<std::byte> bytes) override {
    const auto read_at = is_collective_ ? call_.File_read_at_all : call_.File_read_at;
    mpi::StatusWords status;
    const int code =
        read_at(file_, position, bytes.data(), static_cast<int>(bytes.size()), library_.constants.byte, &status);
    if (Status s = checked(code, "cannot be read"); !s) return s;
    return complete(status, bytes.size(), position, "read");
  }

  Status sync() override { return checked(call_.File_sync(file_), "cannot be brought to the disk (MPI_File_sync)"); }

  Status close() override {
    if (!is_open_) return Nothing{};
    is_open_ = false;
    return checked(call_.File_close(&file_), "cannot be closed");
  }

 private:
  Status checked(int code, std::string_view what) const {
    if (code == 0) return Nothing{};
    return failed(fmt::format("{} {} by MPI-IO", path_, what), library_.error_text(code), advice_without_errno);
  }
  // Some libraries report a full disk by a short count alone.
  Status complete(const mpi::StatusWords& status, std::size_t wanted, std::int64_t position,
                  std::string_view what) const {
    int count = 0;
    if (library_.call.Get_count(&status, library_.constants.byte, &count) != 0) return Nothing{};
    if (static_cast<std::size_t>(count) == wanted) return Nothing{};
    return failed(
        fmt::format("{} of {} bytes of {} were {} by MPI-IO at byte {}", count, wanted, path_, what, position), {},
        advice_without_errno);
  }

  const mpi::Library& library_;
  mpi::FileFunctions call_;
  bool is_collective_, is_open_ = false;
  mpi::Handle communicator_, file_ = 0;
  std::vector<std::pair<std::string, std::string>> hints_;
  std::string path_;
};

} // namespace

Result<std::unique_ptr<ByteFile>> make_mpi_file(const mpi_job::MpiJob& job, const ByteFileOptions& options) {
  const mpi::FileFunctions call = TRY(mpi::file_functions(job.library()));
  return std::unique_ptr<ByteFile>(std::make_unique<MpiFile>(job, options, call));
}

} // namespace kumihimo::file_bench
