// Pause and resume: a barrier in front of steps and undos.
//
// A pause is a system record, so every later master holds it too, and takes effect when that record is durable. From
// then on no step and no undo of what it covers begins, new procedures included; they neither wait in line for locks
// nor take new ones, and keep those that they hold. Everything that is not a step goes on: requests are admitted and
// stored, reports absorbed and answered, time-outs pass (and count when the procedure is resumed), aborts and the other
// verbs are recorded.
#pragma once

#include <cstddef>

#include "procedure/session/pause_cover.h"
#include "procedure/session/session.h"

namespace ratchet::procedure {

// In force at a time, each with its record. Every step looks through them; "everything" is one.
inline constexpr std::size_t kMostPauses = 1'000;

// Executor::Pause and Executor::Resume.
void ChangePause(Core& core, PauseChange change);

// `node` is free and would run now. True: it is paused, and has been put aside until it is resumed.
[[nodiscard]] bool HoldIfPaused(Session& session, ProcNode& node);

// A step or undo of `node` has just ended: the operators that wait for it are answered.
void PauseStepEnded(Session& session, const ProcNode& node);

// The executor stops: operators that still wait for steps hear which ones run.
void AnswerBarriers(Session& session);

// At load, before anything is started: what earlier masters have paused, and Options::start_paused.
void LoadPauses(Session& session);

// Removes pauses of procedures whose trees have ended all the same (bypassed, or the pause came during their last
// commit).
void ForgetEndedPauses(Session& session);

}  // namespace ratchet::procedure
