#include "chaos/faults/procedure_faults.h"

#include <functional>
#include <utility>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {


// The server that `key` names in a procedure's text, "worker=127.0.0.1,40001,1700000000000".
std::optional<ServerName> ServerIn(const std::string& text, const std::string& key) {
  const auto at = text.find(key + "=");
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + key.size() + 1;
  const auto end = text.find_first_of(" ;", begin);
  auto parsed = ServerName::Parse(text.substr(begin, end == std::string::npos ? end : end - begin));
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

class KillDuring : public Fault {
 public:
  [[nodiscard]] std::string_view Needs() const override {
    return "processes of this machine, 2 region servers";
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "servers cannot be told by their ports on this target";
    if (target.Names(Role::kRegionServer).size() < 2) return "there is only one region server";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(auto view, ClusterClient::Open(target));
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    Status done = Break(target, prng, *view, record);
    record.victims = broken_;
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(200, 4'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    Status first = Ok();
    for (const auto& name : broken_) {
      const Status started = target.Running(name) ? Ok() : target.Start(name);
      if (!started.ok() && first.ok()) first = started;
    }
    broken_.clear();
    return first;
  }

 protected:
  [[nodiscard]] virtual Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) = 0;

  Status KillOne(Target& target, const std::string& name) {
    RATCHET_TRY(target.Kill(name));
    broken_.push_back(name);
    return Ok();
  }

  // Waits for an unfinished procedure of `type` whose text names a running server at `key`, kills that one, and makes
  // sure that the procedure is still there.
  Status KillNamedBy(Target& target, ClusterClient& view, std::string_view type, const std::string& key,
                     const std::string& containing, Millis patience, FaultRecord& record,
                     const std::function<void()>& meanwhile) {
    std::optional<pb::ProcedureInfo> found;
    std::string victim;
    RATCHET_TRY(WaitUntil(fmt::format("an unfinished {}", type), patience, [&] {
      meanwhile();
      found = FindNaming(target, view, type, key, containing, victim);
      return found.has_value();
    }));
    RATCHET_TRY(KillOne(target, victim));
    RATCHET_TRY(view.CheckUnfinished(*found));
    record.evidence = fmt::format("{} is gone while pid={} {} was unfinished", victim, found->pid(), found->text());
    return Ok();
  }

 private:
  static std::optional<pb::ProcedureInfo> FindNaming(Target& target, ClusterClient& view, std::string_view type,
                                                     const std::string& key, const std::string& containing,
                                                     std::string& victim) {
    const auto procedures = view.Unfinished(type);
    if (!procedures.ok()) return std::nullopt;
    for (const auto& procedure : *procedures) {
      if (procedure.text().find(containing) == std::string::npos) continue;
      const auto server = ServerIn(procedure.text(), key);
      victim = server ? NameAtPort(target, server->port) : "";
      if (!victim.empty() && target.Running(victim)) return procedure;
    }
    return std::nullopt;
  }

  Victims broken_;
};

class KillSplitter final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-splitter"; }

 protected:
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    RATCHET_ASSIGN(const auto first, PickServer(target, prng));
    const Status done = KillOneThenItsSplitter(target, first.front(), view, record);
    if (done.ok() || done.error().code() != Code::kTimeout) return done;
    // There was nothing in its log. In that of meta there is.
    RATCHET_ASSIGN(const auto second, PickMetaHolder(target, prng));
    return KillOneThenItsSplitter(target, second.front(), view, record);
  }

 private:
  Status KillOneThenItsSplitter(Target& target, const std::string& first, ClusterClient& view, FaultRecord& record) {
    const Millis session = target.session_timeout();
    RATCHET_TRY(KillOne(target, first));
    // A split takes milliseconds: the others are stopped when the death is about to be noticed, for less than a session
    // of their own, so that the order is found waiting at one of them.
    const auto stop_at = SystemClock().Now() + session * 6 / 10;
    const auto go_on_at = stop_at + session * 8 / 10;
    Victims stopped;
    bool has_stopped = false;
    const auto go_on = [&] {
      for (const auto& name : std::exchange(stopped, {})) {
        if (target.Running(name)) IgnoreResult(target.Resume(name), "it may have ended");
      }
    };
    const Status done =
        KillNamedBy(target, view, "SplitWalRemote", "worker", "", session * 2 + Millis(3'000), record, [&] {
          const auto now = SystemClock().Now();
          if (now > go_on_at) go_on();
          if (now < stop_at || std::exchange(has_stopped, true)) return;
          for (const auto& name : RunningOnes(target, Role::kRegionServer)) {
            if (target.Pause(name).ok()) stopped.push_back(name);
          }
        });
    go_on();
    return done;
  }
};

class KillOpenTarget final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-open-target"; }

 protected:
  // A destination that is stopped for too long loses its session, and the move goes elsewhere before anybody has seen it.
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    constexpr int kTries = 3;
    constexpr Millis kServesAgainWithin{20'000};
    for (int tried = 1;; ++tried) {
      const Status done = KillOneDestination(target, prng, view, record);
      if (done.ok() || done.error().code() != Code::kTimeout || tried == kTries) return done;
      RATCHET_TRY(target.WaitServing(kServesAgainWithin));
    }
  }

 private:
  Status KillOneDestination(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) {
    RATCHET_ASSIGN(const auto regions, view.Regions());
    if (regions.empty()) return Error(Code::kUnavailable, "no table has a region to move");
    const auto& region = regions[prng.Below(regions.size())];
    RATCHET_ASSIGN(auto others, view.OnlineServers());
    // Without hbase:meta's server: while that is stopped the move does not come as far as its opening.
    RATCHET_ASSIGN(const auto meta_holder, target.MetaHolder());
    std::erase_if(others, [&](const auto& server) {
      return server.port == region.server.port || NameAtPort(target, server.port) == meta_holder;
    });
    if (others.empty()) return Error(Code::kUnavailable, "no server is online without meta and without the region");
    const ServerName destination = others[prng.Below(others.size())];
    const std::string victim = NameAtPort(target, destination.port);
    if (victim.empty()) return Error(Code::kUnavailable, "no process of this target is " + destination.ToString());
    const std::string encoded = region.region.encoded_name();
    // A move takes milliseconds. The destination is stopped first, so that the order to open is found waiting there.
    RATCHET_TRY(target.Pause(victim));
    Status done = view.admin().Move(encoded, destination);
    if (done.ok()) {
      done = KillNamedBy(target, view, "TransitRegionState", "target", encoded, target.session_timeout(), record, [] {});
    }
    if (target.Running(victim)) IgnoreResult(target.Resume(victim), "the first error says more");
    return done;
  }
};

}  // namespace

std::unique_ptr<Fault> MakeKillSplitter() { return std::make_unique<KillSplitter>(); }
std::unique_ptr<Fault> MakeKillOpenTarget() { return std::make_unique<KillOpenTarget>(); }

}  // namespace ratchet::chaos
