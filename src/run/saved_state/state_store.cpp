#include "saved_state/state_store.hpp"

#include "saved_state/checksum.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

namespace kumihimo::saved_state {
namespace {

constexpr std::string_view begins = "kumihimo-state-1", ends = "kumihimo-state-z";
constexpr std::size_t trailer_bytes = 32, piece_bytes = std::size_t{1} << 20;
constexpr std::uint64_t most_arrays = std::uint64_t{1} << 20, longest_name = 4096;
constexpr std::array<const char*, 2> slots = {".0", ".1"};
constexpr const char* unfinished = ".new";

std::string_view advice_for(int error) {
  switch (error) {
  case ENOSPC: return "make space, or save less often to a larger file system";
  case EDQUOT: return "remove files, or ask for a larger quota";
  case EFBIG: return "raise the limit of a file's size (ulimit -f)";
  case EACCES:
  case EPERM:
  case EROFS: return "name a folder that you can write to";
  case ENOENT: return "make the folder first";
  default: return "check the file system";
  }
}

Error refused(const std::string& what, int error) {
  return failed(what, std::generic_category().message(error), std::string(advice_for(error)));
}

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return file_; }
  int close() { return ::close(std::exchange(file_, -1)); }

 private:
  int file_;
};

void add_word(std::string& to, std::uint64_t word) {
  for (int byte = 0; byte < 8; ++byte) to.push_back(static_cast<char>(word >> (8 * byte)));
}

std::uint64_t word_of(const std::byte* from) {
  std::uint64_t word = 0;
  for (int byte = 7; byte >= 0; --byte) word = word << 8 | std::to_integer<std::uint64_t>(from[byte]);
  return word;
}

std::string header_of(std::int64_t generation, std::span<const SavedArray> arrays) {
  std::string text(begins);
  add_word(text, static_cast<std::uint64_t>(generation));
  add_word(text, arrays.size());
  for (const SavedArray& each : arrays) {
    add_word(text, each.name.size());
    text += each.name;
    text.resize((text.size() + 7) / 8 * 8, '\0');
    add_word(text, each.bytes.size());
  }
  return text;
}

// Writes bytes in pieces that stay in the cache between their sum and their write.
class SummedWriter {
 public:
  explicit SummedWriter(int file) : file_(file) {}

  // Whether all of them are written; else errno says why not.
  bool write(std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece_bytes, bytes.size()))) {
      const std::span<const std::byte> piece = bytes.first(std::min(piece_bytes, bytes.size()));
      sum_.add(piece);
      if (!write_plain(piece)) return false;
    }
    return true;
  }
  bool write(std::string_view text) { return write(std::as_bytes(std::span(text.data(), text.size()))); }

  bool write_trailer() {
    std::string text;
    add_word(text, written_);
    add_word(text, sum_.value());
    text += ends;
    return write_plain(std::as_bytes(std::span(text.data(), text.size())));
  }

 private:
  bool write_plain(std::span<const std::byte> left) {
    while (!left.empty()) {
      const ssize_t done = ::write(file_, left.data(), left.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      if (done == 0) return errno = ENOSPC, false;
      left = left.subspan(static_cast<std::size_t>(done));
      written_ += static_cast<std::uint64_t>(done);
    }
    return true;
  }

  int file_;
  std::uint64_t written_ = 0;
  Checksum sum_;
};

// Reads a file from its begin to its trailer, and knows at the end whether it was whole.
class SummedReader {
 public:
  explicit SummedReader(const std::string& path) : file_(path, O_RDONLY) {
    struct stat found {};
    if (file_.number() < 0 || fstat(file_.number(), &found) != 0) {
      error_ = errno == ENOENT ? 0 : errno;
      return;
    }
    if (!S_ISREG(found.st_mode)) return;
    if (found.st_size >= static_cast<off_t>(trailer_bytes))
      left_ = static_cast<std::uint64_t>(found.st_size) - trailer_bytes;
    is_open_ = true;
  }
  bool is_open() const { return is_open_; }
  int error() const { return error_; } // with which the system refused to read; 0: the file itself is the reason

