import { ExecError, type FileSystem } from '@waldo/environment'
import { joinPath, type PathUri, parent, type SandboxRequest } from '@waldo/protocol'

/**
 * The calls by which a patch is written. Paths are those without links (`Site.real`), and nothing follows one that
 * somebody puts there meanwhile. None of them can be given up: what was given up is done nevertheless, maybe later,
 * when everything has been put in order.
 */
export class PatchedFiles {
  readonly #files: FileSystem
  readonly #sandbox: { readonly sandbox?: SandboxRequest | undefined }

  constructor(files: FileSystem, sandbox: SandboxRequest | undefined) {
    this.#files = files
    this.#sandbox = sandbox ? { sandbox } : {}
  }

  write(path: PathUri, content: Uint8Array): Promise<void> {
    return this.#files.writeFile(path, content, { ...this.#sandbox, followSymlinks: false })
  }

  /** With its mode. */
  copy(source: PathUri, target: PathUri): Promise<void> {
    return this.#files.copy(source, target, { ...this.#sandbox, recursive: false })
  }

  rename(source: PathUri, target: PathUri, { overwrite }: { overwrite: boolean }): Promise<void> {
    return this.#files.rename(source, target, { ...this.#sandbox, overwrite })
  }

  createDirectory(path: PathUri): Promise<void> {
    return this.#files.createDirectory(path, { ...this.#sandbox, recursive: true, followSymlinks: false })
  }

  /** A file, or a directory with nothing in it. Returns whether there was something: if not, that is fine, too. */
  async remove(path: PathUri): Promise<boolean> {
    try {
      await this.#files.remove(path, { ...this.#sandbox, recursive: false, force: false, followSymlinks: false })
      return true
    } catch (error) {
      // Where nothing may be removed, that is said even of what is not there.
      if (!ExecError.is(error, 'FILE_NOT_FOUND') && (await this.#files.exists(path, this.#sandbox))) throw error
      return false
    }
  }

  /** Undefined: there is no such file. */
  async read(path: PathUri): Promise<Uint8Array | undefined> {
    try {
      return await this.#files.readFile(path, { ...this.#sandbox, followSymlinks: false })
    } catch (error) {
      if (ExecError.is(error, 'FILE_NOT_FOUND')) return undefined
      throw error
    }
  }
}

/** A name that nobody else has, and that says whose it is to whoever finds it after we were killed. */
export function temporaryBeside(path: PathUri): PathUri {
  return joinPath(parent(path)!, `.waldo-patch-${crypto.randomUUID()}.tmp`)
}
