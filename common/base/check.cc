#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ratchet {

void FailCheck(std::string_view expression, const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "CHECK failed: %.*s at %s:%d: %s\n", static_cast<int>(expression.size()), expression.data(),
               file, line, message.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace ratchet
