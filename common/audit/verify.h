// Verifies the files of an audit log: each line follows the one before it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::audit {

struct VerifyReport {
  std::uint64_t lines = 0;
  std::uint64_t first = 0;  // number of the first line
  std::uint64_t last = 0;
  std::uint64_t lost = 0;             // events without a line, as the lines `lost` count them
  std::uint64_t lost_records = 0;     // number of the lines `lost`
  std::string last_hash;              // to compare with a copy elsewhere
  std::vector<std::string> problems;  // at most kMostProblems
};

inline constexpr std::size_t kMostProblems = 100;

class Verifier {
 public:
  // Number of the first line that the log has not removed itself (kHeadName). Call it before AddFile.
  void BeginsWith(std::uint64_t number) { begins_ = number; }
  // The files in the order of their lines.
  void AddFile(const std::string& name, std::string_view text);
  [[nodiscard]] const VerifyReport& report() const { return report_; }

 private:
  void AddLine(const std::string& name, std::uint64_t at, std::string_view line);
  void Problem(std::string text);
  VerifyReport report_;
  std::uint64_t begins_ = UINT64_MAX;  // not known
  std::string hash_;                   // of the line before; empty: this is the first line
};

}  // namespace ratchet::audit
