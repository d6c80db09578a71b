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

class SplitWal final : public procedure::StateMachineProcedure<SplitWal, pb::SplitWalData> {
 public:
  static constexpr std::string_view kTypeName = "SplitWal";
  enum class State : StepNo { kAcquireWorker = 1, kDispatchToWorker = 2, kReleaseWorker = 3 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kAcquireWorker, "ACQUIRE_SPLIT_WAL_WORKER", &SplitWal::AcquireWorker, kNoReturn),
        On(State::kDispatchToWorker, "DISPATCH_WAL_TO_WORKER", &SplitWal::DispatchToWorker, kNoReturn,
           procedure::Spawns("SplitWalRemote")),
        On(State::kReleaseWorker, "RELEASE_SPLIT_WORKER", &SplitWal::ReleaseWorker, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const ServerName& dead_server, const pb::SealedLogData& log);

  [[nodiscard]] procedure::Priority priority() const override;
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  std::optional<StepOutcome> AwaitMissingLog(StepContext& ctx);
  StepOutcome AcquireWorker(StepContext& ctx);
  StepOutcome DispatchToWorker(StepContext& ctx);
  StepOutcome ReleaseWorker(StepContext& ctx);
};

// DISPATCH ends the order. Only records of earlier versions are stored in the other states (region_order.h).
class SplitWalRemote final : public procedure::StateMachineProcedure<SplitWalRemote, pb::SplitWalRemoteData>,
                             public procedure::FromTheBeginning {
 public:
  static constexpr std::string_view kTypeName = "SplitWalRemote";
  enum class State : StepNo { kDispatch = 1, kReportSucceed = 2, kDispatchFail = 3, kServerCrash = 4 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kDispatch, "DISPATCH", &SplitWalRemote::Dispatch, kNoReturn),
        On(State::kReportSucceed, "REPORT_SUCCEED", &SplitWalRemote::ReportSucceed, kNoReturn),
        On(State::kDispatchFail, "DISPATCH_FAIL", &SplitWalRemote::DispatchFail, kNoReturn),
        On(State::kServerCrash, "SERVER_CRASH", &SplitWalRemote::ServerCrashed, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const pb::SplitWalData& split);

  [[nodiscard]] procedure::Priority priority() const override;
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return data_.attempt(); }
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Dispatch(StepContext& ctx);
  StepOutcome ReportSucceed(StepContext& ctx);
  StepOutcome DispatchFail(StepContext& ctx);
  StepOutcome ServerCrashed(StepContext& ctx);
  [[nodiscard]] SplitLogOrder MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
