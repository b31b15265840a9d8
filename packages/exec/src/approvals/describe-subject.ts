import { DecodeError, type PathUri, toPosixPath } from '@waldo/protocol'
import type { AdditionalPermissions } from '../permissions/additional-permissions.ts'
import type { ApprovalSubject, PatchedFile } from './approver.ts'
import type { RequestSheet } from './request-sheet.ts'
import { shellQuote } from './shell-quote.ts'
import { holdsUnseen } from './visible-text.ts'

const MAX_COMMAND_ROWS = 200
const MAX_PATCH_ROWS = 400
const MAX_FILES = 100
/** A list of paths is for reading. */
const MAX_LISTED = 20
const SHELLS = new Set(['sh', 'bash', 'dash', 'ksh', 'zsh'])

export function describeSubject(subject: ApprovalSubject, sheet: RequestSheet): void {
  switch (subject.kind) {
    case 'command':
      sheet.title('Run this command?')
      describeCommand(subject.argv, sheet)
      if (subject.tty) sheet.field('terminal', 'it gets one, and can be typed to')
      return
    case 'patch':
      sheet.title(`Change ${subject.files.length === 1 ? 'this file' : `these ${subject.files.length} files`}?`)
      describePatch(subject.files, sheet)
      return
    case 'network':
      sheet.title('Let a command reach this host?')
      sheet.block(`${subject.host}, port ${subject.port} (${subject.protocol})`, MAX_LISTED)
      sheet.field('command', shellQuote(subject.command))
      return
    case 'permissions':
      sheet.title('Allow this for later commands?')
      sheet.block(describePermissions(subject.permissions).join('\n'), MAX_COMMAND_ROWS)
      return
  }
}

/** The path as people write it there; the URI where there is none, or none that we could write. */
export function describePath(uri: PathUri): string {
  try {
    const path = toPosixPath(uri)
    return typeof path === 'string' ? path : uri
  } catch (error) {
    if (error instanceof DecodeError) return uri
    throw error
  }
}

export function describePermissions({ network, read, write }: AdditionalPermissions): readonly string[] {
  return [
    ...(network ? ['use the network'] : []),
    ...(read.length > 0 ? [`read ${listed(read.map(describePath))}`] : []),
    ...(write.length > 0 ? [`write ${listed(write.map(describePath))}`] : []),
  ]
}

export function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED
  return names.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function describeCommand(argv: readonly string[], sheet: RequestSheet): void {
  const [program = '', flag = '', script] = argv
  const isScript = argv.length === 3 && SHELLS.has(program.slice(program.lastIndexOf('/') + 1)) && /^-l?c$/.test(flag)
  // A script is what a shell reads: quoted once more, it could not be read by anybody else.
  sheet.block(isScript ? script! : shellQuote(argv), MAX_COMMAND_ROWS)
  if (isScript) sheet.field('shell', shellQuote([program, flag]))
  if (argv.some(holdsUnseen)) {
    sheet.field(
      'beware',
      `it holds characters that cannot be seen; they are written as <U+001B>${isScript ? '' : ' or \\x1b'}`,
    )
  }
}

function describePatch(files: readonly PatchedFile[], sheet: RequestSheet): void {
  let rows = MAX_PATCH_ROWS
  for (const { kind, path, target, diff } of files.slice(0, MAX_FILES)) {
    const names = target === undefined ? describePath(path) : `${describePath(path)} -> ${describePath(target)}`
    sheet.field(kind, names)
    if (diff === '') continue
    if (rows > 0) rows -= sheet.block(diff, rows)
    else sheet.field('', `(its ${diff.length} characters of changes are NOT shown)`)
  }
  if (files.length > MAX_FILES) sheet.field('', `(${files.length - MAX_FILES} more files are NOT shown)`)
}
