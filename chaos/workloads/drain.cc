#include "chaos/workloads/drain.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/cluster_places.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/client/drain.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kWhileDrained{500};
constexpr Millis kBetweenDrains{800};
constexpr std::size_t kShownOfDrain = 5;

class Drain final : public Workload {
 public:
  explicit Drain(WorkloadContext context) : context_(std::move(context)) {}
  ~Drain() override { StopThread(); }

  [[nodiscard]] std::string_view name() const override { return "drain"; }
  [[nodiscard]] Status Prepare() override { return Ok(); }
  void Start() override {
    thread_.Start("drain", 1, context_.seed, [this](int /*thread*/, Prng& prng) { Step(prng); });
  }
  void AskToStop() override { thread_.AskToStop(); }
  void Stop() override { StopThread(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    const auto deadline = clock_.Now() + kCheckTimeout;
    give_up_ = [this, deadline] { return clock_.Now() > deadline; };
    for (const auto& [pid, what] : std::exchange(unfinished_, {}))
      procedures_.Add(what, WaitForEnd(context_.connection, pid, give_up_));
    if (mark_) Recommission();
    return {LooksFinding(), CheckMarks(), procedures_.Check(context_.connection)};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "drain.txt");
    out << procedures_.ToText();
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "drain.txt").string()));
    return Ok();
  }

 private:
  // Takes a drained server back once more, even if no check follows.
  void StopThread() {
    thread_.Stop();
    if (mark_ && !std::exchange(stopped_, true)) Recommission();
  }

  void Step(Prng& prng) {
    if (mark_) {
      Recommission();
    } else {
      DrainOne(prng);
    }
    thread_.Pause(mark_ ? kWhileDrained : kBetweenDrains);
  }

  void DrainOne(Prng& prng) {
    client::Admin admin(context_.connection, kLoadTimeout);
    const auto servers = OnlineServers(admin);
    const auto regions = RegionsByServer(admin);
    if (!servers.ok() || servers->size() < 2 || !regions.ok() || thread_.stopping()) return;
    const ServerName server = *std::next(servers->begin(), static_cast<std::ptrdiff_t>(prng.Below(servers->size())));
    const auto had = regions->find(server);
    mark_ = server;
    had_ = had == regions->end() ? std::vector<std::string>() : had->second;
    touched_.insert(server);
    const DdlEnd end = Run(MakeDrainRequest(context_.connection, server), "drain of " + server.ToString());
    if (end.outcome == DdlOutcome::kRefused && end.code != Code::kTimeout) mark_.reset();  // the last server, or gone
    if (end.outcome != DdlOutcome::kSucceeded || !end.result.starts_with("drained: ")) return;
    LookThatItIsEmpty(admin, *servers, server);
  }

  // Regions may go to a decommissioned server if there is no other one. So only observations are valid during which the
  // same servers were online.
  void LookThatItIsEmpty(client::Admin& admin, const std::set<ServerName>& servers, const ServerName& server) {
    const auto regions = RegionsByServer(admin);
    const auto marks = client::Drained(admin);
    const auto servers_now = OnlineServers(admin);
    if (!regions.ok() || !marks.ok() || !servers_now.ok() || *servers_now != servers) return;
    if (std::find(marks->begin(), marks->end(), server) == marks->end()) return;  // a fault takes servers back
    ++looks_;
    const auto found = regions->find(server);
    if (found == regions->end()) return;
    Blame(fmt::format("{} was drained but has {}, for example {}", server.ToString(),
                      Counted(found->second.size(), "region"), found->second.front()));
  }

  void Recommission() {
    const ServerName server = *mark_;
    const DdlEnd end = Run(MakeUndrainRequest(context_.connection, server, had_), "taking back " + server.ToString());
    if (end.outcome == DdlOutcome::kSucceeded) mark_.reset();
  }

  DdlEnd Run(const DdlRequest& request, const std::string& what) {
    DdlEnd end = RunToEnd(context_.connection, request, give_up_);
    if (end.outcome == DdlOutcome::kUnfinished) {
      unfinished_[*end.pid] = what;
    } else {
      procedures_.Add(what, end);
    }
    tally_.Add(AsOperation(end.outcome));
    return end;
  }

  Finding CheckMarks() {
    if (mark_) return {false, fmt::format("{} cannot be taken back", mark_->ToString())};
    client::Admin admin(context_.connection, kCheckTimeout);
    const auto marks = client::Drained(admin);
    if (!marks.ok()) return {false, "the marks cannot be asked for: " + marks.error().ToString()};
    for (const ServerName& mark : *marks) {
      const bool ours = std::any_of(touched_.begin(), touched_.end(),
                                    [&](const ServerName& server) { return server.SameAddress(mark); });
      if (ours) return {false, fmt::format("{} was taken back but is decommissioned", mark.ToString())};
    }
    return {true, "every drained server was taken back"};
  }

  void Blame(std::string wrong) {
    RATCHET_LOG(kWarn, "drain: {}", wrong);
    ++violations_;
    if (shown_.size() < kShownOfDrain) shown_.push_back(std::move(wrong));
  }

  [[nodiscard]] Finding LooksFinding() const {
    std::string text =
        fmt::format("{} at servers that were drained: {} had regions", Counted(looks_, "look"), violations_);
    for (const auto& wrong : shown_) text += "\n  " + wrong;
    return {violations_ == 0, text};
  }

  const WorkloadContext context_;
  const SystemClock clock_{};
  AcceptedProcedures procedures_;
  Tally tally_;
  // Used by the thread, and by the driver's thread after it has ended.
  GiveUp give_up_ = [this] { return thread_.stopping(); };
  std::map<std::uint64_t, std::string> unfinished_;
  std::optional<ServerName> mark_;  // decommissioned, or possibly
  std::vector<std::string> had_;    // its regions before the drain
  std::set<ServerName> touched_;
  bool stopped_ = false;
  std::uint64_t looks_ = 0;
  std::uint64_t violations_ = 0;
  std::vector<std::string> shown_;
  LoadThreads thread_;
};

}  // namespace

std::unique_ptr<Workload> MakeDrain(WorkloadContext context) { return std::make_unique<Drain>(std::move(context)); }

}  // namespace ratchet::chaos
