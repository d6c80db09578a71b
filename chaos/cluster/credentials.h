// The certificates, users and groups of a cluster that ratchet-chaos secures (--secure), and the settings that use
// them.
//
// Below DIR/credentials: ca.pem, the trusted authorities; NAME.pem for each process, and
// NAME-expired.pem, a certificate that has expired; admin.pem of the superuser "admin"; stranger.pem of a user without
// rights; visitor.pem of a user whose right comes and goes; groups. Each process writes its audit log below DIR/audit.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "chaos/cluster/cluster_spec.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/rpc/channel.h"
#include "common/tls/certificate_authority.h"
#include "common/tls/process_tls.h"

namespace ratchet::chaos {

inline constexpr const char* kStranger = "stranger";
inline constexpr const char* kVisitor = "visitor";
inline constexpr const char* kGroupsText = "strangers: stranger, visitor\n";

// The authority that signs new certificates of the cluster; a fault may replace it. Thread-safe.
class CurrentAuthority {
 public:
  using Authority = std::shared_ptr<const tls::CertificateAuthority>;
  explicit CurrentAuthority(Authority authority) : authority_(std::move(authority)) {}
  [[nodiscard]] Authority Get() const {
    const MutexLock lock(mutex_);
    return authority_;
  }
  void Set(Authority authority) {
    const MutexLock lock(mutex_);
    authority_ = std::move(authority);
  }

 private:
  mutable Mutex mutex_;
  Authority authority_ GUARDED_BY(mutex_);
};

[[nodiscard]] std::filesystem::path CredentialsDir(const ClusterSpec& spec);
[[nodiscard]] std::filesystem::path AuditDir(const ClusterSpec& spec);
[[nodiscard]] inline bool IsSecured(const ClusterSpec& spec) { return spec.authority != nullptr; }

// Makes the files of a new cluster, and adds the settings to `spec`: TLS everywhere, users from certificates, enforced
// rights, an audit log, and the authority, which can make more certificates.
[[nodiscard]] Status Secure(ClusterSpec& spec);
[[nodiscard]] Result<CurrentAuthority::Authority> NewAuthority();
// Makes the certificates of the process, and those of all processes and users. Replaces the earlier ones.
[[nodiscard]] Status IssueCertificates(const tls::CertificateAuthority& authority, const ClusterSpec& spec,
                                       const std::string& process);
[[nodiscard]] Status IssueAllCertificates(const tls::CertificateAuthority& authority, const ClusterSpec& spec);
// Replaces a file at once, with mode 0600.
[[nodiscard]] Status ReplaceFile(const std::filesystem::path& path, const std::string& text);
// The TLS of a client with these files of the directory, which it reads again when it finds them changed.
struct ClientFiles {
  std::string certificate;
  std::string trust = "ca.pem";
  Millis look_every{500};
};
[[nodiscard]] Result<std::shared_ptr<tls::ProcessTls>> ClientTls(const std::filesystem::path& credentials,
                                                                 const ClientFiles& files);
// Asks a process for the cluster's id, which needs no right, on a connection of its own with this TLS.
[[nodiscard]] Status TryToConnect(const std::shared_ptr<tls::ProcessTls>& tls, const rpc::Endpoint& process,
                                  Millis patience);

}  // namespace ratchet::chaos
