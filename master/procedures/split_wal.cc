#include "master/procedures/split_wal.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/env/region_servers.h"
#include "master/procedures/server_order.h"
#include "master/state/master_options.h"
#include "master/state/region_directory.h"
#include "master/state/server_directory.h"
#include "master/state/split_workers.h"
#include "master/state/table_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {

using procedure::Absorbed;
using procedure::Priority;

pb::SealedLogData ToData(const SealedLog& log) {
  pb::SealedLogData data;
  data.set_name(log.name);
  data.set_length(log.length);
  data.set_crc32c(log.crc32c);
  data.set_last_sequence(log.last_sequence);
  data.set_meta(log.meta);
  return data;
}

SealedLog FromData(const pb::SealedLogData& data) {
  return {data.name(), data.length(), data.crc32c(), data.last_sequence(), data.meta()};
}

// ---- SplitWal -------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kFailuresOfTrouble = 3;   // servers that have died or refused
constexpr std::uint32_t kAttemptsOfTrouble = 11;  // one more is above what status tolerates (10)

}  // namespace

ProcedurePtr SplitWal::Make(const ServerName& dead_server, const pb::SealedLogData& log) {
  pb::SplitWalData data;
  data.set_server(dead_server.ToString());
  *data.mutable_log() = log;
  return std::make_unique<SplitWal>(std::move(data));
}

Priority SplitWal::priority() const { return data_.log().meta() ? Priority::kMeta : Priority::kServer; }

std::string SplitWal::Describe() const {
  return fmt::format("log={}/{}, worker={}{}", data_.server(), data_.log().name(),
                     data_.worker().empty() ? "null" : data_.worker(),
                     data_.failures() == 0 ? "" : fmt::format(", failures={}", data_.failures()));
}

void SplitWal::OnRecovered(const procedure::EnvRef& env) {
  if (data_.worker().empty() || RATCHET_MUTANT("master.forget_split_places")) return;
  env.As<MasterEnv>().split_workers.Claim(pid(), ServerFromData(data_.worker()));
}

StepOutcome SplitWal::AcquireWorker(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  auto free = ctx.TakeTicket(SplitWorkers::FreeEvent());
  std::vector<ServerName> avoid;
  for (const std::string& server : data_.avoid()) avoid.push_back(ServerFromData(server));
  const auto worker = env.split_workers.Acquire(pid(), env.servers.Online(), avoid, data_.log().meta());
  // The event comes when a server has finished a split, and when one comes online.
  if (!worker) return Await{std::move(free), Millis(500)};
  data_.set_worker(worker->ToString());
  return GoTo(State::kDispatchToWorker);
}

StepOutcome SplitWal::DispatchToWorker(StepContext&) {
  return SpawnThen(State::kReleaseWorker, SplitWalRemote::Make(data_));
}

StepOutcome SplitWal::ReleaseWorker(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (env.split_workers.Release(pid())) env.executor->Wake(SplitWorkers::FreeEvent());
  const pb::OrderResult result = ResultOfOrder(ctx);
  if (result.outcome() == pb::DONE) return Done{};
  const std::uint32_t failures = data_.failures() + 1;
  const Error why(Code::kUnavailable, fmt::format("{} did not split {}: {} {}", data_.worker(), data_.log().name(),
                                                  result.error_class(), result.error_message()));
  // A worker that died says nothing about the log; one that refused does.
  if (result.outcome() == pb::FAILED) {
    // A log that several have refused is an operator's concern: attempts are counted up to where status calls it stuck,
    // before the pause during which it shows why.
    const std::uint32_t last = failures < kFailuresOfTrouble ? 1 : kAttemptsOfTrouble;
    if (ctx.attempt() < last) return Retry{why, Millis(0)};
    if (ctx.attempt() == last) return Retry{why, BackoffDelay(env.options.retry, failures, ctx.prng())};
  }
  RATCHET_LOG(kWarn, "pid={} {}", ctx.pid(), why.ToString());
  data_.set_failures(failures);
  data_.add_avoid(data_.worker());
  constexpr int kRemembered = 4;
  if (data_.avoid_size() > kRemembered) data_.mutable_avoid()->DeleteSubrange(0, data_.avoid_size() - kRemembered);
  data_.clear_worker();
  return GoTo(State::kAcquireWorker);
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

Priority SplitWalRemote::priority() const { return data_.log().meta() ? Priority::kMeta : Priority::kServer; }

std::string SplitWalRemote::Describe() const {
  return fmt::format("log={}/{}, worker={}", data_.server(), data_.log().name(), data_.worker());
}

Absorbed SplitWalRemote::Absorb(std::string_view message) {
  std::optional<pb::OrderAnswer> answer;
  auto absorbed = AbsorbServerAnswer(message, data_.worker(), data_.attempt(), answer);
  if (answer && !data_.settled() && !data_.has_answer()) *data_.mutable_answer() = std::move(*answer);
  return absorbed;
}

// The regions that were on the dead server, as far as is known: edits of others are in files already (S22).
SplitLogOrder SplitWalRemote::MakeOrder(StepContext& ctx) const {
  MasterEnv& env = EnvOf(ctx);
  SplitLogOrder order;
  order.id = {ctx.pid(), data_.attempt()};
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
  return order;
}

StepOutcome SplitWalRemote::Dispatch(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName worker = ServerFromData(data_.worker());
  auto ticket = ctx.TakeTicket(ServerDirectory::StandingEvent(worker));
  if (data_.has_answer()) {
    RATCHET_LOG(kInfo, "Received report {} pid={}, ppid={}, state=RUNNABLE:DISPATCH; {} {}",
                OutcomeText(data_.answer().outcome()), ctx.pid(), ctx.parent(), kTypeName, Describe());
    data_.set_settled(true);
    return GoTo(data_.answer().outcome() == pb::DONE ? State::kReportSucceed : State::kDispatchFail);
  }
  if (!env.servers.IsOnline(worker)) {
    data_.set_settled(true);
    return GoTo(State::kServerCrash);
  }
  if (!data_.log().meta()) {
    if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  }
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  RATCHET_LOG(kInfo, "Dispatch pid={}, ppid={}, state=RUNNABLE:DISPATCH; {} {}", ctx.pid(), ctx.parent(), kTypeName,
              Describe());
  env.region_servers.Dispatch(worker, MakeOrder(ctx));
  return Await{std::move(ticket), env.options.order_resend};
}

StepOutcome SplitWalRemote::ReportSucceed(StepContext&) {
  pb::OrderResult result;
  result.set_outcome(pb::DONE);
  return Done{result.SerializeAsString()};
}

StepOutcome SplitWalRemote::DispatchFail(StepContext&) {
  pb::OrderResult result;
  result.set_outcome(pb::FAILED);
  result.set_error_class(data_.answer().error_class());
  result.set_error_message(data_.answer().error_message());
  return Done{result.SerializeAsString()};
}

StepOutcome SplitWalRemote::ServerCrashed(StepContext&) {
  pb::OrderResult result;
  result.set_outcome(pb::SERVER_CRASHED);
  return Done{result.SerializeAsString()};
}

}  // namespace ratchet::master
