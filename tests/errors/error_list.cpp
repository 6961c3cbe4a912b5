// Linked into every C++ test: with KUMIHIMO_ERROR_LIST=FILE, each error that a test provokes is appended to FILE as a
// line "kind<tab>sentence". error_page.py makes a page of them. They are written at the end of the process: a test may
// forbid files for a while.
#include "base/result.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <set>

namespace kumihimo {
namespace {

class ErrorList {
 public:
  ErrorList() {
    const char* const path = std::getenv("KUMIHIMO_ERROR_LIST");
    if (!path) return;
    file_ = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    process_ = ::getpid();
    error_observer = append;
  }
  ~ErrorList() {
    error_observer = nullptr;
    if (file_ < 0 || process_ != ::getpid()) return; // a child has its parent's list
    std::string all;
    for (const std::string& line : lines_) all += line;
    if (::write(file_, all.data(), all.size()) < 0) std::abort();
  }

 private:
  static void append(const Error& error);

  int file_ = -1;
  pid_t process_ = 0;
  std::mutex mutex_;
  std::set<std::string> lines_;
};

ErrorList list;

void ErrorList::append(const Error& error) {
  constexpr const char* kinds[] = {"bad_input", "not_applicable", "failed"};
  const std::scoped_lock lock(list.mutex_);
  list.lines_.insert(std::string(kinds[static_cast<int>(error.kind)]) + '\t' + error.sentence() + '\n');
}

} // namespace
} // namespace kumihimo
