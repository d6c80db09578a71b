#include "chaos/faults/secure_faults.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "chaos/cluster/credentials.h"
#include "chaos/faults/identity_files.h"
#include "chaos/faults/rotation.h"
#include "chaos/faults/target.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGroupsKept = "Rights: the earlier superusers and groups stay";

// A file of identity is replaced by one that cannot be used; the process continues with the earlier content.
class BadFile final : public Fault {
 public:
  explicit BadFile(std::string_view kind) : kind_(kind) {}
  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsSecured; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNotSecured(target); }
  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(1'000 + prng.Below(4'000)); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const Victims victims, PickAnyServer(target, prng));
    victim_ = victims.front();
    const fs::path folder = CredentialsDir(target.processes()->spec());
    const bool groups = kind_ == "half-written-file" && prng.Chance(1, 2);
    path_ = folder / (groups ? std::string("groups") : victim_ + ".pem");
    RATCHET_ASSIGN(good_, TextOf(path_));
    std::string bad = good_.substr(0, 1 + prng.Below(good_.size() - 1));
    if (groups) bad = "strangers stranger";  // without its colon; a shorter list of members would be a whole file
    if (kind_ == "expired-certificate") {
      RATCHET_ASSIGN(bad, TextOf(folder / (victim_ + "-expired.pem")));
    }
    FaultRecord record{std::string(kind_), {victim_}, {}, false, SystemClock().Now(), std::nullopt};
    Status noticed = Replace(target, bad, groups ? kGroupsKept : tls::ProcessTls::kKept);
    if (!noticed.ok()) {
      IgnoreResult(Heal(target), "the first error is returned");
      return noticed.error();
    }
    record.evidence = fmt::format("{} has {} bytes of a file that cannot be used, and {} keeps the earlier one",
                                  path_.filename().string(), bad.size(), victim_);
    return record;
  }

  [[nodiscard]] Status Heal(Target& target) override {
    if (path_.empty()) return Ok();
    const fs::path path = std::exchange(path_, {});
    RATCHET_TRY(ReplaceFile(path, good_));
    if (!target.Running(victim_)) return Ok();  // reads the file at its start
    path_ = path;
    const Status taken = Replace(target, good_, path.extension() == ".pem" ? tls::ProcessTls::kTaken : "");
    path_.clear();
    return taken;
  }

 private:
  static Result<Victims> PickAnyServer(Target& target, Prng& prng) {
    Victims running = RunningOnes(target, Role::kRegionServer);
    for (std::string& name : RunningOnes(target, Role::kMaster)) running.push_back(std::move(name));
    if (running.empty()) return Error(Code::kFailedPrecondition, "no process runs");
    return Victims{running[prng.Below(running.size())]};
  }

  // `line`: a line of the log that shows that the process has looked; empty: none is awaited.
  Status Replace(Target& target, const std::string& text, std::string_view line) {
    RATCHET_TRY(ReplaceFile(path_, text));
    return ReadAgain(target, {victim_}, line);
  }

  const std::string_view kind_;
  std::string victim_;
  fs::path path_;  // empty: healed
  std::string good_;
};

// A region server restarts while no master answers, so that it has no image of rights. It must serve no user.
class ImageLost final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "image-lost"; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsSecured; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNotSecured(target); }
  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(session_.count() * static_cast<std::int64_t>(20 + prng.Below(130)) / 100);
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    session_ = target.session_timeout();
    const Victims servers = RunningOnes(target, Role::kRegionServer);
    if (servers.empty()) return Error(Code::kFailedPrecondition, "no region server runs");
    const std::string victim = servers[prng.Below(servers.size())];
    FaultRecord record{std::string(kind()), {victim}, {}, false, SystemClock().Now(), std::nullopt};
    const Status broken = Break(target, victim);
    if (!broken.ok()) {
      IgnoreResult(Heal(target), "the first error is returned");
      return broken.error();
    }
    for (const std::string& master : paused_) record.victims.push_back(master);
    record.evidence = fmt::format("{} has restarted while {} masters do not answer", victim, paused_.size());
    return record;
  }

  [[nodiscard]] Status Heal(Target& target) override {
    Status healed = Ok();
    for (const std::string& master : std::exchange(paused_, {})) {
      Status resumed = target.Resume(master);
      if (healed.ok()) healed = std::move(resumed);
    }
    return healed;
  }

 private:
  Status Break(Target& target, const std::string& victim) {
    for (const std::string& master : RunningOnes(target, Role::kMaster)) {
      RATCHET_TRY(target.Pause(master));
      paused_.push_back(master);
    }
    RATCHET_TRY(target.Kill(victim));
    return target.Start(victim);
  }

  Millis session_{2'000};
  Victims paused_;
};

}  // namespace

std::unique_ptr<Fault> MakeSecureFault(std::string_view kind) {
  if (kind == "image-lost") return std::make_unique<ImageLost>();
  if (auto rotation = MakeRotation(kind)) return rotation;
  for (const std::string_view known : SecureFaultKinds())
    if (known == kind) return std::make_unique<BadFile>(known);
  return nullptr;
}

std::vector<std::string_view> SecureFaultKinds() {
  return {"expired-certificate", "half-written-file", "image-lost", kRotateCertificate, kRotateAuthority};
}

}  // namespace ratchet::chaos
