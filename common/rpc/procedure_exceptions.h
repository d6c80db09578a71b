// Ratchet's own exception class for an operator's verb; only Ratchet's clients know it (exceptions.h has HBase's).
#pragma once

#include <string_view>

namespace ratchet::rpc::exception {

// No unfinished procedure has this pid, or there is no such pause. kNotFound.
inline constexpr std::string_view kUnknownProcedure = "org.apache.ratchet.UnknownProcedureException";

}  // namespace ratchet::rpc::exception
