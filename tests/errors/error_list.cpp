// Linked into every C++ test: with KUMIHIMO_ERROR_LIST=FILE, each error that a test provokes is appended to FILE as a
// line "kind<tab>sentence". error_page.py makes a page of them.
#include "base/result.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace kumihimo {
namespace {

int file = -1;

void append(const Error& error) {
  constexpr const char* kinds[] = {"bad_input", "not_applicable", "failed"};
  const std::string line = std::string(kinds[static_cast<int>(error.kind)]) + '\t' + error.sentence() + '\n';
  if (::write(file, line.data(), line.size()) < 0) std::abort();
}

const bool observing = [] {
  const char* const path = std::getenv("KUMIHIMO_ERROR_LIST");
  if (!path) return false;
  file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  error_observer = append;
  return true;
}();

} // namespace
} // namespace kumihimo
