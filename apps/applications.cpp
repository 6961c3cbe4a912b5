#include "applications.hpp"

#include <vector>

namespace kumihimo {

#define APPLICATION(folder)                                                                                            \
  namespace folder {                                                                                                   \
  application::Application description();                                                                              \
  }
#include "applications.def"
#undef APPLICATION

std::span<const application::Application> applications() {
#define APPLICATION(folder) folder::description(),
  static const std::vector<application::Application> all{
#include "applications.def"
  };
#undef APPLICATION
  return all;
}

} // namespace kumihimo
