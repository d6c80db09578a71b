#include "common/ops/trace/chrome.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/base/json_quote.h"

namespace ratchet::trace {
namespace {

constexpr int kGroup = 1;  // the viewers' "process": the whole tree

struct Slice {
  std::uint64_t begin_us = 0;
  std::uint64_t end_us = 0;
};

std::string Complete(std::string_view name, std::string_view category, std::size_t row, const Slice& slice,
                     const std::string& args) {
  return fmt::format(
      "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
      JsonQuote(name), category, kGroup, row, slice.begin_us, slice.end_us - slice.begin_us, args);
}

std::string Metadata(std::string_view what, std::size_t row, std::string_view name, std::string_view value) {
  return fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"{}\":{}}}}}", what, kGroup, row,
                     name, value);
}

// Parents before their children; the subtree of each child follows its elder sibling's subtree.
void AddSubtree(const std::multimap<std::uint64_t, const pb::EndedProcedure*>& children, const pb::EndedProcedure& top,
                std::set<std::uint64_t>& taken, std::vector<const pb::EndedProcedure*>& out) {
  std::vector<const pb::EndedProcedure*> next{&top};
  while (!next.empty()) {
    const pb::EndedProcedure* one = next.back();
    next.pop_back();
    if (!taken.insert(one->procedure().pid()).second) continue;
    out.push_back(one);
    const auto [first, last] = children.equal_range(one->procedure().pid());
    std::vector<const pb::EndedProcedure*> own;
    for (auto it = first; it != last; ++it) own.push_back(it->second);
    next.insert(next.end(), own.rbegin(), own.rend());
  }
}

std::vector<const pb::EndedProcedure*> InOrder(const std::vector<pb::EndedProcedure>& procedures) {
  std::multimap<std::uint64_t, const pb::EndedProcedure*> children;
  std::set<std::uint64_t> known;
  for (const auto& ended : procedures) {
    known.insert(ended.procedure().pid());
    if (ended.procedure().has_parent()) children.emplace(ended.procedure().parent(), &ended);
  }
  std::vector<const pb::EndedProcedure*> order;
  std::set<std::uint64_t> taken;
  for (const auto& ended : procedures) {
    if (!ended.procedure().has_parent() || !known.contains(ended.procedure().parent()))
      AddSubtree(children, ended, taken, order);
  }
  // Damaged records may be each other's parents.
  for (const auto& ended : procedures) AddSubtree(children, ended, taken, order);
  return order;
}

// Returns slices that do not overlap: a step begins when the previous one has ended, because its recorded begin has
// only whole milliseconds.
std::vector<Slice> StepsOf(const pb::ProcedureInfo& info) {
  std::vector<Slice> slices;
  std::uint64_t free_from = 0;
  for (const auto& step : info.history()) {
    const std::uint64_t begin = std::max(step.began_wall_ms() * 1'000, free_from);
    slices.push_back({begin, begin + step.took_us()});
    free_from = slices.back().end_us;
  }
  return slices;
}

Slice WholeOf(const pb::ProcedureInfo& info, const std::vector<Slice>& steps) {
  Slice whole{info.submitted_wall_ms() * 1'000, std::max(info.submitted_wall_ms(), info.updated_wall_ms()) * 1'000};
  for (const Slice& step : steps) {
    whole.begin_us = std::min(whole.begin_us, step.begin_us);
    whole.end_us = std::max(whole.end_us, step.end_us);
  }
  return whole;
}

class Args {
 public:
  Args& Text(std::string_view key, std::string_view value) {
    if (!value.empty()) Add(key, JsonQuote(value));
    return *this;
  }
  Args& Whole(std::string_view key, std::uint64_t value) {
    Add(key, fmt::format("\"{}\"", value));  // larger than the integers that JavaScript represents exactly
    return *this;
  }
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  void Add(std::string_view key, const std::string& value) {
    json_ += fmt::format("{}\"{}\":{}", json_.empty() ? "" : ",", key, value);
  }
  std::string json_;
};

}  // namespace

std::string ToChrome(const Source& source, const std::vector<pb::EndedProcedure>& procedures) {
  std::vector<std::string> events;
  events.push_back(Metadata("process_name", 0, "name", JsonQuote("ratchet, cluster " + source.cluster_id)));
  std::map<std::uint64_t, std::pair<std::size_t, Slice>> rows;  // by pid
  std::size_t row = 0;
  for (const pb::EndedProcedure* ended : InOrder(procedures)) {
    const pb::ProcedureInfo& info = ended->procedure();
    const std::vector<Slice> steps = StepsOf(info);
    const Slice whole = WholeOf(info, steps);
    rows[info.pid()] = {++row, whole};
    events.push_back(Metadata("thread_name", row, "name", JsonQuote(fmt::format("{} {}", info.pid(), info.type()))));
    events.push_back(Metadata("thread_sort_index", row, "sort_index", std::to_string(row)));
    Args args;
    args.Whole("pid", info.pid()).Text("text", info.text()).Text("state", info.state()).Text("owner", info.owner());
    args.Text("server", ServerOf(info)).Text("error", info.error());
    events.push_back(Complete(fmt::format("{} {}", info.type(), info.pid()), "procedure", row, whole, args.json()));
    for (int i = 0; i < info.history_size(); ++i) {
      const auto& step = info.history(i);
      std::string master;
      if (const auto known = source.masters.find(step.epoch()); known != source.masters.end()) master = known->second;
      if (master.empty() && step.epoch() == ended->epoch()) master = ended->master();
      Args of_step;
      of_step.Text("outcome", step.outcome()).Whole("epoch", step.epoch()).Whole("worker", step.worker());
      of_step.Text("master", master).Text("detail", step.detail());
      events.push_back(Complete(step.step(), "step", row, steps[static_cast<std::size_t>(i)], of_step.json()));
    }
    const auto parent = info.has_parent() ? rows.find(info.parent()) : rows.end();
    if (parent == rows.end()) continue;
    // Both ends are inside the slices that they bind to.
    const auto& [from, life] = parent->second;
    const std::uint64_t begin = std::clamp(whole.begin_us, life.begin_us, life.end_us);
    events.push_back(
        fmt::format("{{\"ph\":\"s\",\"name\":\"spawns\",\"cat\":\"child\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}",
                    row, kGroup, from, begin));
    events.push_back(fmt::format(
        "{{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"spawns\",\"cat\":\"child\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}",
        row, kGroup, row, whole.begin_us));
  }
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[{}]}}", fmt::join(events, ","));
}

}  // namespace ratchet::trace
