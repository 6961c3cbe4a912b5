# KUMIHIMO_PORTABLE: objects that run on other distributions than the one they are built on, and whose bytes do not depend on
# the folder they are built in. scripts/dist makes wheels with it. GCC's C++ library is linked in, since older distributions
# have older ones, and no symbol newer than glibc 2.34 is asked for.
option(KUMIHIMO_PORTABLE "Make objects that run on other distributions (for wheels)" OFF)
if(KUMIHIMO_PORTABLE)
  add_compile_options(-ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  add_link_options(-static-libstdc++ LINKER:--gc-sections)
  set(CMAKE_DISABLE_FIND_PACKAGE_TBB ON) # a peer to compare with, and one more library in the wheel
endif()

# A program: what it needs of newer versions of glibc is linked in.
function(kumihimo_portable_program target)
  if(KUMIHIMO_PORTABLE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/portable/older_glibc.c)
    target_link_options(${target} PRIVATE LINKER:--wrap=hypot)
  endif()
endfunction()

# A Python module: it exports nothing of the libraries that are linked in, so that what it does not use is left out.
function(kumihimo_portable_module target)
  if(KUMIHIMO_PORTABLE)
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
endfunction()
