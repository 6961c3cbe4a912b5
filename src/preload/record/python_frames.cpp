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
  static auto* const frames = new PythonFrames; // used until the end of the process
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

bool PythonFrames::may_be_python(const void* site) {
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
  return known.python;
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
    if (last.code == code && last.line == line) [[likely]] {
      number = last.number;
    } else {
      const Found found = number_of(code, line);
      number = found.number;
      if (found.kept) last = {code, line, number};
    }
    decrease_(code);
  }
  release_(state);
  return number;
}

PythonFrames::Found PythonFrames::number_of(void* code, int line) {
  const std::lock_guard lock(mutex_);
  if (const auto it = numbers_.find({code, line}); it != numbers_.end()) return {it->second, true};
  const int number = number_of({text(code, "co_filename"), text(code, "co_name"), line});
  static const auto keep = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "Py_IncRef"));
  if (!keep || numbers_.size() >= most_kept) return {number, false};
  keep(code);
  numbers_[{code, line}] = number;
  return {number, true};
}

int PythonFrames::number_of(Place place) {
  const std::string words = place.file + '\n' + place.function + '\n' + std::to_string(place.line);
  if (const auto it = by_text_.find(words); it != by_text_.end()) return it->second;
  if (places_.size() > most_places) return static_cast<int>(most_places);
  if (places_.size() == most_places)
    place = {"further places", "?", 0};
  else
    by_text_[words] = static_cast<int>(places_.size());
  places_.push_back(std::move(place));
  return static_cast<int>(places_.size()) - 1;
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
