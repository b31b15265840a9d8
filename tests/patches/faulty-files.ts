import { ExecError, type FileSystem } from '@waldo/environment'

/** What becomes of a call. */
export type Fault =
  /** It is refused. */
  | 'fails'
  /** The wire is cut before it arrives. */
  | 'lost before'
  /** It is carried out, and the wire is cut before the answer. */
  | 'lost after'
  /** The executor does not know it. */
  | 'unsupported'

export interface FileCall {
  /** From 1. */
  readonly number: number
  readonly method: keyof FileSystem
  readonly args: readonly unknown[]
}

/** A file system on which calls go wrong. */
export function faultyFiles(files: FileSystem, faultOf: (call: FileCall) => Fault | undefined): FileSystem {
  let number = 0
  return new Proxy(files, {
    get(target, method: keyof FileSystem) {
      return async (...args: unknown[]) => {
        const fault = faultOf({ number: ++number, method, args })
        const call = target[method] as (...args: unknown[]) => Promise<unknown>
        switch (fault) {
          case undefined:
            return await call.apply(target, args)
          case 'fails':
            throw new ExecError('FILE_FAILED', `No space left on device (os error 28): ${method}`)
          case 'unsupported':
            throw new ExecError('UNSUPPORTED', `this executor cannot ${method}`)
          case 'lost after':
            // Its answer would have told; nobody gets it.
            await call.apply(target, args).catch(() => {})
            throw new ExecError('DISCONNECTED', `${method} was not answered`)
          case 'lost before':
            throw new ExecError('DISCONNECTED', `${method} was not answered`)
        }
      }
    },
  })
}

const LOOKS: ReadonlySet<string> = new Set(['readFile', 'metadata', 'canonicalize', 'exists'])

export function changesSomething({ method }: FileCall): boolean {
  return !LOOKS.has(method)
}
