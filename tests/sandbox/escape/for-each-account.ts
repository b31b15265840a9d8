import { after, before, describe } from 'node:test'
import { ACCOUNTS, openAccount } from './account.ts'
import { Bench } from './bench.ts'

/** Defines the same tests for a server of root and for one of an ordinary user. */
export function forEachAccount(title: string, define: (bench: () => Bench) => void): void {
  for (const account of ACCOUNTS) {
    describe(`${title}, as ${account}`, () => {
      let bench: Bench | undefined
      // A failed hook fails no test: each is to say itself why it could not be tried.
      let failure: unknown
      before(async () => {
        try {
          bench = await Bench.open(openAccount(account))
        } catch (error) {
          failure = error
        }
      })
      after(async () => {
        await bench?.[Symbol.asyncDispose]()
      })
      define(() => {
        if (!bench) throw failure
        return bench
      })
    })
  }
}
