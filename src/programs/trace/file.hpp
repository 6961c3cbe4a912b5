// The file of one rank's events (docs/profile-format.md): a header, the events, and lists of the bytes that go to each
// rank in alltoalls of irregular blocks. All of it lies in memory as it lies in the file, little-endian.
#pragma once

#include "base/result.hpp"
#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kumihimo::trace {

inline constexpr std::uint32_t version = 1;

// Content of a file about its rank, in the bytes of its caller.
struct File {
  std::int32_t rank = 0, ranks = 0;
  std::uint64_t left_out = 0; // events, after the buffer of the recorder was full
  std::span<const Event> events;
  std::span<const std::uint64_t> list_ends; // in list_sizes
  std::span<const std::int64_t> list_sizes;

  // `number`: from 1 to the number of lists, as Collective::parts.
  std::span<const std::int64_t> parts(std::uint32_t number) const {
    const std::uint64_t begin = number == 1 ? 0 : list_ends[number - 2];
    return list_sizes.subspan(begin, list_ends[number - 1] - begin);
  }
};

// `bytes`: as they are mapped or read, aligned for an Event. Error: it is no such file, of another version, or not
// whole. The events themselves may have any values.
Result<File> file_in(std::span<const std::byte> bytes);

// Head of a file. The bytes of so many events, list_ends and list_sizes follow.
struct FileContents {
  std::int32_t rank = 0, ranks = 0;
  std::uint64_t events = 0, lists = 0, sizes = 0, left_out = 0;
};
std::string header_of(const FileContents& contents);

} // namespace kumihimo::trace
