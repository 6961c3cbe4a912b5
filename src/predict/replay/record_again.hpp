// What to do about a recording that is wrong.
#pragma once

namespace kumihimo::replay {

inline constexpr const char* record_again = "record the program again; a full buffer or a killed rank cuts a trace off";

} // namespace kumihimo::replay
