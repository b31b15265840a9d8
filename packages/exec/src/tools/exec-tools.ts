import type { JsonSchema, ObjectSchema } from './json-schema.ts'

/** What changes in what a model is offered. */
export interface ToolSituation {
  /** The environments that commands can run in, the preferred one first. */
  readonly environmentIds: readonly string[]
  readonly allowsLoginShell: boolean
  readonly maxPollMs: number
}

/** What the system takes as one argument of a program, less what a shell adds. */
const MAX_SCRIPT = 128 * 1024 - 1024
const MAX_PATH = 4096
/** Of words that a person is to read. */
const MAX_WORDS = 4000

const OUTPUT_BUDGET = {
  type: 'number',
  description: 'Output token budget. Defaults to 10000 tokens; larger requests may be capped by policy.',
} as const satisfies JsonSchema

const UNTIL = {
  description:
    'Return as soon as this happens: "exit", "output" (anything is printed), {"idle_ms": n} (nothing was printed for ' +
    'n ms) or {"match": regex} (a printed line matches). With it, yield_time_ms is the longest wait. Prefer it to polling.',
  anyOf: [
    { type: 'string', enum: ['exit', 'output'] },
    {
      type: 'object',
      properties: { idle_ms: { type: 'number' }, match: { type: 'string' } },
      required: [],
      additionalProperties: false,
    },
  ],
} as const satisfies JsonSchema

/** No more than somebody who is asked can be shown. */
const PATHS = { type: 'array', items: { type: 'string', maxLength: 1024 }, maxItems: 10 } as const satisfies JsonSchema

const PERMISSIONS = {
  type: 'object',
  properties: {
    network: {
      type: 'object',
      properties: { enabled: { type: 'boolean' } },
      required: [],
      additionalProperties: false,
    },
    file_system: {
      type: 'object',
      properties: {
        read: { ...PATHS, description: 'Paths that may be read.' },
        write: { ...PATHS, description: 'Paths that may be written.' },
      },
      required: [],
      additionalProperties: false,
    },
  },
  required: [],
  additionalProperties: false,
} as const satisfies JsonSchema

const SESSION_ID = { type: 'integer', description: 'Identifier of the session.' } as const satisfies JsonSchema

export function execCommandSchema(situation: ToolSituation): ObjectSchema {
  const { allowsLoginShell, maxPollMs } = situation
  const login = { type: 'boolean', description: 'True runs a login shell; false does not. Defaults to true.' } as const
  return object(['cmd'], {
    cmd: { type: 'string', maxLength: MAX_SCRIPT, description: 'Shell command to execute.' },
    workdir: {
      type: 'string',
      maxLength: MAX_PATH,
      description: 'Working directory for the command. Defaults to that of the turn.',
    },
    tty: { type: 'boolean', description: 'True allocates a PTY and keeps stdin open; otherwise pipes, and no stdin.' },
    yield_time_ms: {
      type: 'number',
      description: `Wait before yielding output. Defaults to 10000 ms; effective range is 250-30000 ms, with \`until\` up to ${maxPollMs} ms.`,
    },
    until: UNTIL,
    max_output_tokens: OUTPUT_BUDGET,
    lifetime: {
      type: 'string',
      enum: ['turn', 'conversation', 'detached'],
      description:
        'When the process is ended if it still runs: with this turn or its interruption, with the conversation (the ' +
        'default), or never.',
    },
    shell: { type: 'string', maxLength: MAX_PATH, description: "Shell to use. Defaults to the user's default shell." },
    ...(allowsLoginShell ? { login } : {}),
    ...environmentId(situation),
    sandbox_permissions: {
      type: 'string',
      enum: ['use_default', 'require_escalated', 'with_additional_permissions'],
      description:
        'Per-command sandbox override. Defaults to `use_default`; `require_escalated` asks to run without sandbox, ' +
        '`with_additional_permissions` asks for more inside of it.',
    },
    additional_permissions: {
      ...PERMISSIONS,
      description: 'What is needed beyond the sandbox, only with `with_additional_permissions`.',
    },
    justification: {
      type: 'string',
      maxLength: MAX_WORDS,
      description: 'Question for the user, as they will read it, when you ask for another sandbox; omit otherwise.',
    },
    prefix_rule: {
      type: 'array',
      items: { type: 'string', maxLength: MAX_WORDS },
      maxItems: 64,
      description: 'Reusable approval prefix for `cmd`; for example ["git", "pull"].',
    },
  })
}

export function writeStdinSchema({ maxPollMs }: ToolSituation): ObjectSchema {
  return object(['session_id'], {
    session_id: { type: 'integer', description: 'Identifier of the running session.' },
    chars: {
      type: 'string',
      description:
        'Characters to write. Defaults to empty, which polls without writing. "\\u0003" interrupts, also without a PTY.',
    },
    yield_time_ms: {
      type: 'number',
      description: `Wait before yielding output. Non-empty writes default to 250 ms and cap at 30000 ms; empty polls wait 5000-${maxPollMs} ms.`,
    },
    until: UNTIL,
    max_output_tokens: OUTPUT_BUDGET,
  })
}

export const READ_OUTPUT_SCHEMA = object(['session_id'], {
  session_id: SESSION_ID,
  offset: { type: 'integer', description: 'Read from this byte on.' },
  grep: { type: 'string', description: 'Only lines that match this regular expression, with their numbers.' },
  lines: {
    type: 'object',
    description: 'Only these lines. `from` counts from 1, or from the end if it is negative.',
    properties: { from: { type: 'integer' }, count: { type: 'integer' } },
    required: ['from'],
    additionalProperties: false,
  },
  context: { type: 'integer', description: 'Lines around each match of `grep`.' },
  max_output_tokens: OUTPUT_BUDGET,
})

export const LIST_SESSIONS_SCHEMA = object([], {})

export const KILL_SESSION_SCHEMA = object(['session_id'], {
  session_id: SESSION_ID,
  grace_ms: { type: 'number', description: 'Ask it to end, and end it after so many milliseconds. Defaults to 0.' },
})

export function requestPermissionsSchema(situation: ToolSituation): ObjectSchema {
  return object(['permissions'], {
    permissions: { ...PERMISSIONS, description: 'What later commands need beyond the sandbox.' },
    reason: { type: 'string', maxLength: MAX_WORDS, description: 'Why, as the user will read it.' },
    ...environmentId(situation),
  })
}

/** One environment needs no name. */
function environmentId({ environmentIds }: ToolSituation): Record<string, JsonSchema> {
  if (environmentIds.length < 2) return {}
  const [primary] = environmentIds
  const description = `Environment to run in. Defaults to \`${primary}\`.`
  return { environment_id: { type: 'string', enum: environmentIds, description } }
}

function object(required: readonly string[], properties: Record<string, JsonSchema>): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}
