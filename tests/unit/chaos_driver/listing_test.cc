#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "chaos/driver/listing.h"
#include "chaos/driver/scenario.h"
#include "chaos/faults/fault.h"

namespace ratchet::chaos {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The line of the list that begins with this name.
std::string LineOf(std::string_view name) {
  std::istringstream lines(ListText());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  " + std::string(name) + " ")) return line;
  }
  return "";
}

TEST(ListingTest, EveryKindSaysWhatItNeeds) {
  for (const auto kind : FaultKinds()) {
    const auto fault = MakeFault(kind);
    ASSERT_TRUE(fault.ok());
    EXPECT_FALSE((*fault)->Needs().empty()) << kind;
    EXPECT_THAT(LineOf(kind), HasSubstr(std::string((*fault)->Needs())));
  }
}

TEST(ListingTest, EveryKindAndScenarioIsInTheManual) {
  std::ifstream file("docs/chaos.md");
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(manual.empty());
  for (const auto kind : FaultKinds()) EXPECT_THAT(manual, HasSubstr("`" + std::string(kind) + "`"));
  for (const auto& scenario : Scenarios()) EXPECT_THAT(manual, HasSubstr("`" + std::string(scenario.name) + "`"));
}

TEST(ListingTest, PrivilegesAndMachineryAreNamed) {
  for (const char* kind : {"full-disk", "power-failure"}) {
    EXPECT_THAT(LineOf(kind), AllOf(HasSubstr("root"), HasSubstr("loop device")));
  }
  EXPECT_THAT(LineOf("disconnect-server"), HasSubstr("container engine"));
  EXPECT_THAT(LineOf("isolate-server"), AllOf(HasSubstr("cluster of its own"), HasSubstr("no iptables")));
  EXPECT_THAT(LineOf("slow-sync"), HasSubstr("preloaded library"));
  EXPECT_THAT(LineOf("kill-splitter"), HasSubstr("processes"));
  EXPECT_THAT(LineOf("kill-server"), HasSubstr("any target"));
}

TEST(ListingTest, AScenarioSaysWhichOfItsKindsNeedMore) {
  const std::string text = ListText();
  const auto disk = text.find("  disk  ");
  ASSERT_NE(disk, std::string::npos);
  const std::string part = text.substr(disk, text.find("  everything  ", disk) - disk);
  EXPECT_THAT(part, HasSubstr("loop device (--disk-bytes): full-disk, power-failure"));
}

}  // namespace
}  // namespace ratchet::chaos
