#include "chaos/faults/procedure_faults.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/held_type.h"
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

// Turns a refusal into kNotFound, because a request for another region may succeed.
Result<std::uint64_t> RetryIfRefused(Result<std::uint64_t> pid) {
  if (pid.ok()) return pid;
  return Error(Code::kNotFound, pid.error().ToString());
}

// The master orders something within this time after the request, or after a crash is seen.
constexpr Millis kOrderedWithin{10'000};

// The kind of order that a fault waits for.
struct Awaited {
  std::string type;        // of the procedure that sends the order
  std::string key;         // field of its text that names the server
  std::string containing;  // other part of its text
};

class KillDuring : public Fault {
 public:
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(view_, ClusterClient::Open(target));
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    Status done = Break(target, prng, *view_, record);
    record.victims = broken_;
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(200, 4'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    Status first = view_ == nullptr ? Ok() : held_.Release(target, *view_);
    for (const auto& name : broken_) {
      const Status started = target.Running(name) ? Ok() : target.Start(name);
      if (!started.ok() && first.ok()) first = started;
    }
    broken_.clear();
    return first;
  }

 protected:
  // Begins what leads to the order. Returns the pid of the procedure that has the order as a descendant.
  using Begin = std::function<Result<std::uint64_t>()>;

  [[nodiscard]] virtual Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) = 0;

  Status KillOne(Target& target, const std::string& name) {
    RATCHET_TRY(target.Kill(name));
    broken_.push_back(name);
    return Ok();
  }

  // Kills the server to which an order is sent, before it can answer. All orders of the type are held until the awaited
  // one exists. Then its server is stopped, the order is sent, and the server is killed. Returns kNotFound if there was
  // no such order or if it ended too early; then nothing is held or stopped, and another attempt may succeed.
  Status KillReceiver(Target& target, ClusterClient& view, const Awaited& awaited, const Begin& begin,
                      FaultRecord& record) {
    RATCHET_TRY(held_.Hold(view, awaited.type));
    std::string stopped;
    const Status done = KillReceiverOfHeld(target, view, awaited, begin, stopped, record);
    const std::string why = done.ok() ? "" : WhatThereIs(view, awaited.containing);
    if (!stopped.empty() && target.Running(stopped)) {
      IgnoreResult(target.Resume(stopped), "the process may have ended");
    }
    const Status released = held_.Release(target, view);
    if (!done.ok()) return Error(done.error().code(), fmt::format("{}; {}", done.error().message(), why));
    return released;
  }

 private:
  Status KillReceiverOfHeld(Target& target, ClusterClient& view, const Awaited& awaited, const Begin& begin,
                            std::string& stopped, FaultRecord& record) {
    RATCHET_ASSIGN(const std::uint64_t root, begin());
    std::string victim;
    RATCHET_ASSIGN(const auto found, AwaitHeld(target, view, awaited, root, victim));
    const TimePoint alive = SystemClock().Now();
    RATCHET_TRY(target.Pause(victim));
    stopped = victim;
    RATCHET_TRY(held_.Release(target, view));
    const Status sent = WaitUntil("the order to " + victim, target.session_timeout() / 2, [&] {
      const auto now = view.UnfinishedOne(found.pid());
      return now.ok() && now->paused().empty() && !now->waits_for().empty();
    });
    if (!sent.ok()) return Error(Code::kNotFound, sent.error().message());
    RATCHET_TRY(KillOne(target, victim));
    stopped.clear();
    // A stopped server does not answer, and its session lasts for at least two thirds of the timeout after the stop. So
    // within this time only the kill can have ended the order: the master may notice a closed connection before this
    // check.
    if (SystemClock().Now() - alive >= target.session_timeout() * 2 / 3) {
      const Status unfinished = view.CheckUnfinished(found);
      if (!unfinished.ok()) return Error(Code::kNotFound, unfinished.error().message());
    }
    record.evidence = fmt::format("{} is gone while pid={} {} was unfinished", victim, found.pid(), found.text());
    return Ok();
  }

  // Returns a held procedure that names a running server, its victim.
  static Result<pb::ProcedureInfo> AwaitHeld(Target& target, ClusterClient& view, const Awaited& awaited,
                                             std::uint64_t root, std::string& victim) {
    std::optional<pb::ProcedureInfo> found;
    const std::string what = fmt::format("an unfinished {} below pid={}", awaited.type, root);
    const Status waited = WaitUntil(what, kOrderedWithin, [&] {
      target.Meanwhile();
      found = FindNaming(target, view, awaited, victim);
      if (found) return true;
      const auto ended = view.HasEnded(root);
      return ended.ok() && *ended;
    });
    if (found) return *std::move(found);
    return Error(Code::kNotFound, waited.ok() ? what + ": that procedure has ended" : waited.error().message());
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

  static std::optional<pb::ProcedureInfo> FindNaming(Target& target, ClusterClient& view, const Awaited& awaited,
                                                     std::string& victim) {
    const auto procedures = view.Unfinished(awaited.type);
    if (!procedures.ok()) return std::nullopt;
    for (const auto& procedure : *procedures) {
      if (procedure.text().find(awaited.containing) == std::string::npos) continue;
      const auto server = ServerIn(procedure.text(), awaited.key);
      victim = server ? target.NameOf(*server) : "";
      if (!victim.empty() && target.Running(victim)) return procedure;
    }
    return std::nullopt;
  }

  std::unique_ptr<ClusterClient> view_;
  HeldType held_;
  Victims broken_;
};

class KillSplitter final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-splitter"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine, 3 region servers"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    // The splitter must be stopped and killed within its session, but a container engine's verbs take hundreds of
    // milliseconds.
    if (target.processes() == nullptr) return "servers of this target cannot be stopped quickly enough";
    if (target.Names(Role::kRegionServer).size() < 3) return "there are fewer than three region servers";
    return std::nullopt;
  }

 protected:
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    RATCHET_ASSIGN(const auto first, PickWritten(target, prng, view));
    const Status done = KillOneThenItsSplitter(target, first, view, record);
    if (done.ok() || done.error().code() != Code::kNotFound) return done;
    // The first server may have had no log to split; hbase:meta's server has one, because the assignment of regions
    // writes to hbase:meta. The first must be restarted, because it might be needed as the splitter.
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

  Status KillOneThenItsSplitter(Target& target, const std::string& first, ClusterClient& view, FaultRecord& record) {
    const std::string name = target.processes()->Info(first).serving_as;
    if (name.empty()) return Error(Code::kUnavailable, first + " does not serve yet");
    return KillReceiver(
        target, view, {"SplitWalRemote", "worker", "log=" + name + "/"},
        [&] { return KillAndAwaitCrash(target, first, name, view); }, record);
  }

  Result<std::uint64_t> KillAndAwaitCrash(Target& target, const std::string& first, const std::string& name,
                                          ClusterClient& view) {
    RATCHET_TRY(KillOne(target, first));
    std::uint64_t pid = 0;
    const Millis patience = target.session_timeout() * 2 + Millis(3'000);
    RATCHET_TRY(WaitUntil(fmt::format("the crash of {} ({})", first, name), patience, [&] {
      target.Meanwhile();
      const auto crash = view.CrashOf(name);
      if (crash.ok() && crash->has_value()) pid = (*crash)->pid();
      return pid != 0;
    }));
    return pid;
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
    std::erase_if(others, [&](const auto& server) {
      return server.port == region.server.port && server.host == region.server.host;
    });
    if (others.empty()) return Error(Code::kUnavailable, "no server is online without the region");
    const ServerName destination = others[prng.Below(others.size())];
    const std::string encoded = region.region.encoded_name();
    const Status done = KillReceiver(
        target, view, {"OpenRegion", "server", "region=" + encoded},
        [&] { return RetryIfRefused(view.admin().Transit(client::RegionVerb::kMove, encoded, destination)); }, record);
    if (done.ok()) return done;
    return done.error().Annotate(fmt::format("region {} moving to {}", encoded, destination.ToString()));
  }
};

