// Orders to copy one region, each to one live server: SnapshotRegion makes a part of a snapshot, CloneRegion a region
// out of a part. The copy's number is the procedure's pid. The result is a pb::OrderResult with the source's encoded
// name; with an answer, its payload is a CopyRegionResult. Neither holds a lock, or takes or gives a region: a server
// that does not answer is abandoned when it is not online any more, since what it makes bears a number that the parent
// does not use then (S37, S47).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/env/orders.h"
#include "master/procedures/common.h"
#include "master/procedures/snapshot_data.pb.h"
#include "master/state/region_directory.h"
#include "procedure/engine/rerun_policy.h"

namespace hbase::pb {
class CopyRegionResult;
}

namespace ratchet::master {

// What both do.
template <class P>
class CopyOrderProcedure : public procedure::StateMachineProcedure<P, pb::CopyRegionData>,
                           public procedure::FromTheBeginning {
  using Base = procedure::StateMachineProcedure<P, pb::CopyRegionData>;

 public:
  using Base::Base;
  enum class State : StepNo { kDispatch = 1 };
  static constexpr auto Steps() {
    return std::array{Base::On(State::kDispatch, "DISPATCH", &P::Dispatch, Base::kNothingToUndo)};
  }
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return this->data_.attempt(); }
  [[nodiscard]] std::string Describe() const override;

  StepOutcome Dispatch(StepContext& ctx);
};

class SnapshotRegion final : public CopyOrderProcedure<SnapshotRegion> {
 public:
  static constexpr std::string_view kTypeName = "SnapshotRegion";
  using CopyOrderProcedure::CopyOrderProcedure;
  // Of a region that is OPEN or CLOSED. `server`: that has it open; for a closed one any.
  static ProcedurePtr Make(const RegionNode& node, const std::string& server, const pb::SnapshotData& snapshot,
                           bool flush);
};

class CloneRegion final : public CopyOrderProcedure<CloneRegion> {
 public:
  static constexpr std::string_view kTypeName = "CloneRegion";
  using CopyOrderProcedure::CopyOrderProcedure;
  // The new table and its directory are those of `table`.
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
// What has become of all children.
struct CopyRound {
  std::vector<MadeCopy> made;
  std::string why;  // of the last one that has made none; empty: all have
  // One failed by its files. Else the regions were not there, or the servers have died: that says nothing about files.
  bool refused = false;
  std::string not_ready;  // encoded name of a region whose files do not have all that was acknowledged; empty: none
};
[[nodiscard]] CopyRound CopiesOf(StepContext& ctx);

}  // namespace ratchet::master
