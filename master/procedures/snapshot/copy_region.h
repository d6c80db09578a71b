// Orders to copy one region, each to one live server: SnapshotRegion makes a part of a snapshot, CloneRegion makes a
// region from a part. The copy's number is the procedure's pid. The result is a pb::OrderResult with the source's
// encoded name; with an answer, its payload is a CopyRegionResult. Neither holds a lock or moves a region. The order is
// abandoned when its server is no longer online, because the files that the server makes carry a number that the parent
// then does not use (S37: numbered build output; S47: orders without ownership).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/cluster/region_directory.h"
#include "master/procedures/core/remote_order.h"
#include "master/procedures/snapshot/snapshot_data.pb.h"

namespace ratchet::master {

// Common base of both.
template <class P>
class CopyOrderProcedure : public RemoteOrder<P, pb::CopyRegionData> {
 public:
  using RemoteOrder<P, pb::CopyRegionData>::RemoteOrder;
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] Acted<Result<CopyOrder>> MakeOrder(StepContext& ctx) const;
  void Fill(pb::OrderResult& result) const;
};

class SnapshotRegion final : public CopyOrderProcedure<SnapshotRegion> {
 public:
  static constexpr std::string_view kTypeName = "SnapshotRegion";
  using CopyOrderProcedure::CopyOrderProcedure;
  // `node`: a region that is OPEN or CLOSED. `server`: the server that has it open; any server for a closed region.
  static ProcedurePtr Make(const RegionNode& node, const std::string& server, const pb::SnapshotData& snapshot,
                           bool flush);
};

class CloneRegion final : public CopyOrderProcedure<CloneRegion> {
 public:
  static constexpr std::string_view kTypeName = "CloneRegion";
  using CopyOrderProcedure::CopyOrderProcedure;
  // `table`: the new table, with its directory.
  static ProcedurePtr Make(const pb::CopiedRegion& from, const RegionInfo& region, const std::string& server,
                           const pb::TableData& table);
};

struct MadeCopy {
  std::string source;  // encoded name
  ProcId number;
  std::uint64_t sequence = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
// Combined result of all children.
struct CopyRound {
  std::vector<MadeCopy> made;
  std::string why;  // error of the last child that made no copy; empty if all succeeded
  // True if a child failed because of its files. Otherwise regions were elsewhere or servers died, and the files may be
  // fine.
  bool refused = false;
  std::string not_ready;  // encoded name of a region whose files lack acknowledged writes; empty if none
};
[[nodiscard]] CopyRound CopiesOf(StepContext& ctx);

}  // namespace ratchet::master
