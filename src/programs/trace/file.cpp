#include "trace/file.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace kumihimo::trace {
namespace {

static_assert(std::endian::native == std::endian::little);

struct FileHeader {
  std::array<unsigned char, 8> magic{0x89, 'K', 'U', 'M', 'I', 'T', 'R', '\n'}; // no text begins with it
  std::uint32_t version = trace::version, event_bytes = sizeof(Event);
  std::uint32_t rank = 0, ranks = 0;
  std::uint64_t events = 0, lists = 0, sizes = 0, left_out = 0, zero = 0;
};
static_assert(sizeof(FileHeader) == 64);

constexpr const char* again = "record the program again";

} // namespace

Result<File> file_in(std::span<const std::byte> bytes) {
  const auto no_file = [](const std::string& why) {
    return wrong_value("the events of a rank must be a file of kumihimo record --trace", why, again);
  };
  if (bytes.size() < sizeof(FileHeader)) return no_file(fmt::format("one of {} bytes", bytes.size()));
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != FileHeader{}.magic) return no_file("another format");
  if (header.version != version || header.event_bytes != sizeof(Event))
    return wrong_value(fmt::format("the events of a rank must be of version {}", version), header.version,
                       "record the program with this version of kumihimo");
  // Each count alone is below what the file has room for, so that no sum overflows.
  const std::uint64_t room = bytes.size() - sizeof header;
  const bool fits = header.events <= room / sizeof(Event) && header.lists <= room / 8 && header.sizes <= room / 8;
  const std::uint64_t needed = header.events * sizeof(Event) + (header.lists + header.sizes) * 8;
  if (!fits || needed != room)
    return wrong_value(fmt::format("a file of {} events must be whole", header.events),
                       fmt::format("{} bytes", bytes.size()), again);
  if (header.ranks == 0 || header.ranks > std::numeric_limits<std::int32_t>::max() || header.rank >= header.ranks)
    return wrong_value("a rank must be one of its program", fmt::format("{} of {}", header.rank, header.ranks), again);
  const std::byte* at = bytes.data() + sizeof header;
  File file{static_cast<std::int32_t>(header.rank), static_cast<std::int32_t>(header.ranks), header.left_out};
  file.events = {reinterpret_cast<const Event*>(at), header.events};
  at += file.events.size_bytes();
  file.list_ends = {reinterpret_cast<const std::uint64_t*>(at), header.lists};
  at += file.list_ends.size_bytes();
  file.list_sizes = {reinterpret_cast<const std::int64_t*>(at), header.sizes};
  std::uint64_t last = 0;
  for (const std::uint64_t end : file.list_ends) {
    if (end < last || end > header.sizes)
      return wrong_value(fmt::format("a list must end from {} to {}", last, header.sizes), end, again);
    last = end;
  }
  if (last != header.sizes) return wrong_value(fmt::format("the lists must end at {}", header.sizes), last, again);
  return file;
}

std::string header_of(const FileContents& contents) {
  FileHeader header;
  header.rank = static_cast<std::uint32_t>(contents.rank), header.ranks = static_cast<std::uint32_t>(contents.ranks);
  header.events = contents.events, header.lists = contents.lists, header.sizes = contents.sizes;
  header.left_out = contents.left_out;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

} // namespace kumihimo::trace
