// The Compose cluster as a target: maps names to containers, and uses the container engine's verbs.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "chaos/faults/container_engine.h"
#include "chaos/faults/target.h"
#include "common/base/exit_codes.h"
#include "common/base/host_port.h"
#include "common/client/admin.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kVerbPatience{20'000};
constexpr std::uint16_t kMasterPort = 16000;
constexpr std::uint16_t kZooKeeperPort = 2181;

struct Member {
  std::string name;
  Role role = Role::kRegionServer;
  Container container;
};

// Maps "master2" to "master-2", and the third "regionserver" to "rs-3"; returns nullopt for containers that are not
// part of the cluster.
std::optional<Member> MemberOf(const Container& container) {
  if (container.service == "zookeeper") return Member{"zookeeper", Role::kZooKeeper, container};
  if (container.service == "regionserver") {
    return Member{fmt::format("rs-{}", container.number), Role::kRegionServer, container};
  }
  if (container.service.rfind("master", 0) == 0) {
    return Member{"master-" + container.service.substr(6), Role::kMaster, container};
  }
  return std::nullopt;
}

class ComposeTarget final : public Target {
 public:
  ComposeTarget(ComposeOptions options, std::string project)
      : options_(std::move(options)), project_(std::move(project)) {}

  [[nodiscard]] Status Find() {
    RATCHET_ASSIGN(const auto containers, ListContainers(project_));
    for (const auto& container : containers) {
      if (auto member = MemberOf(container)) members_.emplace(member->name, *member);
    }
    if (Names(Role::kMaster).empty() || Names(Role::kRegionServer).empty() || Names(Role::kZooKeeper).empty()) {
      return Error(Code::kNotFound,
                   fmt::format("Compose project '{}' has not all of zookeeper, masters and region servers: run "
                               "docker-compose up -d first",
                               project_));
    }
    for (const auto& [name, member] : members_) {
      if (Running(name)) up_.insert(name);
    }
    if (!options_.zookeeper.empty()) return Ok();
    RATCHET_ASSIGN(const auto zookeeper, StateOf("zookeeper"));
    options_.zookeeper = JoinHostPort(zookeeper.address, kZooKeeperPort);
    return Ok();
  }

  [[nodiscard]] std::string_view kind() const override { return "compose"; }
  [[nodiscard]] std::string zookeeper() const override { return options_.zookeeper; }
  [[nodiscard]] Millis session_timeout() const override { return options_.session_timeout; }
  [[nodiscard]] ProcessCluster* processes() override { return nullptr; }
  [[nodiscard]] Links* links() override { return nullptr; }

  [[nodiscard]] std::vector<std::string> Names(Role role) override {
    std::vector<std::string> names;
    for (const auto& [name, member] : members_) {
      if (member.role == role) names.push_back(name);
    }
    return names;
  }

  [[nodiscard]] bool Running(const std::string& name) override {
    const auto state = StateOf(name);
    return state.ok() && state->running;
  }

  [[nodiscard]] Status Kill(const std::string& name) override {
    NoteDeaths();
    up_.erase(name);
    RATCHET_TRY(Verb({"kill"}, name));
    return WaitUntil(name + " has ended", kVerbPatience, [&] { return !Running(name); });
  }
  [[nodiscard]] Status Start(const std::string& name, const Environment& extra) override {
    if (!extra.empty()) return Error(Code::kUnsupported, "a container's environment is fixed when it is made");
    NoteDeaths();
    RATCHET_TRY(Verb({"start"}, name));
    up_.insert(name);
    return WaitUntil(name + " runs", kVerbPatience, [&] { return Running(name); });
  }
  [[nodiscard]] Status Pause(const std::string& name) override {
    RATCHET_TRY(Verb({"pause"}, name));
    return WaitUntil(name + " is paused", kVerbPatience, [&] {
      const auto state = StateOf(name);
      return state.ok() && state->paused;
    });
  }
  [[nodiscard]] Status Resume(const std::string& name) override { return Verb({"unpause"}, name); }

