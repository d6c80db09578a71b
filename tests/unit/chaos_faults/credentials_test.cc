// The credentials of a cluster that ratchet-chaos secures.
#include "chaos/cluster/credentials.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/tls/tls_material.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

class CredentialsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    spec_.dir = fs::path(::testing::TempDir()) / ("ratchet_credentials_" + std::to_string(::getpid()));
    fs::remove_all(spec_.dir);
    spec_.masters = 2;
    spec_.servers = 3;
    const Status secured = Secure(spec_);
    ASSERT_TRUE(secured.ok()) << secured.error().ToString();
  }
  void TearDown() override { fs::remove_all(spec_.dir); }
  [[nodiscard]] Status Read(const std::string& certificate) const {
    tls::TlsFiles files;
    files.certificate = CredentialsDir(spec_) / certificate;
    files.trust = CredentialsDir(spec_) / "ca.pem";
    const auto read = tls::TlsMaterial::Read(files, tls::TlsMaterial::Use::kMember);
    return read.ok() ? Ok() : Status(read.error());
  }

  ClusterSpec spec_;
};

TEST_F(CredentialsTest, EachProcessHasAValidCertificateThatOnlyTheOwnerReads) {
  EXPECT_TRUE(IsSecured(spec_));
  for (const char* name : {"master-1", "master-2", "rs-1", "rs-2", "rs-3"}) {
    const std::string file = std::string(name) + ".pem";
    EXPECT_TRUE(Read(file).ok()) << name;
    EXPECT_EQ(fs::status(CredentialsDir(spec_) / file).permissions(), fs::perms(0600)) << name;
  }
  for (const char* user : {"admin.pem", "stranger.pem", "visitor.pem"})
    EXPECT_TRUE(ClientTls(CredentialsDir(spec_), {user}).ok()) << user;
}

// The faults rely on it: a process that took such a file would be without a certificate.
TEST_F(CredentialsTest, TheExpiredCertificateIsRefused) { EXPECT_FALSE(Read("rs-1-expired.pem").ok()); }

TEST_F(CredentialsTest, ANewAuthorityIssuesAllCertificatesAgain) {
  const auto next = NewAuthority();
  ASSERT_TRUE(next.ok());
  ASSERT_TRUE(ReplaceFile(CredentialsDir(spec_) / "ca.pem", (*next)->CertificatePem()).ok());
  EXPECT_FALSE(Read("rs-1.pem").ok()) << "of an authority that is not trusted";
  ASSERT_TRUE(IssueAllCertificates(**next, spec_).ok());
  for (const char* name : {"master-1", "master-2", "rs-1", "rs-2", "rs-3", "admin", "stranger", "visitor"})
    EXPECT_TRUE(Read(std::string(name) + ".pem").ok()) << name;
  EXPECT_FALSE(Read("rs-1-expired.pem").ok());
}

TEST_F(CredentialsTest, RightsAreEnforcedOnMastersAndServers) {
  for (const auto& flags : {spec_.master_flags, spec_.server_flags}) {
    for (const char* flag : {"--tls=require", "--tls-connect=true", "--rights=enforce", "--superusers=admin"})
      EXPECT_THAT(flags, Contains(flag));
    EXPECT_THAT(flags, Contains(HasSubstr(std::string(kOwnName) + ".pem")));
  }
}

TEST_F(CredentialsTest, AnotherClusterIsNotSecured) {
  ClusterSpec other;
  other.dir = spec_.dir / "other";
  EXPECT_FALSE(IsSecured(other));
}

}  // namespace
}  // namespace ratchet::chaos
