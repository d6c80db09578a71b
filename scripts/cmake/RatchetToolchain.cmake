# Compiler flags that every target of the project shares, through the interface target ratchet_flags.
set(RATCHET_SANITIZE "" CACHE STRING "asan (address + undefined), asan-all (the same with every check of undefined), tsan, or empty")
# A mutant leaves out a safety rule, so installed programs have none. The tests need mutants, so they are built only with them.
option(RATCHET_MUTANTS "compile the mutant switches and the tests" OFF)

find_program(RATCHET_CCACHE ccache)
if(RATCHET_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${RATCHET_CCACHE}")
endif()

# mold links in a tenth of the time; without it the compiler's own linker is used.
find_program(RATCHET_MOLD mold)
if(RATCHET_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# Objects have no path of this machine: builds in other folders give the same bytes, and ccache shares their objects. Sources
# without mutants are then compiled once for the presets proof and release.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
# g++ collects its garbage less often, which saves 5 % of the compiler's time for more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-expand=1000" "SHELL:--param ggc-min-heapsize=1000000")
endif()

add_library(ratchet_flags INTERFACE)
target_compile_options(ratchet_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(ratchet_flags INTERFACE -Werror)
endif()
target_include_directories(ratchet_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(ratchet_flags INTERFACE -Wthread-safety -Wthread-safety-beta)
endif()
# g++ 12 takes std::regex and std::optional under a sanitizer for uninitialised (GCC bug 105562); the release build has the warning.
if(RATCHET_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ratchet_flags INTERFACE -Wno-maybe-uninitialized)
endif()
# A unity build compiles a folder's files together in half the time. A type of an anonymous namespace inside a class of the
# same .cc looks to g++ as if a header declared it.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ratchet_flags INTERFACE -Wno-subobject-linkage)
endif()
if(RATCHET_MUTANTS)
  target_compile_definitions(ratchet_flags INTERFACE RATCHET_MUTANTS=1)
endif()

if(RATCHET_SANITIZE MATCHES "^asan(-all)?$")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(RATCHET_SANITIZE STREQUAL "asan")
    # A third of the compiler's time goes into these four, and most of what they find AddressSanitizer reports too.
    add_compile_options(-fno-sanitize=null,object-size,vptr,alignment)
  endif()
  # Calls instead of inlined checks: an eighth of the compiler's time, and the same findings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("SHELL:--param asan-instrumentation-with-call-threshold=0")
  endif()
  add_link_options(-fsanitize=address,undefined)
elseif(RATCHET_SANITIZE STREQUAL "tsan")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
  add_link_options(-fsanitize=thread)
elseif(NOT RATCHET_SANITIZE STREQUAL "")
  message(FATAL_ERROR "RATCHET_SANITIZE must be asan, asan-all, tsan or empty, not '${RATCHET_SANITIZE}'")
endif()
