import { ExecError } from '../errors.ts'
import type { EnvironmentCapabilities } from './environment-selection.ts'
import type { ReadyEnvironment, ReadyEnvironments } from './ready-environments.ts'

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

type Situation = ToolSituation & { readonly environmentId?: string | null | undefined }

/**
 * Where a call is to be done: in the environment that it names, or in the first that can; undefined for what is written
 * to a process, which knows its environment. Throws `UNSUPPORTED` for a call that should not have come: the tool was not
 * offered, or not for that environment.
 */
export function requireTool(
  turn: ReadyEnvironments,
  tool: Exclude<Tool, 'write_stdin'>,
  situation?: Situation,
): ReadyEnvironment
export function requireTool(turn: ReadyEnvironments, tool: Tool, situation?: Situation): ReadyEnvironment | undefined
export function requireTool(
  turn: ReadyEnvironments,
  tool: Tool,
  { processAlive = false, environmentId }: Situation = {},
): ReadyEnvironment | undefined {
  const capable = capableOf(turn, tool)
  if (tool === 'write_stdin' && (processAlive || capable.length > 0)) return undefined
  const [first] = capable
  if (!first) throw unavailable(tool)
  const chosen = environmentId == null ? first : turn.choose(environmentId)!
  if (capable.includes(chosen)) return chosen
  const others = capable.map((each) => `\`${each.environmentId}\``).join(', ')
  throw unavailable(tool, `environment \`${chosen.environmentId}\`; it is available in ${others}`)
}

function unavailable(tool: Tool, where = 'this session'): ExecError {
  const name = NEEDS[tool] === 'exec' ? 'unified exec' : tool
  return new ExecError('UNSUPPORTED', `${name} is unavailable in ${where}`)
}

function capableOf(turn: ReadyEnvironments, tool: Tool): ReadyEnvironment[] {
  return turn.ready.filter((ready) => ready.capabilities[NEEDS[tool]])
}
