// Column families as they are typed: "f" or "f:VERSIONS=3,TTL=86400". Pure. kInvalidArgument names the attribute that
// is unknown, or its wrong value.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace ratchet::cli {

[[nodiscard]] std::string FamilyName(const std::string& text);
// Missing attributes get HBase's defaults.
[[nodiscard]] Result<FamilyDescriptor> ParseFamily(const std::string& text);
// Sets the attributes that are given; the others stay.
[[nodiscard]] Status SetAttributes(const std::string& text, FamilyDescriptor& family);

}  // namespace ratchet::cli