  // Whether all of them are there.
  bool read(std::span<std::byte> into) {
    while (!into.empty()) {
      const std::span<std::byte> piece = into.first(std::min(piece_bytes, into.size()));
      if (piece.size() > left_ || !read_plain(piece)) return false;
      sum_.add(piece);
      left_ -= piece.size();
      taken_ += piece.size();
      into = into.subspan(piece.size());
    }
    return true;
  }
  bool skip(std::uint64_t bytes) {
    if (bytes > left_) return false;
    if (buffer_.empty()) buffer_.resize(piece_bytes);
    while (bytes > 0) {
      const std::size_t piece = std::min<std::uint64_t>(piece_bytes, bytes);
      if (!read(std::span(buffer_).first(piece))) return false;
      bytes -= piece;
    }
    return true;
  }
  std::optional<std::uint64_t> word() {
    std::array<std::byte, 8> bytes{};
    return read(bytes) ? std::optional(word_of(bytes.data())) : std::nullopt;
  }
  std::optional<std::string> text(std::uint64_t length, std::uint64_t padded) {
    std::string found(padded, '\0');
    if (!read(std::as_writable_bytes(std::span(found)))) return std::nullopt;
    found.resize(length);
    return found;
  }
  // Whether nothing but the trailer is left, and it fits what was read.
  bool ends_whole() {
    std::array<std::byte, trailer_bytes> trailer{};
    return left_ == 0 && read_plain(trailer) && word_of(trailer.data()) == taken_ &&
           word_of(trailer.data() + 8) == sum_.value() &&
           std::memcmp(trailer.data() + 16, ends.data(), ends.size()) == 0;
  }

