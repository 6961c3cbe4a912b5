// Short files of /proc, /sys and control groups.
#pragma once

#include <string>

namespace kumihimo::thread_samples {

// The text, without the end of its last line; empty if the file is missing or cannot be read.
std::string kernel_text(const std::string& path);

} // namespace kumihimo::thread_samples
