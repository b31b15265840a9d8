import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs'
import { copyContent } from './copy-content.ts'
import { exchangeNames, extendedAttributes, hasFileCalls, linkDescriptor } from './file-calls.ts'
import { errorCode, fileError, systemError } from './file-error.ts'
import { joinName, type NativePath, nativePath, splitName } from './native-path.ts'
import { holdDirectory } from './no-symlinks.ts'
import { writeBackSoon } from './writeback.ts'

const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY
const NEW_FILE_MODE = 0o666
const MAX_LINKS = 40
/** A label that the system gives to a new file by itself. */
const AUTOMATIC_ATTRIBUTES = new Set(['security.selinux'])
/** No second file can be made beside the first, though the first may well be written to. */
const NOT_BESIDE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EINVAL', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'])
/** The file system cannot make files without a name. */
const NO_NAMELESS = new Set(['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL', 'ENOENT'])
/** The name is a mount point, or on another file system: it can be written to, but not be given to another file. */
const NOT_REPLACEABLE = new Set(['EBUSY', 'EXDEV', 'EPERM', 'EACCES'])

type Temporary =
  | { readonly kind: 'named'; readonly path: NativePath }
  /** Nothing of it stays if we die. */
  | { readonly kind: 'nameless' }
  /** There is none: the target itself is written to. */
  | { readonly kind: 'none' }

/**
 * New content for a file. It is written beside the old one and takes its place all at once, with its mode and owner;
 * until then, and if that never happens, the old content stays. Where the system does not allow a second file, or
 * where more than mode and owner hangs on the first one (hard links, access lists, a device), it is written in place.
 */
export class Replacement {
  readonly fd: number
  readonly #target: NativePath
  /** Under which name it will be found later. */
  readonly #lasting: NativePath
  readonly #release: () => void
  readonly #exists: boolean
  #temporary: Temporary
  #open = true

  private constructor(
    target: { path: NativePath; lasting: NativePath; exists: boolean; release: () => void },
    { fd, temporary }: { fd: number; temporary: Temporary },
  ) {
    this.fd = fd
    this.#target = target.path
    this.#lasting = target.lasting
    this.#exists = target.exists
    this.#release = target.release
    this.#temporary = temporary
  }

  /** `mode` is for a file that does not exist yet, before the umask; an existing one keeps its own. */
  static open(path: NativePath, { followSymlinks = true, mode = NEW_FILE_MODE } = {}): Replacement {
    const { leaf, release } = followSymlinks ? { leaf: path, release: () => {} } : holdDirectory(path)
    try {
      const { target, existing } = followSymlinks ? resolveLinks(leaf) : { target: leaf, existing: notALink(leaf) }
      if (existing?.isDirectory()) throw systemError('EISDIR', path)
      // Taking its place needs no permission of the file itself: ask for it as if it were written to.
      if (existing) accessSync(target, constants.W_OK)
      const opened = openContent(target, existing, mode)
      const lasting = followSymlinks ? target : path
      return new Replacement({ path: target, lasting, exists: existing !== undefined, release }, opened)
    } catch (error) {
      release()
      throw fileError(error, path)
    }
  }

