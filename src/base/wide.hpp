// A 128-bit integer for products of 64-bit ones, which GCC and Clang have as an extension.
#pragma once

namespace kumihimo {

__extension__ using Wide = __int128;

} // namespace kumihimo
