import { describe } from 'node:test'
import { fileBehaviour } from './behaviour/files.ts'
import { httpBehaviour } from './behaviour/http.ts'
import { lifecycleBehaviour } from './behaviour/lifecycle.ts'
import { networkBehaviour } from './behaviour/network.ts'
import { outputBehaviour } from './behaviour/output.ts'
import { processBehaviour } from './behaviour/processes.ts'
import { sandboxBehaviour } from './behaviour/sandbox.ts'
import type { Setting } from './behaviour/setting.ts'

const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

/** Registers what every environment does, wherever it is. Any difference between two of them is a bug. */
export function behaviour(setting: Setting): void {
  describe(`an environment ${setting.title}`, () => {
    describe('runs processes', () => processBehaviour(setting))
    describe('keeps what they say', () => outputBehaviour(setting))
    describe('works on files', () => fileBehaviour(setting))
    describe('makes requests', () => httpBehaviour(setting))
    describe('keeps to a sandbox', { skip }, () => sandboxBehaviour(setting))
    describe('manages the network', { skip }, () => networkBehaviour(setting))
    describe('comes and goes', () => lifecycleBehaviour(setting))
  })
}
