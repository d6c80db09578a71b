// Targets of processes on this machine: booted here, or attached to.
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "chaos/disk/loop_disk.h"
#include "chaos/faults/target.h"
#include "chaos/network/links.h"
#include "chaos/network/source_finder.h"
#include "chaos/shim/process_shims.h"
#include "common/base/exit_codes.h"
#include "common/base/fault_point.h"

namespace ratchet::chaos {
namespace {

bool LeavesOnPurpose(int code) {
  switch (code) {
    case exit_code::kZooKeeperUnreachable:
    case exit_code::kSessionExpired:
    case exit_code::kFenced:
    case exit_code::kRefusedByMaster:
    case exit_code::kClockOff:
    case exit_code::kOutOfMemory:
    case exit_code::kStorageHangs:
    case exit_code::kOwnerUnknown:
    case exit_code::kNoDescriptors:
    case exit_code::kMountIsDead:
    case exit_code::kNoRoom:
    case exit_code::kNoAddress:
    case exit_code::kFailedSync:
    case kFaultExitCode: return true;
    default: return false;
  }
}

// Ports of the processes of a proxied cluster, their paths to ZooKeeper, and the proxies in between.
struct Wiring {
  std::vector<ProxiedPort> ports;
  std::map<std::string, Environment> environment;  // by process
  std::map<std::string, std::uint16_t> own_ports;
};

Result<Wiring> MakeWiring(ProcessCluster& cluster) {
  Wiring wiring;
  std::vector<ProcessInfo> zookeepers;
  for (const auto& name : cluster.Names(Role::kZooKeeper)) zookeepers.push_back(cluster.Info(name));
  for (const auto& info : cluster.Processes()) {
    if (info.role == Role::kZooKeeper) continue;
    RATCHET_ASSIGN(const std::uint16_t listens, PickFreePort());
    wiring.ports.push_back({info.name, "", info.port, listens});
    wiring.own_ports[info.name] = listens;
    std::string members;
    for (const auto& zookeeper : zookeepers) {
      RATCHET_ASSIGN(const std::uint16_t to_member, PickFreePort());
      wiring.ports.push_back({zookeeper.name, info.name, to_member, zookeeper.port});
      members += fmt::format("{}127.0.0.1:{}", members.empty() ? "" : ",", to_member);
    }
    wiring.environment[info.name] = {{"RATCHET_LISTEN_PORT", std::to_string(listens)}, {"RATCHET_ZOOKEEPER", members}};
  }
  return wiring;
}

// Copies a tree that others are changing: files that vanish meanwhile are skipped.
void CopyWhatIsThere(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& failed) {
  namespace fs = std::filesystem;
  std::error_code gone;
  if (!fs::is_directory(from, gone)) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed);
    if (!fs::exists(from, gone)) failed.clear();
    return;
  }
  fs::create_directories(to, failed);
  for (fs::directory_iterator entry(from, gone); !failed && !gone && entry != fs::directory_iterator();
       entry.increment(gone)) {
    CopyWhatIsThere(entry->path(), to / entry->path().filename(), failed);
  }
}

// Shortens the archive's time to live, because dead servers leave large files (preallocated logs), and chaos makes many
// dead servers.
void CleanSoon(ClusterSpec& spec) {
  spec.master_flags.insert(spec.master_flags.begin(), {"--archive-ttl-ms", "30000", "--cleaner-interval-ms", "5000"});
}

// The tables are small, and one procedure is to open several of their regions (AssignBatch).
void UseBatches(ClusterSpec& spec) {
  spec.master_flags.insert(spec.master_flags.begin(), {"--assign-batch-least", "2"});
}

// Allows masters to export snapshots to a folder of the cluster's directory, which is not on a disk that faults fill.
// The folder is made when the directory exists.
std::filesystem::path AllowExports(ClusterSpec& spec) {
  std::filesystem::path exports = std::filesystem::absolute(spec.dir) / "exports";
  spec.master_flags.insert(spec.master_flags.begin(), {"--snapshot-export-dir", exports.string()});
  return exports;
}

class LocalTarget final : public Target {
 public:
  LocalTarget(std::unique_ptr<ProcessCluster> cluster, std::string_view kind)
      : kind_(kind), cluster_(std::move(cluster)) {
    for (const auto& info : cluster_->Processes()) {
      if (info.id.pid != 0) up_.insert(info.name);
    }
  }

