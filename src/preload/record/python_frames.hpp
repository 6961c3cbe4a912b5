// The place of a call in a Python program: a return address would be in mpi4py's compiled functions. Python's functions
// are looked up at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::record {

class PythonFrames {
 public:
  struct Place {
    std::string file, function;
    int line = 0;
  };
  static PythonFrames& get();

  // Whether a call that returns to this address may come from Python, for as long as the process lives; whether it
  // does now.
  bool may_be_python(const void* site);
  bool is_python(const void* site) { return may_be_python(site) && is_initialized_(); }
  // The number of the place where this thread's Python is, or -1.
  int place();
  // A copy of all places: threads may add some.
  std::vector<Place> places();

 private:
  PythonFrames();
  // Code objects are kept for good by a reference, so that an address stands for one place. A program may make code
  // without end (eval, exec): beyond a number, code is identified by its text and not kept.
  static constexpr std::size_t most_kept = 4096, most_places = 65536;
  struct Found {
    int number = -1;
    bool kept = false;
  };
  Found number_of(void* code, int line);
  int number_of(Place place); // under the lock
  std::string text(void* object, const char* attribute) const;

  int (*is_initialized_)() = nullptr;
  int (*ensure_)() = nullptr;
  void (*release_)(int) = nullptr;
  void* (*frame_)() = nullptr;
  int (*line_of_)(void*) = nullptr;
  void* (*code_of_)(void*) = nullptr;
  void (*decrease_)(void*) = nullptr;
  void* (*attribute_)(void*, const char*) = nullptr;
  const char* (*utf8_)(void*) = nullptr;
  void (*clear_)() = nullptr;

  std::mutex mutex_;
  std::vector<Place> places_;
  std::map<std::pair<void*, int>, int> numbers_;
  std::map<std::string, int> by_text_; // several code objects may have the same place
};

} // namespace kumihimo::record
