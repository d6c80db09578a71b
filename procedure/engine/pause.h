// Pause and resume: a barrier in front of steps and undos.
//
// A pause is a system record, so every later master honours it. It applies once that record is durable. From then on no
// step and no undo of what it covers begins, new procedures included. Paused procedures neither wait for locks nor take
// new ones, and keep those that they hold. Everything except steps continues: requests are admitted and stored, reports
// absorbed and answered, time-outs pass (and count when the procedure is resumed), aborts and the other verbs are
// recorded.
#pragma once

#include <cstddef>

#include "procedure/engine/executor_lock.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

// Maximum number of pauses at a time, each with its record. Every step looks through them; "everything" is one.
inline constexpr std::size_t kMostPauses = 1'000;

// Executor::Pause and Executor::Resume.
void ChangePause(Core& core, PauseChange change);

// `node` is free and would run now. Returns true if it is paused, and waits until it is resumed.
[[nodiscard]] bool HoldIfPaused(ExecutorLock& held, ProcNode& node);

// A step or undo of `node` has just ended: answers the operators that wait for it.
void PauseStepEnded(ExecutorLock& held, const ProcNode& node);

// The executor stops: answers operators that still wait for steps with the steps that run.
void AnswerBarriers(ExecutorLock& held);

// At load, before anything is started: reads the pauses of earlier masters, and Options::start_paused.
void LoadPauses(ExecutorLock& held);

// Removes pauses of procedures whose trees have ended anyway (bypassed, or the pause came during their last commit).
void ForgetEndedPauses(ExecutorLock& held);

}  // namespace ratchet::procedure
