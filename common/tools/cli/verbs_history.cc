// Verbs on procedures that have ended.
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {

void AddHistoryVerbs(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<HistoryFlags>();
  auto* history =
      AddVerb(app, "history", "Show procedures that have ended, also under earlier masters, newest first",
              {"history --since 1d", "history --type CreateTable --outcome failed", "history --table t --limit 20"});
  history->add_option("--type", flags->type, "Only of this type, for example CreateTable")->type_name(kind::kText);
  history->add_option("--table", flags->table, "Only of this table")->type_name(kind::kTable);
  history
      ->add_option("--since", flags->since,
                   "Only those that ended within this time (90s, 5m, 2h, 1d), or after a time (UTC)")
      ->type_name("WHEN");
  history->add_option("--until", flags->until, "Only those that ended then or earlier")->type_name("WHEN");
  history->add_option("--outcome", flags->outcome, "success or failed")
      ->check(CLI::IsMember({"success", "failed"}))
      ->type_name("success|failed");
  history->add_option("--limit", flags->limit, "Maximum number of procedures")
      ->check(Whole(1, 100'000))
      ->type_name(kind::kNumber);
  history->callback([=, &action] { action = [=](Session& s) { return ShowHistory(s, *flags); }; });

  const auto pid = std::make_shared<std::uint64_t>(0);
  const auto format = std::make_shared<std::string>("otlp");
  auto* trace = AddVerb(app, "trace", "Print a procedure and all its descendants as a trace",
                        {"trace 17 >trace.json", "trace 17 --format chrome >trace.json"});
  AddPid(trace, *pid)->required();
  trace->add_option("--format", *format, "otlp: for collectors (OTLP/JSON); chrome: for Perfetto and speedscope")
      ->check(CLI::IsMember({"otlp", "chrome"}))
      ->type_name("otlp|chrome");
  trace->callback([=, &action] {
    action = [=](Session& s) {
      return ShowTrace(s, *pid, *format == "chrome" ? TraceFormat::kChrome : TraceFormat::kOtlp);
    };
  });
}

}  // namespace ratchet::cli
