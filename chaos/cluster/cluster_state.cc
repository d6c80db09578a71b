#include "chaos/cluster/cluster_state.h"

#include <fstream>
#include <sstream>

#include "common/base/setting_value.h"

namespace ratchet::chaos {
namespace {

constexpr std::string_view kFormat = "ratchet cluster 1";

const char* RoleName(Role role) {
  switch (role) {
    case Role::kZooKeeper: return "zookeeper";
    case Role::kMaster: return "master";
    case Role::kRegionServer: return "regionserver";
  }
  return "";
}

Result<Role> ParseRole(const std::string& text) {
  for (const Role role : {Role::kZooKeeper, Role::kMaster, Role::kRegionServer}) {
    if (text == RoleName(role)) return role;
  }
  return Error(Code::kCorruption, "no role '" + text + "'");
}

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

Result<ProcessInfo> ParseProcess(const std::vector<std::string>& fields, const std::filesystem::path& dir) {
  if (fields.size() != 8) return Error(Code::kCorruption, "expected 8 fields");
  ProcessInfo info;
  info.name = fields[1];
  RATCHET_ASSIGN(info.role, ParseRole(fields[2]));
  RATCHET_ASSIGN(const std::int64_t port, ParseInt(fields[3]));
  RATCHET_ASSIGN(const std::int64_t pid, ParseInt(fields[4]));
  RATCHET_ASSIGN(const std::int64_t kernel_start, ParseInt(fields[5]));
  RATCHET_ASSIGN(info.started_wall_ms, ParseInt(fields[6]));
  RATCHET_ASSIGN(const std::int64_t log_start, ParseInt(fields[7]));
  info.port = static_cast<std::uint16_t>(port);
  info.id = {static_cast<int>(pid), static_cast<std::uint64_t>(kernel_start)};
  info.log_start = static_cast<std::uint64_t>(log_start);
  info.log = dir / "logs" / (info.name + ".log");
  return info;
}

Result<std::uint16_t> ParsePort(const std::string& text) {
  RATCHET_ASSIGN(const std::int64_t port, ParseInt(text));
  return static_cast<std::uint16_t>(port);
}

Result<ZooKeeperPeer> ParsePeer(const std::vector<std::string>& fields) {
  if (fields.size() != 3) return Error(Code::kCorruption, "expected 3 fields");
  ZooKeeperPeer peer;
  RATCHET_ASSIGN(peer.quorum_port, ParsePort(fields[1]));
  RATCHET_ASSIGN(peer.election_port, ParsePort(fields[2]));
  return peer;
}

Status ParseLine(const std::string& line, ClusterState& state) {
  const auto fields = SplitTabs(line);
  if (fields.size() < 2) return Error(Code::kCorruption, "expected key and value");
  const std::string& key = fields[0];
  if (key == "process") {
    RATCHET_ASSIGN(auto info, ParseProcess(fields, state.spec.dir));
    state.processes.push_back(std::move(info));
  } else if (key == "zookeeper-peer") {
    RATCHET_ASSIGN(const auto peer, ParsePeer(fields));
    state.zookeeper_peers.push_back(peer);
  } else if (key == "bin") {
    state.spec.bin = fields[1];
  } else if (key == "session-ms") {
    RATCHET_ASSIGN(state.spec.session_timeout, ParseMillis(fields[1]));
  } else if (key == "storage") {
    state.spec.storage = fields[1];
  } else if (key == "ceph-scripts") {
    state.spec.ceph_scripts = fields[1];
  } else if (key == "master-flag") {
    state.spec.master_flags.push_back(fields[1]);
  } else if (key == "setting") {
    const std::size_t equals = fields[1].find('=');
    if (equals == std::string::npos) return Error(Code::kCorruption, "a setting without '='");
    state.settings[fields[1].substr(0, equals)] = fields[1].substr(equals + 1);
  } else if (key == "server-flag") {
    state.spec.server_flags.push_back(fields[1]);
  } else {
    return Error(Code::kCorruption, "unknown key '" + key + "'");
  }
  return Ok();
}

}  // namespace

std::filesystem::path StateFile(const std::filesystem::path& dir) { return dir / "cluster.state"; }

Status SaveState(const ClusterState& state) {
  std::string text(kFormat);
  text += fmt::format("\nbin\t{}\nsession-ms\t{}\n", state.spec.bin.string(), state.spec.session_timeout.count());
  if (state.spec.storage != "local") {
    text += fmt::format("storage\t{}\nceph-scripts\t{}\n", state.spec.storage, state.spec.ceph_scripts.string());
  }
  for (const auto& flag : state.spec.master_flags) text += "master-flag\t" + flag + "\n";
  for (const auto& flag : state.spec.server_flags) text += "server-flag\t" + flag + "\n";
  for (const auto& [name, value] : state.settings) {
    if (value.find_first_of("\t\n") != std::string::npos)
      return Error(Code::kInvalidArgument, fmt::format("{} has a tab or the end of a line in its value", name));
    text += fmt::format("setting\t{}={}\n", name, value);
  }
  for (const auto& peer : state.zookeeper_peers) {
    text += fmt::format("zookeeper-peer\t{}\t{}\n", peer.quorum_port, peer.election_port);
  }
  for (const auto& info : state.processes) {
    text += fmt::format("process\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", info.name, RoleName(info.role), info.port, info.id.pid,
                        info.id.kernel_start, info.started_wall_ms, info.log_start);
  }
  const auto file = StateFile(state.spec.dir);
  const auto fresh = file.string() + ".new";
  std::ofstream stream(fresh, std::ios::trunc);
  stream << text;
  stream.close();
  std::error_code failed;
  if (stream) std::filesystem::rename(fresh, file, failed);
  if (!stream || failed) return Error(Code::kIo, fmt::format("cannot write {}", file.string()));
  return Ok();
}

Result<ClusterState> LoadState(const std::filesystem::path& dir) {
  std::error_code failed;
  ClusterState state;
  state.spec.dir = std::filesystem::absolute(dir, failed);
  state.spec.detached = true;
  state.spec.zookeepers = 0;
  state.spec.masters = 0;
  state.spec.servers = 0;
  std::ifstream stream(StateFile(state.spec.dir));
  if (!stream)
    return Error(Code::kNotFound, fmt::format("{} holds no cluster (no cluster.state)", state.spec.dir.string()));
  std::string line;
  if (!std::getline(stream, line) || line != kFormat)
    return Error(Code::kCorruption, "cluster.state was written by another version");
  for (int number = 2; std::getline(stream, line); ++number) {
    if (auto parsed = ParseLine(line, state); !parsed.ok()) {
      return parsed.error().Annotate(fmt::format("cluster.state:{}", number));
    }
  }
  for (const auto& info : state.processes) {
    if (info.role == Role::kZooKeeper) ++state.spec.zookeepers;
    if (info.role == Role::kMaster) ++state.spec.masters;
    if (info.role == Role::kRegionServer) ++state.spec.servers;
  }
  return state;
}

}  // namespace ratchet::chaos
