// Calls of code that authors of procedures wrote: steps, undos, checks.
#pragma once

#include <exception>
#include <string>

#include "common/base/result.h"

namespace ratchet::procedure {

// What `call` returns (a Status or a Result); what it throws is an error of it and goes no further.
template <class Call>
[[nodiscard]] auto CallAuthor(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Error(Code::kInternal, std::string("uncaught exception: ") + e.what());
  } catch (...) {
    return Error(Code::kInternal, "uncaught exception that is no std::exception");
  }
}

}  // namespace ratchet::procedure
