// The file of wisdom: what tuning chose on one machine, as JSON that people can read and write (docs/wisdom.md). This
// part knows the head of the file and the fields that the entries of all problems share; a problem reads its own
// fields.
#pragma once

#include "base/json_member.hpp"
#include "base/result.hpp"
#include "base/size_map.hpp"
#include "problem/wisdom_place.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::problem {

inline constexpr std::int64_t wisdom_version = 1;

// One choice of the file. Errors name it by its ordinal.
class Entry {
 public:
  Entry(nlohmann::json fields, std::string where);

  const std::string& where() const { return where_; } // "choice 3"
  bool has(const char* name) const;
  Result<std::string> word(const char* name) const;
  Result<bool> flag(const char* name) const; // false where there is none
  // A whole number from 0 to `most`; `default_value` where there is none.
  Result<std::int64_t> number(const char* name, std::int64_t default_value,
                              std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  Result<SizeRange> sizes() const; // from_bytes, to_bytes
  // The highest ratio of its time to that of what runs without the choice; 0: none, as of a person or a model.
  Result<double> ratio_high() const;
  Result<nlohmann::json> parameters() const; // an object, empty where there is none
  bool is_measured() const;                  // neither by the simulator nor on emulated nodes

 private:
  JsonMember fields_;
  std::string where_;
};

// The text of a file, and whether a person named it.
struct WisdomText {
  std::string path; // empty: the folder holds no wisdom for this machine
  std::string text;
  WisdomOrigin found = WisdomOrigin::named;
};
// The text of the file `path`, or of the file for this machine and `subject` in the folder `path` (wisdom_file_name).
// `program`: if not empty, a file in the folder `programs/<program>` in `path` is preferred. Error: it is no regular
// file, or too long.
Result<WisdomText> find_wisdom(const std::string& path, const Fingerprint& machine, std::string_view subject,
                               std::string_view program = {});

class WisdomFile {
 public:
  // The error is one sentence for the user: not JSON, not an object, another version, machine or library, no choices.
  static Result<WisdomFile> parse(std::string_view text, const WisdomPlace& here,
                                  WisdomOrigin found = WisdomOrigin::named);

  // The choices of all problems, in the order of the file; of a file found by itself only measured ones. Each problem
  // knows its own by their first field ("collective", "kernel").
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

} // namespace kumihimo::problem