  [[nodiscard]] Status PutProxiesBetween(const LocalTargetOptions& options) {
    RATCHET_ASSIGN(auto wiring, MakeWiring(*cluster_));
    NameSource names;
    if (!options.strangers.empty()) {
      auto known = options.strangers;
      for (const auto& port : wiring.ports) {
        if (port.from.empty()) known.emplace(port.advertised, port.to);
      }
      names = [finder = std::make_shared<SourceFinder>(std::move(known))](std::uint16_t theirs, std::uint16_t ours) {
        return finder->NameOf(theirs, ours);
      };
    }
    RATCHET_ASSIGN(links_, Links::Start(std::move(wiring.ports), options.seed, std::move(names)));
    environment_ = std::move(wiring.environment);
    own_ports_ = std::move(wiring.own_ports);
    return Ok();
  }
  [[nodiscard]] Status PreloadShims() {
    const ClusterSpec& spec = cluster_->spec();
    RATCHET_ASSIGN(shims_, ProcessShims::Create(spec.bin / "libratchet_shim.so", spec.dir / "shim"));
    for (const Role role : kMembers) {
      for (const auto& name : cluster_->Names(role)) {
        RATCHET_ASSIGN(const auto environment, shims_->EnvironmentOf(name));
        environment_[name].insert(environment.begin(), environment.end());
      }
    }
    return Ok();
  }
  [[nodiscard]] Status MountDisk(std::uint64_t bytes) {
    RATCHET_ASSIGN(disk_, LoopDisk::Create(cluster_->spec().dir / "disk.image", bytes, cluster_->root()));
    return Ok();
  }

  [[nodiscard]] Status MakeExports(std::filesystem::path exports) {
    std::error_code failed;
    std::filesystem::create_directories(exports, failed);
    if (failed) return Error(Code::kIo, fmt::format("{}: {}", exports.string(), failed.message()));
    exports_ = std::move(exports);
    return Ok();
  }
  [[nodiscard]] std::optional<std::filesystem::path> Exports() override { return exports_; }

  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::string zookeeper() const override { return cluster_->zookeeper(); }
  [[nodiscard]] std::vector<std::string> Names(Role role) override { return cluster_->Names(role); }
  [[nodiscard]] bool Running(const std::string& name) override { return cluster_->Running(name); }

  [[nodiscard]] Status Kill(const std::string& name) override {
    NoteDeaths();
    up_.erase(name);
    return cluster_->Kill9(name);
  }
  [[nodiscard]] Status Start(const std::string& name, const Environment& extra) override {
    NoteDeaths();
    Environment environment = extra;
    environment.insert(environment_[name].begin(), environment_[name].end());
    ends_.erase(name);
    RATCHET_TRY(cluster_->Start(name, environment));
    up_.insert(name);
    return Ok();
  }
  [[nodiscard]] Status StartZooKeepers(const std::vector<std::string>& names) override {
    NoteDeaths();
    RATCHET_TRY(cluster_->StartZooKeepers(names));
    up_.insert(names.begin(), names.end());
    return Ok();
  }
  [[nodiscard]] Status Pause(const std::string& name) override { return cluster_->Pause(name); }
  [[nodiscard]] Status Resume(const std::string& name) override { return cluster_->Resume(name); }

  [[nodiscard]] Result<std::string> ActiveMaster() override { return cluster_->ActiveMaster(); }
  [[nodiscard]] Result<std::string> MetaHolder() override { return cluster_->MetaHolder(); }
  [[nodiscard]] ZooKeeperState ZooKeeperStateOf(const std::string& name) override {
    return cluster_->ZooKeeperStateOf(name);
  }
  [[nodiscard]] std::uint16_t OwnPort(const std::string& name) override {
    const auto behind = own_ports_.find(name);
    return behind != own_ports_.end() ? behind->second : cluster_->Info(name).port;
  }
  [[nodiscard]] std::string NameOf(const ServerName& server) override {
    for (const auto& info : cluster_->Processes()) {
      if (info.role == Role::kRegionServer && info.port == server.port) return info.name;
    }
    return "";
  }
  void ReadLog(const std::string& name, const std::function<void(const std::string& line)>& line) override {
    cluster_->ReadLog(name, line);
  }
  [[nodiscard]] std::map<std::string, int> Pids() override {
    std::map<std::string, int> pids;
    for (const auto& info : cluster_->Processes()) {
      if (info.id.pid != 0) pids[info.name] = info.id.pid;
    }
    return pids;
  }
  [[nodiscard]] std::optional<std::filesystem::path> Root() override { return cluster_->root(); }
  [[nodiscard]] Millis session_timeout() const override { return cluster_->spec().session_timeout; }
  [[nodiscard]] ProcessCluster* processes() override { return cluster_.get(); }
  [[nodiscard]] Links* links() override { return links_.get(); }
  [[nodiscard]] ProcessShims* shims() override { return shims_.get(); }
  [[nodiscard]] LoopDisk* disk() override { return disk_.get(); }
  [[nodiscard]] std::string WhyNoShims() const override { return no_shims_.empty() ? Target::WhyNoShims() : no_shims_; }
  [[nodiscard]] std::string WhyNoDisk() const override { return no_disk_.empty() ? Target::WhyNoDisk() : no_disk_; }
  void NoShims(const Error& why) { no_shims_ = "no preloaded library: " + why.message(); }
  void NoDisk(const Error& why) { no_disk_ = "no separate disk: " + why.message(); }

  [[nodiscard]] std::uint32_t CameAgain(const std::string& name) override { return cluster_->Info(name).came_again; }

  [[nodiscard]] Status StartMissing() {
    NoteDeaths();
    for (const auto& name : cluster_->Names(Role::kZooKeeper)) {
      if (!Running(name)) RATCHET_TRY(Start(name, {}));
    }
    for (const Role role : kMembers) {
      for (const auto& name : cluster_->Names(role)) {
        if (!Running(name)) RATCHET_TRY(Start(name, {}));
      }
    }
    return Ok();
  }

