// Ratchet's own exception class of an operator's verb; only Ratchet's clients know it (exceptions.h has HBase's).
#pragma once

#include <string_view>

namespace ratchet::rpc::exception {

// No unfinished procedure has this pid, or nothing of this name is paused. kNotFound.
inline constexpr std::string_view kUnknownProcedure = "org.apache.ratchet.UnknownProcedureException";

}  // namespace ratchet::rpc::exception
