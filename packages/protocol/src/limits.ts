const KiB = 1024
const MiB = 1024 * KiB

/** What either side may rely on the other to respect. */
export const limits = {
  /** One WebSocket frame; a client of the reference drops the connection above it. */
  frameBytes: 16 * MiB,
  /** One message, reassembled from its frames; one line on stdio. */
  messageBytes: 64 * MiB,
  jsonValues: 262_144,
  jsonDepth: 128,
  /** Write ids remembered for each process. */
  writeIds: 4096,
  /** How long the id of a closed process stays taken. */
  processIdReuseMs: 30_000,
  shellSnapshotScopeBytes: 256,
} as const
