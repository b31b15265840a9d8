import { ExecError, type StartOptions } from '@waldo/environment'
import type { EnvironmentInfo, EnvPolicy } from '@waldo/protocol'
import { toPathUri } from './environment-path.ts'
import { networkParams } from './network-params.ts'

/** Everything that the executor has, but for what looks like a secret. */
const DEFAULT_POLICY: EnvPolicy = {
  inherit: 'all',
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
}

export interface StartRequest {
  readonly id: string
  readonly argv: readonly string[]
  readonly options: StartOptions
  /** Where processes start if the options do not say. */
  readonly cwd: string | undefined
}

/** What `process/start` is sent. Throws `UNSUPPORTED` for what this executor would ignore. */
export function startParams({ id, argv, options, cwd }: StartRequest, info: EnvironmentInfo): object {
  const { capabilities = {} } = info
  const size = typeof options.tty === 'object' ? options.tty : undefined
  if (size && !capabilities.processStartSize) {
    throw new ExecError('UNSUPPORTED', 'this executor cannot start a terminal of a given size; resize it afterwards')
  }
  if (options.limits && !capabilities.processLimits) {
    throw new ExecError('UNSUPPORTED', 'this executor cannot limit what a process uses')
  }
  const directory = options.cwd ?? cwd ?? info.cwd
  if (directory === undefined) {
    throw new ExecError('REFUSED', 'say in which directory to start: the executor names none')
  }
  return {
    processId: id,
    argv,
    cwd: toPathUri(directory),
    env: options.env ?? {},
    envPolicy: options.envPolicy ?? DEFAULT_POLICY,
    tty: options.tty !== undefined && options.tty !== false,
    pipeStdin: options.stdin ?? false,
    arg0: options.arg0,
    sandbox: options.sandbox,
    ...(options.limits && { limits: options.limits }),
    ...(options.network && networkParams(options.network, options.sandbox, capabilities)),
    ...(options.toolCallId !== undefined && { metadata: { toolCallId: options.toolCallId } }),
    ...(size && { size }),
    ...(capabilities.processStartToken && { startToken: crypto.randomUUID() }),
    ...(capabilities.processPull && { push: false }),
    // An executor that sends everything at once is made to wait by the connection itself.
    ...(capabilities.processWait && options.whenFull === 'wait' && { whenFull: 'wait' }),
  }
}
