#include "chaos/workloads/balance.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/cluster_places.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/client/drain.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kBetweenSteps{300};
constexpr Millis kBetweenRounds{200};
constexpr Millis kPutBackTimeout{3'000};
constexpr int kMovesAtATime = 3;
constexpr std::size_t kShownOfBalance = 5;

class Balance final : public Workload {
 public:
  explicit Balance(WorkloadContext context) : context_(std::move(context)) {}
  ~Balance() override { StopThread(); }

  [[nodiscard]] std::string_view name() const override { return "balance"; }
  [[nodiscard]] Status Prepare() override {
    client::Admin admin(context_.connection, kCheckTimeout);
    RATCHET_ASSIGN(const bool on, IsOn(admin));
    before_ = on;
    known_ = on;
    return Ok();
  }
  void Start() override {
    thread_.Start("balance", 1, context_.seed, [this](int /*thread*/, Prng& prng) { Step(prng); });
  }
  void AskToStop() override { thread_.AskToStop(); }
  void Stop() override { StopThread(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    procedures_.Await(context_.connection, std::exchange(unfinished_, {}), kCheckTimeout);
    client::Admin admin(context_.connection, kCheckTimeout);
    LookAtSwitch(admin);
    Finding shares = Even(admin);
    if (const Status set = Set(admin, before_); !set.ok()) Blame("the switch cannot be set: " + set.error().ToString());
    LookAtSwitch(admin);
    std::vector<Finding> findings{AnswersFinding(), std::move(shares)};
    if (procedures_.size() > 0) findings.push_back(procedures_.Check(context_.connection));
    return findings;
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "balance.txt");
    out << "plans " << plans_ << ", moves begun " << begun_ << '\n' << procedures_.ToText();
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "balance.txt").string()));
    return Ok();
  }

 private:
  // Resets the switch once more, even if no check follows.
  void StopThread() {
    thread_.Stop();
    if (known_ == before_ || std::exchange(stopped_, true)) return;
    client::Admin admin(context_.connection, kPutBackTimeout);
    IgnoreResult(Set(admin, before_), "Check sets it again");
  }

  static Result<bool> IsOn(client::Admin& admin) {
    RATCHET_ASSIGN(const auto answer, admin.Call(methods::kIsBalancerEnabled, {}));
    return answer.enabled();
  }

  Status Set(client::Admin& admin, bool on) {
    hbase::pb::SetBalancerRunningRequest request;
    request.set_on(on);
    known_.reset();
    const auto set = admin.Call(methods::kSetBalancerRunning, request);
    if (!set.ok()) return set.error();
    known_ = on;
    return Ok();
  }

  void Step(Prng& prng) {
    client::Admin admin(context_.connection, kLoadTimeout);
    switch (prng.Below(4)) {
      case 0: {
        const Status set = Set(admin, prng.Chance(1, 2));
        tally_.Add(set.ok() ? OperationOutcome::kOk : OutcomeOf(set.error()));
        break;
      }
      case 1: MakeUneven(admin, prng); break;
      case 2: LookAtSwitch(admin); break;
      default: BalanceOnce(admin, prng.Chance(1, 4));
    }
    thread_.Pause(kBetweenSteps);
  }

  void LookAtSwitch(client::Admin& admin) {
    const auto on = IsOn(admin);
    if (!on.ok() || !known_) return;
    ++looks_;
    if (*on != *known_) Blame(fmt::format("the balancer was switched {}, and is shown {}", Text(*known_), Text(*on)));
  }
  static const char* Text(bool on) { return on ? "on" : "off"; }

  // Returns the number of planned moves; nullopt when there was no answer.
  std::optional<std::uint32_t> BalanceOnce(client::Admin& admin, bool dry_run) {
    hbase::pb::BalanceRequest request;
    request.set_dry_run(dry_run);
    const auto answer = admin.Call(methods::kBalance, request);
    tally_.Add(answer.ok() ? OperationOutcome::kOk : OutcomeOf(answer.error()));
    if (!answer.ok()) return std::nullopt;
    ++plans_;
    begun_ += answer->moves_executed();
    if (answer->moves_executed() > answer->moves_calculated() || (dry_run && answer->moves_executed() > 0)) {
      Blame(fmt::format("{} moves were planned{} and {} begun", answer->moves_calculated(),
                        dry_run ? ", as requested," : "", answer->moves_executed()));
    }
    if (!dry_run && known_ == false && answer->balancer_ran()) Blame("the balancer is switched off, but it ran");
    return answer->balancer_ran() ? std::optional(answer->moves_calculated()) : std::nullopt;
  }

  // Moves a few regions of the other loads to one server.
  void MakeUneven(client::Admin& admin, Prng& prng) {
    const auto servers = OnlineServers(admin);
    if (!servers.ok() || servers->empty()) return;
    const ServerName to = *std::next(servers->begin(), static_cast<std::ptrdiff_t>(prng.Below(servers->size())));
    const auto tables = admin.ListTables();
    if (!tables.ok()) return;
    std::vector<TableName> ours;
    std::copy_if(tables->begin(), tables->end(), std::back_inserter(ours),
                 [&](const TableName& table) { return table.qualifier.starts_with(context_.table_prefix); });
    for (int move = 0; move < kMovesAtATime && !ours.empty() && !thread_.stopping(); ++move) {
      const auto regions = admin.Regions(ours[prng.Below(ours.size())]);
      if (!regions.ok() || regions->empty()) continue;
      const std::string region = (*regions)[prng.Below(regions->size())].region.encoded_name();
      const std::string what = fmt::format("move of region {} to {}", region, to.ToString());
      const DdlEnd end = RunToEnd(context_.connection, MakeMoveRequest(context_.connection, region, to),
                                  [this] { return thread_.stopping(); });
      if (end.outcome == DdlOutcome::kUnfinished) {
        unfinished_[*end.pid] = what;
      } else {
        procedures_.Add(what, end);
      }
      tally_.Add(AsOperation(end.outcome));
    }
  }

  // Balances until no move is planned.
  Finding Even(client::Admin& admin) {
    if (const Status set = Set(admin, true); !set.ok())
      return {false, "the balancer cannot be switched on: " + set.error().ToString()};
    const TimePoint deadline = clock_.Now() + kCheckTimeout;
    for (;;) {
      const auto planned = BalanceOnce(admin, false);
      auto shares = Shares(admin);
      if (!shares.ok()) return {false, "the regions cannot be asked for: " + shares.error().ToString()};
      Finding finding = JudgeShares(*shares);
      finding.text =
          fmt::format("{} ({}, {} begun before)", finding.text, Counted(plans_, "plan"), Counted(begun_, "move"));
      if (planned == 0U && finding.good) return finding;
      if (clock_.Now() >= deadline) return {false, "not even: " + finding.text};
      std::this_thread::sleep_for(kBetweenRounds);
    }
  }

  static Result<std::map<std::string, std::size_t>> Shares(client::Admin& admin) {
    RATCHET_ASSIGN(auto servers, OnlineServers(admin));
    RATCHET_ASSIGN(const auto drained, client::Drained(admin));
    RATCHET_ASSIGN(const auto regions, RegionsByServer(admin));
    std::map<std::string, std::size_t> shares;
    for (const ServerName& server : servers) {
      const bool marked =
          std::any_of(drained.begin(), drained.end(), [&](const ServerName& each) { return each.SameAddress(server); });
      const auto found = regions.find(server);
      if (!marked) shares[server.ToString()] = found == regions.end() ? 0 : found->second.size();
    }
    return shares;
  }

  void Blame(std::string wrong) {
    RATCHET_LOG(kWarn, "balance: {}", wrong);
    ++violations_;
    if (shown_.size() < kShownOfBalance) shown_.push_back(std::move(wrong));
  }

  [[nodiscard]] Finding AnswersFinding() const {
    std::string text = fmt::format("{} and {} of the switch: {} contradict the requests", Counted(plans_, "plan"),
                                   Counted(looks_, "look"), violations_);
    for (const auto& wrong : shown_) text += "\n  " + wrong;
    return {violations_ == 0 && looks_ > 0, text};
  }

  const WorkloadContext context_;
  const SystemClock clock_{};
  AcceptedProcedures procedures_;
  Tally tally_;
  // Used by the thread, and by the driver's thread after it has ended.
  bool before_ = true;
  bool stopped_ = false;
  std::optional<bool> known_{true};  // the last value that was set; nullopt: its outcome is unknown
  std::map<std::uint64_t, std::string> unfinished_;
  std::uint64_t plans_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t violations_ = 0;
  std::vector<std::string> shown_;
  LoadThreads thread_;
};

}  // namespace

std::unique_ptr<Workload> MakeBalance(WorkloadContext context) { return std::make_unique<Balance>(std::move(context)); }

}  // namespace ratchet::chaos
