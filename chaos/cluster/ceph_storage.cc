#include "chaos/cluster/ceph_storage.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "chaos/cluster/child_process.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kObserver = "observer";
constexpr int kSkipped = 3;  // same code as in scripts/ceph/common.sh
constexpr Millis kUpLimit{180'000};
constexpr Millis kLimit{90'000};

std::string LastLines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  std::string all = text.str();
  constexpr std::size_t kMost = 500;
  if (all.size() > kMost) all.erase(0, all.size() - kMost);
  while (!all.empty() && all.back() == '\n') all.pop_back();
  return all;
}

std::string CommandOf(int pid) {
  std::ifstream stream(fmt::format("/proc/{}/cmdline", pid));
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 512> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  ::pclose(pipe);
  return output;
}

}  // namespace

Result<std::filesystem::path> FindCephScripts(const std::filesystem::path& bin) {
  if (const char* given = std::getenv("RATCHET_CEPH_SCRIPTS")) return std::filesystem::path(given);
  for (std::filesystem::path above = bin; above.has_relative_path(); above = above.parent_path()) {
    std::error_code failed;
    if (std::filesystem::exists(above / "scripts/ceph/up", failed)) return above / "scripts/ceph";
  }
  return Error(Code::kNotFound,
               "cannot find scripts/ceph above " + bin.string() + "; set RATCHET_CEPH_SCRIPTS to its path");
}

CephStorage::CephStorage(std::filesystem::path scripts, std::filesystem::path dir)
    : scripts_(std::move(scripts)), dir_(std::move(dir)) {}

Status CephStorage::Run(const std::string& script, const std::vector<std::string>& arguments, Millis limit) const {
  LaunchSpec launch;
  launch.arguments = {(scripts_ / script).string(), "--dir", dir_.string()};
  launch.arguments.insert(launch.arguments.end(), arguments.begin(), arguments.end());
  // The output goes next to the directory, which `down` removes. Each call has its own file, because several may run at
  // once.
  const std::string of = arguments.empty() ? script : script + "-" + arguments.back();
  launch.output = dir_.parent_path() / fmt::format("{}-{}.out", dir_.filename().string(), of);
  launch.dies_with_us = false;  // a script must not be interrupted half way, so its end is awaited
  std::error_code failed;
  std::filesystem::remove(launch.output, failed);
  RATCHET_ASSIGN(const ProcessId id, Launch(launch));
  std::optional<Ended> ended;
  RATCHET_TRY(WaitUntil("scripts/ceph/" + script, limit, [&] {
    ended = CheckEnded(id);
    return ended.has_value();
  }));
  const int code = ended->code.value_or(-1);
  if (code == 0) {
    std::filesystem::remove(launch.output, failed);
    return Ok();
  }
  return Error(code == kSkipped ? Code::kUnsupported : Code::kUnavailable,
               fmt::format("scripts/ceph/{} ended with code {}: {}", script, code, LastLines(launch.output)));
}

Status CephStorage::Up() const {
  RATCHET_TRY(Run("up", {}, kUpLimit));
  RATCHET_TRY(Mount(kObserver));
  std::error_code failed;
  if (!std::filesystem::create_directories(RootOf(kObserver), failed) && failed)
    return Error(Code::kIo, fmt::format("cannot make {}: {}", RootOf(kObserver).string(), failed.message()));
  // S160 (the root is its user's), whatever the umask of this process is.
  std::filesystem::permissions(RootOf(kObserver), std::filesystem::perms::owner_all, failed);
  return Ok();
}

Status CephStorage::Down() const { return Run("down", {}, kLimit); }
Status CephStorage::Mount(const std::string& name) const { return Run("mount", {"--fresh", name}, kLimit); }
Status CephStorage::Evict(const std::string& name) const { return Run("evict", {name}, kLimit); }
Status CephStorage::Cut(const std::string& name) const { return Run("cut", {"--until-dropped", name}, kLimit); }
Status CephStorage::LetThrough(const std::string& name) const { return Run("cut", {"--heal", name}, kLimit); }

bool CephStorage::CanCut() {
  for (const char* const place : {"/usr/sbin/iptables", "/sbin/iptables"}) {
    std::error_code failed;
    if (std::filesystem::exists(place, failed)) return true;
  }
  return false;
}

Status CephStorage::StartDaemon(const std::string& name) const { return Run("up", {"start", name}, kLimit); }

// The script wrote this pid; another process may have it now.
Result<ProcessId> CephStorage::Find(const std::string& name) const {
  std::ifstream stream(dir_ / "pid" / name);
  int pid = 0;
  if (stream >> pid) {
    const auto id = IdOf(pid);
    if (id.ok() && CommandOf(pid).find(dir_.string() + "/") != std::string::npos) return id;
  }
  return Error(Code::kNotFound, name + " does not run");
}

Result<std::string> CephStorage::ActiveMetadataServer() const {
  const std::string stat = OutputOf(
      fmt::format("timeout 15 ceph -c '{}' --connect-timeout 10 mds stat 2>/dev/null", (dir_ / "ceph.conf").string()));
  const std::string_view state = "=up:active";
  const std::size_t at = stat.find(state);
  const std::size_t name = at == std::string::npos ? at : stat.rfind('=', at - 1);
  if (name == std::string::npos) return Error(Code::kUnavailable, "no metadata server is active: " + stat);
  return "mds" + stat.substr(name + 1, at - name - 1);
}

std::filesystem::path CephStorage::RootOf(const std::string& name) const { return dir_ / "mnt" / name / "root"; }

std::vector<std::string> CephStorage::Flags(const std::string& name, Role role) const {
  std::vector<std::string> flags{"--storage-client", name};
  if (role != Role::kMaster) return flags;
  flags.insert(flags.end(),
               {"--fence-command", fmt::format("{} --dir {}", std::filesystem::absolute(scripts_ / "evict").string(),
                                               std::filesystem::absolute(dir_).string())});
  return flags;
}

}  // namespace ratchet::chaos
