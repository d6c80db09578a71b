// ratchet-cluster: a small cluster of real processes in a directory of this machine.
#include <algorithm>
#include <fstream>
#include <iostream>

#include "chaos/cluster/kept_settings.h"
#include "chaos/cluster/process_cluster.h"
#include "chaos/cluster/rolling_restart.h"
#include "chaos/cluster/zookeeper_config.h"
#include "common/base/config.h"
#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/private_files.h"
#include "common/base/resource_failure.h"
#include "common/base/version.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/tls/cluster_certificates.h"
#include "common/tls/process_tls.h"

namespace ratchet::chaos {
namespace {

struct Flags {
  std::string dir;
  std::int64_t zookeepers = 0;  // 0, also below: not given; a request for 0 is refused
  std::int64_t masters = 0;
  std::int64_t servers = 0;
  std::string storage;  // for a new cluster
  Millis session{2000};
  Millis timeout{60'000};
  std::int64_t lines = 20;
  bool erase = false;
  bool tls = false;
  std::vector<std::string> words;
};

constexpr const char* kWords =
    "up | down | status | env | rolling-restart | logs [NAME ...] | start NAME | stop NAME | kill NAME | pause NAME | "
    "resume "
    "NAME";

// Sizes of a new cluster for which the command line gives none.
constexpr std::int64_t kZooKeepers = 1;
constexpr std::int64_t kMasters = 2;
constexpr std::int64_t kServers = 3;

void Say(const std::string& line) { std::cout << line << std::endl; }

// The setting of a size: `otherwise` is shown as its default, and `size` stays 0 if it is not given.
SettingTarget<std::int64_t> SizeSetting(std::int64_t* size, std::int64_t otherwise) {
  SettingTarget<std::int64_t> target(size);
  target.get = [size, otherwise] { return *size == 0 ? otherwise : *size; };
  return target;
}

std::string StateOf(const ProcessInfo& info) {
  if (info.id.pid == 0) return "down";
  return info.paused ? "paused" : "up";
}

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char each : text) quoted += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return quoted + "'";
}

// Describes the state that depends on the role.
std::string RoleOf(ProcessCluster& cluster, const ProcessInfo& info, const std::string& active) {
  if (info.name == active) return "  (active)";
  if (info.role != Role::kZooKeeper || info.id.pid == 0 || cluster.spec().zookeepers == 1) return "";
  const std::string mode = cluster.ZooKeeperStateOf(info.name).mode;
  return mode.empty() ? "  (does not serve)" : "  (" + mode + ")";
}

Status ShowStatus(ProcessCluster& cluster) {
  const auto active = cluster.ActiveMaster();
  Say(fmt::format("{:<12} {:<7} {:>8} {:>6}  {}", "PROCESS", "STATE", "PID", "PORT", "LOG"));
  for (const auto& info : cluster.Processes()) {
    Say(fmt::format("{:<12} {:<7} {:>8} {:>6}  {}{}", info.name, StateOf(info),
                    info.id.pid == 0 ? "-" : std::to_string(info.id.pid), info.port, info.log.string(),
                    RoleOf(cluster, info, active.ok() ? *active : "")));
  }
  if (!active.ok()) return active.error().Annotate("no active master");
  RATCHET_ASSIGN(const auto status, cluster.StatusOf(*active));
  Say(fmt::format(
      "\nepoch {}, meta {} on {}, {} region servers alive, {} regions ({} open, {} in transition), {} procedures "
      "unfinished",
      status.epoch(), status.meta_state(),
      JoinHostPort(status.meta_server().host_name(), static_cast<std::uint16_t>(status.meta_server().port())),
      status.live_server_size(), status.regions(), status.regions_open(), status.regions_in_transition(),
      status.procedures_unfinished()));
  return cluster.WaitServing(Millis(0));
}

// The directory exists if the cluster was made with --tls.
std::filesystem::path Certificates(const std::filesystem::path& dir) {
  std::error_code failed;
  return std::filesystem::absolute(dir, failed) / "certificates";
}

bool HasTls(const std::filesystem::path& dir) {
  std::error_code failed;
  return std::filesystem::exists(Certificates(dir) / tls::kAuthorityFile, failed);
}

// The settings of a client of the cluster.
Environment ClientTls(const std::filesystem::path& dir) {
  if (!HasTls(dir)) return {};
  return {{"RATCHET_TLS_CONNECT", "true"},
          {"RATCHET_TLS_CERTIFICATE", Certificates(dir) / tls::kAdminFile},
          {"RATCHET_TLS_TRUST", Certificates(dir) / tls::kAuthorityFile}};
}

// Every process of the cluster is at the same address. Flags have precedence over the variables of a client's shell.
Status SecureNewCluster(ClusterSpec& spec) {
  const std::filesystem::path directory = Certificates(spec.dir);
  std::error_code failed;
  std::filesystem::create_directories(directory.parent_path(), failed);
  RATCHET_TRY(tls::WriteClusterCertificates(directory, {"127.0.0.1+localhost"}));
  const std::vector<std::string> flags{"--tls=require", "--tls-connect=true",
                                       fmt::format("--tls-certificate={}", (directory / "127.0.0.1.pem").string()),
                                       fmt::format("--tls-trust={}", (directory / tls::kAuthorityFile).string())};
  spec.master_flags = flags;
  spec.server_flags = flags;
  return Ok();
}

// Encrypts the connections that this program opens from now on.
Status UseTls(const std::filesystem::path& dir) {
  if (!HasTls(dir)) return Ok();
  tls::TlsOptions options;
  options.connect = true;
  options.files.certificate = Certificates(dir) / tls::kAdminFile;
  options.files.trust = Certificates(dir) / tls::kAuthorityFile;
  RATCHET_ASSIGN(auto opened, tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kClient));
  tls::ProcessTls::SetOfProcess(std::move(opened));
  return Ok();
}

