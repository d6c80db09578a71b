// ExpectKilled: a test of a mutant is the body of the test that passes without it, and the reason for which it must
// fail.
//
// A body that fails for another reason, its set-up for example, does not kill the mutant.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"

namespace ratchet {

// Runs `body` and returns the message of its first failed expectation, or "". Expectations of all threads count.
[[nodiscard]] inline std::string FirstFailure(const std::function<void()>& body) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    body();
  }
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) return results.GetTestPartResult(i).message();
  }
  return "";
}

// Runs `body` while the mutant is on. `body` returns what is wrong, or has expectations and returns nothing; its first
// fault must contain `reason`.
template <typename Body>
void ExpectKilled(std::string_view mutant, const Body& body, std::string_view reason) {
  std::string fault;
  {
    const ScopedMutant on(mutant);
    if constexpr (std::is_void_v<std::invoke_result_t<const Body&>>) {
      fault = FirstFailure(body);
    } else {
      fault = body();
    }
  }
  if (reason.empty()) ADD_FAILURE() << "the test of " << mutant << " names no reason";
  if (fault.empty()) {
    ADD_FAILURE() << mutant << " is not noticed";
  } else if (fault.find(reason) == std::string::npos) {
    ADD_FAILURE() << mutant << " must fail with '" << reason << "', and the test fails with: " << fault;
  }
}

}  // namespace ratchet
