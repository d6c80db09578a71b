#include "chaos/faults/procedure_faults.h"

#include <algorithm>
#include <utility>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

// Returns the server that `key` names in a procedure's text, "worker=127.0.0.1,40001,1700000000000".
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
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(auto view, ClusterClient::Open(target));
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    Status done = Break(target, prng, *view, record);
    record.victims = broken_;
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
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

  // Waits for an unfinished procedure of `type` whose text has `containing` and names a running server at `key`, kills
  // that server, and checks that the procedure is still unfinished.
  Status KillNamedBy(Target& target, ClusterClient& view, std::string_view type, const std::string& key,
                     const std::string& containing, Millis patience, FaultRecord& record) {
    std::optional<pb::ProcedureInfo> found;
    std::string victim;
    RATCHET_TRY(WaitUntil(fmt::format("an unfinished {}", type), patience, [&] {
      found = FindNaming(target, view, type, key, containing, victim);
      return found.has_value();
    }));
    RATCHET_TRY(KillOne(target, victim));
    RATCHET_TRY(view.CheckUnfinished(*found));
    record.evidence = fmt::format("{} is gone while pid={} {} was unfinished", victim, found->pid(), found->text());
    return Ok();
  }

  // For an error: explains why the awaited procedure did not appear.
  static std::string WhatThereIs(ClusterClient& view, const std::string& containing) {
    const auto procedures = view.Unfinished();
    if (!procedures.ok()) return "the master does not list procedures: " + procedures.error().ToString();
    std::string text;
    for (const auto& procedure : *procedures) {
      if (procedure.text().find(containing) == std::string::npos) continue;
      text += fmt::format("{}pid={} {} is {} at {}{}", text.empty() ? "" : "; ", procedure.pid(), procedure.text(),
                          procedure.state(), procedure.step(),
                          procedure.waits_for().empty() ? "" : ", waiting for " + procedure.waits_for());
    }
    return text.empty() ? "no unfinished procedure is about " + containing : text;
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
      victim = server ? target.NameOf(*server) : "";
      if (!victim.empty() && target.Running(victim)) return procedure;
    }
    return std::nullopt;
  }

  Victims broken_;
};

class KillSplitter final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-splitter"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine, 3 region servers"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    // A split takes milliseconds, but a container engine's verbs take hundreds.
    if (target.processes() == nullptr) return "servers of this target cannot be stopped quickly enough";
    if (target.Names(Role::kRegionServer).size() < 3) return "there are fewer than three region servers";
    return std::nullopt;
  }

 protected:
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    RATCHET_ASSIGN(const auto first, PickWritten(target, prng, view));
    const Status done = KillOneThenItsSplitter(target, first, view, record);
    if (done.ok() || done.error().code() != Code::kTimeout) return done;
    // The first server may have had no log to split; hbase:meta's server has one. The first must be restarted, because
    // it might be needed as the splitter.
    RATCHET_TRY(Heal(target));
    RATCHET_ASSIGN(const auto second, PickMetaHolder(target, prng));
    const Status again = KillOneThenItsSplitter(target, second.front(), view, record);
    if (again.ok()) return again;
    return again.error().Annotate(fmt::format("after {}: {}; after {}", first, done.error().message(), second.front()));
  }

 private:
  // A server that has just started has written nothing, so its death leaves no log to split.
  static Result<std::string> PickWritten(Target& target, Prng& prng, ClusterClient& view) {
    RATCHET_ASSIGN(const auto regions, view.Regions());
    Victims written;
    for (const auto& region : regions) {
      const std::string name = target.NameOf(region.server);
      if (!name.empty() && std::find(written.begin(), written.end(), name) == written.end() && target.Running(name)) {
        written.push_back(name);
      }
    }
    if (written.empty()) return Error(Code::kUnavailable, "no region server has a region now");
    std::sort(written.begin(), written.end());  // the seed must choose, not the order of regions
    return written[prng.Below(written.size())];
  }

  // When the crash is seen, the other servers are paused: the fence and seal of the logs takes several syncs before the
  // first log is given to a server. They continue long before their sessions end.
  Status KillOneThenItsSplitter(Target& target, const std::string& first, ClusterClient& view, FaultRecord& record) {
    const Millis session = target.session_timeout();
    const std::string name = target.processes()->Info(first).serving_as;
    if (name.empty()) return Error(Code::kUnavailable, first + " does not serve yet");
    RATCHET_TRY(KillOne(target, first));
    RATCHET_TRY(WaitUntil(fmt::format("the crash of {} ({})", first, name), session * 2 + Millis(3'000), [&] {
      target.Meanwhile();
      const auto crashes = view.Unfinished("ServerCrash");
      return crashes.ok() && std::any_of(crashes->begin(), crashes->end(), [&](const auto& crash) {
               return crash.text().find(name) != std::string::npos;
             });
    }));
    Victims stopped;
    for (const auto& other : RunningOnes(target, Role::kRegionServer)) {
      if (target.Pause(other).ok()) stopped.push_back(other);
    }
    const Status done = KillNamedBy(target, view, "SplitWalRemote", "worker", name, session / 2, record);
    const std::string why = done.ok() ? "" : WhatThereIs(view, name);
    for (const auto& other : stopped) {
      if (target.Running(other)) IgnoreResult(target.Resume(other), "the process may have ended");
    }
    return done.ok() ? done : done.error().Annotate(why);
  }
};

