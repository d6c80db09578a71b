// OpenRegion: tells one server to open one region, and waits until the order is settled. Child of TransitRegionState.
#pragma once

#include "master/procedures/region_order.h"

namespace ratchet::master {

// What must lie in the region's directory. `opened_before`: an opening of the region has been reported once (S53).
// `born`: number of the build that has made it (S38); 0: it was created empty.
struct RegionPast {
  bool opened_before = false;
  std::uint64_t born = 0;
};

class OpenRegion final : public RegionOrder<OpenRegion> {
 public:
  static constexpr std::string_view kTypeName = "OpenRegion";
  static constexpr pb::OrderOutcome kGood = pb::OPENED;
  static constexpr pb::OrderOutcome kBad = pb::FAILED_OPEN;
  static constexpr bool kCanRefuse = true;
  static constexpr bool kNeedsTable = true;
  using RegionOrder::RegionOrder;
  // `descriptor`: number of the one that every sending carries (S48).
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, std::uint64_t transition,
                           const RegionPast& past, std::uint64_t descriptor);

 private:
  friend class RegionOrder<OpenRegion>;
  // kCorruption: the descriptor cannot be read.
  Result<Order> MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
