// The page that a refused master serves before it ends.
#include "master/page/refused_page.h"

#include <thread>

#include <gtest/gtest.h>

#include "common/base/exit_codes.h"
#include "tests/support/http_client.h"

namespace ratchet::master {
namespace {

constexpr Millis kLong{600'000};

TEST(RefusedPageTest, ShowsTheCauseUntilTheProcessIsToEnd) {
  ExitLatch exit;
  const RefusedPage page({"127.0.0.1", 0}, "--root /r: procedures/ is \"missing\"");
  ASSERT_NE(page.port(), page::kNoPage);
  const auto port = static_cast<std::uint16_t>(page.port());
  std::thread process([&] { page.Await(kLong, exit); });
  const std::string answer = http::Fetch(port, "/api/v1/cluster");
  EXPECT_NE(answer.find("503"), std::string::npos) << answer;
  EXPECT_NE(answer.find(R"("error":"MASTER_REFUSED","message":"--root /r: procedures/ is \"missing\"")"),
            std::string::npos)
      << answer;
  EXPECT_NE(http::Fetch(port, "/").find("<title>Ratchet</title>"), std::string::npos) << "and the page reads it";
  exit.Request(exit_code::kOk, "SIGTERM");
  process.join();
}

TEST(RefusedPageTest, ReturnsAtOnceWhenItIsOff) {
  ExitLatch exit;
  const RefusedPage page({"127.0.0.1", page::kNoPage}, "why");
  page.Await(kLong, exit);
}

}  // namespace
}  // namespace ratchet::master
