// Problems that a server reports with its heartbeats.
#include "regionserver/host/trouble_book.h"

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace ratchet::regionserver {
namespace {

using Texts = std::vector<std::string>;

class TroubleBookTest : public ::testing::Test {
 protected:
  ManualTime time_;
  TroubleBook book_{time_};
};

TEST_F(TroubleBookTest, AProblemIsShownUntilItIsSolvedOrOld) {
  EXPECT_TRUE(book_.List().empty());
  book_.Note("a", "first", Millis(1'000));
  book_.Note("b", "second", Millis(5'000));
  book_.Note("a", "first again", Millis(1'000));
  EXPECT_EQ(book_.List(), (Texts{"first again", "second"}));
  time_.Advance(Millis(1'001));
  EXPECT_EQ(book_.List(), (Texts{"second"}));
  book_.Clear("b");
  EXPECT_TRUE(book_.List().empty());
}

TEST_F(TroubleBookTest, ARegionThatIsClosedHasNone) {
  book_.Note("file:r1:x", "x", Millis(1'000));
  book_.Note("file:r1:y", "y", Millis(1'000));
  book_.Note("file:r11:z", "z", Millis(1'000));
  book_.ClearAll("file:r1:");
  EXPECT_EQ(book_.List(), (Texts{"z"}));
}

TEST_F(TroubleBookTest, NumberAndTextsAreBounded) {
  for (int i = 0; i < 200; ++i) book_.Note(std::to_string(i), std::string(10'000, 'x'), Millis(1'000));
  const Texts texts = book_.List();
  ASSERT_EQ(texts.size(), TroubleBook::kMost + 1);
  EXPECT_EQ(texts.front().size(), TroubleBook::kMostText);
  EXPECT_EQ(texts.back(), "150 more, see the log");
}

}  // namespace
}  // namespace ratchet::regionserver
