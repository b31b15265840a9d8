import { ExecError } from '../errors.ts'
import type { EnvironmentCapabilities } from './environment-selection.ts'
import type { ReadyEnvironments } from './ready-environments.ts'

const NEEDS = {
  exec_command: 'exec',
  write_stdin: 'exec',
  apply_patch: 'files',
  view_image: 'files',
  list_dir: 'files',
  http: 'http',
} as const satisfies Record<string, keyof EnvironmentCapabilities>

export type Tool = keyof typeof NEEDS

const TOOLS = Object.keys(NEEDS) as Tool[]

export interface ToolSituation {
  /** Whether a process of this conversation is alive, wherever. It can be written to until it has ended. */
  readonly processAlive?: boolean | undefined
}

/** The tools that some environment of the turn can serve. */
export function offeredTools(turn: ReadyEnvironments, { processAlive = false }: ToolSituation = {}): Tool[] {
  return TOOLS.filter((tool) => (tool === 'write_stdin' && processAlive) || capableOf(turn, tool).length > 0)
}

/** Throws `UNSUPPORTED` for a call that should not have come: the tool was not offered, or not for that environment. */
export function requireTool(
  turn: ReadyEnvironments,
  tool: Tool,
  { processAlive = false, environmentId }: ToolSituation & { readonly environmentId?: string | null | undefined } = {},
): void {
  const name = NEEDS[tool] === 'exec' ? 'unified exec' : tool
  const capable = capableOf(turn, tool)
  // A process knows its environment: whoever writes to it names none.
  if (tool === 'write_stdin' && (processAlive || capable.length > 0)) return
  if (capable.length === 0) throw new ExecError('UNSUPPORTED', `${name} is unavailable in this session`)
  const chosen = turn.choose(environmentId)!.environmentId
  if (capable.includes(chosen)) return
  const others = capable.map((id) => `\`${id}\``).join(', ')
  throw new ExecError(
    'UNSUPPORTED',
    `${name} is unavailable in environment \`${chosen}\`; it is available in ${others}`,
  )
}

function capableOf(turn: ReadyEnvironments, tool: Tool): string[] {
  return turn.ready.filter((ready) => ready.capabilities[NEEDS[tool]]).map((ready) => ready.environmentId)
}
