// A shared library opened at run time.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

namespace kumihimo::mapping_run {

class PartitioningLibrary {
 public:
  // The first of the names that can be loaded. It stays loaded.
  static PartitioningLibrary open(std::initializer_list<const char*> names, int flags = RTLD_NOW | RTLD_LOCAL) {
    PartitioningLibrary library;
    for (const char* const name : names)
      if (!library.handle_) library.handle_ = dlopen(name, flags);
    return library;
  }
  explicit operator bool() const { return handle_ != nullptr; }

  // False: the library lacks the function.
  template <class Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

} // namespace kumihimo::mapping_run
