import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry, ProfileName } from './sandbox-context.ts'

/** What must be so afterwards, of one answer. Lists mean all of them, for `code` any of them. */
export interface AnswerExpectation {
  readonly rpc?: 'ok' | 'error' | 'any'
  readonly code?: number | readonly number[]
  readonly within_ms?: number
  readonly result_has_text?: string | readonly string[]
  readonly result_lacks_text?: string | readonly string[]
}

/** What must be so on the host afterwards. */
export interface HostCheck {
  readonly path?: string
  readonly exists?: boolean
  readonly equals?: string
  readonly lacks?: string
  /** The path is a symbolic link to this. */
  readonly link?: string
  readonly pid?: string
  readonly alive?: boolean
  /** A whole command line that nobody may run any more. */
  readonly no_process?: string
}

export interface Expectation extends AnswerExpectation {
  readonly exit?: number
  readonly stdout_has?: string | readonly string[]
  readonly stdout_lacks?: string | readonly string[]
  readonly host?: readonly HostCheck[]
  /** The profile itself is refused; `maybe`: it is, or the rest holds. */
  readonly refused?: true | 'maybe'
}

/** One step of a probe that calls: either something done on the host, or a call. */
export interface Step {
  readonly sleep_ms?: number
  readonly host_write?: { readonly path: string; readonly data: string }
  /** A script, run by the account of the server. */
  readonly host_sh?: string
  readonly method?: string
  readonly params?: Record<string, unknown>
  /** Members that are left out of the sandbox, laid over it, and laid over its first entry. */
  readonly drop?: readonly string[]
  readonly set?: Record<string, unknown>
  readonly patch_profile?: Record<string, unknown>
  /** Of a step that is not the last one, which otherwise has to succeed. */
  readonly expect?: AnswerExpectation
}

/**
 * An attempt to get out, as data. `${WS}`, `${OUT}`, `${WS_URI}`, `${OUT_URI}`, `${PORT}`, `${HOSTPID}`, `${SERVERPID}`
 * and `${SERVERPORT}` stand for what `Surroundings` has made. A command prints ESCAPE when the forbidden thing worked,
 * and must be harmless even then, or look first (see `harmful`).
 */
export interface Probe {
  readonly name: string
  readonly profile: ProfileName
  readonly command?: readonly string[]
  readonly rpc?: Step | readonly Step[]
  readonly expect: Expectation
  readonly tty?: boolean
  readonly stdin?: string
  /** Input that is written when the command has printed the cue. */
  readonly send_after?: Record<string, string>
  readonly note?: string
  readonly severity?: 'hardening' | 'limits'
  readonly arch?: NodeJS.Architecture
  /** Would hurt the machine if there were no sandbox: looks first whether it is in namespaces of its own. */
  readonly harmful?: boolean
  readonly limits?: { readonly processes?: number; readonly memoryMaxBytes?: number }
  /** A script that the account runs in the fresh surroundings. */
  readonly prepare?: string
  /** Beside those of the profile. */
  readonly entries?: readonly Entry[]
  /** Instead of the workspace. */
  readonly roots?: readonly string[]
  /** The capability without which there is nothing to try. */
  readonly needs?: string
}

export function readProbes(file: string): Probe[] {
  return JSON.parse(readFileSync(join(import.meta.dir, '../probes', file), 'utf8'))
}

export const stepsOf = (probe: Probe): readonly Step[] => [probe.rpc ?? []].flat() as Step[]
