// OpenRegion: orders one server to open one region, and waits until the order is settled. Child of TransitRegionState.
#pragma once

#include "master/procedures/assignment/region_order.h"

namespace ratchet::master {

// Expected content of the region's directory. `opened_before`: an opening of the region was reported before (S53:
// opening starts with full state). `build_number`: number of the build that made the region (S38: no empty opening over
// data); 0: it was created empty.
struct RegionPast {
  bool opened_before = false;
  std::uint64_t build_number = 0;
  // S118 (older copy stays closed), as in RegionNode.
  std::uint64_t issued = 0;
  std::uint64_t served = 0;
  std::uint64_t flushed = 0;
};

class OpenRegion final : public RegionOrder<OpenRegion> {
 public:
  static constexpr std::string_view kTypeName = "OpenRegion";
  static constexpr pb::OrderOutcome kGood = pb::OPENED;
  static constexpr pb::OrderOutcome kBad = pb::FAILED_OPEN;
  static constexpr bool kCanRefuse = true;
  static constexpr bool kNeedsTable = true;
  using RegionOrder::RegionOrder;
  // `schema_number`: number of the descriptor that every send carries (S48: schema pinned in the order).
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, std::uint64_t transition,
                           const RegionPast& past, std::uint64_t schema_number);

 private:
  friend class RegionOrder<OpenRegion>;
  // kCorruption: the descriptor cannot be read.
  Acted<Result<Order>> MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
