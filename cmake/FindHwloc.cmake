# FindHwloc: the target Hwloc::Hwloc. Used by the build, and installed beside kumihimoConfig.cmake.
find_library(HWLOC_LIBRARY hwloc)
find_path(HWLOC_INCLUDE_DIR hwloc.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS HWLOC_LIBRARY HWLOC_INCLUDE_DIR)
if(Hwloc_FOUND AND NOT TARGET Hwloc::Hwloc)
  add_library(Hwloc::Hwloc UNKNOWN IMPORTED GLOBAL)
  set_target_properties(Hwloc::Hwloc PROPERTIES IMPORTED_LOCATION ${HWLOC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${HWLOC_INCLUDE_DIR})
endif()
mark_as_advanced(HWLOC_LIBRARY HWLOC_INCLUDE_DIR)
