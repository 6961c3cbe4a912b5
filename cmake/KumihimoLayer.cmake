# A house is a folder of src/ that holds layers, or is one. USES names the houses whose layers its own may depend on.
function(kumihimo_house name)
  cmake_parse_arguments(ARG "" "" "LAYERS;USES" ${ARGN})
  if(NOT ARG_LAYERS)
    add_subdirectory(${name})
    set_property(GLOBAL PROPERTY kumihimo_layers_of_${name} ${name})
  else()
    set_property(GLOBAL PROPERTY kumihimo_layers_of_${name} ${ARG_LAYERS})
  endif()
  foreach(layer ${ARG_LAYERS})
    add_subdirectory(${name}/${layer})
  endforeach()
endfunction()

# A layer is one folder of a house: a static library kumihimo_<folder> of all its .cpp files, headers beside them.
# DEPENDS names the layers below it and is the whole rule of who may include whom: a layer sees the headers of no other
# (each layer's headers are reached as <folder>/file.hpp through a directory of links holding that folder alone).
# LIBRARIES names outside libraries. Sources are compiled several at a time, since most of the time is headers (unity builds,
# ADR 0018), but for those that SKIP_UNITY names: a name of theirs means something else in a neighbour.
set(KUMIHIMO_HEADERS ${PROJECT_BINARY_DIR}/headers)

