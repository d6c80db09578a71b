#include "common/base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace ratchet {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Error(Code::kInvalidArgument, "odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  RATCHET_ASSIGN(const int half, Half(number));
  RATCHET_ASSIGN(const int quarter, Half(half));
  return quarter;
}

Status BothEven(int a, int b) {
  RATCHET_TRY(Half(a));
  RATCHET_TRY(Half(b));
  return Ok();
}

TEST(ResultTest, CarriesAValueOrAnError) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).error().message(), "odd");
  EXPECT_TRUE(BothEven(2, 4).ok());
  EXPECT_EQ(BothEven(2, 3).error().code(), Code::kInvalidArgument);
}

TEST(ResultTest, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ResultTest, ErrorsReadAsSentencesAndKeepTheirClass) {
  const Error error(Code::kNotFound, "table t does not exist", "org.example.TableNotFound");
  EXPECT_EQ(error.ToString(), "NOT_FOUND: table t does not exist");
  const Error annotated = error.Annotate("create");
  EXPECT_EQ(annotated.message(), "create: table t does not exist");
  EXPECT_EQ(annotated.code(), Code::kNotFound);
  EXPECT_EQ(annotated.remote_class(), "org.example.TableNotFound");
}

TEST(ResultTest, TheValueOfAFailureStopsTheProcess) {
  EXPECT_DEATH((void)Half(3).value(), "odd");
  EXPECT_DEATH((void)Half(4).error(), "good result");
}

}  // namespace
}  // namespace ratchet
