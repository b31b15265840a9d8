import { type CopyAddress, parseAddress } from '../cp/copy-address.ts'
import { type CopyOptions, copyFile, pump, readFrom, writeTo } from '../cp/copy-file.ts'
import { metadataOf, namedTarget, placeOf, show, targetFor } from '../cp/copy-place.ts'
import { copyTree } from '../cp/copy-tree.ts'
import { Progress } from '../cp/progress.ts'
import { Environments } from '../environments.ts'
import { explain } from '../explain.ts'
import type { LeaveError } from '../leave-error.ts'
import { leaveOnSignals } from '../leave-on-signals.ts'
import { parseCommand } from '../parse-command.ts'
import { print } from '../print.ts'
import { BROKEN_PIPE, OutputClosedError, StandardStream } from '../standard-stream.ts'
import { UsageError } from '../usage-error.ts'

const HELP = `Copy files from and to environments

Usage: waldo cp [-r] SOURCE TARGET

  waldo cp build.tar devbox:/tmp/             to an environment that \`waldo env list\` shows
  waldo cp devbox:notes.txt .                 a relative path starts where commands start there
  waldo cp -r devbox:~/project staging:/srv   from one to the other
  waldo cp '[ws://127.0.0.1:4321]:/etc/hosts' -
  pg_dump db | waldo cp - devbox:db.sql

SOURCE and TARGET are a path of this machine, ENV:path, [URL]:path, or - for standard input or output.
A file of this machine whose name looks like ENV:path is written ./ENV:path.

If TARGET is a directory, the copy goes into it. A file is there as a whole or not at all: until all of
it has arrived, the target is what it was. Modes are kept, where executors tell them. Links are
followed.

Options:
  -r, --recursive    Copy directories and everything in them
  -h, --help         Show this help`

const SYNTAX = {
  flags: { recursive: 'switch', help: 'switch' },
  letters: { r: 'recursive' },
  help: 'waldo cp --help shows how',
} as const

export async function cpCommand(args: string[]): Promise<number> {
  const { flags, operands, rest = [] } = parseCommand(args, SYNTAX)
  if (flags.help) {
    print(HELP)
    return 0
  }
  const [source, target, stray] = [...operands, ...rest]
  if (target === undefined) throw new UsageError('cp needs a SOURCE and a TARGET', SYNTAX.help)
  if (stray !== undefined) throw new UsageError(`cp: unexpected argument \`${stray}\``, SYNTAX.help)
  const stop = leaveOnSignals()
  try {
    await using environments = await Environments.open()
    const from = parseAddress(source!, environments)
    const to = parseAddress(target, environments)
    using progress = new Progress()
    await copy(from, to, flags.recursive ?? false, { progress, signal: stop })
    progress.finish()
    return 0
  } catch (error) {
    if (stop.aborted) return (stop.reason as LeaveError).exitCode
    if (error instanceof OutputClosedError) return BROKEN_PIPE
    throw explain(error)
  }
}

async function copy(from: CopyAddress, to: CopyAddress, recursive: boolean, options: CopyOptions): Promise<void> {
  if (from.kind === 'stdio') {
    if (to.kind === 'stdio') throw new UsageError('one of both must be a file', SYNTAX.help)
    const target = await namedTarget(to)
    await pump(Bun.stdin.stream(), writeTo(target, options), options).catch((error) => {
      throw explain(error, show(target))
    })
    options.progress.fileDone()
    return
  }
  const source = await placeOf(from)
  const found = await metadataOf(source)
  if (!found) throw new UsageError(`there is no ${show(source)}`)
  if (found.isDirectory) {
    if (!recursive) throw new UsageError(`${show(source)} is a directory`, 'with -r it is copied')
    if (to.kind === 'stdio') throw new UsageError(`${show(source)} is a directory and cannot go to standard output`)
    return refuseSkipped(await copyTree(source, await targetFor(source, true, to), options))
  }
  if (!found.isFile) throw new UsageError(`${show(source)} is neither a file nor a directory`)
  options.progress.expect(found.size)
  if (to.kind === 'path') return await copyFile(source, await targetFor(source, false, to), options)
  await pump(readFrom(source, options), standardOutput(), options)
  options.progress.fileDone()
}

function standardOutput(): WritableStream<Uint8Array> {
  const stdout = new StandardStream(process.stdout)
  return new WritableStream({ write: (bytes) => stdout.write(bytes), close: () => stdout.flush() })
}

/** Everything else has been copied by now. */
function refuseSkipped(skipped: readonly string[]): void {
  if (skipped.length === 0) return
  const few = skipped.slice(0, 3).join(', ')
  const others = skipped.length > 3 ? ` and ${skipped.length - 3} more` : ''
  throw new UsageError(
    `not copied, being neither files nor directories: ${few}${others}`,
    'Everything else was copied.',
  )
}
