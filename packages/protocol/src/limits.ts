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
  /** Files that one connection may have open, and the length of the ids it gives them. */
  fileHandles: 128,
  fileHandleIdBytes: 32,
  /** One block of `fs/readBlock` and `fs/writeBlock`. */
  fileBlockBytes: MiB,
  /** What `fs/readFile` and a buffered `http/request` can return: in base64 it must fit one message. */
  wholeBodyBytes: ((64 * MiB - 64 * KiB) / 4) * 3,
  directoryEntries: 50_000,
  walkDepth: 64,
  walkDirectories: 10_000,
  walkEntries: 50_000,
  /** An estimate of what a walk's answer takes on the wire. */
  walkAnswerBytes: 4 * MiB,
  missingPaths: 64,
  /** One `http/request/bodyDelta`, decoded. */
  httpDeltaBytes: MiB,
} as const
