#include "record/python_frames.hpp"

#include <dlfcn.h>

#include <array>

namespace kumihimo::record {
namespace {

template <class F>
void find(F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

} // namespace

PythonFrames& PythonFrames::get() {
  static auto* const frames = new PythonFrames; // may be asked when the process ends
  return *frames;
}

PythonFrames::PythonFrames() {
  find(is_initialized_, "Py_IsInitialized");
  find(ensure_, "PyGILState_Ensure");
  find(release_, "PyGILState_Release");
  find(frame_, "PyEval_GetFrame");
  find(line_of_, "PyFrame_GetLineNumber");
  find(code_of_, "PyFrame_GetCode");
  find(decrease_, "Py_DecRef");
  find(attribute_, "PyObject_GetAttrString");
  find(utf8_, "PyUnicode_AsUTF8");
  find(clear_, "PyErr_Clear");
}

bool PythonFrames::is_python(const void* site) {
  if (!is_initialized_ || !ensure_ || !release_ || !frame_ || !line_of_ || !code_of_ || !decrease_ || !attribute_ ||
      !utf8_ || !clear_)
    return false;
  struct Known {
    const void* site = nullptr;
    bool python = false;
  };
  static thread_local std::array<Known, 64> cache;
  Known& known = cache[(reinterpret_cast<std::uintptr_t>(site) >> 2) % cache.size()];
  if (known.site != site) {
    Dl_info object{};
    const std::string path = dladdr(site, &object) && object.dli_fname ? object.dli_fname : "";
    known = {site, path.find("mpi4py") != std::string::npos};
  }
  return known.python && is_initialized_();
}

int PythonFrames::place() {
  const int state = ensure_();
  int number = -1;
  if (void* const frame = frame_()) { // borrowed
    void* const code = code_of_(frame);
    const int line = line_of_(frame);
    static thread_local struct {
      void* code = nullptr;
      int line = 0, number = -1;
    } last;
    if (last.code != code || last.line != line) last = {code, line, number_of(code, line)};
    number = last.number;
    decrease_(code);
  }
  release_(state);
  return number;
}

int PythonFrames::number_of(void* code, int line) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = numbers_.try_emplace({code, line}, -1);
  if (!is_new) return it->second;
  // Kept for good, by one reference more, so that no other code comes to lie where it is.
  static const auto keep = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "Py_IncRef"));
  if (keep) keep(code);
  Place place{text(code, "co_filename"), text(code, "co_name"), line};
  const auto [same, is_new_text] = by_text_.try_emplace(
      place.file + '\n' + place.function + '\n' + std::to_string(line), static_cast<int>(places_.size()));
  if (is_new_text) places_.push_back(std::move(place));
  return it->second = same->second;
}

std::string PythonFrames::text(void* object, const char* attribute) const {
  void* const value = attribute_(object, attribute);
  const char* const bytes = value ? utf8_(value) : nullptr;
  std::string result = bytes ? bytes : "?";
  if (!bytes) clear_();
  if (value) decrease_(value);
  return result;
}

std::vector<PythonFrames::Place> PythonFrames::places() {
  const std::lock_guard lock(mutex_);
  return places_;
}

} // namespace kumihimo::record
