// The identity of a process: keys, names, and the problems that it shows.
#include "common/rpc/member_identity.h"

#include <gtest/gtest.h>

#include "common/io/cluster_key.h"

namespace ratchet::rpc {
namespace {

TEST(MemberIdentityTest, ThePolicyComesFromItsSetting) {
  EXPECT_EQ(ProofPolicyOf("auto"), ProofPolicy::kByKey);
  EXPECT_EQ(ProofPolicyOf("accept"), ProofPolicy::kAccept);
  EXPECT_EQ(ProofPolicyOf("required"), ProofPolicy::kRequired);
  EXPECT_EQ(ProofPolicyOf(""), ProofPolicy::kRequired);
}

TEST(MemberIdentityTest, ANewKeyIsNeverShown) {
  const MemberIdentity fresh(MemberRole::kMaster, {io::NewClusterKey()});
  EXPECT_TRUE(fresh.KeyInClear().empty());
  EXPECT_FALSE(fresh.TakesInClear(fresh.texts().front()));
  const MemberIdentity older(MemberRole::kMaster, {"0123456789abcdef0123456789abcdef", io::NewClusterKey()});
  EXPECT_EQ(older.KeyInClear(), older.texts().front());
  EXPECT_TRUE(older.TakesInClear(older.texts().front()));
  EXPECT_FALSE(older.TakesInClear(older.texts().back()));
}

TEST(MemberIdentityTest, ThePolicyChangesWhileTheProcessRuns) {
  Live<ProofPolicy> policy{ProofPolicy::kAccept};
  const MemberIdentity member(MemberRole::kMaster, {"0123456789abcdef0123456789abcdef"}, policy);
  EXPECT_FALSE(member.KeyInClear().empty());
  policy.Set(ProofPolicy::kRequired);
  EXPECT_TRUE(member.KeyInClear().empty());
  EXPECT_FALSE(member.TakesInClear(member.texts().front()));
}

TEST(MemberIdentityTest, WithoutANameThereIsNoProof) {
  MemberIdentity member(MemberRole::kRegionServer, {"0123456789abcdef0123456789abcdef"});
  EXPECT_FALSE(member.BeginClient({"h", 1}).has_value());
  member.SetName({"Host.Example", 16020, 7});
  EXPECT_EQ(member.name().host, "host.example");
  EXPECT_TRUE(member.BeginClient({"h", 1}).has_value());
}

TEST(MemberIdentityTest, NoncesDiffer) {
  MemberIdentity member(MemberRole::kRegionServer, {"0123456789abcdef0123456789abcdef"});
  member.SetName({"h", 16020, 7});
  EXPECT_NE(member.BeginClient({"h", 1})->hello(), member.BeginClient({"h", 1})->hello());
}

TEST(MemberIdentityTest, ProblemsAreBounded) {
  const MemberIdentity member(MemberRole::kMaster, {"0123456789abcdef0123456789abcdef"});
  EXPECT_FALSE(member.TakeDoubt());
  for (int i = 0; i < 1'000; ++i) member.NotProven("10.0.0.1:" + std::to_string(i), "wrong name");
  EXPECT_EQ(member.Problems().size(), MemberIdentity::kMostProblems);
  EXPECT_TRUE(member.TakeDoubt());
  EXPECT_FALSE(member.TakeDoubt());
  member.Proven("10.0.0.1:0");
  EXPECT_EQ(member.Problems().size(), MemberIdentity::kMostProblems - 1);
}

}  // namespace
}  // namespace ratchet::rpc
