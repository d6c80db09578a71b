// A mini Ceph below a cluster of processes, each of which has a mount of its own (scripts/ceph).
//
// The scripts do all work, and touch only files in the mini Ceph's own directory. Each call waits for its script.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Returns the directory of the scripts: RATCHET_CEPH_SCRIPTS, or scripts/ceph above the directory of the programs.
// kNotFound.
[[nodiscard]] Result<std::filesystem::path> FindCephScripts(const std::filesystem::path& bin);

class CephStorage {
 public:
  // `dir` is the mini Ceph's directory.
  CephStorage(std::filesystem::path scripts, std::filesystem::path dir);

  // kUnsupported: this machine has no Ceph or no FUSE; the error has the script's message.
  [[nodiscard]] Status Up() const;
  // Ends the mini Ceph with its mounts and all data.
  [[nodiscard]] Status Down() const;
  // Makes a new mount for a process that is about to start, because a master may still evict the previous client.
  [[nodiscard]] Status Mount(const std::string& name) const;
  // Makes the storage evict all clients of this name.
  [[nodiscard]] Status Evict(const std::string& name) const;
  // Drops every packet that the client of this name sends to the storage, and waits until one was dropped.
  [[nodiscard]] Status Cut(const std::string& name) const;
  [[nodiscard]] Status LetThrough(const std::string& name) const;
  // Returns whether this machine has the tools for Cut.
  [[nodiscard]] static bool CanCut();
  // Restarts a daemon of the mini Ceph: "mdsa", "osd0", "mon" ...
  [[nodiscard]] Status StartDaemon(const std::string& name) const;
  // Finds a daemon, or a process's client ("fuse-rs-1"); kNotFound: it does not run.
  [[nodiscard]] Result<ProcessId> Find(const std::string& name) const;
  // Returns "mdsa" or "mdsb"; kUnavailable while none is active.
  [[nodiscard]] Result<std::string> ActiveMetadataServer() const;

  // Returns the cluster's root in the mount of this process. Up mounts "observer", for tools.
  [[nodiscard]] std::filesystem::path RootOf(const std::string& name) const;
  // Returns the flags with which a process of this role is started.
  [[nodiscard]] std::vector<std::string> Flags(const std::string& name, Role role) const;

 private:
  [[nodiscard]] Status Run(const std::string& script, const std::vector<std::string>& arguments, Millis limit) const;

  const std::filesystem::path scripts_;
  const std::filesystem::path dir_;
};

}  // namespace ratchet::chaos
