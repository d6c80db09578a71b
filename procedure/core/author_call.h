// Calls functions that authors of procedures wrote: steps, undos, checks.
#pragma once

#include <exception>
#include <string>

#include "common/base/result.h"

namespace ratchet::procedure {

// Returns what `call` returns (a Status or a Result). Turns an exception that `call` throws into an error.
template <class Call>
[[nodiscard]] auto CallAuthor(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Error(Code::kInternal, std::string("uncaught exception: ") + e.what());
  } catch (...) {
    return Error(Code::kInternal, "uncaught exception that is not a std::exception");
  }
}

}  // namespace ratchet::procedure
