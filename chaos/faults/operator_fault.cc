#include "chaos/faults/operator_fault.h"

#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "chaos/faults/cluster_client.h"
#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr int kVerbs = 12;
constexpr Millis kHealedWithin{30'000};
// Procedures that are paused for a moment. The procedures that wait for them must continue afterwards.
constexpr std::array kOrderedTypes{"TransitRegionState", "OpenRegion", "AssignBatch", "ServerCrash",
                                   "SplitTableRegion",   "Snapshot",   "FlushRegion"};

class Operator final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "operator"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& /*target*/) override { return std::nullopt; }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    const Status done = Break(target, prng, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(500, 3'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    if (client_ == nullptr) return Ok();
    Status last = Ok();
    const Status healed = WaitUntil("an end of all pauses", kHealedWithin, [&] {
      target.Meanwhile();
      last = UndoAll();
      return last.ok();
    });
    if (!healed.ok()) return last.ok() ? healed : last.error().Annotate("taking the operator's verbs back");
    client_.reset();
    return Ok();
  }

 private:
  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    RATCHET_ASSIGN(client_, ClusterClient::Open(target));
    RATCHET_ASSIGN(const std::string active, target.ActiveMaster());
    record.victims = {active};
    TableDescriptor table;
    table.name = TableName("default", fmt::format("operator_{:x}", prng.Next() & 0xffffffU));
    table.families.push_back(DefaultFamily("f"));
    table_ = table.name;
    client::Admin admin = client_->admin();
    RATCHET_TRY(admin.WaitOk(admin.CreateTable(table, {"m"})));
    for (int i = 0; i < kVerbs; ++i) {
      const std::string verb = OneVerb(prng);
      if (!verb.empty()) ++done_[verb];
      target.Meanwhile();
    }
    std::size_t executed = 0;
    for (const auto& [verb, times] : done_) executed += verb.ends_with("refused") ? 0 : times;
    if (executed == 0) return Error(Code::kUnavailable, "every verb was refused");
    for (const auto& [verb, times] : done_) {
      record.evidence += fmt::format("{}{} {}", record.evidence.empty() ? "" : ", ", times, verb);
    }
    return Ok();
  }

  // Executes a random verb. Returns its outcome, for example "pause" or "abort refused".
  std::string OneVerb(Prng& prng) {
    const std::uint64_t draw = prng.Below(10);
    if (draw < 3) return Pause(kOrderedTypes[prng.Below(kOrderedTypes.size())]);
    if (draw < 4) return GiveUp();
    using Request = pb::ProcedureVerbRequest;
    constexpr std::pair<Request::Verb, const char*> kOnes[] = {
        {Request::ABORT, "abort"}, {Request::PARK, "park"}, {Request::RERUN, "rerun"}, {Request::BYPASS, "bypass"}};
    const auto& [verb, name] = kOnes[prng.Below(std::size(kOnes))];
    client::Admin admin = client_->admin();
    // A bypassed flush or compaction leaves no trace, because the table's state does not depend on it.
    const auto pid = prng.Chance(1, 2) ? admin.FlushTable(table_) : admin.CompactTable(table_, prng.Chance(1, 2));
    if (!pid.ok()) return "submission refused";
    Request request;
    request.set_verb(verb);
    request.set_pid(*pid);
    request.mutable_note()->set_why("chaos");
    const auto answer = client_->admin().Call(methods::kProcedureVerb, request);
    if (answer.ok() && verb == Request::PARK) parked_.insert(*pid);
    return answer.ok() ? name : fmt::format("{} refused", name);
  }

  std::string Pause(const char* type) {
    paused_.insert(type);  // also when no answer comes
    return client_->PauseType(type).ok() ? "pause" : "pause refused";
  }

  // The regions of an enabled table are refused, those of a disabled one are made new.
  std::string GiveUp() {
    client::Admin admin = client_->admin();
    const auto regions = admin.Regions(table_);
    if (!regions.ok() || regions->empty()) return "give-up refused";
    const auto pid = admin.GiveUpRegion(regions->front().region.encoded_name());
    return pid.ok() ? "give-up" : "give-up refused";
  }

  Status UndoAll() {
    while (!paused_.empty()) {
      RATCHET_TRY(client_->ResumeType(*paused_.begin()));
      paused_.erase(paused_.begin());
    }
    while (!parked_.empty()) {
      pb::ProcedureVerbRequest request;
      request.set_verb(pb::ProcedureVerbRequest::UNPARK);
      request.set_pid(*parked_.begin());
      const auto answer = client_->admin().Call(methods::kProcedureVerb, request);
      if (!answer.ok() && !IsGone(answer.error())) return answer.error();
      parked_.erase(parked_.begin());
    }
    if (table_.qualifier.empty()) return Ok();
    client::Admin admin = client_->admin();
    IgnoreResult(admin.WaitOk(admin.DisableTable(table_)), "it may be disabled");
    const Status gone = admin.WaitOk(admin.DeleteTable(table_));
    if (!gone.ok() && gone.error().code() != Code::kNotFound) return gone;
    table_ = {};
    return Ok();
  }

  static bool IsGone(const Error& error) {
    return error.code() == Code::kNotFound || error.code() == Code::kInvalidArgument ||
           error.code() == Code::kFailedPrecondition;
  }

  std::unique_ptr<ClusterClient> client_;
  TableName table_;
  std::set<std::string> paused_;
  std::set<std::uint64_t> parked_;
  std::map<std::string, std::size_t> done_;
};

}  // namespace

std::unique_ptr<Fault> MakeOperator() { return std::make_unique<Operator>(); }

}  // namespace ratchet::chaos