void SayWhatNext(const ProcessCluster& cluster) {
  std::string variables;
  for (const auto& [name, value] : ClientTls(cluster.spec().dir)) variables += fmt::format("{}={} ", name, value);
  Say(fmt::format("\n  {}{}/ratchet --zookeeper {} status", variables, cluster.spec().bin.string(),
                  cluster.zookeeper()));
  Say(fmt::format("  scripts/cluster kill rs-1 --dir {0}      (status, logs, pause, resume, start, down ...)",
                  cluster.spec().dir.string()));
}

// Prints lines for the shell's eval command: the programs on PATH, and the cluster's address for clients.
Status ShowEnvironment(const ProcessCluster& cluster) {
  Say(fmt::format("export PATH={}:\"$PATH\"", ShellQuoted(cluster.spec().bin.string())));
  Say(fmt::format("export RATCHET_ZOOKEEPER={}", ShellQuoted(cluster.zookeeper())));
  for (const auto& [name, value] : ClientTls(cluster.spec().dir))
    Say(fmt::format("export {}={}", name, ShellQuoted(value)));
  return Ok();
}

// `down --erase` removes the whole directory, so it must be empty at first.
Status CheckVacant(const std::filesystem::path& dir) {
  std::error_code failed;
  if (!std::filesystem::exists(dir, failed) || std::filesystem::is_empty(dir, failed)) return Ok();
  return Error(Code::kFailedPrecondition,
               fmt::format("{} is not empty and holds no cluster; choose another --dir", dir.string()));
}

// A cluster keeps its size: a request for another size is refused, not ignored.
Status CheckSameSize(const ClusterSpec& is, const Flags& asked) {
  const auto check = [&](const char* what, int has, std::int64_t wanted) -> Status {
    if (wanted == 0 || wanted == has) return Ok();
    return Error(
        Code::kFailedPrecondition,
        fmt::format(
            "the cluster in {} was made with {} {}, not {}; run `down --erase` and `up` to make a new one, or choose "
            "another --dir",
            is.dir.string(), has, what, wanted));
  };
  RATCHET_TRY(check("ZooKeeper members", is.zookeepers, asked.zookeepers));
  if (!asked.storage.empty() && asked.storage != is.storage)
    return Error(
        Code::kFailedPrecondition,
        fmt::format("the cluster in {} has its root on {} storage; choose another --dir", is.dir.string(), is.storage));
  RATCHET_TRY(check("masters", is.masters, asked.masters));
  return check("region servers", is.servers, asked.servers);
}

