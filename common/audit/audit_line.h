// One line of the audit log: a JSON object with a number, the SHA-256 of the line before, and what happened. Pure.
//
// Texts from outside (names of users, tables, reasons) are printable ASCII in a line: each other byte, and each
// backslash, is written as \xHH, so that a name cannot imitate a line or change a terminal. Long texts are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::audit {

inline constexpr std::size_t kMostTextBytes = 512;                 // of one text, before it is cut
inline constexpr std::size_t kHashBytes = 64;                      // hexadecimal digits
inline constexpr std::uint64_t kMostAuditFileBytes = 1ULL << 30U;  // the largest --audit-file-bytes
inline constexpr std::size_t kMostAuditFiles = 10'000;
inline constexpr std::size_t kMostLineBytes = 64 << 10;  // with the line's end; no writer makes a longer one

struct AuditLine {
  std::int64_t t_ms = 0;  // of the wall clock
  std::string_view event;
  std::string_view user, real_user, claimed;
  std::string_view by;  // certificate, member, simple
  std::string_view peer;
  std::string_view tls;     // version and cipher
  std::string_view serial;  // of the client's certificate
  std::string_view service, method, target;
  std::string_view outcome;  // allowed, denied, asked, accepted
  std::string_view why;
  std::vector<std::uint64_t> pids;  // of the procedures that a call began
  std::uint64_t count = 0;          // number of events that the line counts; 0: the line is about one
};

// The object without number and hash, but with `host` and `process`: "{...}". Empty texts are left out.
[[nodiscard]] std::string LineBody(const AuditLine& line, std::string_view host, std::string_view process);
// The whole line, with its end. `prev`: ChainHash of the line before; kNoHash for the first one.
[[nodiscard]] std::string WholeLine(std::uint64_t number, std::string_view prev, std::string_view body);
// `line`: with its end.
[[nodiscard]] std::string ChainHash(std::string_view line);
[[nodiscard]] std::string NoHash();
// Reads number and hash of a line. Returns false if the text is not a line of an audit log.
[[nodiscard]] bool ReadLine(std::string_view line, std::uint64_t& number, std::string_view& prev);
// A text from outside as it is written.
[[nodiscard]] std::string SafeText(std::string_view text);

}  // namespace ratchet::audit
