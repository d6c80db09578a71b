#include "master/procedures/admin/set_switches.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/errors.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

std::string SwitchRecord(const std::string& name) { return std::string(kSwitchRecordPrefix) + name; }
std::string_view OnOrOff(bool on) { return on ? "on" : "off"; }

}  // namespace

ProcedurePtr SetSwitches::Make(const std::vector<Switch>& switches, bool on) {
  pb::SetSwitchesData data;
  for (const Switch each : switches) data.add_name(std::string(SwitchName(each)));
  data.set_on(on);
  return std::make_unique<SetSwitches>(std::move(data));
}

procedure::LockSet SetSwitches::Locks() const { return {procedure::Exclusive(procedure::ResourceKey::Cluster())}; }

Status SetSwitches::CheckInitial() const {
  if (data_.name_size() == 0) return IllegalRequest("the request names no switch");
  for (const std::string& name : data_.name()) {
    if (!SwitchNamed(name)) return IllegalRequest(fmt::format("unknown switch {}", name));
  }
  return Ok();
}

procedure::Description SetSwitches::Describe() const {
  return procedure::Description().Add(fmt::format("{}", fmt::join(data_.name(), ",")), OnOrOff(data_.on()));
}

StepOutcome SetSwitches::WriteRecords(StepContext& ctx) {
  data_.clear_was_on();
  for (const std::string& name : data_.name()) {
    const auto which = SwitchNamed(name);
    data_.add_was_on(which && EnvOf(ctx).switches.IsOn(*which));
    ctx.PutSystemRecord(SwitchRecord(name), std::string(OnOrOff(data_.on())));
  }
  return GoTo<&SetSwitches::ShowSwitches>();
}

StepOutcome SetSwitches::ShowSwitches(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  std::string result;
  for (int i = 0; i < data_.name_size(); ++i) {
    const std::string& name = data_.name(i);
    if (const auto which = SwitchNamed(name))
      env.switches.Show(*which, env.executor->SystemRecord(SwitchRecord(name)).value_or(""));
    if (!result.empty()) result += ' ';
    result += OnOrOff(i < data_.was_on_size() && data_.was_on(i));
  }
  RATCHET_LOG(kInfo, "pid={} {} is {} (before: {})", ctx.pid(), fmt::join(data_.name(), ", "), OnOrOff(data_.on()),
              result);
  return Done{result};
}

}  // namespace ratchet::master
