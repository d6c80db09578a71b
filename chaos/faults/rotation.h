// New certificates while everything runs, in a cluster that ratchet-chaos has secured. Instantaneous: nothing is
// healed.
//
// * rotate-certificate: a process gets another certificate of the same authority.
// * rotate-authority: as an operator replaces an authority, in three steps: all trust both authorities, all get
//   certificates of the new one, none trusts the earlier one. Then each process must answer a client of the new
//   authority, and refuse one of the earlier authority.
#pragma once

#include <memory>
#include <string_view>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

inline constexpr std::string_view kRotateCertificate = "rotate-certificate";
inline constexpr std::string_view kRotateAuthority = "rotate-authority";

// Returns null if the kind is not one of these.
[[nodiscard]] std::unique_ptr<Fault> MakeRotation(std::string_view kind);

}  // namespace ratchet::chaos
