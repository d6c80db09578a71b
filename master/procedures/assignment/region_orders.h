// OpenRegion and CloseRegion: order one server to open or close one region, and wait until the order is settled.
// Children of TransitRegionState. The pid is both the order's number and the open number (S21: numbered openings): pids
// rise over the whole life of a cluster, and orders about a region are given one after the other.
#pragma once

#include <string>
#include <string_view>

#include "master/procedures/core/remote_order.h"

namespace ratchet::master {

// Common base of both.
template <class P>
class RegionOrder : public RemoteOrder<P, pb::RegionOrderData> {
 public:
  using RemoteOrder<P, pb::RegionOrderData>::RemoteOrder;
  static constexpr bool kOwnsRegion = true;
  static constexpr bool kPointOfNoReturn = true;
  static constexpr bool kHasOldStates = true;
  [[nodiscard]] procedure::Description Describe() const override;

  [[nodiscard]] bool AboutMeta() const { return Region().IsMeta(); }
  [[nodiscard]] std::string MovedRegion() const { return Region().encoded_name(); }
  [[nodiscard]] bool NeedsMeta() const { return !AboutMeta(); }  // schema and directory are known only then
  [[nodiscard]] bool IsAbout(const std::string& encoded) const { return encoded == Region().encoded_name(); }
  void Fill(pb::OrderResult& result) const;
  void Log(StepContext& ctx, std::string_view event) const;

 protected:
  [[nodiscard]] RegionInfo Region() const { return FromData(this->data_.region()); }
};

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

struct TableNode;

// The order to open a region with the schema and the directory of `table`. Its number is that of the opening.
[[nodiscard]] OpenOrder OrderToOpen(OrderId id, RegionInfo region, const TableNode& table, std::uint64_t transition,
                                    const RegionPast& past);

class OpenRegion final : public RegionOrder<OpenRegion> {
 public:
  static constexpr std::string_view kTypeName = "OpenRegion";
  static constexpr pb::OrderOutcome kGood = pb::OPENED;
  static constexpr pb::OrderOutcome kBad = pb::FAILED_OPEN;
  using RegionOrder::RegionOrder;
  // `schema_number`: number of the descriptor that every send carries (S48: schema pinned in the order).
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, std::uint64_t transition,
                           const RegionPast& past, std::uint64_t schema_number);
  // kCorruption: the descriptor cannot be read.
  [[nodiscard]] Acted<Result<OpenOrder>> MakeOrder(StepContext& ctx) const;
};

class CloseRegion final : public RegionOrder<CloseRegion> {
 public:
  static constexpr std::string_view kTypeName = "CloseRegion";
  static constexpr pb::OrderOutcome kGood = pb::CLOSED;  // also the answer for a region that the server does not have
  static constexpr pb::OrderOutcome kBad = pb::CLOSED;
  using RegionOrder::RegionOrder;
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, const std::string& destination);
  [[nodiscard]] Acted<Result<CloseOrder>> MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
