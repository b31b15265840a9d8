import { isDeepStrictEqual } from 'node:util'
import { type ConfiguredEnvironment, type EnvironmentSnapshot, TomlProvider } from '@waldo/environment'
import { UsageError } from '../usage-error.ts'
import { commentStart, type TomlStatement, tomlStatements } from './toml-statements.ts'

const ENVIRONMENT = /^\s*\[\[\s*(environments|"environments"|'environments')\s*\]\]/
const BELOW_ENVIRONMENT = /^\s*\[{1,2}\s*(environments|"environments"|'environments')\s*\./
const DEFAULT = /^(\s*(?:default|"default"|'default')\s*=\s*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*')/

export interface NewEnvironment {
  readonly id: string
  readonly url?: string | undefined
  readonly tokenFile?: string | undefined
  readonly program?: readonly string[] | undefined
  readonly cwd?: string | undefined
}

/** The text of a file of environments and where it is from. Whatever is not changed stays as somebody has written it. */
export interface EnvironmentsFile {
  readonly text: string
  readonly path: string
}

/** The text with one environment more. Throws an `ExecError` if it would not be valid. */
export function addEnvironment(file: EnvironmentsFile, added: NewEnvironment, isDefault: boolean): string {
  const before = snapshotOf(file, file.text)
  if (before.environments.some(({ id }) => id === added.id)) {
    throw new UsageError(`there is an environment \`${added.id}\` already`, `first: waldo env remove ${added.id}`)
  }
  const gap = file.text.trim() === '' ? '' : file.text.endsWith('\n') ? '\n' : '\n\n'
  const appended = `${file.text}${gap}${tableOf(added)}`
  const text = isDefault ? setDefault(appended, added.id) : appended
  const after = snapshotOf(file, text)
  const expected = isDefault ? added.id : before.default
  refuseUnless(file, after.default === expected && sameBut(after.environments, before.environments, added.id))
  return text
}

/** The text without one. If it was the default, there is none any more but the usual one. */
export function removeEnvironment(file: EnvironmentsFile, id: string): { text: string; wasDefault: boolean } {
  const before = snapshotOf(file, file.text)
  const index = before.environments.findIndex((known) => known.id === id)
  if (index === -1) {
    const ids = before.environments.map((known) => known.id).join(', ') || 'none'
    throw new UsageError(`${file.path} has no environment \`${id}\`; it has: ${ids}`)
  }
  const statements = tomlStatements(file.text)
  const header = statements.filter((statement) => ENVIRONMENT.test(statement.text))[index]
  if (!header) return byHand(file)
  const after = statements.slice(statements.indexOf(header) + 1)
  const next = after.findIndex(({ isHeader, text }) => isHeader && !BELOW_ENVIRONMENT.test(text))
  const last = (next === -1 ? after : after.slice(0, next)).at(-1) ?? header
  const start = commentStart(file.text, header.start)
  // One of the gaps around it goes with it.
  const rest = file.text.slice(last.end).replace(/^[ \t\r]*\n/, '')
  const wasDefault = before.default === id
  const without = `${file.text.slice(0, start)}${rest}`.replace(/\n+$/, '\n')
  const text = wasDefault ? dropDefault(without) : without
  const { environments } = snapshotOf(file, text)
  refuseUnless(file, sameBut(before.environments, environments, id))
  return { text, wasDefault }
}

function tableOf({ id, url, tokenFile, program, cwd }: NewEnvironment): string {
  const lines = ['[[environments]]', `id = ${quote(id)}`]
  if (url !== undefined) lines.push(`url = ${quote(url)}`)
  if (tokenFile !== undefined) lines.push(`token_file = ${quote(tokenFile)}`)
  if (program !== undefined) {
    lines.push(`program = ${quote(program[0]!)}`)
    if (program.length > 1) lines.push(`args = [${program.slice(1).map(quote).join(', ')}]`)
  }
  if (cwd !== undefined) lines.push(`cwd = ${quote(cwd)}`)
  return `${lines.join('\n')}\n`
}

function setDefault(text: string, id: string): string {
  const top = rootStatements(text)
  const own = top.find((statement) => DEFAULT.test(statement.text))
  if (own) {
    const changed = own.text.replace(DEFAULT, (_, key: string) => `${key}${quote(id)}`)
    return `${text.slice(0, own.start)}${changed}${text.slice(own.end)}`
  }
  // Keys of the document come before its first table. Comments that open the file stay in front.
  const opening = /^(?:#[^\n]*\n)*(?=\s*\n)/.exec(text)?.[0].length ?? 0
  const place = top.at(-1)?.end ?? opening
  const before = text.slice(0, place)
  const after = text.slice(place)
  const line = `default = ${quote(id)}\n`
  if (top.length > 0) return `${before}${line}${after}`
  return `${before}${before === '' ? '' : '\n'}${line}${after.startsWith('\n') ? '' : '\n'}${after}`
}

function dropDefault(text: string): string {
  const own = rootStatements(text).find((statement) => DEFAULT.test(statement.text))
  if (!own) return text
  return `${text.slice(0, own.start)}${text.slice(own.end)}`.replace(/^\n+/, '')
}

function rootStatements(text: string): TomlStatement[] {
  const statements = tomlStatements(text)
  const header = statements.findIndex(({ isHeader }) => isHeader)
  return header === -1 ? statements : statements.slice(0, header)
}

function snapshotOf({ path }: EnvironmentsFile, text: string): EnvironmentSnapshot {
  return new TomlProvider(text, path).snapshot()
}

/** Whether `more` is `fewer` and the one of that id. */
function sameBut(more: readonly ConfiguredEnvironment[], fewer: readonly ConfiguredEnvironment[], id: string): boolean {
  const others = more.filter((environment) => environment.id !== id)
  return more.length === fewer.length + 1 && isDeepStrictEqual(others, [...fewer])
}

function refuseUnless(file: EnvironmentsFile, isRight: boolean): void {
  if (!isRight) byHand(file)
}

/** The parser does not say where things stand; what we find in unusual spellings may be something else. */
function byHand({ path }: EnvironmentsFile): never {
  throw new UsageError(`${path} is written in a way that only its author can change`, 'edit it by hand')
}

function quote(text: string): string {
  // JSON escapes what TOML wants escaped, but for DEL.
  return JSON.stringify(text).replaceAll('\x7f', '\\u007F')
}
