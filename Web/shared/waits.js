// How long pages wait before they say so.

/** A room without an assistant: one may still be on its way. */
export const MISSING_MS = 10_000

/** An assistant whose connection is lost: a client resumes within a second, so the rest is patience for slow networks. */
export const GONE_MS = 3000

/** A browser that asks for the microphone waits for its user; one that need not ask answers sooner than this. */
export const PROMPT_MS = 700
