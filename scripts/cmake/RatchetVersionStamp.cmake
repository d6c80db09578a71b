# Run at each build (cmake -P): writes the commit and the build type into the header OUT, when they are not those that stand there.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C "${SOURCE}" diff --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    set(commit "${commit}+")
  endif()
endif()
if(TYPE STREQUAL "")
  set(TYPE "no build type")
endif()
set(text "#pragma once
namespace ratchet::version_stamp {
inline constexpr const char* kCommit = \"${commit}\";
inline constexpr const char* kBuildType = \"${TYPE}\";
}  // namespace ratchet::version_stamp
")
set(old "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