Status Up(const Flags& flags) {
  const std::int64_t start = SystemClock().WallMillis();
  if (flags.zookeepers != 0) RATCHET_TRY(CheckZooKeeperMembers(flags.zookeepers));
  ClusterSpec spec;
  spec.dir = flags.dir;
  spec.zookeepers = static_cast<int>(flags.zookeepers == 0 ? kZooKeepers : flags.zookeepers);
  spec.masters = static_cast<int>(flags.masters == 0 ? kMasters : flags.masters);
  spec.servers = static_cast<int>(flags.servers == 0 ? kServers : flags.servers);
  if (!flags.storage.empty()) spec.storage = flags.storage;
  spec.session_timeout = flags.session;
  spec.detached = true;
  RATCHET_TRY(UseTls(flags.dir));
  auto cluster = ProcessCluster::Attach(flags.dir);
  if (cluster.ok()) RATCHET_TRY(CheckSameSize((*cluster)->spec(), flags));
  if (!cluster.ok()) {
    if (cluster.error().code() != Code::kNotFound) return cluster.error();
    RATCHET_TRY(CheckVacant(flags.dir));
    if (flags.tls) RATCHET_TRY(SecureNewCluster(spec));
    RATCHET_TRY(UseTls(flags.dir));
    cluster = ProcessCluster::Create(spec);
    if (!cluster.ok()) return cluster.error();
  }
  if (flags.tls && !HasTls(flags.dir))
    return Error(Code::kFailedPrecondition, "the cluster was made without --tls; choose another --dir");
  RATCHET_TRY((*cluster)->KeepSettings(ShellSettings()));
  RATCHET_TRY((*cluster)->StartAll(flags.timeout));
  RATCHET_TRY(ShowStatus(**cluster));
  Say(fmt::format("\nup after {} ms", SystemClock().WallMillis() - start));
  SayWhatNext(**cluster);
  return Ok();
}

Status Down(ProcessCluster& cluster, const Flags& flags) {
  RATCHET_TRY(cluster.StopAll(flags.timeout));
  Say(flags.erase ? "stopped; the directory is removed" : "stopped; the data stays, and `up` restarts it");
  if (flags.erase) {
    RATCHET_TRY(cluster.RemoveStorage());
    std::error_code failed;
    std::filesystem::remove_all(cluster.spec().dir, failed);
    if (failed)
      return Error(Code::kIo, fmt::format("cannot remove {}: {}", cluster.spec().dir.string(), failed.message()));
  }
  return Ok();
}

Status ShowLogs(ProcessCluster& cluster, const Flags& flags) {
  std::vector<std::string> names(flags.words.begin() + 1, flags.words.end());
  if (names.empty()) {
    for (const auto& info : cluster.Processes()) names.push_back(info.name);
  }
  for (const auto& name : names) {
    if (cluster.Info(name).name.empty())
      return Error(Code::kNotFound, fmt::format("the cluster has no process '{}'", name));
    const auto lines = cluster.LogLines(name, "", 0);
    const auto count = std::min(lines.size(), static_cast<std::size_t>(flags.lines));
    Say(fmt::format("== {} ({})", name, cluster.Info(name).log.string()));
    for (std::size_t i = lines.size() - count; i < lines.size(); ++i) Say(lines[i]);
  }
  return Ok();
}

// The gap is reported, not limited, because a busy machine lengthens it.
Status Roll(ProcessCluster& cluster, const Flags& flags) {
  RATCHET_ASSIGN(const auto longest, RollingRestart(cluster, {flags.timeout, Say}));
  Say(fmt::format("\nthe longest of {} puts and gets took {} ms, while {}", longest.operations, longest.length.count(),
                  longest.meanwhile.empty() ? "nothing was restarted" : longest.meanwhile));
  if (longest.failed.empty()) return Ok();
  return Error(Code::kTimeout, "an operation of the probing client failed while " + longest.failed);
}

