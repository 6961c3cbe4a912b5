// The states of a machine's software: [software.NAME], whose numbers take the place of those of the file.
#pragma once

#include "machine/machine.hpp"
#include "machine/toml_reader.hpp"

namespace kumihimo {

class SoftwareStateReader {
 public:
  SoftwareStateReader(TomlReader& in, toml::table& root) : in_(in), root_(root) {}

  // Takes the states out of the file, and puts the numbers of the wanted one in the place of others. `wanted` empty:
  // the file's default. Sets the machine's states and the one in force.
  void read(std::string_view wanted, Machine& machine);
  // Also of those that are not in force: a misspelt key is found when it is written. `family`: for errors.
  void check_keys(const TomlReader::SectionKeys& sections, std::string_view family) const;

 private:
  SoftwareState words_of(const std::string& name);
  void check_values(const toml::table& state, const std::string& section);
  void put_over(toml::table& state); // whose values are of the right types
  void put_over(std::string_view section, toml::table& numbers);
  Error unknown(const std::string& name) const;

  TomlReader& in_;
  toml::table& root_;
  std::map<std::string, toml::table, std::less<>> states_; // by name
};

// [prediction_errors], where the file has it. `in` has the first error.
void read_prediction_errors(TomlReader& in, const toml::table& root, Machine& machine);

} // namespace kumihimo