  [[nodiscard]] Status Disconnect(const std::string& name) override {
    RATCHET_ASSIGN(const auto before, StateOf(name));
    if (before.network.empty()) return Error(Code::kFailedPrecondition, name + " is in no network");
    RATCHET_TRY(Verb({"network", "disconnect", "--force", before.network}, name));
    cut_[name] = before;
    return WaitUntil(name + " is in no network", kVerbPatience, [&] {
      const auto state = StateOf(name);
      return state.ok() && state->network.empty();
    });
  }
  [[nodiscard]] Status Reconnect(const std::string& name) override {
    const auto cut = cut_.find(name);
    if (cut == cut_.end()) return Ok();
    const ContainerState before = cut->second;
    cut_.erase(cut);
    const std::string service = members_.at(name).container.service;
    RATCHET_TRY(Verb({"network", "connect", "--alias", service, before.network}, name));
    RATCHET_ASSIGN(const auto now, StateOf(name));
    if (now.address == before.address || !now.running) return Ok();
    // The other processes know it by its previous address.
    RATCHET_TRY(Kill(name));
    return Start(name, {});
  }

  [[nodiscard]] Result<std::string> ActiveMaster() override {
    RATCHET_ASSIGN(const auto status, AskMaster());
    return NameOfHost(status.active_master().host_name(), Role::kMaster);
  }
  [[nodiscard]] Result<std::string> MetaHolder() override {
    RATCHET_ASSIGN(const auto status, AskMaster());
    if (!status.has_meta_server()) return Error(Code::kNotFound, "no server carries meta");
    return NameOfHost(status.meta_server().host_name(), Role::kRegionServer);
  }

  [[nodiscard]] std::string NameOf(const ServerName& server) override {
    auto name = NameOfHost(server.host, Role::kRegionServer);
    return name.ok() ? *name : "";
  }

  void ReadLog(const std::string& name, const std::function<void(const std::string& line)>& line) override {
    const auto member = members_.find(name);
    if (member == members_.end()) return;
    const auto text = RunDocker({"logs", member->second.container.id});
    if (!text.ok()) return;
    std::istringstream all(*text);
    for (std::string each; std::getline(all, each);) line(each);
  }
  [[nodiscard]] std::map<std::string, int> Pids() override {
    std::map<std::string, int> pids;
    for (const auto& [name, member] : members_) {
      const auto state = StateOf(name);
      if (state.ok() && state->running && state->pid != 0) pids[name] = state->pid;
    }
    return pids;
  }
  [[nodiscard]] std::optional<std::filesystem::path> Root() override {
    const auto place = VolumeFolder(project_ + "_data");
    std::error_code unreadable;
    if (!place.ok() || !std::filesystem::is_directory(*place / "cluster" / "data", unreadable)) return std::nullopt;
    return *place / "cluster";
  }

  [[nodiscard]] Status WaitServing(Millis timeout) override {
    Status last = Error(Code::kUnavailable, "no attempt was made yet");
    const Status served = WaitUntil("a serving cluster", timeout, [&] {
      last = StartMissing();
      if (last.ok()) last = CheckServing();
      return last.ok();
    });
    if (served.ok()) return served;
    return Error(Code::kTimeout, fmt::format("{}; last: {}", served.error().message(), last.error().message()));
  }

  [[nodiscard]] std::vector<Death> CollectDeaths() override {
    NoteDeaths();
    return std::exchange(deaths_, {});
  }

  [[nodiscard]] Status Collect(const std::filesystem::path& folder) override {
    std::error_code failed;
    std::filesystem::create_directories(folder / "logs", failed);
    for (const auto& [name, member] : members_) {
      RATCHET_ASSIGN(const auto text, RunDocker({"logs", "--timestamps", member.container.id}));
      std::ofstream(folder / "logs" / (name + ".log")) << text << "\n";
    }
    return failed ? Error(Code::kIo, "cannot make " + folder.string() + ": " + failed.message()) : Ok();
  }

 private:
  [[nodiscard]] Result<ContainerState> StateOf(const std::string& name) const {
    const auto member = members_.find(name);
    if (member == members_.end()) return Error(Code::kNotFound, fmt::format("the cluster has no container '{}'", name));
    return InspectContainer(member->second.container.id);
  }

  [[nodiscard]] Status Verb(std::vector<std::string> words, const std::string& name) const {
    const auto member = members_.find(name);
    if (member == members_.end()) return Error(Code::kNotFound, fmt::format("the cluster has no container '{}'", name));
    words.push_back(member->second.container.id);
    RATCHET_TRY(RunDocker(words));
    return Ok();
  }

