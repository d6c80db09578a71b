#include "chaos/faults/rotation.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "chaos/cluster/credentials.h"
#include "chaos/faults/identity_files.h"
#include "chaos/faults/target.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr Millis kAnswerWithin{5'000};
constexpr Millis kTakenWithin{20'000};
// The administrator's certificate of the authority before, and both authorities: a client does not use a certificate of
// an authority that it does not trust itself.
constexpr const char* kEarlier = "earlier.pem";
constexpr const char* kBoth = "both.pem";

class Rotation : public Fault {
 public:
  [[nodiscard]] std::string_view Needs() const override { return kNeedsSecured; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNotSecured(target); }
  [[nodiscard]] std::optional<Millis> Duration(Prng& /*prng*/) override { return std::nullopt; }
  [[nodiscard]] Status Heal(Target& /*target*/) override { return Ok(); }
};

class RotateCertificate final : public Rotation {
 public:
  [[nodiscard]] std::string_view kind() const override { return kRotateCertificate; }
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(auto victims, PickAnyProcess(target, prng));
    const ClusterSpec& spec = target.processes()->spec();
    FaultRecord record{std::string(kind()), victims, {}, false, SystemClock().Now(), std::nullopt};
    RATCHET_TRY(IssueCertificates(*spec.authority->Get(), spec, victims.front()));
    RATCHET_TRY(ReadAgain(target, victims, tls::ProcessTls::kTaken));
    record.evidence = fmt::format("{} uses a new certificate", victims.front());
    return record;
  }
};

class RotateAuthority final : public Rotation {
 public:
  [[nodiscard]] std::string_view kind() const override { return kRotateAuthority; }
  // After an error the files are usable in each state: every certificate in use is of an authority that is trusted.
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& /*prng*/) override {
    const ClusterSpec& spec = target.processes()->spec();
    const fs::path folder = CredentialsDir(spec);
    FaultRecord record{std::string(kind()), RunningServers(target), {}, false, SystemClock().Now(), std::nullopt};
    RATCHET_ASSIGN(const auto next, NewAuthority());
    const std::string earlier = spec.authority->Get()->CertificatePem();
    const std::string both = earlier + next->CertificatePem();
    RATCHET_ASSIGN(const std::string of_admin, TextOf(folder / "admin.pem"));
    RATCHET_TRY(ReplaceFile(folder / kEarlier, of_admin));
    RATCHET_TRY(ReplaceFile(folder / kBoth, both));

    RATCHET_TRY(Change(target, [&] { return ReplaceFile(folder / "ca.pem", both); }));
    spec.authority->Set(next);
    RATCHET_TRY(Change(target, [&] { return IssueAllCertificates(*next, spec); }));
    RATCHET_TRY(Change(target, [&] { return ReplaceFile(folder / "ca.pem", next->CertificatePem()); }));

    RATCHET_ASSIGN(const int asked, ExpectOnlyTheNewOne(target, folder));
    record.evidence =
        fmt::format("all have certificates of a new authority; {} processes refuse those of the earlier one", asked);
    return record;
  }

 private:
  // Every process and the driver's own clients use the new files when this returns.
  template <class Make>
  static Status Change(Target& target, Make make) {
    const auto own = tls::ProcessTls::OfProcess();
    const std::uint64_t before = own == nullptr ? 0 : own->changes();
    RATCHET_TRY(make());
    RATCHET_TRY(ReadAgain(target, RunningServers(target), tls::ProcessTls::kTaken));
    if (own == nullptr) return Ok();
    return WaitUntil("the driver's clients to read the new files", kTakenWithin, [&] {
      target.Meanwhile();
      return own->changes() > before;
    });
  }

  static Result<int> ExpectOnlyTheNewOne(Target& target, const fs::path& folder) {
    RATCHET_ASSIGN(const auto fresh, ClientTls(folder, {"admin.pem"}));
    RATCHET_ASSIGN(const auto earlier, ClientTls(folder, {kEarlier, kBoth}));
    int asked = 0;
    for (const std::string& name : RunningServers(target)) {
      const rpc::Endpoint process{"127.0.0.1", target.processes()->Info(name).port};
      // A process without an answer may have been killed meanwhile, or be busy.
      if (!TryToConnect(fresh, process, kAnswerWithin).ok()) continue;
      if (TryToConnect(earlier, process, kAnswerWithin).ok()) {
        return Error(Code::kInternal, fmt::format("{} answers a client of the earlier authority", name));
      }
      ++asked;
    }
    if (asked == 0) return Error(Code::kUnavailable, "no process answered a client of the new authority");
    return asked;
  }
};

}  // namespace

std::unique_ptr<Fault> MakeRotation(std::string_view kind) {
  if (kind == kRotateCertificate) return std::make_unique<RotateCertificate>();
  if (kind == kRotateAuthority) return std::make_unique<RotateAuthority>();
  return nullptr;
}

}  // namespace ratchet::chaos
