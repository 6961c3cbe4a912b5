// The JSON form of a prediction and its schema, both from one description.
#include "models/describe.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>

namespace kumihimo::models {

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json json_of(const T& value);

// Writes the members of a described object.
struct Writer {
  ordered_json& object;

  template <class T>
  void operator()(const char* name, const T& value, const char*) {
    object[name] = json_of(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value, const char*) {
    if (value) object[name] = json_of(*value);
  }
  template <class T>
  void operator()(const char* name, const OrNull<T>& value, const char*) {
    object[name] = value.value ? json_of(*value.value) : ordered_json();
  }
  template <class T>
  void part(const std::optional<T>& value) {
    if (value) describe(*this, *value);
  }
};

template <class T>
ordered_json json_of(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string_view>) {
    return ordered_json(value);
  } else if constexpr (is_map<T>) {
    ordered_json object = ordered_json::object();
    for (const auto& [name, each] : value) object[name] = json_of(each);
    return object;
  } else if constexpr (is_list<T>) {
    ordered_json list = ordered_json::array();
    for (const auto& each : value) list.push_back(json_of(each));
    return list;
  } else {
    ordered_json object = ordered_json::object();
    describe(Writer{object}, value);
    return object;
  }
}

template <class T>
ordered_json schema_of();

// Writes the schema of the members of a described object.
struct SchemaWriter {
  ordered_json& properties;
  ordered_json& required;

  template <class T>
  void operator()(const char* name, const T&, const char* meaning) {
    add(name, schema_of<T>(), meaning);
    required.push_back(name);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>&, const char* meaning) {
    add(name, schema_of<T>(), meaning);
  }
  template <class T>
  void operator()(const char* name, const OrNull<T>&, const char* meaning) {
    add(name, {{"anyOf", {schema_of<T>(), {{"type", "null"}}}}}, meaning);
    required.push_back(name);
  }
  template <class T>
  void part(const std::optional<T>&) {
    ordered_json none; // of these nothing is required
    describe(SchemaWriter{properties, none}, T{});
  }
  void add(const char* name, ordered_json schema, const char* meaning) {
    if (properties.contains(name)) return; // two parts share a name: the first allows what the second does
    schema["description"] = meaning;
    properties[name] = std::move(schema);
  }
};

template <class T>
ordered_json schema_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return {{"type", "string"}};
  } else if constexpr (is_map<T>) {
    return {{"type", "object"}, {"additionalProperties", schema_of<typename T::value_type::second_type>()}};
  } else if constexpr (is_list<T>) {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
  } else {
    ordered_json properties = ordered_json::object(), required = ordered_json::array();
    describe(SchemaWriter{properties, required}, T{});
    ordered_json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }
}

} // namespace

std::string to_json(const Prediction& prediction) { return json_of(prediction).dump(); }

std::string prediction_schema() {
  ordered_json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "A prediction"},
      {"description", "What a model says of a subject. Members that a model does not know are absent."}};
  schema.update(schema_of<Prediction>());
  ordered_json none; // of these nothing is required: they are of machines whose predictions were judged
  describe(SchemaWriter{schema["properties"], none}, JudgedMembers{});
  return schema.dump(2);
}

} // namespace kumihimo::models
