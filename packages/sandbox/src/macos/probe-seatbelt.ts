import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { SandboxInfo } from '@waldo/protocol'
import { FileRules } from '../policy/file-rules.ts'
import type { MacSandbox } from './mac-sandbox.ts'
import { SANDBOX_EXEC } from './seatbelt-command.ts'

const PATIENCE_MS = 5000
const MAX_REASON = 300

/** Runs something in a sandbox as commands get one: nothing else says whether there can be one here. */
export function probeSeatbelt(sandbox: MacSandbox): SandboxInfo {
  if (!existsSync(SANDBOX_EXEC)) {
    return unavailable(`${SANDBOX_EXEC} is missing`, 'it is a part of macOS: run the executor on one that has it')
  }
  const complaint = tryOne(sandbox)
  if (complaint === undefined) return { available: true, mechanism: 'seatbelt' }
  return unavailable(
    complaint,
    /sandbox_apply/.test(complaint)
      ? 'the executor runs in a sandbox itself, in which there can be no other: start it outside of that, or say ' +
          '`external` in the profile'
      : `run \`${SANDBOX_EXEC} -p '(version 1)(allow default)' /usr/bin/true\` to see it by itself`,
  )
}

/** What it says if it does not work; undefined if it does. */
function tryOne(sandbox: MacSandbox): string | undefined {
  const facts = sandbox.lookAround()
  const root = { ...facts.resolve('/'), access: 'read', origin: 'root', protects: [] } as const
  const files = new FileRules({ rules: [root], globs: [], globDepth: undefined })
  const policy = { files, network: 'restricted', skipped: [] } as const
  const command = { program: '/usr/bin/true', args: [], arg0: undefined, cwd: '/', env: {} }
  const { argv, cwd, env } = sandbox.prepare({ policy, facts, network: 'restricted' }).launch(command)
  const [program, ...args] = argv
  const { status, error, stderr } = spawnSync(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: PATIENCE_MS,
    encoding: 'utf8',
  })
  if (error) return error.message
  return status === 0 ? undefined : stderr.trim() || `sandbox-exec ended with ${status}`
}

function unavailable(complaint: string, remedy: string): SandboxInfo {
  return { available: false, reason: complaint.slice(0, MAX_REASON).replace(/[.\s]+$/, ''), remedy }
}