  [[nodiscard]] Status WaitServing(Millis timeout) override {
    return AwaitAll(timeout, [this] { return cluster_->WaitServing(kLook); });
  }

  [[nodiscard]] Status AwaitRecovered(Millis timeout) override {
    TransitionWatch watch;
    return AwaitAll(timeout, [this, &watch] {
      Status recovered = Ok();
      const Status waited = ProcessCluster::WaitUntil("a recovered cluster", kLook, [&] {
        recovered = cluster_->CheckRecovered(watch);
        return recovered.ok();
      });
      return waited.ok() ? waited : recovered;
    });
  }

  [[nodiscard]] Status CheckRecovered() override { return cluster_->WaitServing(Millis(0)); }
  [[nodiscard]] Status CheckRecoveredUnderLoad(TransitionWatch& watch) override {
    return cluster_->CheckRecovered(watch);
  }

  void Expect(const std::string& name, int exit_code) override { ends_[name].insert(exit_code); }

  [[nodiscard]] std::vector<Death> CollectDeaths() override {
    NoteDeaths();
    return std::exchange(deaths_, {});
  }

  [[nodiscard]] Status Collect(const std::filesystem::path& folder) override {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    for (const char* part : {"logs", "root", "cluster.state"}) {
      if (!failed) CopyWhatIsThere(cluster_->spec().dir / part, folder / part, failed);
    }
    if (failed) return Error(Code::kIo, fmt::format("cannot copy to {}: {}", folder.string(), failed.message()));
    return Ok();
  }

 private:
  static constexpr Millis kLook{300};

  // Waits until `look` holds and every process runs. Restarts a process that ended on purpose (its session ended while
  // it was paused), as a supervisor does.
  [[nodiscard]] Status AwaitAll(Millis timeout, const std::function<Status()>& look) {
    const auto until = SystemClock().Now() + timeout;
    for (;;) {
      RATCHET_TRY(StartMissing());
      Status serving = look();
      const bool all_run = AllRun();
      if (serving.ok() && all_run) return serving;
      if (SystemClock().Now() < until) continue;
      if (!serving.ok()) return serving;
      return Error(Code::kTimeout, "processes keep ending; see CollectDeaths and their logs");
    }
  }

  bool AllRun() {
    for (const auto& info : cluster_->Processes()) {
      if (info.id.pid == 0) return false;
    }
    return true;
  }

  void NoteDeaths() {
    for (const auto& info : cluster_->Processes()) {
      if (info.id.pid != 0 || up_.erase(info.name) == 0) continue;
      const int code = info.exit_code.value_or(-1);
      const bool wanted = ends_[info.name].count(code) != 0;
      deaths_.push_back({info.name, code, !info.exit_code || wanted || LeavesOnPurpose(code)});
    }
  }

  const std::string_view kind_;
  // Must outlive the processes.
  std::unique_ptr<Links> links_;
  std::unique_ptr<ProcessShims> shims_;
  std::unique_ptr<LoopDisk> disk_;
  const std::unique_ptr<ProcessCluster> cluster_;
  std::map<std::string, Environment> environment_;
  std::optional<std::filesystem::path> exports_;
  std::map<std::string, std::uint16_t> own_ports_;  // of those behind a proxy
  std::set<std::string> up_;                        // started and not killed by us
  std::map<std::string, std::set<int>> ends_;       // exit codes that a fault expects, by process
  std::vector<Death> deaths_;
  std::string no_shims_;
  std::string no_disk_;
};

}  // namespace

Result<std::unique_ptr<Target>> MakeLocalTarget(ClusterSpec spec, const LocalTargetOptions& options) {
  CleanSoon(spec);
  UseBatches(spec);
  std::filesystem::path exports = AllowExports(spec);
  RATCHET_ASSIGN(auto cluster, ProcessCluster::Create(std::move(spec)));
  auto target = std::make_unique<LocalTarget>(std::move(cluster), "local");
  RATCHET_TRY(target->MakeExports(std::move(exports)));
  if (options.links) RATCHET_TRY(target->PutProxiesBetween(options));
  // If these two fail, faults that need them are unavailable, and report it.
  if (options.shims) {
    const Status preloaded = target->PreloadShims();
    if (!preloaded.ok()) target->NoShims(preloaded.error());
  }
  if (options.disk_bytes != 0) {
    const Status mounted = target->MountDisk(options.disk_bytes);
    if (!mounted.ok()) target->NoDisk(mounted.error());
  }
  RATCHET_TRY(target->StartMissing());
  RATCHET_TRY(target->WaitServing(options.boot_timeout));
  return std::unique_ptr<Target>(std::move(target));
}

Result<std::unique_ptr<Target>> AttachTarget(const std::filesystem::path& dir) {
  RATCHET_ASSIGN(auto cluster, ProcessCluster::Attach(dir));
  return std::unique_ptr<Target>(std::make_unique<LocalTarget>(std::move(cluster), "running"));
}

}  // namespace ratchet::chaos
