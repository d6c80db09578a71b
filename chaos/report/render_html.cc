#include <fmt/format.h>
#include <fmt/ranges.h>

#include "chaos/report/phase_table.h"
#include "chaos/report/render.h"
#include "chaos/report/summary.h"
#include "chaos/report/timeline_svg.h"
#include "chaos/verdict/guards.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6878; --paper: #ffffff; --line: #dde2e8; --panel: #f5f7f9;
  --good: #1a7f4b; --bad: #c0262d; --void: #9a6a00; --traffic: #2563b8; --broken: #d0453a; --settling: #f0b7a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ee; --soft: #97a3b1; --paper: #14181d; --line: #2d353f;
  --panel: #1c2229; --good: #4cc38a; --bad: #ff6b6b; --void: #e3b341; --traffic: #6aa9f7; --broken: #f0665c;
  --settling: #6d3a38; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 74rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.PASS { color: var(--good); } .FAIL { color: var(--bad); } .INCONCLUSIVE { color: var(--void); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td.text { text-align: left; } td.text { white-space: normal; }
th { color: var(--soft); font-weight: 600; }
code { background: var(--panel); padding: 0.1rem 0.3rem; overflow-wrap: anywhere; }
svg { width: 100%; min-width: 50rem; background: var(--panel); } svg text { font-size: 11px; fill: var(--soft); }
.grid { stroke: var(--line); } .traffic { fill: none; stroke: var(--traffic); stroke-width: 1.5; }
.broken { fill: var(--broken); } .settling { fill: var(--settling); } .void { fill: var(--void); }
.phase { stroke: var(--ink); }
)";

std::string Mark(bool good, const char* yes, const char* no, const char* no_class) {
  return fmt::format("<b class=\"{}\">{}</b>", good ? "PASS" : no_class, good ? yes : no);
}

std::string HtmlCell(const Percentiles& values) {
  return values.count == 0 ? "–" : fmt::format("{} / {} / {}", values.p50, values.p99, values.max);
}

std::string HtmlSummary(const RunRecord& run) {
  std::string html = "<div class=\"wide\"><table>\n<tr><th>fault</th><th>n</th><th>failed</th>";
  for (const auto& column : SummaryColumns()) html += fmt::format("<th>{}</th>", column.name);
  html += "</tr>\n";
  for (const auto& row : Summarize(run.faults)) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>", EscapeHtml(row.kind), row.injected, row.failed);
    for (const auto& column : SummaryColumns()) html += fmt::format("<td>{}</td>", HtmlCell(row.*column.values));
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string Judgements(const RunRecord& run) {
  std::string html = "<table>\n";
  for (const auto& finding : run.findings)
    html += fmt::format("<tr><td>{}</td><td class=\"text\">{}</td></tr>\n", Mark(finding.good, "ok", "FAIL", "FAIL"),
                        EscapeHtml(finding.text));
  for (const auto& guard : run.guards)
    html += fmt::format("<tr><td>{}</td><td class=\"text\">{}</td></tr>\n",
                        Mark(guard.held, "held", "void", "INCONCLUSIVE"), EscapeHtml(guard.text));
  for (const auto& [kind, why] : run.skipped)
    html += fmt::format("<tr><td>skipped</td><td class=\"text\">{}: {}</td></tr>\n", EscapeHtml(kind), EscapeHtml(why));
  return html + "</table>\n";
}

std::string WorkloadTable(const RunRecord& run) {
  std::string html =
      "<table>\n<tr><th>workload</th><th>answered</th><th>refused</th><th>unknown</th><th>longest gap, ms</th></tr>\n";
  for (const auto& [name, counters] : run.workloads)
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", EscapeHtml(name),
                        counters.ok, counters.failed, counters.unknown, counters.longest_gap.count());
  return html + "</table>\n";
}

std::string EventTable(const RunRecord& run) {
  std::string html = "<div class=\"wide\"><table>\n<tr><th>s</th><th>event</th><th>detail</th></tr>\n";
  for (const auto& event : run.events)
    html += fmt::format("<tr><td>{:.3f}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
                        static_cast<double>(event.at_ms - run.started_ms) / 1000.0, EscapeHtml(event.what),
                        EscapeHtml(event.detail));
  return html + "</table></div>\n";
}

}  // namespace

std::string RenderHtml(const RunRecord& run) {
  const char* verdict = VerdictName(run.verdict);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}: {1}, seed {2}</title>\n<style>{3}</style>\n</head>\n<body>\n"
      "<h1><span class=\"{0}\">{0}</span> {1}, seed {2}</h1>\n",
      verdict, EscapeHtml(run.scenario), run.seed, kStyle);
  html += fmt::format(
      "<p>{} faults on a {} cluster in {:.1f} s; ZooKeeper session {} ms. Repeat: <code>{}</code></p>\n",
      run.faults.size(), EscapeHtml(run.target), static_cast<double>(run.ended_ms - run.started_ms) / 1000.0,
      run.session_timeout_ms, EscapeHtml(run.command));
  html += "<h2>Timeline</h2>\n<div class=\"wide\">" + DrawTimeline(run) + "</div>\n";
  html +=
      "<p>Dark: broken. Pale: healed, until the cluster serves everything again. Lines: phases of the recovery.</p>\n";
  html += "<h2>Recoveries, ms after the fault (p50 / p99 / max)</h2>\n" + HtmlSummary(run);
  if (const std::string phases = PhaseTableText(CountPhases(run.faults)); !phases.empty())
    html += fmt::format("<h2>Faults by phase</h2>\n<div class=\"wide\"><pre>{}</pre></div>\n", EscapeHtml(phases));
  if (run.deaths) html += fmt::format("<h2>Deaths</h2>\n<p>{}.</p>\n", EscapeHtml(DeathsText(*run.deaths)));
  html += "<h2>Judgement</h2>\n" + Judgements(run);
  html += "<h2>Workloads</h2>\n" + WorkloadTable(run);
  html += "<h2>Events</h2>\n" + EventTable(run);
  return html + "</body>\n</html>\n";
}

}  // namespace ratchet::chaos