  // Asks the active master, because a standby answers too but does not know the state.
  [[nodiscard]] Result<pb::GetStatusResponse> AskMaster() {
    Error last(Code::kUnavailable, "no master runs");
    for (const auto& name : Names(Role::kMaster)) {
      const auto state = StateOf(name);
      if (!state.ok() || !state->running || state->paused || state->address.empty()) continue;
      auto status = StatusAt(JoinHostPort(state->address, kMasterPort));
      if (status.ok() && status->role() == pb::GetStatusResponse::ACTIVE) return status;
      last = status.ok() ? Error(Code::kUnavailable, "no master is active") : status.error();
    }
    return last;
  }

  [[nodiscard]] static Result<pb::GetStatusResponse> StatusAt(const std::string& master) {
    client::ConnectionOptions options;
    options.masters = {master};
    options.user = "chaos";
    options.operation_timeout = Millis(2'000);
    options.rpc_timeout = Millis(1'000);
    RATCHET_ASSIGN(const auto connection, client::Connection::Open(options));
    return client::Admin(*connection).Call(methods::kGetStatus, pb::GetStatusRequest());
  }

  // A server's host is its address or its service's name.
  [[nodiscard]] Result<std::string> NameOfHost(const std::string& host, Role role) const {
    for (const auto& [name, member] : members_) {
      if (member.role != role) continue;
      const auto state = StateOf(name);
      if (member.container.service == host || (state.ok() && state->address == host)) return name;
    }
    return Error(Code::kNotFound, fmt::format("'{}' is not a container of this cluster", host));
  }

  [[nodiscard]] Status StartMissing() {
    NoteDeaths();
    for (const Role role : {Role::kZooKeeper, Role::kMaster, Role::kRegionServer}) {
      for (const auto& name : Names(role)) {
        if (!Running(name)) RATCHET_TRY(Start(name, {}));
      }
    }
    return Ok();
  }

  [[nodiscard]] Status CheckServing() {
    RATCHET_ASSIGN(const auto status, AskMaster());
    if (status.meta_state() != "OPEN") return Error(Code::kUnavailable, "meta is " + status.meta_state());
    if (status.dead_server_size() > 0 || status.regions_in_transition() > 0) {
      return Error(Code::kUnavailable, fmt::format("{} crashes and {} regions in transition", status.dead_server_size(),
                                                   status.regions_in_transition()));
    }
    const auto servers = static_cast<int>(Names(Role::kRegionServer).size());
    if (status.live_server_size() == servers) return Ok();
    return Error(Code::kUnavailable,
                 fmt::format("{} of {} region servers have reported", status.live_server_size(), servers));
  }

  void NoteDeaths() {
    for (auto name = up_.begin(); name != up_.end();) {
      const auto state = StateOf(*name);
      if (!state.ok() || state->running) {
        ++name;
        continue;
      }
      const int code = state->exit_code;
      deaths_.push_back({*name, code, code >= exit_code::kZooKeeperUnreachable && code <= exit_code::kNoAddress});
      name = up_.erase(name);
    }
  }

  ComposeOptions options_;
  const std::string project_;
  std::map<std::string, Member> members_;
  std::map<std::string, ContainerState> cut_;  // containers out of their network, with their previous state
  std::set<std::string> up_;                   // processes started and not killed by this program
  std::vector<Death> deaths_;
};

}  // namespace

Result<std::unique_ptr<Target>> MakeComposeTarget(ComposeOptions options) {
  std::error_code failed;
  const auto directory = std::filesystem::canonical(options.directory, failed);
  if (failed || !std::filesystem::exists(directory / "docker-compose.yml")) {
    return Error(Code::kNotFound, fmt::format("there is no docker-compose.yml in {}", options.directory.string()));
  }
  std::string project = options.project;
  if (project.empty()) {
    const char* named = std::getenv("COMPOSE_PROJECT_NAME");
    project = named != nullptr ? named : DefaultProject(directory.filename().string());
  }
  auto target = std::make_unique<ComposeTarget>(std::move(options), std::move(project));
  RATCHET_TRY(target->Find());
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace ratchet::chaos
