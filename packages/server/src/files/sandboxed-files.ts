import type { Guard } from '@waldo/local'
import { ErrorCode, ProtocolError, type SandboxIntent } from '@waldo/protocol'
import type { FileRules } from '@waldo/sandbox'
import type { ExecutorSandbox } from '../sandbox/executor-sandbox.ts'
import { policyRefusal } from '../sandbox/policy-refusal.ts'
import { type BoundProfile, ProfileCache } from '../sandbox/profile-cache.ts'
import type { PreparedHelper, SandboxedHelper } from '../sandbox/sandboxed-helper.ts'
import { HelperPool } from './helper-pool.ts'

/** Profiles that have helpers at a time; more only while all of these are in use. */
const MAX_PROFILES = 8
const MAX_PROFILES_IN_USE = 32
/** Helpers that nobody needs for so long end. */
const IDLE_MS = 60_000

/** A call that takes longer has met something that hangs. */
const PATIENCE_MS = 120_000

interface Entry {
  readonly pool: HelperPool
  idle: ReturnType<typeof setTimeout> | undefined
}

/** What an intent comes down to on this machine, now. */
export interface RestrictedAccess {
  readonly rules: FileRules
  /** Who works on files for those who have no more than this. */
  pool(): HelperPool
}

export interface SandboxedFilesOptions {
  readonly sandbox: () => ExecutorSandbox
  readonly helper: () => SandboxedHelper
  readonly guard: (pid: number) => Guard
}

/**
 * File access for those who may not see everything. Each profile, as it is on this machine at the moment of the call,
 * has a helper that runs in a sandbox made for it: what it cannot see, it cannot be talked into.
 */
export class SandboxedFiles {
  readonly #options: SandboxedFilesOptions
  readonly #profiles = new ProfileCache<PreparedHelper | undefined>()
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()

  constructor(options: SandboxedFilesOptions) {
    this.#options = options
  }

  /** Undefined if the intent restricts nothing. Throws a `ProtocolError` for what cannot be enforced. */
  accessFor(intent: SandboxIntent | undefined): RestrictedAccess | undefined {
    const profile = this.#profileOf(intent)
    const rules = profile?.policy.files
    return rules && { rules, pool: () => this.#poolOf(rules, profile.made!) }
  }

  close(): void {
    for (const { pool, idle } of this.#entries.values()) {
      clearTimeout(idle)
      pool.close()
    }
    this.#entries.clear()
  }

  #profileOf(intent: SandboxIntent | undefined): BoundProfile<PreparedHelper | undefined> | undefined {
    if (intent?.permissions.type !== 'managed') return undefined
    try {
      return this.#profiles.get(JSON.stringify(intent), () => {
        const sandbox = this.#options.sandbox()
        const facts = sandbox.lookAround()
        const policy = sandbox.bind(intent, facts, undefined)
        const made = policy.files && this.#options.helper().prepare(intent, policy.files, facts)
        return { policy, facts, made }
      })
    } catch (error) {
      throw policyRefusal(error, ErrorCode.invalidRequest)
    }
  }

  #poolOf(rules: FileRules, prepared: PreparedHelper): HelperPool {
    const { key } = prepared
    const entry = this.#entries.get(key) ?? this.#start(rules, prepared)
    // To the end of the line.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#endLater(key, entry)
    for (const [oldest, { pool }] of this.#entries) {
      // The last one is about to be used.
      if (this.#entries.size <= MAX_PROFILES || oldest === key) break
      if (!pool.isBusy) this.#end(oldest)
    }
    return entry.pool
  }

  #start(rules: FileRules, { launch }: PreparedHelper): Entry {
    if (this.#entries.size >= MAX_PROFILES_IN_USE) {
      throw new ProtocolError(
        ErrorCode.internal,
        `files are being worked on under ${MAX_PROFILES_IN_USE} different profiles already; try again later`,
      )
    }
    return {
      pool: new HelperPool({ launch, guard: this.#options.guard, rules: rules.toJSON(), patienceMs: PATIENCE_MS }),
      idle: undefined,
    }
  }

  #endLater(key: string, entry: Entry): void {
    clearTimeout(entry.idle)
    entry.idle = setTimeout(() => {
      if (entry.pool.isBusy) this.#endLater(key, entry)
      else this.#end(key)
    }, IDLE_MS)
    entry.idle.unref()
  }

  #end(key: string): void {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    clearTimeout(entry?.idle)
    entry?.pool.retire()
  }
}
