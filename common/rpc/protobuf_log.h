// Sends protobuf's own messages to our log at level debug. By default they go to standard error, which any peer with
// malformed bytes could fill. Internal.
#pragma once

namespace ratchet::rpc {

// Process-wide, once; later calls do nothing. Thread-safe.
void QuietProtobuf();

}  // namespace ratchet::rpc
