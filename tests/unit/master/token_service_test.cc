// Who gets tokens, test 16 of identity.
#include "master/rpc/token_methods.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"

namespace ratchet::master {
namespace {

rpc::CallContext CallBy(rpc::Authentication authentication) {
  rpc::CallContext call;
  call.user = "alice";
  call.authentication = authentication;
  return call;
}

TEST(TokenServiceTest, ATokenMakesNoToken) {
  EXPECT_TRUE(MayIssueToken(CallBy(rpc::Authentication::kCertificate), "alice").ok());
  for (const auto other : {rpc::Authentication::kToken, rpc::Authentication::kSimple, rpc::Authentication::kMember}) {
    const Status refused = MayIssueToken(CallBy(other), "alice");
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kAccessDenied));
  }
  const ScopedMutant mutant("master.token_by_token");
  EXPECT_TRUE(MayIssueToken(CallBy(rpc::Authentication::kToken), "alice").ok());
}

TEST(TokenServiceTest, ATokenBelongsToAUser) {
  for (const char* bad : {"", "@ops", "a,b", "a\nb"})
    EXPECT_FALSE(MayIssueToken(CallBy(rpc::Authentication::kCertificate), bad).ok()) << bad;
}

}  // namespace
}  // namespace ratchet::master
