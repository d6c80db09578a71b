// ratchet-demo: kills the region server with meta, then the active master in the middle of a procedure, and proves that
// nothing acknowledged was lost.
#include <sys/wait.h>

#include <filesystem>
#include <iostream>
#include <thread>

#include "chaos/cluster/process_cluster.h"
#include "chaos/demo/checks.h"
#include "chaos/demo/unicode_data.h"
#include "chaos/demo/writer.h"
#include "chaos/report/timeline.h"
#include "chaos/verdict/cluster_checks.h"
#include "common/base/config.h"
#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/private_files.h"
#include "common/base/prng.h"
#include "common/base/resource_failure.h"
#include "common/base/version.h"
#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kInterruptedStep = "ADD_TO_META";

struct Flags {
  std::string dir;
  std::string input = kUnicodeDataFile;
  std::int64_t regions = 30;
  std::int64_t seed = 0;
  std::string storage = "local";
  bool keep = false;
};

std::int64_t Now() { return SystemClock().WallMillis(); }
void Say(const std::string& line) { std::cout << line << std::endl; }

class Demo {
 public:
  Demo(Flags flags, std::vector<UnicodeRow> rows) : flags_(std::move(flags)), rows_(std::move(rows)) {}

  // Runs all acts; returns true for PASS.
  Result<bool> Run() {
    RATCHET_TRY(Boot());
    RATCHET_TRY(Import());
    Writer writer(*connection_, table_, 2, static_cast<std::uint64_t>(flags_.seed));
    RATCHET_TRY(WaitForWrites(writer, 200));
    RATCHET_TRY(KillMetaServer());
    RATCHET_TRY(WaitForWrites(writer, 200));
    RATCHET_TRY(KillMasterInProcedure());
    RATCHET_TRY(WaitForWrites(writer, 200));
    writer.Stop();
    return Judge(writer.CollectAccount());
  }

  ProcessCluster* cluster() { return cluster_.get(); }

