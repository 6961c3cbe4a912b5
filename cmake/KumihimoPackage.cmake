# The C++ package (docs/cpp.md): the houses of pure layers as static libraries for find_package(kumihimo). A target of a
# house brings its layers. All of it is the component `cpp`. Beside the Python modules that is installed only when it is
# named, as a wheel has no use for it:
#   cmake --build TREE --target kumihimo_cpp && cmake --install TREE --component cpp --prefix DIR
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Our own targets that `target` links, and theirs, appended to `result`.
function(kumihimo_linked result target)
  if(target IN_LIST ${result})
    return()
  endif()
  list(APPEND ${result} ${target})
  get_target_property(below ${target} INTERFACE_LINK_LIBRARIES)
  foreach(other ${below})
    if(other MATCHES "^kumihimo_")
      kumihimo_linked(${result} ${other})
    endif()
  endforeach()
  set(${result} ${${result}} PARENT_SCOPE)
endfunction()

set(targets "")
foreach(house network programs collectives verify place predict)
  get_property(layers GLOBAL PROPERTY kumihimo_layers_of_${house})
  set(target kumihimo_${house})
  if(NOT TARGET ${target}) # a house of several layers
    set(target kumihimo_house_${house})
    add_library(${target} INTERFACE)
    list(TRANSFORM layers PREPEND kumihimo_)
    target_link_libraries(${target} INTERFACE ${layers})
  endif()
  kumihimo_linked(targets ${target})
endforeach()
foreach(target ${targets})
  string(REGEX REPLACE "^kumihimo_(house_)?" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()
target_compile_features(kumihimo_base PUBLIC cxx_std_20) # so of every user, too
add_custom_target(kumihimo_cpp DEPENDS ${targets})

set(component COMPONENT cpp)
if(KUMIHIMO_PYTHON)
  list(APPEND component EXCLUDE_FROM_ALL)
endif()
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kumihimo)
install(TARGETS ${targets} EXPORT kumihimo ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT kumihimo FILE kumihimoTargets.cmake NAMESPACE kumihimo:: DESTINATION ${cmake_folder} ${component})
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/cmake/kumihimoConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/kumihimoConfig.cmake INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kumihimoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion) # docs/stability.md
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kumihimoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/kumihimoConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindHwloc.cmake DESTINATION ${cmake_folder} ${component})

# The headers of packaging/cmake/include, and of the layers those that they reach.
install(CODE "set(entries ${PROJECT_SOURCE_DIR}/packaging/cmake/include/kumihimo)
  set(layers ${KUMIHIMO_HEADERS})
  set(staging ${CMAKE_CURRENT_BINARY_DIR}/package_headers)
  set(destination ${CMAKE_INSTALL_INCLUDEDIR}/kumihimo)
  include(${PROJECT_SOURCE_DIR}/packaging/cmake/install_headers.cmake)" ${component})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kumihimo/machines ${component}
  FILES_MATCHING PATTERN "*.toml")
