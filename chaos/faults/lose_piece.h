// A piece of the root is away, back, or older: the procedure store, a dead server's logs, a region's directory, a
// region's mark. The process that needs the piece must refuse, and nothing is lost when it is back.
#pragma once

#include <memory>
#include <string_view>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeLosePiece();
// "lose-piece:logs-away": always this piece. Returns kInvalidArgument with the known names if the name is unknown.
[[nodiscard]] Result<std::unique_ptr<Fault>> MakeLostPiece(std::string_view kind);

}  // namespace ratchet::chaos
