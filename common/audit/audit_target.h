// The object of a request: the table, namespace, region, server or snapshot that it names. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace google::protobuf {
class MessageLite;
}

namespace ratchet::audit {

// "t", "ns:t family=f", "region=1588230740": only fields that name an object are read, so that values, cells and
// secrets of a request never reach the log. Empty: the request names none.
[[nodiscard]] std::string TargetOf(const google::protobuf::MessageLite& request);

// The procedures that an answer names, in the field "pid" or "proc_id".
[[nodiscard]] std::vector<std::uint64_t> PidsOf(const google::protobuf::MessageLite& answer);

}  // namespace ratchet::audit
