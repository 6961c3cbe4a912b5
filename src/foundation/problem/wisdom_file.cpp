#include "problem/wisdom_file.hpp"

#include "base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <utility>

namespace kumihimo::problem {
namespace {

using Json = nlohmann::json;

constexpr const char* wisdom_file_rule = "a wisdom file is a JSON object that kumihimo tune writes";
constexpr TextFileRule wisdom_file{"the wisdom file", 64 << 20, "run kumihimo tune first"};
constexpr int deepest = 16; // levels of objects and lists; more would exhaust the stack when they are freed

// "a list", "a number".
std::string kind_of(const Json& value) {
  if (value.is_array()) return "a JSON list";
  if (value.is_null()) return "null";
  return fmt::format("a JSON {}", value.type_name());
}

Result<Json> object_of(std::string_view text) {
  bool too_deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, const Json&) {
    too_deep |= depth > deepest;
    return depth <= deepest;
  };
  Json file = Json::parse(text, shallow, false);
  if (too_deep) return wrong_value(wisdom_file_rule, fmt::format("JSON of more than {} levels", deepest), "tune again");
  if (file.is_discarded())
    return wrong_value(wisdom_file_rule, text.empty() ? "an empty file" : "text that is not whole JSON", "tune again");
  if (!file.is_object()) return wrong_value(wisdom_file_rule, kind_of(file), "tune again");
  return file;
}

Status check_version(const Entry& head) {
  const Result<std::int64_t> version = head.number("kumihimo_wisdom", 0);
  if (!version) return version.error();
  if (*version == wisdom_version) return Nothing{};
  return wrong_value(fmt::format("the wisdom file must have version {}", wisdom_version),
                     *version == 0 ? "none" : std::to_string(*version), "tune again with this kumihimo");
}

// Choices made elsewhere may be slow here, or wrong to trust.
Status check_place(const Json& file, const WisdomPlace& here) {
  if (const auto machine = file.find("machine"); machine != file.end() && !machine->is_null()) {
    if (!machine->is_object()) return wrong_value("machine in the wisdom file must be an object", machine->dump());
    const Entry fields(*machine, "the machine of the wisdom file");
    const Result<std::string> processor = fields.word("processor");
    const Result<std::int64_t> processors = fields.number("processors", 0);
    if (!processor) return processor.error();
    if (!processors) return processors.error();
    const Fingerprint of{*processor, *processors};
    if (of != here.machine)
      return wrong_value(fmt::format("the wisdom is not of this machine, {}", here.machine.text()), of.text(),
                         "run kumihimo tune here");
  }
  for (const WisdomPlace::Software& each : here.software) {
    const auto given = file.find(each.field);
    if (given == file.end() || given->is_null()) continue;
    const std::string version = TRY(Entry(file, "the wisdom file").word(each.field.c_str()));
    if (version == each.version) continue;
    const char* comma = each.version.empty() ? "" : ", "; // unknown
    return wrong_value(fmt::format("the wisdom is not of this {}{}{}", each.title, comma, each.version), version,
                       "run kumihimo tune with it");
  }
  return Nothing{};
}

} // namespace

Entry::Entry(Json fields, std::string where) : fields_(std::move(fields)), where_(std::move(where)) {}

bool Entry::has(const char* name) const { return fields_->contains(name); }

Result<std::string> Entry::word(const char* name) const {
  const auto it = fields_->find(name);
  if (it == fields_->end() || !it->is_string())
    return it == fields_->end() ? missing(fmt::format("{}: {}", where_, name), "tune again")
                                : wrong_value(fmt::format("{}: {} must be a string", where_, name), it->dump());
  return it->get<std::string>();
}

Result<bool> Entry::flag(const char* name) const {
  const auto it = fields_->find(name);
  if (it == fields_->end()) return false;
  if (!it->is_boolean()) return wrong_value(fmt::format("{}: {} must be true or false", where_, name), it->dump());
  return it->get<bool>();
}

Result<std::int64_t> Entry::number(const char* name, std::int64_t default_value, std::int64_t most) const {
  const auto it = fields_->find(name);
  if (it == fields_->end()) return default_value;
  if (!it->is_number_integer() || it->get<std::int64_t>() < 0 || it->get<std::int64_t>() > most)
    return wrong_value(fmt::format("{}: {} must be a whole number from 0 to {}", where_, name, most), it->dump());
  return it->get<std::int64_t>();
}

Result<SizeRange> Entry::sizes() const {
  SizeRange range;
  const std::int64_t from = TRY(number("from_bytes", range.from));
  const std::int64_t to = TRY(number("to_bytes", range.to));
  if (from > to)
    return wrong_value(where_ + ": from_bytes must be at most to_bytes", fmt::format("{} and {}", from, to));
  return SizeRange{from, to};
}

Result<double> Entry::ratio_high() const {
  const auto ratio = fields_->find("ratio_high");
  if (ratio == fields_->end() || ratio->is_null()) return 0.0;
  if (!ratio->is_number() || ratio->get<double>() <= 0)
    return wrong_value(where_ + ": ratio_high must be a number above 0", ratio->dump());
  return ratio->get<double>();
}

Result<Json> Entry::parameters() const {
  const auto given = fields_->find("parameters");
  if (given == fields_->end()) return Json::object();
  if (!given->is_object()) return wrong_value(where_ + ": parameters must be an object", given->dump());
  return *given;
}

bool Entry::is_measured() const {
  for (const char* const other : {"simulated", "emulated"})
    if (const auto it = fields_->find(other); it != fields_->end() && *it != Json(false)) return false;
  return true;
}

Result<WisdomText> find_wisdom(const std::string& path, const Fingerprint& machine, std::string_view subject,
                               std::string_view program) {
  std::filesystem::path named = path;
  std::error_code none;
  WisdomText wisdom;
  if (std::filesystem::is_directory(named, none)) {
    wisdom.found = WisdomOrigin::by_itself;
    const std::string name = wisdom_file_name(machine, subject);
    const std::filesystem::path of_program = named / "programs" / program / name;
    named = !program.empty() && std::filesystem::exists(of_program, none) ? of_program : named / name;
    if (!std::filesystem::exists(named, none)) return wisdom;
  }
  wisdom.text = TRY(read_text(named.string(), wisdom_file));
  wisdom.path = named.string();
  return wisdom;
}

Result<WisdomFile> WisdomFile::parse(std::string_view text, const WisdomPlace& here, WisdomOrigin found) {
  Result<Json> file = object_of(text);
  if (!file) return file.error();
  if (Status s = check_version(Entry(*file, "the wisdom file")); !s) return s.error();
  if (Status s = check_place(*file, here); !s) return s.error();
  const auto choices = file->find("choices");
  if (choices == file->end() || !choices->is_array())
    return wrong_value("choices in the wisdom file must be a list", choices == file->end() ? "none" : kind_of(*choices),
                       "tune again");
  WisdomFile wisdom;
  for (std::size_t i = 0; i < choices->size(); ++i) {
    Json& fields = (*choices)[i];
    std::string where = fmt::format("choice {}", i + 1);
    if (!fields.is_object()) return wrong_value(where + " must be an object", fields.dump());
    Entry entry(std::move(fields), std::move(where));
    if (found == WisdomOrigin::named || entry.is_measured()) wisdom.entries_.push_back(std::move(entry));
  }
  return wisdom;
}

} // namespace kumihimo::problem
