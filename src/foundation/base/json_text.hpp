// The text of a JSON value that may hold paths or names from outside, which may be of any bytes.
#pragma once

#include <string>

namespace kumihimo {

// On one line, or with `indent` blanks per level. Bytes that are not UTF-8 become U+FFFD; dump() alone would throw.
// A template, so that this layer needs no JSON library.
template <class Json>
std::string text_of_json(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace kumihimo
