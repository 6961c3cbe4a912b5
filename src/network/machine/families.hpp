// The families of networks whose machine files describe them by a few counts and words, one row each: the keys of their
// [topology] section, and what is made of them. Tori and Tofu, whose jobs have shapes, are read by parse.cpp itself.
#pragma once

#include "machine/machine.hpp"

#include <map>
#include <span>
#include <variant>

namespace kumihimo {

// What a machine file says of its topology, by key.
class TopologyDescription {
 public:
  using Value = std::variant<std::int64_t, std::vector<std::int32_t>, std::string, std::vector<std::string>>;

  void add(std::string_view key, Value value) { values_.insert_or_assign(std::string(key), std::move(value)); }
  std::int32_t count(std::string_view key, std::int64_t otherwise = 1) const {
    return static_cast<std::int32_t>(get(key, otherwise));
  }
  std::vector<std::int32_t> counts(std::string_view key) const { return get(key, std::vector<std::int32_t>()); }
  std::string word(std::string_view key) const { return get(key, std::string()); }
  std::vector<std::string> words(std::string_view key) const { return get(key, std::vector<std::string>()); }

 private:
  template <class T>
  T get(std::string_view key, T otherwise) const { // `otherwise`: the file does not say
    const auto at = values_.find(key);
    return at == values_.end() ? otherwise : std::get<T>(at->second);
  }

  std::map<std::string, Value, std::less<>> values_;
};

struct FamilyRow {
  enum class Kind : std::uint8_t { count, counts, word, words }; // 18; "18x24"; "ecmp"; ["0-1", "1-2"]
  struct Key {
    std::string_view name;
    Kind kind;
    std::string_view example;
    bool needed = true;
  };
  Family family;
  std::vector<Key> keys;
  Result<std::shared_ptr<const Switched>> (*make)(const TopologyDescription&);
};

// None: another family.
const FamilyRow* find_row(Family family);

} // namespace kumihimo
