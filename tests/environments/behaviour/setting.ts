import type { Environment } from '@waldo/environment'
import { ExecError } from '@waldo/environment'

/** One way to get to an environment. */
export interface Setting {
  readonly title: string
  open(): Environment
  /** The wire is cut all the time. */
  readonly cuts?: boolean
  /** The executor runs in this very process. */
  readonly inProcess?: boolean
}

/** A variable that executors have, and one that looks like a secret. */
export const EXECUTOR_VARIABLES = { WALDO_TEST_PLAIN: 'plain', WALDO_TEST_TOKEN: 'secret' }

/**
 * A call that is never sent twice, because doing it twice is not the same as doing it once. Where the wire is cut it may
 * be lost, which is said with `DISCONNECTED`; here it is made again, with everything that belongs to it.
 */
export async function unrepeated<T>({ cuts }: Setting, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!cuts || !ExecError.is(error, 'DISCONNECTED')) throw error
    }
  }
}
