// A crash procedure keeps and shows the reason for which its server was expired.
#include <gtest/gtest.h>

#include "master/procedures/crash/server_crash.h"

namespace ratchet::master {
namespace {

const ServerName kExpiredServer{"127.0.0.1", 16020, 42};

TEST(CrashReasonTest, IsShownAfterTheFields) {
  const auto crash = ServerCrash::Make(kExpiredServer, "silent: no answer for 500 ms");
  EXPECT_EQ(crash->Describe().text(), "server=127.0.0.1,16020,42, meta=false, logs=0, silent: no answer for 500 ms");
}

TEST(CrashReasonTest, MayBeUnknown) {
  EXPECT_EQ(ServerCrash::Make(kExpiredServer)->Describe().text(), "server=127.0.0.1,16020,42, meta=false, logs=0");
}

}  // namespace
}  // namespace ratchet::master
