#include "chaos/cluster/credentials.h"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/model/proto/registry.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/client_meta_service.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr int kDays = 30;
// Faults set clocks back by up to an hour.
constexpr std::chrono::hours kAge{2};

Status IssueInto(const fs::path& file, const tls::CertificateAuthority& authority,
                 const tls::CertificateRequest& request) {
  RATCHET_ASSIGN(const std::string text, authority.Issue(request));
  return ReplaceFile(file, text);
}

}  // namespace

Result<CurrentAuthority::Authority> NewAuthority() {
  RATCHET_ASSIGN(std::unique_ptr<tls::CertificateAuthority> made,
                 tls::CertificateAuthority::Make("chaos authority", kDays, kAge));
  return CurrentAuthority::Authority(std::move(made));
}

Status IssueCertificates(const tls::CertificateAuthority& authority, const ClusterSpec& spec,
                         const std::string& process) {
  const fs::path folder = CredentialsDir(spec);
  tls::CertificateRequest request{process, {"127.0.0.1", "localhost"}};
  request.age = kAge;
  RATCHET_TRY(IssueInto(folder / (process + ".pem"), authority, request));
  request.lifetime = kAge / 2;
  return IssueInto(folder / (process + "-expired.pem"), authority, request);
}

Status IssueAllCertificates(const tls::CertificateAuthority& authority, const ClusterSpec& spec) {
  for (int i = 1; i <= spec.masters; ++i) RATCHET_TRY(IssueCertificates(authority, spec, fmt::format("master-{}", i)));
  for (int i = 1; i <= spec.servers; ++i) RATCHET_TRY(IssueCertificates(authority, spec, fmt::format("rs-{}", i)));
  for (const char* user : {"admin", kStranger, kVisitor}) {
    tls::CertificateRequest request{user, {}};
    request.age = kAge;
    RATCHET_TRY(IssueInto(CredentialsDir(spec) / (std::string(user) + ".pem"), authority, request));
  }
  return Ok();
}

fs::path CredentialsDir(const ClusterSpec& spec) { return fs::absolute(spec.dir) / "credentials"; }

fs::path AuditDir(const ClusterSpec& spec) { return fs::absolute(spec.dir) / "audit"; }

Status ReplaceFile(const fs::path& path, const std::string& text) {
  const fs::path next = path.string() + ".next";
  std::ofstream file(next, std::ios::binary);
  file << text;
  file.close();
  std::error_code failed;
  if (file && ::chmod(next.c_str(), 0600) == 0) fs::rename(next, path, failed);
  if (!file || failed) return Error(Code::kIo, fmt::format("{}: cannot be written", path.string()));
  return Ok();
}

Status Secure(ClusterSpec& spec) {
  const fs::path folder = CredentialsDir(spec);
  std::error_code failed;
  for (const fs::path& made : {folder, AuditDir(spec)}) {
    fs::create_directories(made, failed);
    if (failed) return Error(Code::kIo, fmt::format("cannot make {}: {}", made.string(), failed.message()));
  }
  RATCHET_ASSIGN(auto authority, NewAuthority());
  RATCHET_TRY(ReplaceFile(folder / "ca.pem", authority->CertificatePem()));
  RATCHET_TRY(ReplaceFile(folder / "groups", kGroupsText));
  RATCHET_TRY(IssueAllCertificates(*authority, spec));
  const std::vector<std::string> flags{"--tls=require",
                                       "--tls-connect=true",
                                       fmt::format("--tls-certificate={}/{}.pem", folder.string(), kOwnName),
                                       fmt::format("--tls-trust={}/ca.pem", folder.string()),
                                       "--tls-user-from=cn",
                                       "--member-proof=required",
                                       "--info-tls=require",
                                       "--rights=enforce",
                                       "--superusers=admin",
                                       fmt::format("--groups-file={}/groups", folder.string()),
                                       fmt::format("--audit-dir={}/{}", AuditDir(spec).string(), kOwnName)};
  spec.master_flags.insert(spec.master_flags.end(), flags.begin(), flags.end());
  spec.server_flags.insert(spec.server_flags.end(), flags.begin(), flags.end());
  spec.authority = std::make_shared<CurrentAuthority>(std::move(authority));
  return Ok();
}

Result<std::shared_ptr<tls::ProcessTls>> ClientTls(const fs::path& credentials, const ClientFiles& files) {
  tls::TlsOptions options;
  options.connect = true;
  options.files.certificate = credentials / files.certificate;
  options.files.trust = credentials / files.trust;
  return tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kClient, files.look_every);
}

Status TryToConnect(const std::shared_ptr<tls::ProcessTls>& tls, const rpc::Endpoint& process, Millis patience) {
  rpc::ChannelPoolOptions options;
  options.name = "credentials";
  options.user = "admin";
  options.tls = tls;
  rpc::ChannelPool pool(options);
  rpc::CallOptions call;
  call.timeout = patience;
  const auto answer = pool.CallSync(methods::kGetClusterId, process, hbase::pb::GetClusterIdRequest(), std::move(call));
  return answer.ok() ? Ok() : Status(answer.error());
}

}  // namespace ratchet::chaos
