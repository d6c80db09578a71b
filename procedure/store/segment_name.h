// The files of a procedure store's directory.
//
//   claim.<epoch>              exists: this epoch was claimed; never removed (S9: claims are never removed)
//   segment.<epoch>.<number>   records of that epoch's owner, in order of (epoch, number)
//   spare.<epoch>.<number>     zero-filled and synced, nothing written yet: the next segment, or the reserve (S6:
//                              failed sync ends the process)
//   filling.<epoch>.<number>   an unfinished spare; useless once its maker has ended
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/strong_id.h"

namespace ratchet::procedure {

struct SegmentId {
  Epoch epoch;
  std::uint64_t number = 0;  // from 1 in each epoch
  auto operator<=>(const SegmentId&) const = default;
};

inline constexpr std::string_view kSegmentPrefix = "segment";
inline constexpr std::string_view kSparePrefix = "spare";
inline constexpr std::string_view kFillingPrefix = "filling";

[[nodiscard]] std::string SegmentName(SegmentId id);
[[nodiscard]] std::string NumberedName(std::string_view prefix, SegmentId id);
[[nodiscard]] std::string ClaimName(Epoch epoch);
// nullopt: not a name of that form.
[[nodiscard]] std::optional<SegmentId> ParseNumberedName(std::string_view prefix, std::string_view name);
[[nodiscard]] std::optional<Epoch> ParseClaimName(std::string_view name);

}  // namespace ratchet::procedure
