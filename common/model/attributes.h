// Ratchet's own attributes of mutations; HBase's clients do not send them, and its servers ignore them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/model/cell.h"

namespace ratchet {

// The age of the client's operation, in ms, 8 bytes big-endian: a retry that is older than a region's memory of nonces
// is refused because of it, S29 (durable nonces). An age, so that the clocks of client and server need not agree.
inline constexpr std::string_view kNonceAgeAttribute = "_ratchet_age";

// Sets the age, and replaces an earlier value. `Mutation`: hbase.pb.MutationProto.
template <class Mutation>
void SetNonceAge(std::int64_t age_ms, Mutation& mutation) {
  auto& all = *mutation.mutable_attribute();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const auto& attribute) { return attribute.name() == kNonceAgeAttribute; });
  auto& attribute = found == all.end() ? *all.Add() : *found;
  attribute.set_name(std::string(kNonceAgeAttribute));
  attribute.set_value(EncodeInt64(age_ms));
}

}  // namespace ratchet
