// Reads and makes the small files that an operator names in settings: rules, keys, passwords, certificates. Every such
// file is read here, so that one place decides what a file may be. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {

// A file whose mode has one of the `forbidden` bits is refused; `why` is the text of the error.
struct FileGuard {
  mode_t forbidden = 0;
  const char* why = "";
};

// Rules, which decide for the whole process: not every user of the machine may change them.
[[nodiscard]] FileGuard RuleFile();
// A secret: others may not read it, and only its owner may change it.
[[nodiscard]] FileGuard SecretFile();

// Returns the bytes of a regular file that has at most `most` bytes. The error is kInvalidArgument and names the
// path. Blocks at the disk, and never at the writer of a pipe.
[[nodiscard]] Result<std::string> ReadSmallFile(const std::string& path, std::size_t most, FileGuard guard = {});

// Makes a file with mode 0600 that only its owner can read. An existing file stays as it is: the error is
// kAlreadyExists.
[[nodiscard]] Status WriteNewSecret(const std::string& path, std::string_view bytes);

}  // namespace ratchet