Status Execute(const Flags& flags) {
  const std::string& word = flags.words.front();
  if (word == "up") return Up(flags);
  RATCHET_TRY(UseTls(flags.dir));
  RATCHET_ASSIGN(auto cluster, ProcessCluster::Attach(flags.dir));
  if (word == "down") return Down(*cluster, flags);
  if (word == "status") return ShowStatus(*cluster);
  if (word == "env") return ShowEnvironment(*cluster);
  if (word == "rolling-restart") return Roll(*cluster, flags);
  if (word == "logs") return ShowLogs(*cluster, flags);
  if (flags.words.size() != 2) return Error(Code::kInvalidArgument, fmt::format("expected one of: {}", kWords));
  const std::string& name = flags.words[1];
  if (word == "start") return cluster->Start(name);
  if (word == "stop") return cluster->Stop(name, flags.timeout);
  if (word == "kill") return cluster->Kill9(name);
  if (word == "pause") return cluster->Pause(name);
  if (word == "resume") return cluster->Resume(name);
  return Error(Code::kInvalidArgument, fmt::format("expected one of: {}", kWords));
}

int Main(int argc, char** argv) {
  Flags flags;
  Settings settings("ratchet-cluster",
                    fmt::format("A cluster of real processes in one directory.\nCommands: {}", kWords));
  settings.AddText({"dir", "directory of the cluster", {}}, &flags.dir, Presence::kRequired);
  settings.AddInt({"zookeepers", "ZooKeeper members of a new cluster: 1, 3 or 5", {}},
                  SizeSetting(&flags.zookeepers, kZooKeepers), {1, 5});
  settings.AddInt({"masters", "masters of a new cluster", {}}, SizeSetting(&flags.masters, kMasters), {1, 9});
  settings.AddInt({"servers", "region servers of a new cluster", {}}, SizeSetting(&flags.servers, kServers), {1, 50});
  settings.AddText(
      {"storage", "storage of a new cluster's root: local, or ceph (a mini Ceph in DIR/ceph, scripts/ceph)", {}},
      &flags.storage, Presence::kOptional, {"", "local", "ceph"});
  settings.AddMillis({"session-ms", "ZooKeeper session timeout of the servers of a new cluster", {}}, &flags.session,
                     Millis(400), Millis(60'000));
  settings.AddMillis({"timeout-ms", "time limit of `up`, `down`, `stop` and each step of `rolling-restart`", {}},
                     &flags.timeout, Millis(100), Millis(3'600'000));
  settings.AddInt({"lines", "number of lines that `logs` shows of each process", {}}, &flags.lines, {1, 1'000'000});
  settings.AddBool(
      {"tls", "`up` makes certificates in DIR/certificates for a new cluster, whose ports require TLS", {}},
      &flags.tls);
  settings.AddBool({"erase", "`down` also removes the directory", {}}, &flags.erase);
  settings.AllowPositionals("COMMAND", &flags.words);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  if (flags.words.empty()) {
    std::cerr << "ratchet-cluster: expected one of: " << kWords << "\n";
    return exit_code::kUsage;
  }
  ConfigureLog({LogLevel::kError, ""});
  const Status done = Execute(flags);
  if (done.ok()) return exit_code::kOk;
  std::cerr << "ratchet-cluster: " << done.error().message() << "\n";
  return done.error().code() == Code::kInvalidArgument ? exit_code::kUsage : exit_code::kFailed;
}

}  // namespace
}  // namespace ratchet::chaos

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-cluster", argc, argv)) return 0;
  ratchet::HandleResourceFailure("ratchet-cluster", ratchet::exit_code::kFailed);
  ratchet::RaiseDescriptorLimit();
  return ratchet::chaos::Main(argc, argv);
}
