#include "common/ops/trace/chrome.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/base/json_writer.h"

namespace ratchet::trace {
namespace {

constexpr int kGroup = 1;  // the viewers' "process": the whole tree

struct Slice {
  std::uint64_t begin_us = 0;
  std::uint64_t end_us = 0;
};

// Begins an event, without its last members.
JsonWriter& Begin(JsonWriter& out, std::string_view phase, std::string_view name) {
  return out.BeginObject().Add("ph", phase).Add("name", name).Add("pid", kGroup);
}

// `args`: adds members to the event's arguments.
template <class Args>
void Complete(JsonWriter& out, std::string_view name, std::string_view category, std::size_t row, const Slice& slice,
              Args&& args) {
  Begin(out, "X", name).Add("cat", category).Add("tid", row).Add("ts", slice.begin_us);
  out.Add("dur", slice.end_us - slice.begin_us).Key("args").BeginObject();
  args();
  out.EndObject().EndObject();
}

template <class Value>
void Metadata(JsonWriter& out, std::string_view what, std::size_t row, std::string_view name, const Value& value) {
  Begin(out, "M", what).Add("tid", row).Key("args").BeginObject().Add(name, value).EndObject().EndObject();
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

void AddText(JsonWriter& out, std::string_view key, std::string_view value) {
  if (!value.empty()) out.Add(key, value);
}

// As text, because the number may be larger than the integers that JavaScript represents exactly.
void AddWhole(JsonWriter& out, std::string_view key, std::uint64_t value) { out.Add(key, std::to_string(value)); }

}  // namespace

std::string ToChrome(const Source& source, const std::vector<pb::EndedProcedure>& procedures) {
  JsonWriter out;
  out.BeginObject().Add("displayTimeUnit", "ms").Key("traceEvents").BeginArray();
  Metadata(out, "process_name", 0, "name", "ratchet, cluster " + source.cluster_id);
  std::map<std::uint64_t, std::pair<std::size_t, Slice>> rows;  // by pid
  std::size_t row = 0;
  for (const pb::EndedProcedure* ended : InOrder(procedures)) {
    const pb::ProcedureInfo& info = ended->procedure();
    const std::vector<Slice> steps = StepsOf(info);
    const Slice whole = WholeOf(info, steps);
    rows[info.pid()] = {++row, whole};
    Metadata(out, "thread_name", row, "name", fmt::format("{} {}", info.pid(), info.type()));
    Metadata(out, "thread_sort_index", row, "sort_index", row);
    Complete(out, fmt::format("{} {}", info.type(), info.pid()), "procedure", row, whole, [&] {
      AddWhole(out, "pid", info.pid());
      AddText(out, "text", info.text());
      AddText(out, "state", info.state());
      AddText(out, "owner", info.owner());
      AddText(out, "server", ServerOf(info));
      AddText(out, "error", info.error());
    });
    for (int i = 0; i < info.history_size(); ++i) {
      const auto& step = info.history(i);
      Complete(out, step.step(), "step", row, steps[static_cast<std::size_t>(i)], [&] {
        AddText(out, "outcome", step.outcome());
        AddWhole(out, "epoch", step.epoch());
        AddWhole(out, "worker", step.worker());
        AddText(out, "master", MasterOf(source, *ended, step.epoch()));
        AddText(out, "detail", step.detail());
      });
    }
    const auto parent = info.has_parent() ? rows.find(info.parent()) : rows.end();
    if (parent == rows.end()) continue;
    // Both ends are inside the slices that they bind to.
    const auto& [from, life] = parent->second;
    const std::uint64_t begin = std::clamp(whole.begin_us, life.begin_us, life.end_us);
    Begin(out, "s", "spawns").Add("cat", "child").Add("id", row).Add("tid", from).Add("ts", begin).EndObject();
    Begin(out, "f", "spawns").Add("cat", "child").Add("bp", "e").Add("id", row).Add("tid", row);
    out.Add("ts", whole.begin_us).EndObject();
  }
  out.EndArray().EndObject();
  return out.text();
}

}  // namespace ratchet::trace
