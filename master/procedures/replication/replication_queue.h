// ClaimReplicationQueues: names the live server that ships the rest of a dead server's logs. A part of ServerCrash,
// before the logs are retired; also on its own, when the claimer has died too.
//
//   CLAIM   chooses a live server; its name is durable in the queue's system record, in the batch of this step
//   SHOW    writes the claim to memory, from where heartbeats carry it, then checks that the claimer still lives (a
//           crash procedure does the reverse: it marks the server first and looks at the claims second)
//
// RetireReplicationQueue: the claimer has reported that all is shipped. Archives the logs, then removes the record.
//
// Both lock the dead server exclusively, so that a removed queue cannot reappear. As a part of ServerCrash the
// procedure uses the lock of its parent.
#pragma once

#include <array>
#include <string>

#include "master/procedures/core/common.h"
#include "master/procedures/replication/peer_data.pb.h"

namespace ratchet::master {

[[nodiscard]] std::string QueueRecordKey(const std::string& dead);
// Returns true if the queue's record exists, so the dead server's logs are not completely shipped.
[[nodiscard]] bool HasQueue(const MasterEnv& env, const std::string& dead);

class ClaimReplicationQueues final : public MasterProcedure<ClaimReplicationQueues, pb::ClaimReplicationQueuesData> {
 public:
  static constexpr std::string_view kTypeName = "ClaimReplicationQueues";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&ClaimReplicationQueues::Claim>(1, "CLAIM", kNoReturn,
                                           Given("peers may need the rest of the dead server's logs")),
        On<&ClaimReplicationQueues::Show>(2, "SHOW", kNoReturn, Given("the queue's system record names the claimer")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `first`: the first claim of the logs, made by the crash procedure.
  static ProcedurePtr Make(const std::string& dead, bool first);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Claim(StepContext& ctx);
  StepOutcome Show(StepContext& ctx);
};

class RetireReplicationQueue final : public MasterProcedure<RetireReplicationQueue, pb::RetireReplicationQueueData> {
 public:
  static constexpr std::string_view kTypeName = "RetireReplicationQueue";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&RetireReplicationQueue::ArchiveLogs>(1, "ARCHIVE_LOGS", kNoReturn,
                                                 Given("the claimer has shipped the logs to all peers")),
        On<&RetireReplicationQueue::RemoveQueue>(2, "REMOVE_QUEUE", kNoReturn, Given("the logs are archived")),
        On<&RetireReplicationQueue::Show>(3, "SHOW", kNoReturn, Given("the queue's system record is removed")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const std::string& dead);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("server", data_.server());
  }

 private:
  StepOutcome ArchiveLogs(StepContext& ctx);
  StepOutcome RemoveQueue(StepContext& ctx);
  StepOutcome Show(StepContext& ctx);
};

}  // namespace ratchet::master
