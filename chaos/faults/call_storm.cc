#include "chaos/faults/call_storm.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/victims.h"
#include "chaos/hostile/storm.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kAnsweredWithin{20'000};
constexpr std::size_t kConnections = 4;
constexpr std::uint32_t kRequests = 4;           // of each connection
constexpr std::size_t kEmptyMessages = 500'000;  // a megabyte of bytes
constexpr std::size_t kBombBytes = 16U << 20U;
constexpr std::size_t kScanners = 3'000;
constexpr std::uint64_t kMayKeep = 384ULL << 20U;  // beyond what the process had before

std::uint64_t ResidentOf(int pid) {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid));
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

class CallStorm final : public Fault {
 public:
  ~CallStorm() override { Close(); }

  [[nodiscard]] std::string_view kind() const override { return "call-storm"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "the ports of single processes are not known on this target";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    const Status done = Break(target, prng, record);
    if (done.ok()) return record;
    Close();
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(1'000, 4'000)); }

  // Ends the scanners' connection, and so the scanners. Memory that a process then still holds is a finding.
  [[nodiscard]] Status Heal(Target& target) override {
    Close();
    const int pid = std::exchange(pid_, 0);
    if (pid == 0) return Ok();
    std::uint64_t kept = 0;
    const Status given_back = WaitUntil("the memory of a storm is given back", kAnsweredWithin, [&] {
      target.Meanwhile();
      const std::uint64_t now = ResidentOf(pid);
      kept = now > before_ ? now - before_ : 0;
      return kept <= kMayKeep;
    });
    if (given_back.ok()) return Ok();
    return Error(Code::kResourceExhausted,
                 fmt::format("process {} keeps {} MiB more than before a storm of calls", pid, kept >> 20U));
  }

 private:
  enum class Storm : std::uint8_t { kEmpty, kBombs, kLeaks };

  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    const auto storm = static_cast<Storm>(prng.Below(3));
    if (storm == Storm::kLeaks) return LeakScanners(target, prng, record);
    RATCHET_ASSIGN(const auto victims, PickAnyProcess(target, prng));
    const std::string& victim = victims.front();
    record.victims = victims;
    Note(target, victim);
    const auto masters = target.Names(Role::kMaster);
    const bool master = std::find(masters.begin(), masters.end(), victim) != masters.end();
    const std::string_view service = master ? "MasterService" : "ClientService";
    const std::string_view method = master ? "GetTableDescriptors" : "Multi";
    std::size_t sent = 0;
    for (std::size_t i = 0; i < kConnections; ++i) {
      auto connection = std::make_unique<StormConnection>();
      if (!connection->Open(target.OwnPort(victim), service)) continue;
      for (std::uint32_t call = 1; call <= kRequests; ++call) {
        const std::string frame = storm == Storm::kBombs ? CompressedBomb(call, method, kBombBytes)
                                                         : ManyEmptyMessages(call, method, kEmptyMessages);
        if (!connection->Send(frame)) break;
        ++sent;
      }
      connections_.push_back(std::move(connection));
    }
    if (sent == 0) return Error(Code::kUnavailable, victim + " accepted no request");
    std::size_t answers = 0;
    std::size_t closed = 0;
    RATCHET_TRY(WaitUntil(victim + " answers a storm, or closes it", kAnsweredWithin, [&] {
      target.Meanwhile();
      answers = closed = 0;
      for (const auto& connection : connections_) {
        answers += connection->Answers();
        closed += connection->closed() ? 1 : 0;
      }
      return answers >= sent || closed == connections_.size() || !target.Running(victim);
    }));
    record.evidence = fmt::format("{}: {} {} with {}, {} answers, {} of {} connections closed by it, {} MiB resident",
                                  victim, sent, method,
                                  storm == Storm::kBombs ? fmt::format("{} MiB of zeros in gzip", kBombBytes >> 20U)
                                                         : fmt::format("{} empty messages", kEmptyMessages),
                                  answers, closed, connections_.size(), ResidentOf(pid_) >> 20U);
    return Ok();
  }

  Status LeakScanners(Target& target, Prng& prng, FaultRecord& record) {
    RATCHET_ASSIGN(const auto client, ClusterClient::Open(target));
    RATCHET_ASSIGN(const auto regions, client->Regions());
    if (regions.empty()) return Error(Code::kUnavailable, "no table has a region to scan");
    const auto& region = regions[prng.Below(regions.size())];
    const std::string victim = target.NameOf(region.server);
    if (victim.empty()) return Error(Code::kUnavailable, "no process of this target is " + region.server.ToString());
    record.victims = {victim};
    Note(target, victim);
    rpc::ChannelPoolOptions options;
    options.name = "storm";
    options.user = "storm";
    pool_ = std::make_unique<rpc::ChannelPool>(options);
    hbase::pb::ScanRequest request;
    SpecifyRegion(region.region, *request.mutable_region());
    request.mutable_scan();
    request.set_number_of_rows(0);
    request.set_client_handles_heartbeats(true);
    std::size_t opened = 0;
    std::size_t refused = 0;
    const rpc::Endpoint endpoint{"127.0.0.1", target.OwnPort(victim)};
    for (std::size_t i = 0; i < kScanners && target.Running(victim); ++i) {
      rpc::CallOptions call;
      call.timeout = Millis(2'000);
      const auto answer = pool_->CallSync(methods::kScan, endpoint, request, std::move(call));
      ++(answer.ok() && answer->message.has_scanner_id() ? opened : refused);
      if (refused > 100) break;  // the bound holds
      if (i % 64 == 0) target.Meanwhile();
    }
    if (opened == 0) return Error(Code::kUnavailable, victim + " opens no scanner");
    record.evidence = fmt::format("{}: {} scanners of one client are open, {} were refused", victim, opened, refused);
    return Ok();
  }

  void Note(Target& target, const std::string& victim) {
    pid_ = target.processes()->Info(victim).id.pid;
    before_ = ResidentOf(pid_);
  }

  void Close() {
    connections_.clear();
    if (pool_ != nullptr) pool_->Stop();
    pool_.reset();
  }

  int pid_ = 0;  // while it is in force
  std::uint64_t before_ = 0;
  std::vector<std::unique_ptr<StormConnection>> connections_;
  std::unique_ptr<rpc::ChannelPool> pool_;
};

}  // namespace

std::unique_ptr<Fault> MakeCallStorm() { return std::make_unique<CallStorm>(); }

}  // namespace ratchet::chaos
