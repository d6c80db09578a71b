// Prints captured connections as text, for debugging: most mistakes in this protocol show as a client that retries
// without end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ratchet::rpc {

struct DumpOptions {
  std::size_t max_message_chars = 2000;  // maximum length of one message's text
  std::size_t max_cells = 20;            // maximum for one cell block
};

// `to_server`: the bytes that a client sent from the first one on; `to_client`: the bytes that it received (either may
// be empty or cut). Requests come first, then answers, each with the method of its call id. Never fails: the text names
// unreadable parts.
[[nodiscard]] std::string DumpFrames(std::string_view to_server, std::string_view to_client,
                                     const DumpOptions& options = {});

}  // namespace ratchet::rpc
