// The error of a root that lacks a part of its past, or has an older copy of it, S114 (no start without the past): exit
// code 16, and nothing is changed. It keeps its meaning when it is annotated.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace ratchet {

// The classes of a region server's answers about a region's directory, S118 (older copy stays closed), as they are sent
// to the master.
inline constexpr std::string_view kStoreWentBackClass = "ratchet.StoreWentBackException";
inline constexpr std::string_view kOlderCopyClass = "ratchet.OlderCopyException";

[[nodiscard]] inline Error WentBack(std::string cause) { return {Code::kWentBack, std::move(cause)}; }

[[nodiscard]] inline bool IsWentBack(const Error& error) { return error.code() == Code::kWentBack; }

}  // namespace ratchet
