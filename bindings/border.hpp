// The Python border: the one place where an expected failure (a Result) becomes an exception of kumihimo.text.errors
// (BadInput, NotApplicable or Failed), with the problem and the advice as its attributes.
//
//     m.def("torus", border(&topology::make_torus), "shape"_a);        a function that returns a Result
//     m.def("bytes", [](const X& x) { return unwrap(x.bytes()); });    any other shape
//
// Call with the interpreter's lock held.
#pragma once

#include "base/result.hpp"

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

namespace kumihimo {

inline const char* exception_name(Error::Kind kind) {
  switch (kind) {
  case Error::Kind::bad_input: return "BadInput";
  case Error::Kind::not_applicable: return "NotApplicable";
  case Error::Kind::failed: return "Failed";
  }
  return "Failed";
}

// An error may show bytes of a file or of the environment that are not UTF-8: \xfb.
inline nanobind::object readable(const std::string& text) {
  PyObject* const decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (!decoded) throw nanobind::python_error();
  return nanobind::steal(decoded);
}

[[noreturn]] inline void raise(const Error& error) {
  namespace nb = nanobind;
  nb::object type = nb::module_::import_("kumihimo.text.errors").attr(exception_name(error.kind));
  nb::object instance = type(readable(error.problem), readable(error.advice));
  PyErr_SetObject(type.ptr(), instance.ptr());
  throw nb::python_error();
}

// The value, or the exception.
template <class T>
T unwrap(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}
inline void unwrap(Status status) {
  if (!status) raise(status.error());
}

// A function that returns a Result, as one that returns the value or raises.
template <class T, class... Arguments>
auto border(Result<T> (*function)(Arguments...)) {
  return [function](Arguments... arguments) { return unwrap(function(std::forward<Arguments>(arguments)...)); };
}

// The value of a long function, during which other Python threads run: unwrap(unlocked([&] { return simulate(...); })).
template <class F>
auto unlocked(F&& function) {
  nanobind::gil_scoped_release release;
  return function();
}

} // namespace kumihimo