 private:
  Status Boot() {
    const std::int64_t start = Now();
    ClusterSpec spec;
    spec.dir = flags_.dir;
    spec.detached = flags_.keep;
    spec.storage = flags_.storage;
    RATCHET_ASSIGN(cluster_, ProcessCluster::Create(spec));
    // The first master pauses at a step of the second creation, so that the kill happens exactly there.
    RATCHET_TRY(cluster_->Start(
        "master-1", ArmedWith(fmt::format("executor.after_commit~CreateTable:{}=pause@1", kInterruptedStep))));
    RATCHET_TRY(cluster_->WaitActiveMaster(Millis{30'000}));
    for (const char* name : {"master-2", "rs-1", "rs-2", "rs-3"}) RATCHET_TRY(cluster_->Start(name));
    RATCHET_TRY(cluster_->WaitServing(Millis{60'000}));
    client::ConnectionOptions options;
    options.zookeeper = cluster_->zookeeper();
    options.user = "demo";
    RATCHET_ASSIGN(connection_, client::Connection::Open(options));
    Say(fmt::format("cluster up: ZooKeeper, 2 masters, 3 region servers in {} ms", Now() - start));
    return Ok();
  }

  Status Import() {
    TableDescriptor descriptor;
    descriptor.name = table_;
    descriptor.families.push_back(DefaultFamily("u"));
    client::Admin admin(*connection_);
    const auto regions = static_cast<std::size_t>(flags_.regions);
    RATCHET_TRY(admin.WaitOk(admin.CreateTable(descriptor, EvenSplitKeys(rows_, regions))));
    const std::int64_t start = Now();
    client::Table table(*connection_, table_);
    constexpr std::size_t kBatch = 1000;
    for (std::size_t from = 0; from < rows_.size(); from += kBatch) {
      std::vector<client::Mutation> batch;
      for (std::size_t i = from; i < std::min(from + kBatch, rows_.size()); ++i) batch.push_back(PutOf(rows_[i]));
      for (const auto& status : table.MutateMany(batch)) RATCHET_TRY(status);
    }
    const std::int64_t took = std::max<std::int64_t>(1, Now() - start);
    Say(fmt::format("imported {} rows of {} columns into {} regions in {} ms ({} rows/s)", rows_.size(),
                    rows_.front().fields.size(), regions, took, static_cast<std::int64_t>(rows_.size()) * 1000 / took));
    return Ok();
  }

  static Status WaitForWrites(const Writer& writer, std::size_t more) {
    const std::size_t target = writer.acknowledged() + more;
    return ProcessCluster::WaitUntil("the writer's acknowledgements", Millis{60'000},
                                     [&] { return writer.acknowledged() >= target; });
  }

  Status KillMetaServer() {
    RATCHET_ASSIGN(const std::string victim, cluster_->MetaHolder());
    client::Admin admin(*connection_);
    RATCHET_ASSIGN(const auto meta, admin.Regions(MetaTableName()));
    const std::string server = meta.front().server.ToString();
    Say(fmt::format("killing {} ({}), which carries meta", victim, server));
    const std::int64_t killed = Now();
    RATCHET_TRY(cluster_->Kill9(victim));
    pb::ProcedureInfo crash;
    RATCHET_TRY(ProcessCluster::WaitUntil("the crash procedure's end", Millis{60'000}, [&] {
      auto found = FindProcedure("ServerCrash", server);
      if (found.ok()) crash = *found;
      return found.ok() && found->finished();
    }));
    RATCHET_TRY(cluster_->WaitServing(Millis{60'000}));
    timeline_.Add(killed, "killed", fmt::format("{} with meta, kill -9", server));
    timeline_.Add(static_cast<std::int64_t>(crash.submitted_wall_ms()), "detected",
                  fmt::format("{}; ServerCrash pid {}", HowDetected(crash, killed), crash.pid()));
    const std::map<std::string, std::string> shown = {
        // A step that waits for children is done when the following step commits.
        {"FENCE", "fenced"},
        {"SEAL", "logs sealed"},
        {"ASSIGN_META", "meta's log split"},
        {"GET_REGIONS", "meta online"},
        {"ASSIGN_REGIONS", "logs split"},
        {"RETIRE_LOGS", "all regions online"},
        {"FINISH", "crash procedure done"}};
    AddSteps(crash, shown);
    return Ok();
  }

  // A death that is noticed within half of the session was noticed by the server's address (S121: early findings are
  // positive).
  [[nodiscard]] std::string HowDetected(const pb::ProcedureInfo& crash, std::int64_t killed) const {
    const auto session = cluster_->spec().session_timeout.count();
    if (static_cast<std::int64_t>(crash.submitted_wall_ms()) - killed < session / 2)
      return "its address refuses connections";
    return fmt::format("session of {} ms ended", session);
  }

  Status KillMasterInProcedure() {
    RATCHET_ASSIGN(const std::string victim, cluster_->ActiveMaster());
    timeline_.NextAct();
    TableDescriptor descriptor;
    descriptor.name = TableName("default", "made_through_a_failover");
    descriptor.families.push_back(DefaultFamily("f"));
    client::Admin admin(*connection_);
    RATCHET_ASSIGN(const std::uint64_t pid, admin.CreateTable(descriptor, {"4", "8"}));
    RATCHET_TRY(cluster_->WaitLog(victim, "fault point executor.after_commit pauses", Millis{30'000}));
    Say(fmt::format("killing {} (the active master) after step {} of pid {}", victim, kInterruptedStep, pid));
    const std::int64_t killed = Now();
    RATCHET_TRY(cluster_->Kill9(victim));
    RATCHET_ASSIGN(const std::string successor, cluster_->WaitActiveMaster(Millis{30'000}, victim));
    const Status created = admin.WaitOk(pid);
    findings_.push_back({created.ok(), created.ok() ? "the waiting client got the success of the creation"
                                                    : "the creation failed: " + created.error().ToString()});
    timeline_.Add(killed, "killed", fmt::format("{}, the active master, kill -9", victim));
    AddActivation(successor, killed);
    RATCHET_ASSIGN(interrupted_, GetProcedure(pid));
    findings_.push_back(CheckResumed(interrupted_));
    AddInterrupted(interrupted_);
    // Restores the initial set: two masters, three region servers.
    for (const auto& name : {victim, std::string("rs-1"), std::string("rs-2"), std::string("rs-3")}) {
      if (!cluster_->Running(name)) RATCHET_TRY(cluster_->Start(name));
    }
    return Ok();
  }

  // Adds the successor's log lines from the election until it serves.
  void AddActivation(const std::string& successor, std::int64_t killed) {
    const std::pair<const char*, const char*> shown[] = {
        {"elected as active master", "detected: standby elected"},
        {"activation: claim store done", "procedures claimed"},
        {"activation: find dead servers done", "search for dead servers done"},
        {"activation: ready", "standby active"}};
    for (const auto& [text, what] : shown) {
      for (const auto& line : cluster_->LogLines(successor, text)) {
        if (const auto at = LogLineMillis(line); at && *at >= killed)
          timeline_.Add(*at, what, line.substr(line.find("] ") + 2));
      }
    }
  }

  // Adds the interrupted procedure's steps: those that were durable before the kill, and those of the successor.
  void AddInterrupted(const pb::ProcedureInfo& procedure) {
    std::uint64_t epoch = 0;
    for (const auto& step : procedure.history()) {
      const bool resumed = epoch != 0 && step.epoch() != epoch;
      const bool last = &step == &procedure.history(procedure.history_size() - 1);
      const char* what = last ? "procedure finished" : resumed ? "procedure resumed" : "step committed";
      timeline_.Add(static_cast<std::int64_t>(step.at_wall_ms()), what,
                    fmt::format("pid {} {} in epoch {}", procedure.pid(), step.step(), step.epoch()));
      epoch = step.epoch();
    }
  }

  // Adds those steps of a history that are in `shown`, under the names there.
  void AddSteps(const pb::ProcedureInfo& procedure, const std::map<std::string, std::string>& shown) {
    for (const auto& step : procedure.history()) {
      const auto found = shown.find(step.step());
      if (found == shown.end()) continue;
      timeline_.Add(static_cast<std::int64_t>(step.at_wall_ms()), found->second,
                    fmt::format("pid {} {} committed in epoch {}", procedure.pid(), step.step(), step.epoch()));
    }
  }

  Result<pb::ProcedureInfo> GetProcedure(std::uint64_t pid) {
    client::Admin admin(*connection_);
    pb::GetProcedureRequest request;
    request.set_pid(pid);
    RATCHET_ASSIGN(auto answer, (admin.Call(methods::kGetProcedure, request)));
    if (!answer.has_procedure()) return Error(Code::kNotFound, fmt::format("procedure {} is not known", pid));
    return std::move(*answer.mutable_procedure());
  }

  Result<pb::ProcedureInfo> FindProcedure(const std::string& type, const std::string& text) {
    client::Admin admin(*connection_);
    pb::ListProceduresRequest request;
    request.set_include_finished(true);
    RATCHET_ASSIGN(auto answer, (admin.Call(methods::kListProcedures, request)));
    for (const auto& procedure : answer.procedure()) {
      if (procedure.type() == type && procedure.text().find(text) != std::string::npos)
        return GetProcedure(procedure.pid());
    }
    return Error(Code::kNotFound, "no such procedure");
  }

  bool Judge(const Writer::Account& written) {
    const Status settled = cluster_->WaitServing(Millis{60'000});
    findings_.push_back({settled.ok(), settled.ok() ? "nothing is left in transition" : settled.error().ToString()});
    for (auto& finding : CheckRows(*connection_, table_, rows_, written)) findings_.push_back(std::move(finding));
    findings_.push_back(CheckOneOwner(*connection_));
    Say("\n" + timeline_.ToText());
    Say(fmt::format("the writer: {} acknowledged, {} of unknown outcome, longest gap {} ms",
                    written.acknowledged.size(), written.unknown.size(), written.longest_gap.count()));
    bool good = true;
    for (const auto& finding : findings_) {
      Say(fmt::format("  {}  {}", finding.good ? "ok  " : "FAIL", finding.text));
      good = good && finding.good;
    }
    return good;
  }

  const Flags flags_;
  const std::vector<UnicodeRow> rows_;
  const TableName table_{"default", "unicode"};
  std::unique_ptr<ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
  Timeline timeline_;
  pb::ProcedureInfo interrupted_;
  std::vector<Finding> findings_;
};

void SayWhatNext(const ProcessCluster& cluster, const std::string& dir) {
  const std::string ratchet = "build/release/bin/ratchet --zookeeper " + cluster.zookeeper();
  Say("\nThe cluster keeps running. Try:");
  for (const char* words : {"status", "regions unicode", "get unicode 01F600", "procedures --all", "locks"}) {
    Say(fmt::format("  {} {}", ratchet, words));
  }
  Say(fmt::format("  scripts/cluster status --dir {}\n  scripts/cluster down --dir {}", dir, dir));
}

int Main(int argc, char** argv) {
  Flags flags;
  Settings settings("ratchet-demo", "Breaks a real cluster twice and proves that every acknowledged row survived.");
  settings.AddText({"dir", "directory of the cluster; must not exist yet", {}}, &flags.dir, Presence::kRequired);
  settings.AddText({"input", "UnicodeData.txt of Debian's package unicode-data", {}}, &flags.input);
  settings.AddInt({"regions", "regions that the table is split into", {}}, &flags.regions, {1, 1000});
  settings.AddInt({"seed", "seed of the writer's choices; 0 draws one", {}}, &flags.seed, {0, INT64_MAX});
  settings.AddText(
      {"storage", "storage of the cluster's root: local, or ceph (a mini Ceph of its own, scripts/ceph)", {}},
      &flags.storage, Presence::kOptional, {"local", "ceph"});
  settings.AddBool({"keep", "leave the cluster running", {}}, &flags.keep);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  if (flags.seed == 0) flags.seed = static_cast<std::int64_t>(RandomSeed() >> 1U);
  ConfigureLog({LogLevel::kError, ""});

  auto rows = ReadUnicodeData(flags.input);
  if (!rows.ok()) {
    std::cerr << "ratchet-demo: " << rows.error().message() << "\n";
    return exit_code::kUsage;
  }
  Say(fmt::format("seed {}", flags.seed));
  const std::int64_t start = Now();
  Demo demo(flags, std::move(*rows));
  const auto verdict = demo.Run();
  if (!verdict.ok()) Say("\nstopped: " + verdict.error().ToString());
  const bool pass = verdict.ok() && *verdict;
  Say(fmt::format("\n{} ({:.1f} s)", pass ? "PASS" : "FAIL", static_cast<double>(Now() - start) / 1000.0));
  if (demo.cluster() != nullptr) {
    if (flags.keep)
      SayWhatNext(*demo.cluster(), flags.dir);
    else
      IgnoreResult(demo.cluster()->StopAll(Millis{10'000}), "the verdict is complete; remaining processes are killed");
  }
  if (!pass) Say(fmt::format("logs: {}/logs", flags.dir));
  return pass ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace
}  // namespace ratchet::chaos

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-demo", argc, argv)) return 0;
  ratchet::HandleResourceFailure("ratchet-demo", ratchet::exit_code::kFailed);
  ratchet::RaiseDescriptorLimit();
  return ratchet::chaos::Main(argc, argv);
}
