// SplitWal: has one log file of a dead server split by a live server; tries other servers until one succeeds.
// SplitWalRemote: one attempt, an order to one server. The server's answer or its death settles the attempt. A split
// publishes its results under one final name for each log and region. So a second splitter need not wait for the fence
// of the first (S26: split up to the seal).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/env/orders.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

[[nodiscard]] pb::SealedLogData ToData(const SealedLog& log);
[[nodiscard]] SealedLog FromData(const pb::SealedLogData& data);

class SplitWal final : public MasterProcedure<SplitWal, pb::SplitWalData> {
 public:
  static constexpr std::string_view kTypeName = "SplitWal";
  static constexpr auto Steps() {
    return std::array{
        On<&SplitWal::AcquireWorker>(1, "ACQUIRE_SPLIT_WAL_WORKER", kNoReturn),
        On<&SplitWal::DispatchToWorker>(2, "DISPATCH_WAL_TO_WORKER", kNoReturn, Spawns("SplitWalRemote")),
        On<&SplitWal::ReleaseWorker>(3, "RELEASE_SPLIT_WORKER", kNoReturn),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const ServerName& dead_server, const pb::SealedLogData& log);

  [[nodiscard]] procedure::Priority priority() const override;
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  std::optional<StepOutcome> AwaitMissingLog(StepContext& ctx);
  StepOutcome AcquireWorker(StepContext& ctx);
  StepOutcome DispatchToWorker(StepContext& ctx);
  StepOutcome ReleaseWorker(StepContext& ctx);
};

// DISPATCH ends the order. Only records of earlier versions are stored in the other states (region_order.h).
class SplitWalRemote final : public MasterProcedure<SplitWalRemote, pb::SplitWalRemoteData>,
                             public procedure::FromTheBeginning {
 public:
  static constexpr std::string_view kTypeName = "SplitWalRemote";
  static constexpr auto Steps() {
    return std::array{
        On<&SplitWalRemote::Dispatch>(1, "DISPATCH", kNoReturn),
        On<&SplitWalRemote::ReportSucceed>(2, "REPORT_SUCCEED", kNoReturn),
        On<&SplitWalRemote::DispatchFail>(3, "DISPATCH_FAIL", kNoReturn),
        On<&SplitWalRemote::ServerCrashed>(4, "SERVER_CRASH", kNoReturn),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const pb::SplitWalData& split);

  [[nodiscard]] procedure::Priority priority() const override;
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return data_.attempt(); }
  [[nodiscard]] std::string Describe() const override;

 private:
  StepOutcome Dispatch(StepContext& ctx);
  StepOutcome ReportSucceed(StepContext& ctx);
  StepOutcome DispatchFail(StepContext& ctx);
  StepOutcome ServerCrashed(StepContext& ctx);
  [[nodiscard]] SplitLogOrder MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
