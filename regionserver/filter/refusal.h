// Errors for filters and comparators that are not accepted: DoNotRetryIOException with their name.
#pragma once

#include <string>
#include <string_view>

#include "common/base/exception_names.h"
#include "common/base/result.h"

namespace ratchet::regionserver::filters {

inline constexpr std::string_view kPackage = "org.apache.hadoop.hbase.filter.";

inline Error Refuse(std::string message) {
  return Error(Code::kInvalidArgument, std::move(message), std::string(exception::kDoNotRetryIo));
}
inline std::string_view ShortName(std::string_view name) {
  if (name.starts_with(kPackage)) name.remove_prefix(kPackage.size());
  return name;
}
// Shortens a name for a message, because a client may send megabytes of it.
inline std::string Shown(std::string_view name) {
  constexpr std::size_t kMost = 200;
  return name.size() <= kMost ? std::string(name) : std::string(name.substr(0, kMost)) + "...";
}

}  // namespace ratchet::regionserver::filters
