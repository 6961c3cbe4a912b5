// A JSON value as a member of a class. Its header needs no more than the name of the type; nlohmann's whole header,
// which takes a second to compile, is for sources (ADR 6).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>

namespace kumihimo {

class JsonMember {
 public:
  JsonMember(); // an empty object
  JsonMember(nlohmann::json value);
  JsonMember(const JsonMember& other);
  JsonMember(JsonMember&& other) noexcept;
  JsonMember& operator=(JsonMember other) noexcept;
  ~JsonMember();

  nlohmann::json& operator*() { return *value_; }
  const nlohmann::json& operator*() const { return *value_; }
  nlohmann::json* operator->() { return value_.get(); }
  const nlohmann::json* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<nlohmann::json> value_;
};

} // namespace kumihimo
