// What a user names: a pure function of the text and of what is known.
#pragma once

#include <string>

#include "common/base/result.h"
#include "procedure/host/why/facts.h"

namespace ratchet::host {

struct WhySubject {
  enum class Kind : std::uint8_t { kCluster, kProcedure, kTable, kRegion, kServer };
  Kind kind = Kind::kCluster;
  std::string name;  // the whole name; of a procedure its number
  [[nodiscard]] std::string ToString() const;
};

// Errors as of AnswerWhy.
[[nodiscard]] Result<WhySubject> FindSubject(const WhyFacts& facts, const std::string& text);

}  // namespace ratchet::host
