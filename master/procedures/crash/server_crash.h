// ServerCrash: takes over from a dead region server. The server is marked crashed before this procedure is
// submitted; from then on the master ignores the reports of that server.
//
//   START           checks whether the server carried hbase:meta
//   FENCE           fences its logs: later acknowledgements of the server cannot depend on them (S3: durable
//                   fence mark)
//   SEAL            syncs and measures every log, and notes which regions it names; the list is durable before any
//                   splitter reads the logs, and before any region opens elsewhere (S171: seal makes an index)
//   SPLIT_META_LOG  only if there is a log of meta: meta is recovered first, because all other steps need it
//   ASSIGN_META     if the server carried it
//   GET_REGIONS     waits until meta is loaded
//   SPLIT_LOG       one SplitWal per file; first interrupts or assigns the regions that no log names
//   ASSIGN_REGIONS  only now interrupts the other regions in transition and assigns the rest (doing so earlier loses
//                   data)
//   CLAIM_REPLICATION_QUEUES  if there are peers: a live server ships the rest of the logs
//   RETIRE_LOGS, FINISH
//
// A server that was asked to stop (S73: orderly stop) ends like any other: this procedure removes its
// record and its log directory. By then its regions are open elsewhere and manifests cover its logs, so usually nothing
// is assigned or split. The result reports this, or the remaining work that was done.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/assignment/assign_batch.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"
#include "master/procedures/crash/split_wal.h"
#include "master/procedures/replication/replication_queue.h"

namespace ratchet::master {

class ServerCrash final : public MasterProcedure<ServerCrash, pb::ServerCrashData> {
 public:
  static constexpr std::string_view kTypeName = "ServerCrash";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&ServerCrash::Start>(1, "START", kNoReturn, Given("the server is marked as crashed")),
        On<&ServerCrash::Fence>(2, "FENCE", kNoReturn, kActsOnStorage,
                                Given("it is recorded whether the server carried hbase:meta")),
        On<&ServerCrash::Seal>(3, "SEAL", kNoReturn, kActsOnStorage, Given("the server's logs are fenced")),
        On<&ServerCrash::SplitMetaLog>(4, "SPLIT_META_LOG", kNoReturn, Spawns<SplitWal>(),
                                       Given("the list of sealed logs is durable")),
        On<&ServerCrash::AssignMeta>(5, "ASSIGN_META", kNoReturn, Spawns<TransitRegionState>(),
                                     Given("the server's log of hbase:meta is split")),
        On<&ServerCrash::GetRegions>(6, "GET_REGIONS", kNoReturn, kNeedsMeta,
                                     Given("hbase:meta no longer needs the server or its logs")),
        On<&ServerCrash::SplitLog>(7, "SPLIT_LOG", kNoReturn, Spawns<SplitWal>(),
                                   Given("the server's regions are known from hbase:meta")),
        On<&ServerCrash::AssignRegions>(8, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta,
                                        Spawns<AssignBatch, TransitRegionState>(),
                                        Given("all logs of the server are split")),
        On<&ServerCrash::ClaimQueues>(11, "CLAIM_REPLICATION_QUEUES", kNoReturn, Spawns<ClaimReplicationQueues>(),
                                      Given("the assignments of the server's regions have ended")),
        On<&ServerCrash::RetireLogs>(9, "RETIRE_LOGS", kNoReturn,
                                     Given("a live server ships the logs that peers still need")),
        On<&ServerCrash::Finish>(10, "FINISH", kNoReturn, Given("the logs are archived, or kept for replication")),
    };
  }

  using MasterProcedure::MasterProcedure;
  // `why`: for the log and for operators; may be empty.
  static ProcedurePtr Make(const ServerName& server, const std::string& why = {});

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override;
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
  // S171 (seal makes an index): the regions that the sealed logs name; nullopt: unknown, or no log is sealed.
  [[nodiscard]] std::optional<RegionNames> NamedRegions() const;
  void AssignUnnamed(StepContext& ctx);
  // Assigns the server's regions that wait for no split and that no procedure owns, and counts them.
  [[nodiscard]] std::vector<ProcedurePtr> Assignments(MasterEnv& env);
  [[nodiscard]] std::string WhatWasDone() const;
  // S119 (made logs are required)
  [[nodiscard]] bool IsRegistered(StepContext& ctx) const;
  [[nodiscard]] Error LogsMissing(const Error& error) const;
};

}  // namespace ratchet::master
