#include "master/procedures/crash/split_wal.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/accepted_mark.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/split_workers.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/core/master_options.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

using procedure::Priority;

pb::SealedLogData ToData(const SealedLog& log) {
  pb::SealedLogData data;
  data.set_name(log.name);
  data.set_length(log.length);
  data.set_crc32c(log.crc32c);
  data.set_last_sequence(log.last_sequence);
  data.set_meta(log.meta);
  if (log.missing) data.set_missing(true);
  return data;
}

SealedLog FromData(const pb::SealedLogData& data) {
  return {data.name(), data.length(), data.crc32c(), data.last_sequence(), data.meta(), data.missing()};
}

// ---- SplitWal -------------------------------------------------------------------------------------------------------

ProcedurePtr SplitWal::Make(const ServerName& dead_server, const pb::SealedLogData& log) {
  pb::SplitWalData data;
  data.set_server(dead_server.ToString());
  *data.mutable_log() = log;
  return std::make_unique<SplitWal>(std::move(data));
}

Priority SplitWal::priority() const { return data_.log().meta() ? Priority::kMeta : Priority::kServer; }

procedure::Description SplitWal::Describe() const {
  procedure::Description about;
  about.Add("log", fmt::format("{}/{}", data_.server(), data_.log().name()));
  about.Add("worker", data_.worker().empty() ? "null" : data_.worker());
  if (data_.failures() != 0) about.Add("failures", data_.failures());
  return about;
}

void SplitWal::OnRecovered(const procedure::EnvRef& env) {
  if (data_.worker().empty() || RATCHET_MUTANT("master.forget_split_places")) return;
  env.As<MasterEnv>().split_workers.Claim(pid(), ServerFromData(data_.worker()));
}

// S119 (made logs are required): returns nullopt if the log exists and its seal is in the data, or if it has no
// entries.
std::optional<StepOutcome> SplitWal::AwaitMissingLog(StepContext& ctx) {
  using Sealed = Result<std::vector<SealedLog>>;
  RATCHET_STEP(RequireOwner(ctx));
  const auto sealed = ctx.AsyncCall<Sealed>("a check for the missing log", [&](std::function<void(Sealed)> done) {
    EnvOf(ctx).files.SealLogs(ServerFromData(data_.server()), {true, data_.log().meta()}, std::move(done));
  });
  if (!sealed) return ctx.AwaitAsync();
  if (!sealed->ok()) return Retry{sealed->error(), std::nullopt};
  const auto& logs = sealed->value();
  const auto found =
      std::find_if(logs.begin(), logs.end(), [this](const SealedLog& log) { return log.name == data_.log().name(); });
  if (found == logs.end()) return Done{};  // the log is back without a record, or manifests cover it
  if (!found->missing) {
    *data_.mutable_log() = ToData(*found);
    RATCHET_LOG(kInfo, "pid={} missing log {} of {} has reappeared; splitting it", ctx.pid(), found->name,
                data_.server());
    return std::nullopt;
  }
  const std::string place = fmt::format("wals/{}-splitting/{}", data_.server(), data_.log().name());
  return Retry{Error(Code::kUnavailable,
                     fmt::format("log {} is missing: its server made it, and no manifest covers it. Restore the file; "
                                 "to continue without its rows, create the empty file wals/{}-splitting/{}",
                                 place, data_.server(), AcceptedMark(data_.log().name()))),
               std::nullopt};
}

StepOutcome SplitWal::AcquireWorker(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (data_.log().missing()) {
    RATCHET_STEP(AwaitMissingLog(ctx));
  }
  auto free = ctx.TakeTicket(SplitWorkers::FreeEvent());
  std::vector<ServerName> avoid;
  for (const std::string& server : data_.avoid()) avoid.push_back(ServerFromData(server));
  const auto worker = env.split_workers.Acquire(pid(), env.servers.Online(), avoid, data_.log().meta());
  // The event fires when a server has finished a split, and when a server comes online.
  if (!worker) return Await{std::move(free), Millis(500)};
  data_.set_worker(worker->ToString());
  return GoTo<&SplitWal::DispatchToWorker>();
}