 private:
  bool read_plain(std::span<std::byte> into) {
    while (!into.empty()) {
      const ssize_t done = ::read(file_.number(), into.data(), into.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) error_ = errno;
      if (done <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }

  OpenFile file_;
  bool is_open_ = false;
  int error_ = 0;
  std::uint64_t left_ = 0, taken_ = 0;
  Checksum sum_;
  std::vector<std::byte> buffer_;
};

// None: the file has no header.
std::optional<Generation> read_header(SummedReader& from) {
  if (from.text(begins.size(), begins.size()) != begins) return std::nullopt;
  const auto number = from.word(), arrays = from.word();
  if (!number || !arrays || *arrays > most_arrays) return std::nullopt;
  Generation found{static_cast<std::int64_t>(*number), {}};
  for (std::uint64_t i = 0; i < *arrays; ++i) {
    const auto length = from.word();
    if (!length || *length > longest_name) return std::nullopt;
    const auto name = from.text(*length, (*length + 7) / 8 * 8);
    const auto bytes = from.word();
    if (!name || !bytes) return std::nullopt;
    found.arrays.push_back({*name, static_cast<std::int64_t>(*bytes)});
  }
  return found;
}

std::optional<Generation> whole_generation(SummedReader& from) {
  if (!from.is_open()) return std::nullopt;
  std::optional<Generation> found = read_header(from);
  if (!found) return std::nullopt;
  for (const ArrayShape& each : found->arrays)
    if (!from.skip(static_cast<std::uint64_t>(each.bytes))) return std::nullopt;
  return from.ends_whole() ? found : std::nullopt;
}

// Of the file's number alone, for a file that load() verifies as it reads.
std::optional<std::int64_t> number_in(const std::string& path) {
  SummedReader from(path);
  const std::optional<Generation> found = from.is_open() ? read_header(from) : std::nullopt;
  return found ? std::optional(found->number) : std::nullopt;
}

Status check_places(const Generation& found, std::span<const ArrayPlace> places, const std::string& path) {
  for (const ArrayPlace& place : places) {
    const auto at = std::find_if(found.arrays.begin(), found.arrays.end(),
                                 [&](const ArrayShape& each) { return each.name == place.name; });
    if (at == found.arrays.end())
      return failed(fmt::format("{} has no array {}", path, place.name), {}, "start without --restart");
    if (at->bytes != static_cast<std::int64_t>(place.bytes.size()))
      return failed(fmt::format("array {} of {} must have {} bytes", place.name, path, place.bytes.size()),
                    fmt::format("it has {}", at->bytes), "restart with the options that it was saved with");
  }
  return Nothing{};
}

} // namespace

Result<StateStore> StateStore::open(const std::string& folder, const std::string& stem, std::int32_t rank) {
  StateStore store(folder, fmt::format("{}-{}", stem, rank));
  store.folder_file_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (store.folder_file_ < 0) return refused(fmt::format("the folder {} cannot be opened", folder), errno);
  return store;
}

StateStore::~StateStore() {
  if (folder_file_ >= 0) close(folder_file_);
}

StateStore::StateStore(StateStore&& other) noexcept
    : folder_(std::move(other.folder_)), stem_(std::move(other.stem_)),
      folder_file_(std::exchange(other.folder_file_, -1)), newest_slot_(other.newest_slot_), newest_(other.newest_) {}

std::vector<Generation> StateStore::whole_generations() const {
  std::vector<Generation> found;
  for (const char* slot : slots) {
    SummedReader from(path(slot));
    if (std::optional<Generation> each = whole_generation(from)) found.push_back(std::move(*each));
  }
  std::sort(found.begin(), found.end(), [](const Generation& a, const Generation& b) { return a.number < b.number; });
  return found;
}

// A file that the system does not let us read may be whole: it is not overwritten.
Status StateStore::find_newest() {
  newest_ = -1;
  int newest_slot = 1; // so that the first save goes into slot 0
  for (int slot = 0; slot < 2; ++slot) {
    SummedReader from(path(slots[static_cast<std::size_t>(slot)]));
    const std::optional<Generation> found = whole_generation(from);
    if (from.error() != 0)
      return refused(fmt::format("{} cannot be read", path(slots[static_cast<std::size_t>(slot)])), from.error());
    if (found && found->number > newest_) newest_ = found->number, newest_slot = slot;
  }
  newest_slot_ = newest_slot;
  return Nothing{};
}

void StateStore::go_on_from(std::int64_t generation) {
  newest_ = generation, newest_slot_ = 1;
  for (int slot = 0; slot < 2; ++slot) {
    SummedReader from(path(slots[static_cast<std::size_t>(slot)]));
    const std::optional<Generation> found = whole_generation(from);
    if (found && found->number == generation) newest_slot_ = slot;
  }
}

Result<int> StateStore::slot_to_write(std::int64_t generation) {
  if (newest_slot_ < 0)
    if (Status s = find_newest(); !s) return s.error();
  if (generation <= newest_)
    return wrong_value(fmt::format("a saved generation must be newer than {}", newest_), generation);
  return 1 - newest_slot_;
}

Status StateStore::save(std::int64_t generation, std::span<const SavedArray> arrays) {
  const int slot = TRY(slot_to_write(generation));
  const std::string new_path = path(unfinished);
  const auto not_saved = [&](int error) {
    unlink(new_path.c_str());
    return refused(fmt::format("{} was not saved", path(slots[static_cast<std::size_t>(slot)])), error);
  };
  OpenFile file(new_path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.number() < 0) return not_saved(errno);
  SummedWriter to(file.number());
  bool is_written = to.write(header_of(generation, arrays));
  for (const SavedArray& each : arrays) is_written = is_written && to.write(each.bytes);
  if (!is_written || !to.write_trailer()) return not_saved(errno);
  if (fsync(file.number()) != 0) return not_saved(errno);
  if (file.close() != 0) return not_saved(errno);
  if (rename(new_path.c_str(), path(slots[static_cast<std::size_t>(slot)]).c_str()) != 0) return not_saved(errno);
  newest_ = generation, newest_slot_ = slot;
  if (fsync(folder_file_) != 0)
    return refused(
        fmt::format("the new name of {} may not be on the disk", path(slots[static_cast<std::size_t>(slot)])), errno);
  return Nothing{};
}

Status StateStore::load(std::int64_t generation, std::span<const ArrayPlace> places) const {
  for (const char* slot : slots) {
    if (number_in(path(slot)) != generation) continue;
    SummedReader from(path(slot));
    const std::optional<Generation> found = from.is_open() ? read_header(from) : std::nullopt;
    if (!found) continue;
    if (Status s = check_places(*found, places, path(slot)); !s) return s;
    bool is_read = true;
    for (const ArrayShape& each : found->arrays) {
      const auto place =
          std::find_if(places.begin(), places.end(), [&](const ArrayPlace& p) { return p.name == each.name; });
      is_read = is_read &&
                (place == places.end() ? from.skip(static_cast<std::uint64_t>(each.bytes)) : from.read(place->bytes));
    }
    if (is_read && from.ends_whole()) return Nothing{};
    return failed(fmt::format("{} is damaged", path(slot)), "its checksum differs", "restart from another generation");
  }
  return failed(fmt::format("{} has no generation {}", path(".0 and .1"), generation), {},
                "restart from another generation");
}

Status StateStore::remove() {
  newest_slot_ = -1, newest_ = -1;
  for (const char* suffix : {slots[0], slots[1], unfinished})
    if (unlink(path(suffix).c_str()) != 0 && errno != ENOENT)
      return refused(fmt::format("{} was not removed", path(suffix)), errno);
  return Nothing{};
}

} // namespace kumihimo::saved_state
