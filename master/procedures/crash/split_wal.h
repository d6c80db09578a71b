// SplitWal: has one log file of a dead server split by a live server; tries other servers until one succeeds.
// SplitWalRemote: one attempt, an order to one server. The server's answer or its death settles the attempt. A split
// publishes its results under one final name for each log and region. So a second splitter need not wait for the fence
// of the first (S26: split up to the seal).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "master/procedures/core/remote_order.h"

namespace ratchet::master {

[[nodiscard]] pb::SealedLogData ToData(const SealedLog& log);
[[nodiscard]] SealedLog FromData(const pb::SealedLogData& data);

class SplitWalRemote final : public RemoteOrder<SplitWalRemote, pb::SplitWalRemoteData> {
 public:
  static constexpr std::string_view kTypeName = "SplitWalRemote";
  static constexpr bool kPointOfNoReturn = true;
  static constexpr bool kHasOldStates = true;
  static constexpr auto kLane = procedure::Priority::kServer;
  using RemoteOrder::RemoteOrder;
  static ProcedurePtr Make(const pb::SplitWalData& split);

  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] const std::string& Target() const { return data_.worker(); }
  [[nodiscard]] bool AboutMeta() const { return data_.log().meta(); }
  [[nodiscard]] bool NeedsMeta() const { return !AboutMeta(); }
  [[nodiscard]] Acted<Result<SplitLogOrder>> MakeOrder(StepContext& ctx) const;
  void Log(StepContext& ctx, std::string_view event) const;
};

class SplitWal final : public MasterProcedure<SplitWal, pb::SplitWalData> {
 public:
  static constexpr std::string_view kTypeName = "SplitWal";
  static constexpr ClaimKinds kClaims = kClaimsSetback;
  static constexpr auto Steps() {
    return std::array{
        On<&SplitWal::AcquireWorker>(1, "ACQUIRE_SPLIT_WAL_WORKER", kNoReturn,
                                     Given("no order of this procedure is in progress")),
        On<&SplitWal::DispatchToWorker>(2, "DISPATCH_WAL_TO_WORKER", kNoReturn, Spawns<SplitWalRemote>(),
                                        Given("a worker with a free place is recorded")),
        On<&SplitWal::ReleaseWorker>(3, "RELEASE_SPLIT_WORKER", kNoReturn, Given("the order to the worker has ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const ServerName& dead_server, const pb::SealedLogData& log);

  [[nodiscard]] procedure::Priority priority() const override;
  [[nodiscard]] Claims Uses() const { return ClaimSetback(data_.failures(), data_.last_refusal()); }
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  std::optional<StepOutcome> AwaitMissingLog(StepContext& ctx);
  StepOutcome AcquireWorker(StepContext& ctx);
  StepOutcome DispatchToWorker(StepContext& ctx);
  StepOutcome ReleaseWorker(StepContext& ctx);
};

}  // namespace ratchet::master
