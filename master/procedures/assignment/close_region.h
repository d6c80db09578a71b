// CloseRegion: orders one server to close one region, and waits until the order is settled. Child of
// TransitRegionState.
#pragma once

#include "master/procedures/assignment/region_order.h"

namespace ratchet::master {

class CloseRegion final : public RegionOrder<CloseRegion> {
 public:
  static constexpr std::string_view kTypeName = "CloseRegion";
  static constexpr pb::OrderOutcome kGood = pb::CLOSED;  // also the answer for a region that the server does not have
  static constexpr pb::OrderOutcome kBad = pb::CLOSED;
  static constexpr bool kCanRefuse = false;
  static constexpr bool kNeedsTable = false;
  using RegionOrder::RegionOrder;
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, const std::string& destination);

 private:
  friend class RegionOrder<CloseRegion>;
  Acted<Result<Order>> MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
