# A folder that sets RATCHET_COLD has no hot path: optimizing it less takes a quarter off the compiler's time.
function(ratchet_optimize name)
  if(RATCHET_COLD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# ratchet_library(name SOURCES ... PUBLIC libs... PRIVATE libs...): a static library of one folder.
function(ratchet_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE "$<BUILD_INTERFACE:ratchet_flags>" ${ARG_PRIVATE})
  ratchet_optimize(${name})
endfunction()

# Moves the debug information of a program that users get into <program>.debug next to it, where a debugger finds it.
# Packages and images then have a tenth of the size.
find_program(RATCHET_OBJCOPY objcopy)
function(ratchet_split_debug name)
  if(RATCHET_MUTANTS OR RATCHET_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL Release OR NOT RATCHET_OBJCOPY)
    return()
  endif()
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM
    COMMAND "${RATCHET_OBJCOPY}" --only-keep-debug $<TARGET_FILE:${name}> $<TARGET_FILE:${name}>.debug
    COMMAND "${RATCHET_OBJCOPY}" --strip-debug --add-gnu-debuglink=$<TARGET_FILE:${name}>.debug $<TARGET_FILE:${name}>)
endfunction()

# ratchet_executable(name SOURCES ... LIBS ...): a program; lands in <build>/bin. The target `ratchet_programs` builds all of them.
add_custom_target(ratchet_programs)
function(ratchet_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ratchet_flags ${ARG_LIBS})
  ratchet_optimize(${name})
  ratchet_split_debug(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${ratchet_BINARY_DIR}/bin")
  add_dependencies(ratchet_programs ${name})
endfunction()

# ratchet_test(name SOURCES ... LIBS ... [LABELS unit|crash|sim|cluster|check|...] [TIMEOUT seconds] [ARGS ...]): a gtest
# program run by ctest. Labels choose what a level of scripts/test takes: CI runs `unit` under sanitizers only, so a program
# of which a test does nothing there has the label `check` too. gtest_main is linked.
function(ratchet_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 1800)  # only ends a hang: at least ten times what the test takes on an idle machine (scripts/test tells)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ratchet_flags ${ARG_LIBS} ratchet_test_doubles GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${ratchet_BINARY_DIR}/tests")
  # Without this, half of a build's time goes into optimizing gtest's macros. Tested libraries keep their own optimization.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS} WORKING_DIRECTORY "${ratchet_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET tests-${label})
      add_custom_target(tests-${label})
    endif()
    add_dependencies(tests-${label} ${name})
  endforeach()
endfunction()

# ratchet_suites(variable FILE ...): the filters of gtest ("Suite.*") for the suites of these files.
function(ratchet_suites variable)
  set(found)
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "^TEST(_F)?\\(")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^TEST(_F)?\\(([A-Za-z0-9_]+).*" "\\2.*" suite "${line}")
      list(APPEND found "${suite}")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# ratchet_proto_library(name PROTOS path/from/root.proto... [HOT path/from/root.proto...]): messages generated into
# <build>/generated, so that includes read "path/from/root.pb.h". HOT are those of the data path; the others are optimized less. A library of its own, because generated code is not held to our warnings.
function(ratchet_proto_library name)
  cmake_parse_arguments(ARG "" "" "PROTOS;HOT" ${ARGN})
  set(generated "${ratchet_BINARY_DIR}/generated")
  file(MAKE_DIRECTORY "${generated}")
  set(sources)
  foreach(proto ${ARG_PROTOS})
    string(REGEX REPLACE "\\.proto$" ".pb" stem ${proto})
    add_custom_command(
      OUTPUT "${generated}/${stem}.cc" "${generated}/${stem}.h"
      COMMAND protobuf::protoc -I "${ratchet_SOURCE_DIR}" --cpp_out=${generated} ${proto}
      WORKING_DIRECTORY "${ratchet_SOURCE_DIR}"
      DEPENDS "${ratchet_SOURCE_DIR}/${proto}"
      VERBATIM)
    list(APPEND sources "${generated}/${stem}.cc" "${generated}/${stem}.h")
    if(NOT proto IN_LIST ARG_HOT)
      set_source_files_properties("${generated}/${stem}.cc" PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
    endif()
  endforeach()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} SYSTEM PUBLIC "$<BUILD_INTERFACE:${generated}>" "$<INSTALL_INTERFACE:include/ratchet>")
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
  target_compile_options(${name} PRIVATE -w -g0)
  # Generated files define the same names; they cannot be compiled together.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
endfunction()