class KillOpenTarget final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-open-target"; }
  [[nodiscard]] std::string_view Needs() const override { return "any target with 3 region servers"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.Names(Role::kRegionServer).size() < 3) return "there are fewer than three region servers";
    return std::nullopt;
  }

 protected:
  // Another procedure may own the region (its table is being disabled, its server has just died). Then try another
  // region.
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    constexpr int kTries = 5;
    std::string why;
    for (int tried = 1;; ++tried) {
      const Status done = KillOneDestination(target, prng, view, record);
      if (done.ok() || done.error().code() != Code::kNotFound) return done;
      why += fmt::format("{}{}", why.empty() ? "" : " | ", done.error().message());
      if (tried == kTries) return Error(done.error().code(), why);
    }
  }

 private:
  Status KillOneDestination(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) {
    RATCHET_ASSIGN(const auto regions, view.Regions());
    if (regions.empty()) return Error(Code::kUnavailable, "no table has a region to move");
    const auto& region = regions[prng.Below(regions.size())];
    RATCHET_ASSIGN(auto others, view.OnlineServers());
    // Excludes hbase:meta's server, because while it is paused the move does not reach its opening.
    RATCHET_ASSIGN(const auto meta_holder, target.MetaHolder());
    std::erase_if(others, [&](const auto& server) {
      return server.port == region.server.port && server.host == region.server.host;
    });
    std::erase_if(others, [&](const auto& server) { return target.NameOf(server) == meta_holder; });
    if (others.empty()) return Error(Code::kUnavailable, "no server is online without meta and without the region");
    const ServerName destination = others[prng.Below(others.size())];
    const std::string victim = target.NameOf(destination);
    if (victim.empty())
      return Error(Code::kUnavailable, "this target has no process for server " + destination.ToString());
    const std::string encoded = region.region.encoded_name();
    // A move takes milliseconds. So the destination is paused first, and the order to open waits there. The pause is
    // shorter than its session, because otherwise the move would choose another server.
    RATCHET_TRY(target.Pause(victim));
    Status done = view.StartMove(encoded, destination);
    if (done.ok()) {
      done = KillNamedBy(target, view, "OpenRegion", "server", encoded, target.session_timeout() / 2, record);
    }
    const std::string why = done.ok() ? "" : WhatThereIs(view, encoded);
    if (target.Running(victim)) IgnoreResult(target.Resume(victim), "the first error is returned");
    if (done.ok()) return done;
    return Error(Code::kNotFound,
                 fmt::format("region {} moving to {}: {}; {}", encoded, victim, done.error().message(), why));
  }
};

class KillBuilder final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-builder"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine, 3 region servers"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    // A build takes milliseconds, too.
    if (target.processes() == nullptr) return "servers of this target cannot be stopped quickly enough";
    if (target.Names(Role::kRegionServer).size() < 3) return "there are fewer than three region servers";
    return std::nullopt;
  }

 protected:
  // The master may give the build to a server that is not paused, and another procedure may own the region. Then try
  // another region.
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    constexpr int kTries = 8;
    std::string why;
    for (int tried = 1;; ++tried) {
      const Status done = KillOneBuilder(target, prng, view, record);
      if (done.ok() || (done.error().code() != Code::kNotFound && done.error().code() != Code::kTimeout)) return done;
      why += fmt::format("{}{}", why.empty() ? "" : " | ", done.error().message());
      if (tried == kTries) return Error(Code::kNotFound, why);
    }
  }

 private:
  // The server of the parent region must close it, and the server of hbase:meta must answer. The other servers are
  // paused for less than a session.
  Status KillOneBuilder(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) {
    RATCHET_ASSIGN(const auto regions, view.Regions());
    RATCHET_ASSIGN(const auto meta_holder, target.MetaHolder());
    if (regions.empty()) return Error(Code::kUnavailable, "no table has a region to split");
    const auto& region = regions[prng.Below(regions.size())];
    const std::string encoded = region.region.encoded_name();
    const std::string key = region.region.start_key + '\x40';
    if (!region.region.Contains(key)) return Error(Code::kNotFound, "region " + encoded + " is too narrow to be split");
    const std::string parents_server = target.NameOf(region.server);
    Victims stopped;
    for (const auto& other : RunningOnes(target, Role::kRegionServer)) {
      if (other != meta_holder && other != parents_server && target.Pause(other).ok()) stopped.push_back(other);
    }
    Status done = view.StartSplit(region.region, key);
    if (done.ok()) {
      done = KillNamedBy(target, view, "BuildRegions", "server", encoded, target.session_timeout() / 2, record);
    }
    const std::string why = done.ok() ? "" : WhatThereIs(view, encoded);
    for (const auto& other : stopped) {
      if (target.Running(other)) IgnoreResult(target.Resume(other), "the process may have ended");
    }
    if (done.ok()) return done;
    return Error(Code::kNotFound, fmt::format("split of region {}: {}; {}", encoded, done.error().message(), why));
  }
};

}  // namespace

std::unique_ptr<Fault> MakeKillSplitter() { return std::make_unique<KillSplitter>(); }
std::unique_ptr<Fault> MakeKillOpenTarget() { return std::make_unique<KillOpenTarget>(); }
std::unique_ptr<Fault> MakeKillBuilder() { return std::make_unique<KillBuilder>(); }

}  // namespace ratchet::chaos
