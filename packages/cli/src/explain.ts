import { ExecError } from '@waldo/environment'
import { UsageError } from './usage-error.ts'

/** What a person is told about a failure. What is nobody's fault but ours is not explained away: it is thrown. */
export function explain(error: unknown, where = ''): UsageError {
  if (error instanceof UsageError) return error
  if (!ExecError.is(error)) throw error
  const message = where === '' ? error.message : `${where}: ${error.message}`
  return new UsageError(message, hintFor(error))
}

function hintFor({ code, message }: ExecError): string {
  switch (code) {
    case 'CONNECT_FAILED':
      return connectHint(message)
    case 'DISCONNECTED':
      return 'The connection was lost in the middle. Try again.'
    case 'SESSION_LOST':
      return 'The executor was restarted, or we were away for too long: what ran there has ended.'
    case 'CONFIG_INVALID':
      return 'waldo env --help shows how environments are configured.'
    case 'SANDBOX_UNAVAILABLE':
      return 'On that machine, waldo doctor shows what is missing.'
    case 'UNSUPPORTED':
      return 'waldo env check shows what an executor can do.'
    default:
      return ''
  }
}

function connectHint(message: string): string {
  const url = /\b(?:wss?|unix):\/\/[^\s'"]*[^\s'":,/]/.exec(message)?.[0]
  if (/\b(101|40[13])\b/.test(message)) {
    return 'Something answers there, but does not let us in. If it wants a token: waldo env add ID URL --token-file FILE'
  }
  if (!/ECONNREFUSED|ENOENT|Failed to connect|cannot start/.test(message)) return ''
  if (url === undefined) return 'Does the command run by itself? It must be an executor on standard input and output.'
  if (!/^unix:|^wss?:\/\/(127\.|localhost\b|\[::1\])/.test(url)) {
    return 'Is the executor running, and can this machine reach that address?'
  }
  return `Is nobody listening there? This starts an executor: waldo serve --listen ${url}`
}
