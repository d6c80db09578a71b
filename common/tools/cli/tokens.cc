// Verbs on tokens, with which clients connect that have neither a certificate nor Kerberos.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/small_file.h"
#include "common/identity/token.h"
#include "common/model/proto/token.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

struct TokenFlags {
  std::string action;
  std::string user;
  std::string file;
  std::optional<std::int64_t> number;
  bool revoked = false;
  std::uint32_t most = 1'000;
  void Bind(CLI::App& verb) {
    Need(verb, "action", action, "issue | list | revoke | replace-key | withdraw",
         "issue: write a token file. list: show the tokens that are alive. revoke: refuse the tokens of a user, or one "
         "of them. replace-key: sign further tokens by another key. withdraw: also refuse all tokens that were issued "
         "before")
        ->check(CLI::IsMember({"issue", "list", "revoke", "replace-key", "withdraw"}));
    Take(verb, "--user", user, kind::kText,
         "User of the token (default: the user of this client's certificate; of list: all users)");
    Take(verb, "--number", number, kind::kNumber, "revoke: only this token of the user")->check(Whole(1, INT64_MAX));
    verb.add_flag("--revoked", revoked, "list: revoked tokens too");
    TakeWhole(verb, "--most", most, kind::kNumber, 1, 10'000, "list: largest number of tokens");
    Take(verb, "--file", file, kind::kFile, "New file for the token, with mode 0600 (HADOOP_TOKEN_FILE_LOCATION)");
  }
};

Result<int> Issue(Session& session, const TokenFlags& flags) {
  if (flags.file.empty()) return Error(Code::kInvalidArgument, "token issue needs --file");
  ratchet::pb::IssueTokenRequest request;
  if (!flags.user.empty()) request.set_user(flags.user);
  RATCHET_ASSIGN(const auto issued, session.admin.Call(methods::kIssueToken, request));
  RATCHET_ASSIGN(const auto facts, identity::ReadTokenIdentifier(issued.identifier()));
  const identity::IssuedToken token{issued.identifier(), issued.password(), issued.expires_ms()};
  RATCHET_TRY(WriteNewSecret(flags.file, identity::TokenFile(token, issued.service())));
  session.printer.Document({{"user", facts.user},
                            {"number", Number(issued.pid())},
                            {"file", flags.file},
                            {"expires_ms", issued.expires_ms()}},
                           {});
  return kExitOk;
}

Result<int> ListTokens(Session& session, const TokenFlags& flags) {
  pb::ListTokensRequest request;
  if (!flags.user.empty()) request.set_user_name(flags.user);
  request.set_revoked(flags.revoked);
  request.set_most(flags.most);
  RATCHET_ASSIGN(const auto answer, session.admin.Call(methods::kListTokens, request));
  std::vector<std::vector<Field>> rows;
  for (const auto& token : answer.token()) {
    rows.push_back({token.sequence(), token.user(), TimeText(token.issued_ms()), TimeText(token.expires_ms()),
                    TextOrNull(token.asked_by()), TextOrNull(token.peer()), Number(token.key_id()), token.revoked()});
  }
  session.printer.Table({"NUMBER", "USER", "ISSUED", "EXPIRES", "ASKED BY", "PEER", "KEY", "REVOKED"}, rows);
  if (answer.left_out() > 0) session.printer.Note(fmt::format("{} more (--most)", answer.left_out()));
  return kExitOk;
}

// One request revokes a part of many tokens.
Result<int> RevokeTokens(Session& session, const TokenFlags& flags) {
  pb::RevokeTokensRequest request;
  if (!flags.user.empty()) request.set_user_name(flags.user);
  if (flags.number.has_value()) request.set_sequence(*flags.number);
  std::uint64_t revoked = 0;
  while (true) {
    RATCHET_ASSIGN(const auto answer, session.admin.Call(methods::kRevokeTokens, request));
    revoked += answer.revoked();
    if (answer.revoked() == 0 || flags.number.has_value()) break;
  }
  session.printer.Document({{"revoked", Number(revoked)}}, {});
  return kExitOk;
}

Result<int> RunToken(Session& session, const TokenFlags& flags) {
  if (flags.action == "issue") return Issue(session, flags);
  if (flags.action == "list") return ListTokens(session, flags);
  if (flags.action == "revoke") return RevokeTokens(session, flags);
  ratchet::pb::ReplaceTokenKeyRequest request;
  request.set_withdraw(flags.action == "withdraw");
  RATCHET_ASSIGN(const auto replaced, session.admin.Call(methods::kReplaceTokenKey, request));
  session.printer.Document({{"key", replaced.key_id()}}, {});
  return kExitOk;
}

}  // namespace

Verbs TokenVerbs() {
  return {Verb<TokenFlags>("token", "Issue a token for a client without a certificate, list tokens, or revoke them",
                           {"token issue --user etl --file etl.token", "token list --user etl",
                            "token revoke --user etl --number 42", "token replace-key", "token withdraw"},
                           RunToken)};
}

}  // namespace ratchet::cli
