// ServerCrash: takes over from a dead region server. From the moment its server is marked crashed, which comes before
// it is submitted, no report of that server changes anything.
//
//   START           did it carry hbase:meta?
//   FENCE           its logs are marked: nothing that it still acknowledges depends on them (S3)
//   SEAL            every log synced and measured; the list is durable before any splitter reads them
//   SPLIT_META_LOG  only if there is a log of meta: meta first, everything else needs it
//   ASSIGN_META     if it was here
//   GET_REGIONS     waits until meta is loaded
//   SPLIT_LOG       one SplitWal per file
//   ASSIGN_REGIONS  only now are regions in transition interrupted, and the others assigned (earlier loses data)
//   CLAIM_REPLICATION_QUEUES  where there are peers: a live server ships what is left in the logs
//   RETIRE_LOGS, FINISH
//
// A server that was asked to stop (S73) ends like any other: what it left on record and its log directory are put away
// here. Its regions are elsewhere and its logs are covered by then, so that nothing is assigned and nothing split; the
// result says so, or what was left to do after all.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/common.h"

namespace ratchet::master {

class ServerCrash final : public procedure::StateMachineProcedure<ServerCrash, pb::ServerCrashData> {
 public:
  static constexpr std::string_view kTypeName = "ServerCrash";
  enum class State : StepNo {
    kStart = 1,
    kFence = 2,
    kSeal = 3,
    kSplitMetaLog = 4,
    kAssignMeta = 5,
    kGetRegions = 6,
    kSplitLog = 7,
    kAssignRegions = 8,
    kRetireLogs = 9,
    kFinish = 10,
    kClaimReplicationQueues = 11,
  };
  static constexpr auto Steps() {
    using procedure::Spawns;
    return std::array{
        On(State::kStart, "START", &ServerCrash::Start, kNoReturn),
        On(State::kFence, "FENCE", &ServerCrash::Fence, kNoReturn),
        On(State::kSeal, "SEAL", &ServerCrash::Seal, kNoReturn),
        On(State::kSplitMetaLog, "SPLIT_META_LOG", &ServerCrash::SplitMetaLog, kNoReturn, Spawns("SplitWal")),
        On(State::kAssignMeta, "ASSIGN_META", &ServerCrash::AssignMeta, kNoReturn, Spawns("TransitRegionState")),
        On(State::kGetRegions, "GET_REGIONS", &ServerCrash::GetRegions, kNoReturn),
        On(State::kSplitLog, "SPLIT_LOG", &ServerCrash::SplitLog, kNoReturn, Spawns("SplitWal")),
        On(State::kAssignRegions, "ASSIGN_REGIONS", &ServerCrash::AssignRegions, kNoReturn,
           Spawns("TransitRegionState")),
        On(State::kClaimReplicationQueues, "CLAIM_REPLICATION_QUEUES", &ServerCrash::ClaimQueues, kNoReturn,
           Spawns("ClaimReplicationQueues")),
        On(State::kRetireLogs, "RETIRE_LOGS", &ServerCrash::RetireLogs, kNoReturn),
        On(State::kFinish, "FINISH", &ServerCrash::Finish, kNoReturn),
    };
  }

  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const ServerName& server);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Start(StepContext& ctx);
  StepOutcome Fence(StepContext& ctx);
  StepOutcome Seal(StepContext& ctx);
  StepOutcome SplitMetaLog(StepContext& ctx);
  StepOutcome AssignMeta(StepContext& ctx);
  StepOutcome GetRegions(StepContext& ctx);
  StepOutcome SplitLog(StepContext& ctx);
  StepOutcome AssignRegions(StepContext& ctx);
  StepOutcome ClaimQueues(StepContext& ctx);
  StepOutcome RetireLogs(StepContext& ctx);
  StepOutcome Finish(StepContext& ctx);

  [[nodiscard]] ServerName Server() const { return ServerFromData(data_.server()); }
  [[nodiscard]] std::vector<ProcedurePtr> Splits(bool meta) const;
  [[nodiscard]] std::string WhatWasDone() const;
};

}  // namespace ratchet::master
