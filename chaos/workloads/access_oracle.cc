#include "chaos/workloads/access_oracle.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "chaos/hostile/catalog.h"
#include "chaos/hostile/message_maker.h"
#include "chaos/workloads/cluster_places.h"
#include "chaos/workloads/load.h"
#include "common/audit/verify.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/common.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

namespace hpb = ::hbase::pb;

constexpr Millis kAnswerWithin{2'000};
constexpr std::size_t kShown = 10;
constexpr int kRows = 20;
constexpr int kTries = 200;  // draws of a method that the process may serve
constexpr int kCallsInARow = 5;
constexpr const char* kNoMethod = "UnsupportedOperationException";
constexpr const char* kColumn = "q";
constexpr std::chrono::seconds kBriefly{2};
constexpr Millis kNever{86'400'000};

// Methods that answer every user, or that leave out of their answer what the user may not see, or that judge each
// action themselves. All others must refuse the stranger.
const std::set<std::string_view>& OpenMethods() {
  static const std::set<std::string_view> open{"GetServerInfo",
                                               "GetSpaceQuotaSnapshots",
                                               "GetOnlineRegion",
                                               "GetRegionLoad",
                                               "GetActiveMaster",
                                               "GetBootstrapNodes",
                                               "GetClusterId",
                                               "GetMasters",
                                               "GetMetaRegionLocations",
                                               "ExecService",
                                               "Get",
                                               "Multi",
                                               "Mutate",
                                               "Scan",
                                               "DeleteSnapshot",
                                               "IsSnapshotDone",
                                               "RestoreSnapshot",
                                               "GetQuotaStates",
                                               "GetSpaceQuotaRegionSizes",
                                               "GetTableState",
                                               "IsBalancerEnabled",
                                               "IsCatalogJanitorEnabled",
                                               "IsCleanerChoreEnabled",
                                               "IsMasterInMaintenanceMode",
                                               "IsMasterRunning",
                                               "IsNormalizerEnabled",
                                               "IsReplicationPeerModificationEnabled",
                                               "IsSnapshotCleanupEnabled",
                                               "IsSplitOrMergeEnabled",
                                               "ListNamespaces",
                                               "getSecurityCapabilities",
                                               "GetClusterStatus",
                                               "GetCompletedSnapshots",
                                               "GetTableNames",
                                               "ListNamespaceDescriptors",
                                               "ListTableDescriptorsByNamespace",
                                               "ListTableDescriptorsByState",
                                               "ListTableNamesByNamespace",
                                               "ListTableNamesByState",
                                               "getProcedureResult",
                                               "GetTableDescriptors",
                                               "HasUserPermissions",
                                               "GetUserPermissions",
                                               "ListTables",
                                               "ListRights",
                                               "WhoAmI"};
  return open;
}

class AccessOracle final : public Workload {
 public:
  AccessOracle(WorkloadContext context, AccessOracleOptions options)
      : context_(std::move(context)),
        options_(std::move(options)),
        table_("default", context_.table_prefix + "_access") {}
  ~AccessOracle() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "access"; }

  [[nodiscard]] Status Prepare() override {
    RATCHET_TRY(MakeLoadTable(context_.connection, table_, EvenPrefixes(context_.regions, true)));
    client::Table table(context_.connection, table_);
    for (int row = 0; row < kRows; ++row) {
      client::Mutation put = client::Mutation::Put(RowOf(row));
      put.Set(kLoadFamily, kColumn, "secret");
      RATCHET_TRY(table.Mutate(put));
    }
    RATCHET_ASSIGN(stranger_, Connect(kStranger));
    RATCHET_ASSIGN(visitor_, Connect(kVisitor));
    return FindServers();
  }

  void Start() override {
    threads_.Start("access", 4, context_.seed, [this](int thread, Prng& prng) {
      for (int i = 0; thread == 0 && i < kCallsInARow; ++i) CallSomething(prng);
      if (thread == 1) TouchRows(prng);
      if (thread == 2) Visit(prng);
      if (thread == 3) Expire(prng);
      threads_.Pause(kThinkTime);
    });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    std::vector<Finding> findings;
    {
      const MutexLock lock(mutex_);
      std::string text = fmt::format(
          "{} calls of {} methods and {} uses of rows without a right, {} revocations, {} expired certificates: "
          "{} failed open",
          calls_, methods_.size(), uses_, revocations_, expired_, violations_);
      for (const auto& shown : shown_) text += "\n  " + shown;
      findings.push_back({violations_ == 0 && calls_ > 0 && uses_ > 0 && revocations_ > 0, std::move(text)});
    }
    CheckAudit(findings);
    return findings;
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "access.txt");
    const MutexLock lock(mutex_);
    out << fmt::format("{} violations\n", violations_);
    for (const auto& shown : shown_) out << shown << '\n';
    for (const auto& method : methods_) out << "refused " << method << '\n';
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "access.txt").string()));
    return Ok();
  }

 private:
  static std::string RowOf(int row) { return fmt::format("{:04x}", row * 0x0c00); }

  static client::Get GetOf(const std::string& row) {
    client::Get get;
    get.row = row;
    return get;
  }

  Result<std::unique_ptr<client::Connection>> Connect(const std::string& user) const {
    client::ConnectionOptions options;
    options.zookeeper = context_.zookeeper;
    options.user = "admin";  // a claim, which the certificate overrides
    options.operation_timeout = kLoadTimeout;
    options.rpc_timeout = kAnswerWithin;
    RATCHET_ASSIGN(auto tls, ClientTls(options_.credentials, {user + ".pem"}));
    return OpenWith(std::move(tls), std::move(options));
  }

  // A connection takes the TLS that the process has when it is opened. Nothing else is opened while loads prepare.
  static Result<std::unique_ptr<client::Connection>> OpenWith(std::shared_ptr<tls::ProcessTls> tls,
                                                              client::ConnectionOptions options) {
    const auto own = std::const_pointer_cast<tls::ProcessTls>(tls::ProcessTls::OfProcess());
    tls::ProcessTls::SetOfProcess(std::move(tls));
    auto opened = client::Connection::Open(std::move(options));
    tls::ProcessTls::SetOfProcess(own);
    return opened;
  }

  // The advertised addresses stay over restarts.
  Status FindServers() {
    client::Admin admin(context_.connection);
    RATCHET_ASSIGN(const auto online, OnlineServers(admin));
    const MutexLock lock(mutex_);
    for (const ServerName& server : online) endpoints_.push_back({server.host, server.port});
    for (const std::string& master : context_.masters) {
      const auto colon = master.rfind(':');
      endpoints_.push_back({master.substr(0, colon), static_cast<std::uint16_t>(std::stoul(master.substr(colon + 1)))});
    }
    return Ok();
  }
  rpc::Endpoint AnyEndpoint(Prng& prng) const {
    const MutexLock lock(mutex_);
    return endpoints_[prng.Below(endpoints_.size())];
  }

  void Violation(std::string text) {
    const MutexLock lock(mutex_);
    ++violations_;
    if (shown_.size() < kShown) shown_.push_back(std::move(text));
  }

  // Every method by random requests; those that end a process or stop the cluster with whole ones.
  void CallSomething(Prng& prng) {
    MessageMaker maker(prng.Next(), {table_.ToString(), RowOf(1), "default"});
    if (prng.Chance(1, 4)) return CallGravely(maker, prng);
    const auto& services = HostileServices();
    const auto& methods = HostileMethods();
    for (int tries = 0; tries < kTries; ++tries) {
      const HostileMethod& method = methods[prng.Below(methods.size())];
      const std::string& service = services[prng.Below(services.size())];
      const rpc::Endpoint endpoint = AnyEndpoint(prng);
      if (OpenMethods().contains(method.name) || IsUnserved(service, method.name, endpoint)) continue;
      return CallOne(service, method.name, *maker.Make(*method.request), endpoint);
    }
  }
  // A process that does not serve a method is not asked for it again.
  static std::string PlaceOf(const std::string& service, const std::string& method, const rpc::Endpoint& endpoint) {
    return fmt::format("{}.{} {}", service, method, endpoint.port);
  }
  bool IsUnserved(const std::string& service, const std::string& method, const rpc::Endpoint& endpoint) const {
    const MutexLock lock(mutex_);
    return unserved_.contains(PlaceOf(service, "", endpoint)) || unserved_.contains(PlaceOf(service, method, endpoint));
  }

  template <class Request, class Response>
  void Grave(const rpc::Method<Request, Response>& method, MessageMaker& maker, Prng& prng) {
    CallOne(std::string(method.service), std::string(method.name), *maker.Make(*Request::descriptor()),
            AnyEndpoint(prng));
  }
  void CallGravely(MessageMaker& maker, Prng& prng) {
    switch (prng.Below(12)) {
      case 0: return Grave(methods::kStopMaster, maker, prng);
      case 1: return Grave(methods::kShutdown, maker, prng);
      case 2: return Grave(methods::kStopServer, maker, prng);
      case 3: return Grave(methods::kPause, maker, prng);
      case 4: return Grave(methods::kDrain, maker, prng);
      case 5: return Grave(methods::kSetBalancerRunning, maker, prng);
      case 6: return Grave(methods::kSetSplitOrMergeEnabled, maker, prng);
      case 7: return Grave(methods::kDecommissionRegionServers, maker, prng);
      case 8: return Grave(methods::kSwitchRpcThrottle, maker, prng);
      case 9: return Grave(methods::kGetStatus, maker, prng);
      case 10: return Grave(methods::kListProcedures, maker, prng);
      default: return Grave(methods::kGrant, maker, prng);
    }
  }

  // Every user with a certificate may have a token of its own, as in HBase, and revoke its own tokens.
  static bool AsksForItself(const google::protobuf::Message& request) {
    if (const auto* token = dynamic_cast<const pb::IssueTokenRequest*>(&request))
      return !token->has_user() || token->user() == kStranger;
    const auto* own = dynamic_cast<const pb::RevokeTokensRequest*>(&request);
    return own != nullptr && (!own->has_user_name() || own->user_name() == kStranger);
  }
  void CallOne(const std::string& service, const std::string& method, const google::protobuf::Message& request,
               const rpc::Endpoint& endpoint) {
    rpc::CallOptions options;
    options.timeout = kAnswerWithin;
    const auto answer = stranger_->pool()
                            .Get(service, endpoint)
                            ->CallRawSync(method, request, std::make_shared<hpb::EmptyMsg>(), std::move(options));
    if (answer.ok() && AsksForItself(request)) return tally_.Add(OperationOutcome::kOk);
    if (answer.ok())
      return Violation(
          fmt::format("{}.{} answered the stranger: {}", service, method, request.ShortDebugString().substr(0, 500)));
    const bool refused = answer.error().remote_class() == rpc::exception::kAccessDenied;
    tally_.Add(refused ? OperationOutcome::kOk : OperationOutcome::kFailed);
    const MutexLock lock(mutex_);
    ++calls_;
    if (answer.error().remote_class() == rpc::exception::kUnknownService)
      unserved_.insert(PlaceOf(service, "", endpoint));
    else if (answer.error().message().find(kNoMethod) != std::string::npos)
      unserved_.insert(PlaceOf(service, method, endpoint));
    if (refused) methods_.insert(service + "." + method);
  }

  void TouchRows(Prng& prng) {
    client::Table table(*stranger_, table_);
    const std::string row = RowOf(static_cast<int>(prng.Below(kRows)));
    Status done = Error(Code::kInternal, "");
    switch (prng.Below(4)) {
      case 0: done = StatusOf(table.Get(GetOf(row))); break;
      case 1: {
        client::Scanner scanner = table.Scan(client::Scan());
        done = StatusOf(scanner.Next());
        break;
      }
      case 2: {
        client::Mutation put = client::Mutation::Put(row);
        put.Set(kLoadFamily, kColumn, "forged");
        done = StatusOf(table.Mutate(put));
        break;
      }
      default: done = StatusOf(table.Mutate(client::Mutation::Delete(row))); break;
    }
    if (done.ok()) return Violation(fmt::format("the stranger has used the row {}", row));
    const bool refused = done.error().remote_class() == rpc::exception::kAccessDenied;
    tally_.Add(refused ? OperationOutcome::kOk : OperationOutcome::kFailed);
    const MutexLock lock(mutex_);
    ++uses_;
  }

  template <class T>
  static Status StatusOf(const Result<T>& result) {
    return result.ok() ? Ok() : Status(result.error());
  }

  template <class Request>
  Request Change() const {
    Request request;
    auto& user = *request.mutable_user_permission();
    user.set_user(kVisitor);
    user.mutable_permission()->set_type(hpb::Permission::Table);
    auto& right = *user.mutable_permission()->mutable_table_permission();
    right.mutable_table_name()->set_namespace_(table_.ns);
    right.mutable_table_name()->set_qualifier(table_.qualifier);
    right.add_action(hpb::Permission::READ);
    return request;
  }

  void Visit(Prng& prng) {
    client::Admin admin(context_.connection);
    client::Table table(*visitor_, table_);
    const auto read = [&] { return table.Get(GetOf(RowOf(static_cast<int>(prng.Below(kRows))))).ok(); };
    if (!admin.Call(methods::kGrant, Change<hpb::GrantRequest>()).ok()) return tally_.Add(OperationOutcome::kUnknown);
    const bool seen = read();
    tally_.Add(seen ? OperationOutcome::kOk : OperationOutcome::kFailed);
    if (!admin.Call(methods::kRevoke, Change<hpb::RevokeRequest>()).ok()) return tally_.Add(OperationOutcome::kUnknown);
    for (int i = 0; i < 5 && !threads_.stopping(); ++i) {
      if (read()) Violation("the visitor has read a row after the answer to the revocation");
    }
    const MutexLock lock(mutex_);
    ++revocations_;
  }

  // The certificate of a client expires; then no process takes its new connection, not even for a method of every user.
  void Expire(Prng& prng) {
    tls::CertificateRequest request{"brief", {}};
    request.lifetime = kBriefly;
    const auto text = options_.authority->Get()->Issue(request);
    const auto until = SystemClock().WallMillis() + std::chrono::duration_cast<Millis>(kBriefly).count() + 1'500;
    if (!text.ok() || !ReplaceFile(options_.credentials / "brief.pem", *text).ok()) return;
    const auto tls = ClientTls(options_.credentials, {.certificate = "brief.pem", .look_every = kNever});
    if (!tls.ok()) return;
    while (SystemClock().WallMillis() < until && !threads_.stopping()) threads_.Pause(Millis(100));
    if (threads_.stopping()) return;
    const std::uint64_t before = WrongTimes();
    if (TryToConnect(*tls, AnyEndpoint(prng), kAnswerWithin).ok() && WrongTimes() == before)
      Violation("a client with an expired certificate got an answer");
    tally_.Add(OperationOutcome::kOk);
    const MutexLock lock(mutex_);
    ++expired_;
  }

  [[nodiscard]] std::uint64_t WrongTimes() const { return options_.wrong_times ? options_.wrong_times() : 0; }

  void CheckAudit(std::vector<Finding>& findings) const {
    std::error_code failed;
    std::uint64_t lines = 0;
    std::uint64_t lost = 0;
    std::string problems;
    for (const auto& process : std::filesystem::directory_iterator(options_.audit, failed)) {
      std::set<std::filesystem::path> files;
      for (const auto& file : std::filesystem::directory_iterator(process.path(), failed)) {
        if (file.path().extension() == ".jsonl") files.insert(file.path());
      }
      audit::Verifier verifier;
      for (const auto& file : files) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        verifier.AddFile(file.filename(), text.str());
      }
      lines += verifier.report().lines;
      lost += verifier.report().lost;
      for (const auto& problem : verifier.report().problems)
        problems += fmt::format("\n  {}: {}", process.path().filename().string(), problem);
    }
    findings.push_back(
        {problems.empty() && lines > 0,
         fmt::format("the audit logs have {} lines, {} events without a line{}", lines, lost, problems)});
  }

  const WorkloadContext context_;
  const AccessOracleOptions options_;
  const TableName table_;
  std::unique_ptr<client::Connection> stranger_;
  std::unique_ptr<client::Connection> visitor_;
  LoadThreads threads_;
  Tally tally_;
  mutable Mutex mutex_;
  std::vector<rpc::Endpoint> endpoints_ GUARDED_BY(mutex_);
  std::set<std::string> methods_ GUARDED_BY(mutex_);   // refused with AccessDeniedException
  std::set<std::string> unserved_ GUARDED_BY(mutex_);  // bounded by services x methods x processes
  std::vector<std::string> shown_ GUARDED_BY(mutex_);
  std::uint64_t calls_ GUARDED_BY(mutex_) = 0;
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;
  std::uint64_t revocations_ GUARDED_BY(mutex_) = 0;
  std::uint64_t expired_ GUARDED_BY(mutex_) = 0;
  std::uint64_t violations_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeAccessOracle(WorkloadContext context, AccessOracleOptions options) {
  return std::make_unique<AccessOracle>(std::move(context), std::move(options));
}

}  // namespace ratchet::chaos
