// The error of a root that lacks a part of its past, or has an older copy of it, S114 (no start without the past): exit
// code 16, and nothing is changed. It keeps its meaning when it is annotated.
#pragma once

#include <string>
#include <utility>

#include "common/base/result.h"

namespace ratchet {

[[nodiscard]] inline Error WentBack(std::string cause) { return {Code::kWentBack, std::move(cause)}; }

[[nodiscard]] inline bool IsWentBack(const Error& error) { return error.code() == Code::kWentBack; }

}  // namespace ratchet
