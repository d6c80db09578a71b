// Membership: the region servers, their phases, and whether an order to each of them can still be answered.
//
// A server is online until it is marked crashed; from that moment no report of it can change anything. Its ServerCrash
// procedure moves it through the later phases and removes it at the end. The class only records; ServerManager submits
// procedures. Owned by MasterLogic. Thread-safe; holds no lock while it calls another part.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "master/cluster/server_version.h"
#include "master/env/orders.h"
#include "procedure/api/event.h"

namespace ratchet::master {

// master/README.md draws the moves.
enum class ServerPhase : std::uint8_t {
  kOnline,     // registered; may report and may get regions
  kCrashed,    // a ServerCrash exists or is due; its logs are being fenced, sealed and split
  kLogsSplit,  // its recovered edits are published: its regions may be opened elsewhere
};
inline constexpr std::array kServerPhases{ServerPhase::kOnline, ServerPhase::kCrashed, ServerPhase::kLogsSplit};
[[nodiscard]] std::string_view ServerPhaseName(ServerPhase phase);
// Returns true for moves in the order above; staying is legal, because steps run more than once.
[[nodiscard]] bool IsLegalMove(ServerPhase from, ServerPhase to);

// Possible outcome of an order to a server.
enum class SettlementState : std::uint8_t {
  kServes,   // online: send the order, and wait for the answer
  kAwait,    // crashed: the outcome is open; wait for SettlementEvent
  kSettled,  // fenced, with its edits published: it will never answer, and all its writes are recovered
};

struct ServerView {
  ServerName name;
  ServerPhase phase = ServerPhase::kOnline;
  bool draining = false;  // keeps its regions and gets no new ones
  std::string version;    // as reported; empty if not reported yet
  TimePoint last_heartbeat{};
  ProcId crash_procedure;  // valid from kCrashed on
};

class Membership {
 public:
  explicit Membership(const Clock& clock) : clock_(clock) {}

  // ---- views ----
  [[nodiscard]] bool IsOnline(const ServerName& server) const;
  // Returns nullopt for an unknown server: never seen, or crashed and completely recovered.
  [[nodiscard]] std::optional<ServerPhase> PhaseOf(const ServerName& server) const;
  // `region`: encoded name of the region that the order is about; empty for an order that is about all of them. The log
  // of hbase:meta is split before all others, and regions that no log names need no split (S171: seal makes an index).
  [[nodiscard]] SettlementState SettlementOf(const ServerName& server, std::string_view region) const;
  [[nodiscard]] std::vector<ServerView> List() const;
  [[nodiscard]] std::vector<ServerName> Online() const;
  // Online servers at the address of `server` with a lower start code.
  [[nodiscard]] std::vector<ServerName> OlderAtAddressOf(const ServerName& server) const;
  // Online servers that are not draining.
  [[nodiscard]] std::vector<ServerName> NotDraining() const;
  // Rises before the lists of servers change.
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(); }
  // The known ones of `servers`, with their versions.
  [[nodiscard]] std::vector<VersionedServer> WithVersions(const std::vector<ServerName>& servers) const;
  // All servers, in any phase.
  [[nodiscard]] std::vector<ServerName> Names() const;
  [[nodiscard]] bool AnyDead() const;
  // Returns true if the server's last heartbeats set the leaving flag. Used only in messages; not persisted.
  [[nodiscard]] bool WasLeaving(const ServerName& server) const;

  // Returns true if this master found no server online at its start: the whole cluster was restarted, and regions
  // return to their previous servers.
  [[nodiscard]] bool FoundNoneOnline() const;
  // Like FoundNoneOnline, and a server may still return at the address of `server`, where none is online, within the
  // given time.
  [[nodiscard]] bool MayComeBack(const ServerName& server) const;

  // Event for a new online server; procedures that found no server for a region wait for it.
  static procedure::EventKey ServerAddedEvent() { return {"server-added"}; }
  // Event for the end of `server`, and for each later change of its standing.
  static procedure::EventKey SettlementEvent(const ServerName& server);

  // ---- changes ----
  // Sets what wakes procedures; called once, before Recover.
  void Attach(std::function<void(const procedure::EventKey&)> wake) { wake_ = std::move(wake); }
  // Handles a RegionServerReport. kFailedPrecondition with YouAreDeadException: the server is not online here and must
  // exit.
  Status Heartbeat(const ServerName& server);
  void SetDraining(const ServerName& server, bool draining);
  // See FoundNoneOnline. `wait`: how long from now servers may return.
  void SetFoundNoneOnline(Millis wait);
  // Records that the server was asked to stop (S73: orderly stop): it gets no new regions, and its end
  // is shown as a requested stop.
  void SetLeaving(const ServerName& server);
  // Adds a server whose registration is durable, as online; AddOnline follows. A known server keeps its phase.
  void AddRegistered(const ServerName& server);
  // Marks a server online; the caller has already persisted it.
  void AddOnline(const ServerName& server, const std::string& version);
  // Marks a server crashed after a restart, because its crash procedure exists.
  void AddCrashed(const ServerName& server, ProcId crash_procedure);
  // Returns true if the server was online (or unknown, with `also_unknown`), so that the caller must submit its crash
  // procedure.
  [[nodiscard]] bool MarkCrashed(const ServerName& server, bool also_unknown);
  void SetMetaLogSplit(const ServerName& server);
  // S171 (seal makes an index): `named` are the regions that the server's sealed logs name; nullopt: unknown.
  void SetNamedRegions(const ServerName& server, std::optional<RegionNames> named);
  void SetLogsSplit(const ServerName& server);
  void Remove(const ServerName& server);

  // ---- submissions of crash procedures: never two at a time for one server ----
  // Returns nullopt if the caller must submit a procedure and call EndSubmission with the result. Otherwise returns the
  // existing procedure; invalid while its submission is in progress.
  [[nodiscard]] std::optional<ProcId> BeginSubmission(const ServerName& server);
  // `crash_procedure`: invalid if the submission failed.
  void EndSubmission(const ServerName& server, ProcId crash_procedure);
  // Crashed servers with their procedures; invalid if none exists or is being submitted.
  [[nodiscard]] std::vector<std::pair<ServerName, ProcId>> Crashed() const;
  // Records the end of the procedure. Returns true if it was the procedure of the server and the server still exists,
  // so that a new one is due.
  [[nodiscard]] bool ForgetCrashProcedure(const ServerName& server, ProcId crash_procedure);

 private:
  struct Node {
    ServerPhase phase = ServerPhase::kOnline;
    bool draining = false;
    bool leaving = false;
    bool meta_log_split = false;
    std::optional<RegionNames> named;  // SetNamedRegions
    bool submitting = false;
    std::string version;
    TimePoint last_heartbeat{};
    ProcId crash_procedure;
  };
  void Wake(const procedure::EventKey& event);

  const Clock& clock_;
  std::function<void(const procedure::EventKey&)> wake_;
  mutable Mutex mutex_;
  std::atomic<std::uint64_t> changes_{0};
  std::map<ServerName, Node> nodes_ GUARDED_BY(mutex_);
  std::optional<TimePoint> back_until_ GUARDED_BY(mutex_);  // set: FoundNoneOnline
};

// System records of the procedure store (S12: system record with its lock). "server/<server name>" exists from
// registration until the end of its crash procedure.
inline constexpr std::string_view kServerRecordPrefix = "server/";
// Serialized pb::MetaLocation; set in the batch that makes meta's OPENING durable.
inline constexpr std::string_view kMetaLocationRecord = "meta/location";

}  // namespace ratchet::master