class KillBuilder final : public KillDuring {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-builder"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine, 3 region servers"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    // As for kill-splitter.
    if (target.processes() == nullptr) return "servers of this target cannot be stopped quickly enough";
    if (target.Names(Role::kRegionServer).size() < 3) return "there are fewer than three region servers";
    return std::nullopt;
  }

 protected:
  // Another procedure may own the region, and it may be too narrow. Then try another region.
  Status Break(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) override {
    constexpr int kTries = 8;
    std::string why;
    for (int tried = 1;; ++tried) {
      const Status done = KillOneBuilder(target, prng, view, record);
      if (done.ok() || done.error().code() != Code::kNotFound) return done;
      why += fmt::format("{}{}", why.empty() ? "" : " | ", done.error().message());
      if (tried == kTries) return Error(Code::kNotFound, why);
    }
  }

 private:
  Status KillOneBuilder(Target& target, Prng& prng, ClusterClient& view, FaultRecord& record) {
    RATCHET_ASSIGN(const auto regions, view.Regions());
    if (regions.empty()) return Error(Code::kUnavailable, "no table has a region to split");
    const auto& region = regions[prng.Below(regions.size())];
    const std::string encoded = region.region.encoded_name();
    const std::string key = region.region.start_key + '\x40';
    if (!region.region.Contains(key)) return Error(Code::kNotFound, "region " + encoded + " is too narrow to be split");
    const Status done = KillReceiver(
        target, view, {"BuildRegions", "server", "first=" + encoded},
        [&] { return RetryIfRefused(view.admin().SplitRegion(region.region, key)); }, record);
    if (done.ok()) return done;
    return done.error().Annotate(fmt::format("split of region {}", encoded));
  }
};

}  // namespace

std::unique_ptr<Fault> MakeKillSplitter() { return std::make_unique<KillSplitter>(); }
std::unique_ptr<Fault> MakeKillOpenTarget() { return std::make_unique<KillOpenTarget>(); }
std::unique_ptr<Fault> MakeKillBuilder() { return std::make_unique<KillBuilder>(); }

}  // namespace ratchet::chaos
