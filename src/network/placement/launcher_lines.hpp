// The lines of Open MPI's rankfiles and hostfiles, without comments: # and // up to the end of the line, /* to */.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

struct LauncherLine {
  std::int32_t number = 0; // from 1
  std::string content;     // not empty, without gaps at its ends
};

std::vector<LauncherLine> launcher_lines(std::string_view text);

} // namespace kumihimo
