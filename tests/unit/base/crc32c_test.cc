#include "common/base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace ratchet {
namespace {

TEST(Crc32cTest, CheckValueOfTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);  // RFC 3720, B.4
}

TEST(Crc32cTest, ContinuesOverPieces) {
  const std::string text = "the record, whole or in pieces";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), Crc32c(text));
  }
}

}  // namespace
}  // namespace ratchet
