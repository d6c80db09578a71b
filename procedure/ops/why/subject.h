// Finds the subject that a user names: a pure function of the text and of the facts.
#pragma once

#include <string>

#include "common/base/result.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

struct WhySubject {
  enum class Kind : std::uint8_t { kCluster, kProcedure, kTable, kRegion, kServer };
  Kind kind = Kind::kCluster;
  std::string name;  // the whole name; for a procedure its pid
  [[nodiscard]] std::string ToString() const;
};

// Errors: as AnswerWhy.
[[nodiscard]] Result<WhySubject> FindSubject(const WhyFacts& facts, const std::string& text);

}  // namespace ratchet::host
