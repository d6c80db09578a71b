// `ratchet why`: asks the active master, or the process that answers in its place, and prints the chain.
#include <algorithm>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/model/proto/why.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"
#include "common/tools/cli/why_outside.h"

namespace ratchet::cli {
namespace {

// A later answer is itself evidence that the master is in trouble.
constexpr Millis kMasterPatience{5'000};

Field TextOr(bool has, const std::string& text) { return has ? Field(text) : Field(); }
Field SpanOr(bool has, std::uint64_t ms) { return has ? Field(Span{static_cast<std::int64_t>(ms)}) : Field(); }

void PrintJson(const Session& session, const pb::WhyResponse& answer) {
  Section chains{"chains", "", {"CHAIN", "CAUSE", "CAUSE TEXT", "WAITING", "NEXT", "NEXT IN", "VERB", "MORE"}, {}};
  Section links{"links", "", {"CHAIN", "LINK", "KIND", "SUBJECT", "WAITS FOR", "LASTS"}, {}};
  std::uint64_t number = 0;
  for (const auto& chain : answer.chain()) {
    ++number;
    chains.rows.push_back(
        {Number(number), chain.cause(), chain.cause_text(),
         chain.link_size() == 0 ? Field() : SpanOr(chain.link(0).has_for_ms(), chain.link(0).for_ms()),
         TextOr(chain.has_next(), chain.next()), SpanOr(chain.has_next_in_ms(), chain.next_in_ms()),
         TextOr(chain.has_verb(), chain.verb()), Number(chain.more())});
    std::uint64_t depth = 0;
    for (const auto& link : chain.link()) {
      links.rows.push_back({Number(number), Number(++depth), link.kind(), link.subject(),
                            TextOr(link.has_waits_for(), link.waits_for()), SpanOr(link.has_for_ms(), link.for_ms())});
    }
  }
  session.printer.Document({{"subject", answer.subject()},
                            {"waits", answer.chain_size() > 0},
                            {"verdict", answer.verdict()},
                            {"answered by", TextOr(answer.has_answered_by(), answer.answered_by())},
                            {"left out", Number(answer.left_out())}},
                           {chains, links});
}

void PrintChain(const Session& session, const pb::WhyChain& chain) {
  std::string indent;
  for (const auto& link : chain.link()) {
    const std::string age =
        link.has_for_ms() ? fmt::format(" [{}]", DurationText(static_cast<std::int64_t>(link.for_ms()))) : "";
    session.printer.Note(fmt::format("{}{}{}{}", indent, indent.empty() ? "" : "-> ", link.subject(), age));
    if (link.has_waits_for())
      session.printer.Note(fmt::format("{}{}waits for {}", indent, indent.empty() ? "  " : "     ", link.waits_for()));
    indent += "  ";
  }
  session.printer.Note(fmt::format("  CAUSE {}: {}", chain.cause(), chain.cause_text()));
  if (chain.has_next()) {
    const std::string when = chain.has_next_in_ms()
                                 ? fmt::format(", in {}", DurationText(static_cast<std::int64_t>(chain.next_in_ms())))
                                 : "";
    session.printer.Note(fmt::format("  NEXT  {}{}", chain.next(), when));
  }
  if (chain.has_verb()) session.printer.Note("  HELPS " + chain.verb());
  if (chain.more() > 0) session.printer.Note(fmt::format("  and {} more wait for the same cause", chain.more()));
}

int Print(const Session& session, const pb::WhyResponse& answer) {
  if (answer.has_unknown())
    return Report(session, Error(answer.ambiguous() ? Code::kInvalidArgument : Code::kNotFound, answer.unknown()));
  const int code = answer.chain_size() > 0 ? kExitWaits : kExitOk;
  if (session.printer.json()) {
    PrintJson(session, answer);
    return code;
  }
  session.printer.Note(fmt::format("{}: {}", answer.subject(), answer.verdict()));
  for (const auto& chain : answer.chain()) {
    session.printer.Note("");
    PrintChain(session, chain);
  }
  if (answer.left_out() > 0)
    session.printer.Note(fmt::format("\n... and {} more causes (--limit shows more)", answer.left_out()));
  if (answer.has_answered_by()) session.printer.Note("\nanswered by " + answer.answered_by());
  return code;
}

}  // namespace

Result<int> ShowWhy(Session& session, const std::vector<std::string>& subject, std::uint64_t limit) {
  const Millis patience = std::min(session.timeout, kMasterPatience);
  client::Admin admin(session.connection, patience);
  pb::WhyRequest request;
  if (!subject.empty()) request.set_subject(fmt::format("{}", fmt::join(subject, " ")));
  request.set_limit(static_cast<std::uint32_t>(limit));
  auto answer = admin.Call(methods::kWhy, request);
  if (answer.ok() && answer->has_active_master()) {
    // A standby knows only which master is active. That master may answer, or be the cause.
    const auto active = AskDirectly(session, answer->active_master(), request, patience);
    if (active.ok()) return Print(session, *active);
    AddSilentActive(*answer, answer->active_master(), active.error());
  }
  if (answer.ok()) return Print(session, *answer);
  const int code = ExitCodeOf(answer.error());
  if (code != kExitUnreachable && code != kExitTimeout) return answer.error();
  return Print(session, LookFromOutside(session, answer.error(), patience));
}

namespace {

struct WhyFlags {
  std::vector<std::string> subject;
  std::uint64_t limit = 5;

  void Bind(CLI::App& verb) {
    Take(verb, "subject", subject, kind::kScope,
         "A pid, a table, a region (the beginning of its encoded name) or a server (host:port), each also with "
         "the word pid, table, region or server before it; default: the cluster")
        ->expected(0, 2);
    TakeWhole(verb, "--limit", limit, kind::kNumber, 1, 100, "How many causes are shown, the longest wait first");
  }
};

}  // namespace

Verbs WhyVerbs() {
  return {Verb<WhyFlags>(
      "why", "Show what waits, for what, since when, down to the cause; exit code 6: something waits",
      {"why", "why 17", "why table t", "why 56f9", "why rs1:16020", "--json why"},
      [](Session& session, const WhyFlags& flags) { return ShowWhy(session, flags.subject, flags.limit); })};
}

}  // namespace ratchet::cli
