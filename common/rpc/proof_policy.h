// Decides whether processes of versions before 0.3, which send the key of the cluster in clear, are its members.
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet::rpc {

enum class ProofPolicy : std::uint8_t {
  kByKey,     // as kAccept for keys that a version before 0.3 made, as kRequired for all others
  kAccept,    // a process that shows the key in clear is a member; the key is shown to servers that know no proof
  kRequired,  // the key is never shown, and a process that shows it is not a member
};

// The setting --member-proof: "auto", "accept" or "required". Anything else is kRequired.
[[nodiscard]] constexpr ProofPolicy ProofPolicyOf(std::string_view setting) {
  if (setting == "auto") return ProofPolicy::kByKey;
  return setting == "accept" ? ProofPolicy::kAccept : ProofPolicy::kRequired;
}

}  // namespace ratchet::rpc