StepOutcome SplitWal::DispatchToWorker(StepContext& ctx) {
  // An operator can run this step again after the place was returned.
  if (!data_.worker().empty() && !RATCHET_MUTANT("master.split_without_a_place"))
    EnvOf(ctx).split_workers.Claim(pid(), ServerFromData(data_.worker()));
  return SpawnThen<&SplitWal::ReleaseWorker>(SplitWalRemote::Make(data_));
}

StepOutcome SplitWal::ReleaseWorker(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (env.split_workers.Release(pid())) env.executor->Wake(SplitWorkers::FreeEvent());
  const pb::OrderResult result = ResultOfOrder(ctx);
  if (result.outcome() == pb::DONE) return Done{};
  const std::uint32_t failures = data_.failures() + 1;
  const Error why(Code::kUnavailable, fmt::format("{} did not split {}: {} {}", data_.worker(), data_.log().name(),
                                                  result.error_class(), result.error_message()));
  // A refusal of a worker indicates a problem with the log; the death of a worker does not. SetbackOf shows the
  // recorded failures as stuck, because each try is a step of its own.
  if (result.outcome() == pb::FAILED && ctx.attempt() == 1)
    return Retry{why, BackoffDelay(env.options.retry, failures, ctx.prng())};
  RATCHET_LOG(kWarn, "pid={} {}", ctx.pid(), why.ToString());
  data_.set_failures(failures);
  data_.set_last_refusal(why.message());
  data_.add_avoid(data_.worker());
  constexpr int kRemembered = 4;
  if (data_.avoid_size() > kRemembered) data_.mutable_avoid()->DeleteSubrange(0, data_.avoid_size() - kRemembered);
  data_.clear_worker();
  return GoTo<&SplitWal::AcquireWorker>();
}

// ---- SplitWalRemote -------------------------------------------------------------------------------------------------

ProcedurePtr SplitWalRemote::Make(const pb::SplitWalData& split) {
  pb::SplitWalRemoteData data;
  data.set_server(split.server());
  *data.mutable_log() = split.log();
  data.set_worker(split.worker());
  data.set_attempt(1);
  return std::make_unique<SplitWalRemote>(std::move(data));
}

procedure::Description SplitWalRemote::Describe() const {
  return procedure::Description()
      .Add("log", fmt::format("{}/{}", data_.server(), data_.log().name()))
      .Add("worker", data_.worker());
}

// Sends the known regions of the dead server: edits of other regions are already in store files (S22: close drains,
// flushes, checks).
Acted<Result<SplitLogOrder>> SplitWalRemote::MakeOrder(StepContext& ctx) const {
  MasterEnv& env = EnvOf(ctx);
  SplitLogOrder order;
  order.dead_server = ServerFromData(data_.server());
  order.log = FromData(data_.log());
  order.path = fmt::format("wals/{}-splitting/{}", data_.server(), data_.log().name());
  const auto add = [&](const RegionInfo& region) {
    const auto table = env.tables.Get(region.table);
    if (!table) return;
    const std::string encoded = region.encoded_name();
    order.regions.push_back({encoded, table->directory + "/" + encoded, 0});
  };
  if (order.log.meta) {
    add(MetaRegionInfo());
  } else {
    for (const RegionNode& node : env.regions.OnServer(order.dead_server)) {
      if (!node.info.IsMeta()) add(node.info);
    }
  }
  return Ready(std::move(order));
}

void SplitWalRemote::Log(StepContext& ctx, std::string_view event) const {
  RATCHET_LOG(kInfo, "{}{} pid={}, ppid={}, state=RUNNABLE:DISPATCH; {} {}", event,
              data_.has_answer() ? fmt::format(" {}", OutcomeText(data_.answer().outcome())) : "", ctx.pid(),
              ctx.parent(), kTypeName, Describe().text());
}

}  // namespace ratchet::master