add_library(kumihimo_options INTERFACE)
# What is shadowed is told where a source is compiled by itself: in a unity build names of its neighbours are in sight.
target_compile_options(kumihimo_options INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers
  -Wno-stringop-overflow # GCC 12 sees one in fmt 9 that is none
  -ffunction-sections -fdata-sections # of which a preload library takes those that it needs
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
if(KUMIHIMO_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(KUMIHIMO_SANITIZE) # for every target, programs too: half a sanitized program reports nonsense
  add_compile_options(-fsanitize=${KUMIHIMO_SANITIZE} -fno-omit-frame-pointer)
  if(KUMIHIMO_SANITIZE MATCHES "undefined")
    # A check before every access, which doubles the time of the build. A null or too short object is the address
    # sanitizer's catch; layers that handle bytes by their addresses ask for alignment themselves (ALIGNED).
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  if(KUMIHIMO_SANITIZE STREQUAL "thread")
    add_compile_options(-Wno-tsan) # fences, which it does not see: it may report too much there, never too little
    # It does not see how GCC's OpenMP threads wait for each other either. LLVM's runtime, which has GCC's functions too,
    # tells it through Archer.
    file(GLOB runtimes /usr/lib/llvm-*/lib)
    list(SORT runtimes COMPARE NATURAL ORDER DESCENDING)
    find_library(KUMIHIMO_LIBOMP omp HINTS ${runtimes} REQUIRED)
    find_library(KUMIHIMO_ARCHER archer HINTS ${runtimes} REQUIRED)
    set(kumihimo_archer "LD_PRELOAD=${KUMIHIMO_LIBOMP}" "OMP_TOOL_LIBRARIES=${KUMIHIMO_ARCHER}")
  endif()
  add_link_options(-fsanitize=${KUMIHIMO_SANITIZE})
endif()

function(kumihimo_layer name)
  cmake_parse_arguments(ARG "ALIGNED" "" "DEPENDS;LIBRARIES;SKIP_UNITY" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  if(KUMIHIMO_FUZZ) # clang deduces template arguments of aggregates from version 17 on; no parser needs this file
    list(FILTER sources EXCLUDE REGEX "/this_machine\\.cpp$")
  endif()
  set_source_files_properties(${ARG_SKIP_UNITY} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(view ${KUMIHIMO_HEADERS}/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)
  if(sources)
    add_library(kumihimo_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(kumihimo_${name} PRIVATE $<BUILD_INTERFACE:kumihimo_options>)
    set_target_properties(kumihimo_${name} PROPERTIES UNITY_BUILD ON)
    if(ARG_ALIGNED AND KUMIHIMO_SANITIZE MATCHES "undefined")
      target_compile_options(kumihimo_${name} PRIVATE -fsanitize=alignment)
    endif()
  else()
    add_library(kumihimo_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(kumihimo_${name} ${scope} $<BUILD_INTERFACE:${view}>)
  list(TRANSFORM ARG_DEPENDS PREPEND kumihimo_)
  # Headers alone, which no header of the C++ package includes: users of the package need none.
  list(TRANSFORM ARG_LIBRARIES REPLACE "^nlohmann_json::nlohmann_json$" "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>")
  target_link_libraries(kumihimo_${name} ${scope} ${ARG_DEPENDS} ${ARG_LIBRARIES})
endfunction()

# kumihimo_simd_files(OPTION...): compiles the files of simd/ of this folder and of its sub-folders with these options and
# the instructions that a file names on its first line: "// x86_64: -mavx2".
function(kumihimo_simd_files)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} simd/*.cpp */simd/*.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  foreach(file ${files})
    file(STRINGS ${file} instructions LIMIT_COUNT 1 REGEX "^// ${CMAKE_SYSTEM_PROCESSOR}: ")
    string(REGEX MATCHALL "-m[^ ]+" instructions "${instructions}")
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${ARGN};${instructions}")
  endforeach()
endfunction()

# kumihimo_cuda_files(name FILES file... OPTIONS option...): kernels of GPUs of layer `name`, which then has KUMIHIMO_CUDA
# defined. nvcc is called as it is: CMake 3.25 does not know its C++20. Of the last architecture there is PTX too, which the
# driver compiles for newer GPUs.
function(kumihimo_cuda_files name)
  cmake_parse_arguments(ARG "" "" "FILES;OPTIONS" ${ARGN})
  find_package(CUDAToolkit REQUIRED)
  set(KUMIHIMO_CUDA_ARCHITECTURES 80 90 CACHE STRING "Compute capabilities of the GPUs")
  list(TRANSFORM KUMIHIMO_CUDA_ARCHITECTURES REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1"
    OUTPUT_VARIABLE architectures)
  list(GET KUMIHIMO_CUDA_ARCHITECTURES -1 newest)
  list(APPEND architectures -gencode=arch=compute_${newest},code=compute_${newest})
  foreach(file ${ARG_FILES})
    string(MAKE_C_IDENTIFIER ${file} object)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${object}.o)
    add_custom_command(OUTPUT ${object} DEPFILE ${object}.d
      COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -O3 --expt-relaxed-constexpr ${architectures} ${ARG_OPTIONS}
        -Xcompiler -fPIC "-I$<JOIN:$<TARGET_PROPERTY:kumihimo_${name},INCLUDE_DIRECTORIES>,;-I>" -DKUMIHIMO_CUDA
        -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${object}
      DEPENDS ${file} COMMENT "nvcc ${file}" VERBATIM COMMAND_EXPAND_LISTS)
    target_sources(kumihimo_${name} PRIVATE ${object})
  endforeach()
  target_compile_definitions(kumihimo_${name} PRIVATE KUMIHIMO_CUDA)
  target_link_libraries(kumihimo_${name} PUBLIC CUDA::cudart_static)
endfunction()

# One test executable a folder: tests/<folder>/*_test.cpp, with GoogleTest, linked to the layers named. SKIP_UNITY as above.
# THREADS: what it tests knows threads, and is looked at by the thread sanitizer; the pure layers know none.
# SKIP_SANITIZERS: tests (in GoogleTest's patterns) that the sanitizers leave out, which make them ten to forty times as long:
# those that touch no code that a smaller case beside them does not. The build without sanitizers runs all.
# SHARDS: what takes long is this many tests of ctest, begun first, so that no processor waits for one program.
function(kumihimo_tests name)
  cmake_parse_arguments(ARG "THREADS" "TIMEOUT;SHARDS" "DEPENDS;LIBRARIES;LABELS;SKIP_UNITY;SKIP_SANITIZERS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set_source_files_properties(${ARG_SKIP_UNITY} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_executable(${name}_tests ${sources})
  set_target_properties(${name}_tests PROPERTIES UNITY_BUILD ON) # half of the time is GoogleTest's headers
  target_compile_options(${name}_tests PRIVATE $<$<CONFIG:Release>:-O1>) # half the time to compile, none more to run
  list(TRANSFORM ARG_DEPENDS PREPEND kumihimo_)
  target_link_libraries(${name}_tests PRIVATE kumihimo_options ${ARG_DEPENDS} ${ARG_LIBRARIES} kumihimo_error_list
    GTest::gtest GTest::gtest_main)
  target_include_directories(${name}_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/..)
  if(ARG_THREADS OR NOT KUMIHIMO_SANITIZE STREQUAL thread)
    add_dependencies(kumihimo_sanitized ${name}_tests)
  else()
    list(APPEND ARG_LABELS pure)
  endif()
  set(environment "")
  if(ARG_THREADS)
    list(APPEND environment "OMP_WAIT_POLICY=passive") # threads that outnumber the processors do not spin
    list(APPEND environment ${kumihimo_archer}) # of the thread sanitizer
  endif()
  if(KUMIHIMO_SANITIZE AND ARG_SKIP_SANITIZERS)
    list(JOIN ARG_SKIP_SANITIZERS ":" left_out)
    list(APPEND environment "GTEST_FILTER=-${left_out}")
  endif()
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${name}_tests)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "cpp;${ARG_LABELS}"
      ENVIRONMENT "${environment}")
    return()
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}.${shard} COMMAND ${name}_tests)
    set_tests_properties(${name}.${shard} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "cpp;${ARG_LABELS}" COST 1000
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index};${environment}")
  endforeach()
endfunction()
