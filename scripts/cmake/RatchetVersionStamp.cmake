# Run at each build (cmake -P): writes version, commit and build type into the header OUT, if the header differs.
# Version: the number in common/base/version.h, with "~git<date>.<hash>" unless the commit has the tag v<number>.
file(STRINGS "${SOURCE}/common/base/version.h" number REGEX "kVersionNumber = ")
string(REGEX REPLACE ".*\"([^\"]+)\".*" "\\1" number "${number}")
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
  set(version "${number}~unknown")
else()
  set(ENV{TZ} UTC)
  execute_process(COMMAND git -C "${SOURCE}" show -s --format=%cd --date=format-local:%Y%m%d HEAD
    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND git -C "${SOURCE}" tag --points-at HEAD --list "v${number}"
    OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  string(SUBSTRING "${commit}" 0 8 hash)
  set(version "${number}~git${date}.${hash}")
  if(tag)
    set(version "${number}")
  endif()
  execute_process(COMMAND git -C "${SOURCE}" diff --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "+")
    string(APPEND version "+")
  endif()
endif()
if(TYPE STREQUAL "")
  set(TYPE "no build type")
endif()
set(text "#pragma once
namespace ratchet::version_stamp {
inline constexpr const char* kVersion = \"${version}\";
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
