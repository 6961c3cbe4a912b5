#include "base/json_member.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace kumihimo {

using Json = nlohmann::json;

JsonMember::JsonMember() : JsonMember(Json::object()) {}
JsonMember::JsonMember(Json value) : value_(new Json(std::move(value))) {}
JsonMember::JsonMember(const JsonMember& other) : value_(new Json(*other)) {}
JsonMember::JsonMember(JsonMember&& other) noexcept = default; // leaves `other` to be destroyed or assigned
JsonMember& JsonMember::operator=(JsonMember other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
JsonMember::~JsonMember() = default;

} // namespace kumihimo
