import { shellWrapper } from '../script/shell-wrapper.ts'
import type { ApprovalSubject, PatchedFile } from './approver.ts'
import { describePath } from './describe-path.ts'
import { describePermissions } from './describe-permissions.ts'
import type { RequestSheet } from './request-sheet.ts'
import { shellQuote } from './shell-quote.ts'
import { holdsUnseen } from './visible-text.ts'

const MAX_COMMAND_ROWS = 200
const MAX_PATCH_ROWS = 400
const MAX_FILES = 100
const MAX_HOST_ROWS = 20

export function describeSubject(subject: ApprovalSubject, sheet: RequestSheet): void {
  switch (subject.kind) {
    case 'command':
      sheet.title('Run this command?')
      describeCommand(subject.argv, sheet)
      if (subject.tty) sheet.field('terminal', 'it gets one, and can be typed to')
      if (subject.lifetime === 'detached') sheet.field('lifetime', 'DETACHED: it goes on after the conversation')
      return
    case 'patch':
      sheet.title(`Change ${subject.files.length === 1 ? 'this file' : `these ${subject.files.length} files`}?`)
      describePatch(subject.files, sheet)
      return
    case 'network':
      sheet.title('Let a command reach this host?')
      sheet.block(`${subject.host}, port ${subject.port} (${subject.protocol})`, MAX_HOST_ROWS)
      sheet.field('command', shellQuote(subject.command))
      return
    case 'permissions':
      sheet.title('Allow this for later commands?')
      describePermissions(subject.permissions, sheet)
      return
  }
}

function describeCommand(argv: readonly string[], sheet: RequestSheet): void {
  const script = shellWrapper(argv)?.script
  // A script is what a shell reads: quoted once more, it could not be read by anybody else.
  sheet.block(script ?? shellQuote(argv), MAX_COMMAND_ROWS)
  if (script !== undefined) sheet.field('shell', shellQuote(argv.slice(0, 2)))
  if (argv.some(holdsUnseen)) {
    sheet.field(
      'beware',
      `it holds characters that cannot be seen; they are written as <U+001B>${script === undefined ? ' or \\x1b' : ''}`,
    )
  }
}

function describePatch(files: readonly PatchedFile[], sheet: RequestSheet): void {
  let rows = MAX_PATCH_ROWS
  for (const { kind, path, target, diff } of files.slice(0, MAX_FILES)) {
    sheet.path(kind, describePath(path))
    if (target !== undefined) sheet.path('to', describePath(target))
    if (diff === '') continue
    if (rows > 0) rows -= sheet.block(diff, rows)
    else sheet.field('', `(its ${diff.length} characters of changes are NOT shown)`)
  }
  if (files.length > MAX_FILES) sheet.field('', `(${files.length - MAX_FILES} more files are NOT shown)`)
}
