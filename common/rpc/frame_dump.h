// Captured connections as text, for debugging: most mistakes in this protocol show as a client that retries for ever.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ratchet::rpc {

struct DumpOptions {
  std::size_t max_message_chars = 2000;  // of one message's text
  std::size_t max_cells = 20;            // of one cell block
};

// `to_server`: what a client sent from its first byte on; `to_client`: what it got (either may be empty or cut).
// Requests come first, then answers, each with the method that its call id belongs to. Never fails: what cannot be read
// is said.
[[nodiscard]] std::string DumpFrames(std::string_view to_server, std::string_view to_client,
                                     const DumpOptions& options = {});

}  // namespace ratchet::rpc
