import { ExecError } from '../errors.ts'
import { checkRemoteTransport, type EnvironmentTransport } from './environment-transport.ts'

/** The id of this machine, if it is among the environments. */
export const LOCAL = 'local'
/** More than anybody configures; what an owner adds at run time without end is refused here. */
export const MAX_ENVIRONMENTS = 256

export interface ConfiguredEnvironment {
  readonly id: string
  readonly transport: EnvironmentTransport
  readonly cwd?: string | undefined
}

/** Which environments there are, as a provider sees it. */
export interface EnvironmentSnapshot {
  /** In the order in which they are listed. */
  readonly environments: readonly ConfiguredEnvironment[]
  /** The id of the one that is used when nobody chooses; null: none is. */
  readonly default: string | null
  /** Whether this machine is one of them, as `local`. */
  readonly includeLocal: boolean
}

export interface EnvironmentProvider {
  /** Asked once. */
  snapshot(): Promise<EnvironmentSnapshot> | EnvironmentSnapshot
}

/** Throws unless the whole snapshot holds together. */
export function checkSnapshot(snapshot: EnvironmentSnapshot): void {
  const ids = new Set<string>(snapshot.includeLocal ? [LOCAL] : [])
  if (snapshot.environments.length > MAX_ENVIRONMENTS) throw tooMany()
  for (const { id, transport } of snapshot.environments) {
    checkId(id)
    if (ids.has(id)) throw duplicated(id)
    ids.add(id)
    if (transport.kind !== 'local') checkRemoteTransport(id, transport)
  }
  if (snapshot.default !== null) checkDefault(snapshot.default, ids)
}

export function checkId(id: string): void {
  if (id.trim() === '') throw invalid('environment id cannot be empty')
  if (id === LOCAL) throw invalid('environment id `local` is reserved for EnvironmentManager')
}

export function checkDefault(id: string, ids: ReadonlySet<string>): void {
  if (id.trim() === '') throw invalid('default environment id cannot be empty')
  if (!ids.has(id)) throw invalid(`default environment \`${id}\` is not configured`)
}

export function duplicated(id: string): ExecError {
  return invalid(`environment id \`${id}\` is duplicated`)
}

export function tooMany(): ExecError {
  return invalid(`there can be no more than ${MAX_ENVIRONMENTS} environments; replace one of them`)
}

function invalid(message: string): ExecError {
  return new ExecError('CONFIG_INVALID', message)
}
