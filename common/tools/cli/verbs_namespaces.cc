// Verbs on namespaces, and the cluster's switches.
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr const char* kNoWaitForNamespace = "Print the pid and do not wait for the end";
constexpr const char* kProperty = "KEY=VALUE";

}  // namespace

void AddNamespaceVerbs(CLI::App& app, Action& action) {
  AddVerb(app, "namespaces", "List namespaces and their limits", {"namespaces"})->callback([&action] {
    action = ListNamespaces;
  });

  const auto name = std::make_shared<std::string>();
  const auto wait = std::make_shared<bool>(true);
  const auto with_name = [&](const char* word, const char* help, std::initializer_list<const char*> examples) {
    auto* verb = AddVerb(app, word, help, examples);
    verb->add_option("namespace", *name, "Letters, digits and '_'")->type_name(kind::kText)->required();
    return verb;
  };
  auto* describe = with_name("describe-namespace", "Show a namespace's properties", {"describe-namespace sales"});
  describe->callback([=, &action] { action = [=](Session& s) { return DescribeNamespace(s, *name); }; });

  const auto properties = std::make_shared<std::vector<std::string>>();
  auto* create = with_name("create-namespace", "Create a namespace, optionally with limits",
                           {"create-namespace sales", "create-namespace sales hbase.namespace.quota.maxtables=10",
                            "create-namespace sales hbase.namespace.quota.maxregions=500"});
  create->add_option("property", *properties, "Properties; hbase.namespace.quota.maxtables and .maxregions are limits")
      ->type_name(kProperty);
  create->add_flag("!--no-wait", *wait, kNoWaitForNamespace);
  create->callback(
      [=, &action] { action = [=](Session& s) { return CreateNamespace(s, *name, *properties, *wait); }; });

  const auto unset = std::make_shared<std::vector<std::string>>();
  auto* alter = with_name("alter-namespace", "Change a namespace's properties",
                          {"alter-namespace sales --set hbase.namespace.quota.maxregions=800",
                           "alter-namespace sales --unset hbase.namespace.quota.maxtables"});
  alter->add_option("--set", *properties, "Properties to set")->type_name(kProperty);
  alter->add_option("--unset", *unset, "Properties to remove")->type_name(kind::kText);
  alter->add_flag("!--no-wait", *wait, kNoWaitForNamespace);
  alter->callback(
      [=, &action] { action = [=](Session& s) { return AlterNamespace(s, *name, *properties, *unset, *wait); }; });

  auto* drop = with_name("drop-namespace", "Delete a namespace that has no table", {"drop-namespace sales"});
  drop->add_flag("!--no-wait", *wait, kNoWaitForNamespace);
  drop->callback([=, &action] { action = [=](Session& s) { return DropNamespace(s, *name, *wait); }; });
}

void AddSwitchVerb(CLI::App& app, Action& action) {
  AddVerb(app, "normalize", "Split and merge regions of tables that ask for it (NORMALIZATION_ENABLED), once",
          {"switch normalizer on && ratchet normalize"})
      ->callback([&action] { action = Normalize; });

  const auto name = std::make_shared<std::string>();
  const auto to = std::make_shared<std::string>();
  const auto wait = std::make_shared<bool>(false);
  auto* verb = AddVerb(app, "switch", "Show the cluster's switches, or set one",
                       {"switch", "switch split off", "switch merge off --wait", "switch balancer on"});
  auto* which = verb->add_option("switch", *name, "Which")
                    ->check(CLI::IsMember({"balancer", "split", "merge", "normalizer", "catalog-janitor", "cleaner",
                                           "snapshot-cleanup", "peer-modification", "rpc-throttle"}))
                    ->type_name("SWITCH");
  verb->add_option("to", *to, "on or off")->check(CLI::IsMember({"on", "off"}))->type_name("on|off")->needs(which);
  verb->add_flag("--wait", *wait, "With `split off` and `merge off`: wait until running splits and merges have ended");
  verb->callback([=, &action] { action = [=](Session& s) { return Switch(s, *name, *to, *wait); }; });
}

}  // namespace ratchet::cli
