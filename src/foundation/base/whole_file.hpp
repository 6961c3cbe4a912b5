// Writes a file that a user names: whole, or not at all. Pure folders leave it to others (check-includes).
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace kumihimo {

// The file is written beside its place, under a name that no other writer has, and takes its place in finish(). Before
// that, and after any failure or a kill, the old file is there. Links stay, and so do permissions. What is no regular
// file, as a FIFO or /dev/stdout, is written as it comes.
class WholeFile {
 public:
  explicit WholeFile(std::string path);
  ~WholeFile(); // without finish(): nothing was written
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view bytes); // finish() has its error
  // Waits until the file is on the disk. Error: it could not be written, and why.
  Status finish();

 private:
  void open();
  void open_beside(int permissions);
  void flush();
  void keep_error(bool is_one);

  std::string path_, place_, new_path_; // new_path_: empty if it is written in its place
  std::string buffer_;
  int file_ = -1, error_ = 0;
};

} // namespace kumihimo
