// The process waits for a message that is never sent: an invalid end state.
chan queue = [0] of { int };
active proctype Wait() { int got; queue ? got }
