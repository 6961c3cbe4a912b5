// Where in a Python program a call is made: mpi4py's functions are compiled, so a return address would tell nothing.
// Python's functions are found at run time, in processes that have them.
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

  // Whether calls that return to this address come from Python.
  bool is_python(const void* site);
  // The number of the place that this thread's Python is at, or -1 if it is at none.
  int place();
  // A copy: threads may add to them.
  std::vector<Place> places();

 private:
  PythonFrames();
  // Code is kept for good, by one reference more, so that no other comes to lie where it is and its address tells the
  // place. A program may make code without end (eval, exec): what is past a number goes by its text, and is not kept.
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
  std::map<std::string, int> by_text_; // code objects may be made anew for the same place
};

} // namespace kumihimo::record