  /** The new content takes effect: at once, unless it has to be copied to where it belongs. */
  commit(): undefined | Promise<void> {
    if (!this.#open) return undefined
    try {
      const temporary = this.#temporary
      const copying =
        temporary.kind === 'nameless'
          ? this.#place()
          : temporary.kind === 'named'
            ? this.#takePlace(temporary.path)
            : undefined
      if (copying) return copying.finally(() => this.discard())
    } catch (error) {
      this.discard()
      throw fileError(error, this.#lasting)
    }
    this.#close()
    return undefined
  }

  /** The old content stays, unless it was written to in place. Never fails: there is nobody who could help. */
  discard(): void {
    if (!this.#open) return
    this.#close()
    if (this.#temporary.kind === 'named') removeIfPossible(this.#temporary.path)
  }

  #close(): void {
    this.#open = false
    closeSync(this.fd)
    this.#release()
  }

  /** Gives the new content its name. The old content, if any, goes under another one, and then for good. */
  #place(): undefined | Promise<void> {
    if (this.#exists || !linkDescriptor(this.fd, this.#target)) {
      const path = temporaryName(this.#target)
      if (!linkDescriptor(this.fd, path)) throw whyNotIn(splitName(this.#target).directory)
      this.#temporary = { kind: 'named', path }
      if (!exchangeNames(path, this.#target)) return this.#takePlace(path)
      this.#removeOld(path)
    }
    writeBackSoon(this.#lasting)
    return undefined
  }

  #removeOld(path: NativePath): void {
    try {
      unlinkSync(path)
    } catch (error) {
      // Somebody has just put a directory there: it stays.
      exchangeNames(path, this.#target)
      throw error
    }
  }

  #takePlace(temporary: NativePath): undefined | Promise<void> {
    try {
      renameSync(temporary, this.#target)
      return undefined
    } catch (error) {
      if (!this.#exists || !NOT_REPLACEABLE.has(errorCode(error))) throw error
      return copyInto(this.fd, this.#target)
    }
  }
}

function openContent(
  target: NativePath,
  existing: Stats | undefined,
  mode: number,
): { fd: number; temporary: Temporary } {
  if (existing && (!existing.isFile() || hangsTogether(target, existing))) return openInPlace(target)
  let opened: { fd: number; temporary: Temporary }
  try {
    // What the umask takes away is given back below.
    opened = openBeside(target, existing ? existing.mode & 0o777 : mode)
  } catch (error) {
    if (existing && NOT_BESIDE.has(errorCode(error))) return openInPlace(target)
    throw error
  }
  if (!existing) return opened
  try {
    const own = fstatSync(opened.fd)
    if (own.uid !== existing.uid || own.gid !== existing.gid) fchownSync(opened.fd, existing.uid, existing.gid)
    // Every change of an inode is work for the journal.
    if (own.mode !== existing.mode) fchmodSync(opened.fd, existing.mode & 0o7777)
    return opened
  } catch (error) {
    closeSync(opened.fd)
    if (opened.temporary.kind === 'named') removeIfPossible(opened.temporary.path)
    if (errorCode(error) === 'EPERM' || errorCode(error) === 'EINVAL') return openInPlace(target)
    throw error
  }
}

function openBeside(target: NativePath, mode: number): { fd: number; temporary: Temporary } {
  if (hasFileCalls) {
    try {
      const fd = openSync(splitName(target).directory, O_TMPFILE | constants.O_RDWR, mode)
      return { fd, temporary: { kind: 'nameless' } }
    } catch (error) {
      if (!NO_NAMELESS.has(errorCode(error))) throw error
    }
  }
  const path = temporaryName(target)
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  return { fd: openSync(path, flags, mode), temporary: { kind: 'named', path } }
}

function openInPlace(target: NativePath): { fd: number; temporary: Temporary } {
  const flags = constants.O_WRONLY | constants.O_TRUNC | constants.O_NONBLOCK | constants.O_NOCTTY
  return { fd: openSync(target, flags), temporary: { kind: 'none' } }
}

async function copyInto(from: number, target: NativePath): Promise<void> {
  const { fd } = openInPlace(target)
  try {
    await copyContent(from, fd)
  } catch (error) {
    throw fileError(error, target)
  } finally {
    closeSync(fd)
  }
}

/** Why no file can be made in a directory that could be had a moment ago. */
function whyNotIn(directory: NativePath): Error {
  try {
    accessSync(directory, constants.W_OK)
  } catch (error) {
    return error as Error
  }
  return systemError('EIO', directory)
}

/** Where a write would arrive: links are followed, also one that leads to nothing yet. */
function resolveLinks(path: NativePath): { target: NativePath; existing: Stats | undefined } {
  let target = path
  for (let links = 0; links < MAX_LINKS; links++) {
    const existing = lstatOrMissing(target)
    if (!existing?.isSymbolicLink()) return { target, existing }
    const link = nativePath(readlinkSync(target, { encoding: 'buffer' }))
    const isAbsolute = link[0] === '/' || link[0] === 0x2f
    // The link may lead into /proc, where what it says is not a path.
    if (String(target).startsWith('/proc/')) return { target, existing: statSync(target) }
    target = isAbsolute ? link : joinName(splitName(target).directory, link)
  }
  throw systemError('ELOOP', path)
}

function notALink(leaf: NativePath): Stats | undefined {
  const existing = lstatOrMissing(leaf)
  if (existing?.isSymbolicLink()) throw systemError('ELOOP', leaf)
  return existing
}

function lstatOrMissing(path: NativePath): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether other names or attributes would be left behind with the old content. */
function hangsTogether(target: NativePath, { nlink }: Stats): boolean {
  return nlink > 1 || extendedAttributes(target).some((name) => !AUTOMATIC_ATTRIBUTES.has(name))
}

function temporaryName(target: NativePath): NativePath {
  return joinName(splitName(target).directory, `.waldo-${crypto.randomUUID()}.tmp`)
}

function removeIfPossible(path: NativePath): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody was faster, or the system does not let us any more; what there is to tell has been told.
  }
}
